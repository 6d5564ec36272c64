"""Templates of robots (.xacro), expanded by the package xacrodoc into the URDF that they stand for.

A template is a program: xacro evaluates its expressions and opens the files that it names. So only a path that ends in
.xacro leads here, never a text and never a scene; what comes out is read as carefully as any URDF.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import chdir
from pathlib import Path
from threading import Lock
from typing import Any

from supple.basics.checks import mapping, path_of
from supple.errors import BadFile, needed
from supple.figure.figure import Figure
from supple.files.folders import Folders
from supple.files.urdf.reader import parse_urdf
from supple.files.xml import read_bytes

_LOCK = Lock()  # where packages lie is one setting for the whole process


def read_xacro(
    path: str | Path, *, folders: Iterable[str | Path] = (), arguments: Mapping[str, object] | None = None
) -> Figure:
    """The robot of a template, with the values `arguments` of its <xacro:arg>; its packages are looked for in `folders`."""
    given = {name: str(value) for name, value in mapping(arguments or {}, "the arguments of a template").items()}
    packages = _packages(Folders(None, folders))
    read_bytes(path)  # says what is wrong with the file itself
    xacrodoc = needed("xacrodoc", "xacrodoc", "xacro", "reading .xacro files")
    with _LOCK:
        xacrodoc.packages.reset()
        xacrodoc.packages.update_package_cache(packages)
        try:
            text = _expanded(xacrodoc, path_of(path), given)
        except Exception as error:  # whatever its expressions raise
            raise BadFile(f"xacro cannot expand this: {error}", file=str(path)) from error
        finally:
            xacrodoc.packages.reset()
    return parse_urdf(text, str(path), folders=folders)


def _expanded(xacrodoc: Any, path: Path, arguments: dict[str, str]) -> str:
    with chdir(path.absolute().parent):  # relative includes are seen from the template
        document = xacrodoc.XacroDoc.from_file(path.absolute(), subargs=arguments, resolve_packages=False)
    return document.to_urdf_string()


def _packages(folders: Folders) -> dict[str, Path]:
    """Every package by name: each folder itself, and the folders in it."""
    out = {root.name: root for root in folders.roots if root.name}
    for root in folders.roots:
        out |= {inner.name: inner for inner in sorted(root.iterdir()) if inner.is_dir()}
    return out
