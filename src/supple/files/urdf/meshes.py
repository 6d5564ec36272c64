"""Where the meshes of a URDF file lie: ``package://name/…`` and relative paths, looked for in folders that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from supple.basics.values import Value
from supple.figure.figure import Source
from supple.files.folders import Folders, told
from supple.files.urdf.bodies import origin_of
from supple.files.xml import Element
from supple.geometry.placements import Floats, Triple, place

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


class Meshes:
    """Looks for meshes in folders."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders

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
        return UrdfSource("urdf", meshes=out), [f"Meshes were not found: {told(lost)}."] if lost else []

    def _bases(self) -> list[Path]:
        return [] if self.folders.home is None else [self.folders.home]


def meshes_in(home: Path | None, folders: Iterable[str | Path]) -> Meshes | None:
    """Meshes that are looked for in a robot's own folder and in those given; None if none are given."""
    known = Folders(home, folders)
    return Meshes(known) if len(known.roots) > (home is not None) else None
