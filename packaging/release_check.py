"""Can this be released? Every question that must be answered with yes before a version goes out, asked in order.

Run ``make release-check`` after ``make wheel``, or ``python packaging/release_check.py [--only NAMES] [--python 3.11,3.12]``.
Each check prints what it saw. The status is 1 if any of them failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
WHEEL_MB, INSTALLED_MB = 25.0, 60.0
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


class Failed(Exception):
    """A check that says no; the text says why."""


def insist(holds: object, why: str) -> None:
    """Fail unless something holds."""
    if not holds:
        raise Failed(why)


def run(*command: str | Path, folder: Path = ROOT, **settings: str) -> str:
    """What a command prints; it must succeed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_", "PYTHON"))}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env={**kept, **settings}, capture_output=True, text=True, check=False
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    insist(done.returncode == 0, f"{' '.join(map(str, command))[:80]}: {' / '.join(said[-3:])}")
    return done.stdout.strip()


def version_here() -> str:
    """The version, from the one place where it stands."""
    (found,) = re.findall(r'^__version__ = "(.+)"$', (ROOT / "src/supple/__init__.py").read_text(), re.MULTILINE)
    return found


def wheels() -> list[Path]:
    """The wheels of this version."""
    found = sorted(DIST.glob(f"supple-{version_here()}-*.whl"))
    insist(found, f"there is no wheel of {version_here()} in dist: make wheel")
    return found


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def tree() -> str:
    """Nothing is uncommitted."""
    changed = run("git", "status", "--porcelain")
    insist(not changed, f"the tree is not clean: {', '.join(changed.split()[1::2][:5])}")
    return run("git", "rev-parse", "--short", "HEAD")


