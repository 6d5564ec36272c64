"""A model and the files that it names, gathered into one text that names no file at all: only this is given to MuJoCo.

Every <include> is replaced by what it includes, looked for as MuJoCo does: from the folder of the model, then from that of the
file that includes. Meshes and the models of <attach> get names of our own, under which their bytes are handed over; so
MuJoCo opens no file. What moves nothing stays behind: actuators, sensors, plug-ins, lights, cameras, pictures, user data,
the sizes of buffers. Pictures and height fields become the smallest there are. Soft bodies are left out, with a remark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

from supple.files.folders import Folders, Found, told
from supple.files.mjcf.bounds import check_element, check_whole
from supple.files.xml import MOST_BYTES, MOST_ELEMENTS, Element, parse_xml, read_bytes, shown

MOST_NESTED = 200  # elements inside each other, after all includes
MOST_MODELS = 1_000  # models that others attach
HOME = "home"  # the keyframe that is the rest posture
SILENT = {
    "actuator",
    "sensor",
    "custom",
    "extension",
    "size",
    "visual",
    "statistic",
    "light",
    "camera",
    "skin",
    "plugin",
}
SOFT = {"flexcomp", "flex", "flexvert", "flexstrain"}
DIRECTORIES = ("assetdir", "meshdir", "texturedir", "strippath")
MESHES = {".obj": ".obj", ".stl": ".stl", ".msh": ".msh"}
CONTENTS = {"model/obj": ".obj", "model/stl": ".stl", "model/vnd.mujoco.msh": ".msh"}


Place: TypeAlias = tuple[str | None, int]  # a file and a line


@dataclass(frozen=True)
class Gathered:
    """One text for MuJoCo, the models and meshes that it speaks of, and what there is to remark."""

    text: str
    places: list[Place]  # where each line of the text comes from
    models: dict[str, bytes] = field(default_factory=dict)
    meshes: dict[str, Found] = field(default_factory=dict)  # by the names in the text
    references: dict[str, str] = field(default_factory=dict)  # what the file calls each mesh
    remarks: list[str] = field(default_factory=list)


def gather(root: Element, folders: Folders) -> Gathered:
    """The whole model that begins at `root`."""
    gatherer = _Gatherer(folders)
    above = () if root.file is None or folders.home is None else (Path(root.file).resolve(),)
    text, places, _ = gatherer.model(root, folders.home, above)
    remarks = []
    if gatherer.plugins:
        remarks.append("Plug-ins are left out.")
    if gatherer.soft:
        remarks.append(f"Soft bodies are left out: {', '.join(dict.fromkeys(gatherer.soft))}.")
    return Gathered(text, places, gatherer.models, gatherer.meshes, gatherer.references, remarks)


class _Gatherer:
    """Collects what a model and its files bring; lives for one reading."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self.models: dict[str, bytes] = {}
        self.meshes: dict[str, Found] = {}
        self.references: dict[str, str] = {}
        self.plugins, self.soft, self.soft_names = False, list[str](), set[str]()
        self.elements = self.bytes = self.characters = 0
        self.trees: dict[Path, Element] = {}

    def model(self, root: Element, home: Path | None, above: tuple[Path, ...]) -> tuple[str, list[Place], float]:
        """One model whose files are named from `home`, inside the models `above`: its text, and how many elements it makes."""
        if root.tag != "mujoco":
            raise root.bad(f"an MJCF file begins with <mujoco>, not <{root.tag}>")
        whole = self._spliced(root, home, above, 0)
        folder: dict[str, str] = dict.fromkeys(DIRECTORIES, "")
        for element in _walk(whole):
            check_element(element)
            self.plugins = self.plugins or element.tag == "plugin"
            if element.tag in SOFT:
                self.soft.append(element.label)
                self.soft_names.add(element.attributes.get("name", ""))
            if element.tag == "compiler":
                folder.update({key: element.attributes[key] for key in DIRECTORIES if key in element.attributes})
        cleaner = _Cleaner(self, home, folder, above)
        text, places = _written(cleaner.cleaned(whole))
        return text, places, check_whole(whole, cleaner.weights)

    # ── includes ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def _spliced(self, element: Element, home: Path | None, above: tuple[Path, ...], depth: int) -> Element:
        """An element whose includes are replaced by what they include."""
        if depth > MOST_NESTED:
            raise element.bad(f"elements and includes are nested more than {MOST_NESTED} deep")
        children: list[Element] = []
        for child in element.children:
            if child.tag.lower() == "include":
                children += self._included(child, home, above, depth)
            else:
                children.append(self._spliced(child, home, above, depth + 1))
        self.elements += 1
        self.characters += sum(map(len, element.attributes.values()))
        if self.elements > MOST_ELEMENTS or self.characters > MOST_BYTES:
            most = f"{MOST_ELEMENTS} elements, or {MOST_BYTES} characters"
            raise element.bad(f"the model has more than {most}, counting what it includes")
        return replace(element, children=tuple(children))

    def _included(self, include: Element, home: Path | None, above: tuple[Path, ...], depth: int) -> list[Element]:
        path = self._file(include, home)
        if path in above:
            raise include.bad(f"{shown(include.attribute('file'))} includes itself")
        root = self.tree(include, path)
        return list(self._spliced(root, home, (*above, path), depth + 1).children)

    def _file(self, element: Element, home: Path | None) -> Path:
        """The XML file that an element names; one that is not there or not allowed is refused."""
        reference = element.attribute("file")
        bases = [] if home is None else [home]
        if home is not None and element.file is not None:
            bases.append(Path(element.file).absolute().parent)
        found = self.folders.find(reference, bases)
        if found.path is None:
            allow = "" if found.reason == "missing" else "; name its folder by folders="
            raise element.bad(f"<{element.tag}> of {shown(reference)}: the file is {found.reason}{allow}")
        return found.path

    def tree(self, element: Element, path: Path) -> Element:
        """The root of a file that `element` names; each is read once."""
        if path not in self.trees:
            data = read_bytes(path, MOST_BYTES)
            self.bytes += len(data)
            if self.bytes > MOST_BYTES:
                raise element.bad(f"the model has more than {MOST_BYTES} bytes, counting what it includes")
            self.trees[path] = parse_xml(data, str(path))
        return self.trees[path]

    def attached(self, element: Element, home: Path | None, above: tuple[Path, ...]) -> tuple[str, float]:
        """The name in the text of the model that a <model> element brings, and how many elements that makes."""
        path = self._file(element, home)
        if path in above:
            raise element.bad(f"{shown(element.attribute('file'))} attaches itself")
        if len(self.models) >= MOST_MODELS:
            raise element.bad(f"more than {MOST_MODELS} models are attached")
        name = f"supple-{len(self.models)}.xml"
        self.models[name] = b""  # its place, before those that it attaches itself
        root = self.tree(element, path)
        text, _, made = self.model(root, path.parent, (*above, path))
        self.models[name] = text.encode()
        return name, made + len(text) / 100.0  # a long list of corners is many elements too

    def mesh(self, element: Element, home: Path | None, folder: dict[str, str]) -> str:
        """The name in the text of a mesh; where its file is, or why it cannot be had, is kept."""
        reference = element.attributes.get("file", "")
        inner = reference.replace("\\", "/")
        if folder["strippath"] == "true":
            inner = inner.rpartition("/")[2]
        place = (folder["meshdir"] or folder["assetdir"]).replace("\\", "/")
        kind = CONTENTS.get(element.attributes.get("content_type", ""), MESHES.get(PurePosixPath(inner).suffix.lower()))
        if kind is None:
            found, kind = Found(None, "not OBJ, STL or MSH" if reference else "made by a plug-in"), ".obj"
        elif PurePosixPath(place).is_absolute():
            found = self.folders.find(place)
        else:
            found = self.folders.find(inner, _where(element, home, place))
        name = f"supple-{len(self.meshes)}{kind}"
        self.meshes[name], self.references[name] = found, reference or element.attributes.get("name", "")
        return name


