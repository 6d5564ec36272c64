"""Where the meshes of a URDF file lie: ``package://name/…`` and relative paths, looked for in folders that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from supple.basics.checks import names_in, positive
from supple.basics.values import Value
from supple.errors import BadFile, BadValue, MissingExtra, find
from supple.figure.figure import Source
from supple.files.folders import Folders, told
from supple.files.urdf.bodies import LinkParts, origin_of
from supple.files.xml import Element
from supple.geometry.body_fits import ACCURACY, fitted, vertices_of
from supple.geometry.convex_parts import convex_parts
from supple.geometry.placements import Floats, Triple, place
from supple.geometry.shapes import Solid

KINDS = ("collision", "visual")


@dataclass(frozen=True, eq=False, repr=False)
class MeshFile(Value):
    """A mesh of a link: its file, where it stands in the link, by what it is stretched, and whether it is only looked at."""

    path: str
    at: Floats
    scale: Triple = (1.0, 1.0, 1.0)
    is_visual: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class UrdfSource(Source):
    """A URDF file whose meshes were looked for: those that were found, by link."""

    meshes: Mapping[str, tuple[MeshFile, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Fit:
    """How meshes are turned into bodies: how far these may reach beyond hulls, and whose are taken apart (True: all)."""

    accuracy: float = ACCURACY
    decompose: bool | tuple[str, ...] = False

    @classmethod
    def of(cls, accuracy: Any, decompose: Any) -> Fit:
        """What a reader was told."""
        if not isinstance(decompose, bool):
            decompose = tuple(names_in(decompose, "decompose, the links whose meshes are taken apart,"))
        return cls(positive(accuracy, "the accuracy of bodies [m]"), decompose)

    def takes_apart(self, link: str) -> bool:
        """Whether a link's meshes are."""
        return self.decompose if isinstance(self.decompose, bool) else link in self.decompose


class Meshes:
    """Looks for meshes in folders, and says what was not found if folders were named."""

    def __init__(self, folders: Folders, is_told: bool, fit: Fit) -> None:
        self.folders, self.is_told, self.fit = folders, is_told, fit

    def solids(self, source: UrdfSource, read: Mapping[str, LinkParts]) -> tuple[dict[str, list[Solid]], list[str]]:
        """What links keep clear with all of whose collision meshes could be read, and remarks."""
        out: dict[str, list[Solid]] = {}
        broken = []
        for name in () if isinstance(self.fit.decompose, bool) else self.fit.decompose:
            find((*read,), name, "link", "the robot")
        for name, files in source.meshes.items():
            own, link = [file for file in files if not file.is_visual], read[name]
            if not own or set(link.unread) != {"mesh"} or len(own) != link.meshes:
                continue
            shapes = () if link.body is None else link.body.shapes
            try:
                how = self.fit.accuracy, self.fit.takes_apart(name)
                hulls = [hull for file in own for hull in _hulls(file.path, file.scale, file.at.tobytes(), *how)]
            except MissingExtra:
                return {}, ["Meshes were not read, for which the extra mesh is needed."]
            except (BadFile, BadValue) as error:
                broken.append(f"{name} ({error})")
                continue
            out[name] = [*shapes, *hulls]
        remarks = [f"Meshes keep clear as hulls to within {self.fit.accuracy:g} m: {', '.join(out)}."] if out else []
        return out, remarks + ([f"Meshes could not be read: {', '.join(broken)}."] if broken else [])

    def found(self, links: Mapping[str, Element]) -> tuple[UrdfSource, list[str]]:
        """What was found, and a remark about what was not."""
        out: dict[str, tuple[MeshFile, ...]] = {}
        lost: list[tuple[str, str]] = []
        for name, link in links.items():
            files = []
            for tag in (tag for kind in KINDS for tag in link.all(kind)):
                geometry = tag.first("geometry")
                for mesh in geometry.all("mesh") if geometry is not None else ():
                    path, reason = self.folders.find(mesh.attribute("filename"), self._bases())
                    if path is None:
                        lost.append((mesh.attribute("filename"), reason))
                        continue
                    x, y, z = mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
                    xyz, rpy = origin_of(tag)
                    files.append(MeshFile(str(path), place(xyz, rpy=rpy), (x, y, z), tag.tag == "visual"))
            if files:
                out[name] = tuple(files)
        remarks = [f"Meshes were not found: {told(lost)}."] if lost and self.is_told else []
        return UrdfSource("urdf", meshes=out), remarks

    def _bases(self) -> list[Path]:
        return [] if self.folders.home is None else [self.folders.home]


@lru_cache(maxsize=256)
def _hulls(path: str, scale: Triple, at: bytes, accuracy: float, apart: bool) -> tuple[Solid, ...]:
    """What keeps clear in place of a mesh file."""
    T = np.frombuffer(at).reshape(4, 4)
    if apart:
        return tuple(shape for part in convex_parts(path, T, scale, accuracy) for shape in part.parts)
    return (fitted((vertices_of(path) * scale) @ T[:3, :3].T + T[:3, 3], accuracy),)


def meshes_in(home: Path | None, folders: Iterable[str | Path], fit: Fit) -> Meshes | None:
    """Meshes that are looked for in a robot's own folder and in those given; None if there is no folder at all."""
    known = Folders(home, folders)
    return Meshes(known, len(known.roots) > (home is not None), fit) if known.roots else None