def version() -> str:
    """The version is new, and the changelog tells of it with a date."""
    number = version_here()
    insist(re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", number), f"{number} is no version")
    heads = re.findall(r"^## \[(.+?)\] – (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    insist(heads and heads[0][0] == number, f"the newest section of CHANGELOG.md is not of {number}")
    insist(re.fullmatch(r"\d{4}-\d\d-\d\d", heads[0][1]), f"CHANGELOG.md calls {number} {heads[0][1]!r}: give the date")
    tags = run("git", "tag", "--list", f"v{number}", "--no-contains", "HEAD")
    insist(not tags, f"v{number} has been released, from another commit")
    return f"{number}, {heads[0][1]}"


def sizes() -> str:
    """Wheels are no larger than they may be."""
    told = []
    for wheel in wheels():
        packed = wheel.stat().st_size / 1e6
        with zipfile.ZipFile(wheel) as archive:
            unpacked = sum(each.file_size for each in archive.infolist()) / 1e6
        insist(packed <= WHEEL_MB, f"{wheel.name} has {packed:.1f} MB")
        insist(unpacked <= INSTALLED_MB, f"{wheel.name} has {unpacked:.1f} MB when it is installed")
        told.append(f"{wheel.name} {packed:.1f} MB, installed {unpacked:.1f} MB")
    return "; ".join(told)


def licences() -> str:
    """All that is bundled is ours and has our licence, or brings its own along."""
    for wheel in wheels():
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            (about,) = [name for name in names if name.endswith(".dist-info/METADATA")]
            text = archive.read(about).decode()
        insist("License-Expression: Apache-2.0" in text, f"{wheel.name} does not name its licence")
        insist(any(name.endswith(".dist-info/licenses/LICENSE") for name in names), f"{wheel.name} has no LICENSE")
        ours = r"\.(py|typed|code|json|toml)$|^supple/view/page/player\.html$|\.dist-info/|/LICENSE\.\w+$"
        strange = [n for n in names if not re.search(ours, n)]
        insist(not strange, f"{wheel.name} bundles {strange[:3]}")
        if any(name.endswith(".code") for name in names):  # parts of Numba's own functions are compiled in
            insist(any(name.endswith("/LICENSE.numba") for name in names), f"{wheel.name} lacks the licence of Numba")
    return f"Apache-2.0 in {len(wheels())} wheels; machine code with the licence of Numba, of which it has parts"


def twine() -> str:
    """The package index will take it."""
    files = [*wheels(), *DIST.glob(f"supple-{version_here()}.tar.gz")]
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    return f"{len(files)} files"


def sdist() -> str:
    """The sdist builds from itself the pure wheel that the checkout builds."""
    file = DIST / f"supple-{version_here()}.tar.gz"
    insist(file.exists(), f"{file.name} is missing: make wheel")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")
        (place,) = Path(folder).iterdir()
        run(sys.executable, "-m", "build", "--wheel", "--outdir", Path(folder) / "out", place)
        (made,) = (Path(folder) / "out").glob("*-none-any.whl")
        (ours,) = [wheel for wheel in wheels() if "none-any" in wheel.name]
        differ = set(_contents(made)) ^ set(_contents(ours))
    insist(not differ, f"its wheel is another: {sorted(name for name, _ in differ)[:3]}")
    return f"{file.name} {file.stat().st_size / 1e6:.1f} MB"


def _contents(wheel: Path) -> list[tuple[str, int]]:
    with zipfile.ZipFile(wheel) as archive:
        return [(each.filename, each.CRC) for each in archive.infolist() if not each.filename.endswith("RECORD")]


def documents() -> str:
    """The documentation builds without a warning."""
    run(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "build/docs")
    return "build/docs"


def installs(pythons: tuple[str, ...] = PYTHONS) -> str:
    """In a fresh environment of every Python that is here, the wheel for it installs, and the README's lines run."""
    told = []
    for number in pythons:
        python = _python(number)
        if python is None:
            told.append(f"Python {number}: not on this machine")
            continue
        tag = f"cp{number.replace('.', '')}"
        fitting = [wheel for wheel in wheels() if f"-{tag}-" in wheel.name]
        wheel = (fitting or [wheel for wheel in wheels() if "none-any" in wheel.name] or [None])[0]
        if wheel is None:
            told.append(f"Python {number}: no wheel for it in dist")
            continue
        with tempfile.TemporaryDirectory() as folder:
            told.append(f"Python {number}: {_tried(python, wheel, Path(folder))}")
    return "; ".join(told)


def _python(number: str) -> Path | None:
    """A Python of that version: this one, on the path, or among pyenv's."""
    if sys.version_info[:2] == tuple(map(int, number.split("."))):
        return Path(sys.executable)
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{number}.*/bin/python"))
    found = shutil.which(f"python{number}") or (kept[-1] if kept else None)
    try:
        run(found, "-c", "import venv, ensurepip") if found else None
    except Failed:  # a shim that leads nowhere
        found = kept[-1] if kept else None
    return Path(found) if found else None


def _tried(python: Path, wheel: Path, folder: Path) -> str:
    run(python, "-m", "venv", folder / "env")
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(scripts / "python", "-m", "pip", "install", "--quiet", f"supple[view,convex] @ {wheel.as_uri()}")
    home, work = folder / "home", folder / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    settings = {"HOME": str(home), "USERPROFILE": str(home), "XDG_CACHE_HOME": str(home), "MPLBACKEND": "Agg"}
    program, lines = work / "readme.py", list(_blocks("sh"))
    program.write_text("\n".join(_blocks("python")), encoding="utf-8")
    run(scripts / "python", program, folder=work, **settings)
    commands = [line for block in lines for line in block.splitlines() if line.startswith("supple ")]
    for line in commands:
        words = line.split("#")[0].split()
        run(scripts / words[0], *words[1:], folder=work, **settings)
    compiled = len(list(home.rglob("*.code")))
    return (
        f"{wheel.name.split('-', 2)[2]}, the README's blocks and {len(commands)} commands; compiled {compiled} kernels"
    )


def _blocks(kind: str) -> Iterator[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    yield from re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


CHECKS = {
    "tree": tree,
    "version": version,
    "wheels": sizes,
    "licences": licences,
    "twine": twine,
    "sdist": sdist,
    "documents": documents,
    "installs": installs,
}


def main() -> int:
    """Ask every question; the number of those that were answered with no, as a status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(CHECKS))
    parser.add_argument("--python", default=",".join(PYTHONS))
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.only.split(","):
        try:
            said = installs(tuple(arguments.python.split(","))) if name == "installs" else CHECKS[name]()
            print(f"yes  {name:10s} {said}", flush=True)
        except Failed as error:
            failed += 1
            print(f"NO   {name:10s} {error}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