def _where(element: Element, home: Path | None, place: str) -> Iterator[Path]:
    """The folders in which MuJoCo looks for a mesh, in its order; then the one of the file that names it."""
    if home is None:
        return
    yield home / place
    if element.file is not None:
        near = Path(element.file).absolute().parent
        if near.is_relative_to(home):
            yield home / place / near.relative_to(home)
        yield near / place
        yield near


def _walk(root: Element) -> Iterator[Element]:
    stack = [root]
    while stack:
        element = stack.pop()
        yield element
        stack.extend(element.children[::-1])


class _Cleaner:
    """Takes from one model what moves nothing, and gives its files names of ours."""

    def __init__(self, gatherer: _Gatherer, home: Path | None, folder: dict[str, str], above: tuple[Path, ...]) -> None:
        self.gatherer, self.home, self.folder, self.above = gatherer, home, folder, above
        self.weights: dict[str, float] = {}  # how many elements a model makes that <attach> names

    def cleaned(self, element: Element) -> Element:
        """An element as MuJoCo is given it."""
        kept = [child for child in element.children if not self._is_silent(child)]
        children = tuple(self.cleaned(child) for child in kept)
        return replace(element, children=children, attributes=self._attributes(element))

    def _is_silent(self, element: Element) -> bool:
        if element.tag in SILENT or element.tag in SOFT:
            return True
        if self._names_soft(element):
            return True
        if element.tag == "key":  # sizes of other postures would be those of actuators and soft bodies that are gone
            return element.attributes.get("name") != HOME or bool(self.gatherer.soft)
        return False

    def _names_soft(self, element: Element) -> bool:
        """Whether an element ties or excludes one of the bodies that MuJoCo makes of something soft."""
        ends = [element.attributes.get(key, "").rpartition("_") for key in ("body1", "body2")]
        return any(number.isdigit() and name in self.gatherer.soft_names for name, _, number in ends)

    def _attributes(self, element: Element) -> dict[str, str]:
        given = dict(element.attributes)
        gone = ("user", "content_type", "octree_maxdepth")
        kept = {key: v for key, v in given.items() if not key.lower().startswith("file") and key not in gone}
        if element.tag in ("mesh", "texture", "hfield") and "file" in given and "name" not in kept:
            kept["name"] = PurePosixPath(given["file"].replace("\\", "/")).stem
        if element.tag == "mesh":
            made = element.first("plugin") is not None and not {"vertex", "builtin"} & given.keys()
            if given.get("file") or made:
                kept["file"] = self.gatherer.mesh(element, self.home, self.folder)
        elif element.tag == "texture":
            kept = {key: kept[key] for key in ("name", "type") if key in kept}
            kept |= {"builtin": "flat", "width": "1", "height": "1"}
        elif element.tag == "hfield":
            kept = {key: kept[key] for key in ("name", "size") if key in kept} | {"nrow": "2", "ncol": "2"}
        elif element.tag == "model":  # without a file MuJoCo keeps a lock for ever
            kept["file"], weight = self.gatherer.attached(element, self.home, self.above)
            self.weights[kept.get("name", "")] = weight
        elif element.tag == "compiler":
            kept = {key: value for key, value in kept.items() if key not in DIRECTORIES}
        elif element.tag == "key":
            kept = {key: kept[key] for key in ("name", "qpos") if key in kept}
        elif element.tag == "geom" and kept.get("type") == "sdf":
            kept["type"] = "mesh"
        return kept


def _written(root: Element) -> tuple[str, list[Place]]:
    """The text of a tree, one tag on each line, and where each line comes from."""
    lines: list[str] = []
    places: list[Place] = []

    def write(element: Element) -> None:
        attributes = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
        lines.append(f"<{element.tag}{attributes}" + (">" if element.children else "/>"))
        places.append((element.file, element.line))
        for child in element.children:
            write(child)
        if element.children:
            lines.append(f"</{element.tag}>")
            places.append((element.file, element.line))

    write(root)
    return "\n".join(lines), places


def lost_meshes(gathered: Gathered, names: set[str]) -> str:
    """What is said of meshes that could not be read."""
    return told((gathered.references[name], gathered.meshes[name].reason) for name in sorted(names))
