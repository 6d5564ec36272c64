"""Compile every entry for every level of this kind of machine, into a folder that goes into a wheel.

Run ``python packaging/machine_code.py FOLDER [--levels x86-64-v3,x86-64-v4] [--workers N]`` with the Python and the Numba that
the wheel is for. Nothing is run but small jobs, interpreted, to learn the signatures: so code for a level that this machine
lacks can be compiled too. What was compiled before, from the same sources, is found in FOLDER/../cache and not compiled again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import sysconfig
import time
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for name in [name for name in os.environ if name.startswith(("NUMBA_", "SUPPLE_"))]:
    del os.environ[name]  # nobody's own settings go into a wheel
sys.path.insert(0, str(ROOT / "src"))


def platforms() -> str:
    """The platforms that a wheel with this code runs on: those on which this Numba does, which loads it."""
    lines = (metadata.distribution("numba").read_text("WHEEL") or "").splitlines()
    found = [line.split("-")[-1] for line in lines if line.startswith("Tag:")]
    return ".".join(found) or sysconfig.get_platform().replace("-", "_").replace(".", "_")


def tag() -> str:
    """The tag of the wheel."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    abi = python + getattr(sys, "abiflags", "")
    return f"{python}-{abi}-{platforms()}"


def main() -> None:
    """Compile, and write down what it was compiled from and for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--levels", default="")
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    cache = folder.parent / "cache"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    cache.chmod(0o700)
    os.environ["SUPPLE_CACHE"] = str(cache)

    from supple.cli.warm import WORKER, calls, compile_missing, run
    from supple.kernels.compiling import shipped

    if "USING_SVML=True" in shipped.fit().settings:
        sys.exit("machine_code: remove icc_rt first: the code would need it wherever it runs")
    levels = arguments.levels.split(",") if arguments.levels else list(shipped.levels_here())
    if not levels:
        sys.exit(f"machine_code: no levels are known for this kind of machine, {shipped.machine()}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wanted = calls()
    for level in levels:
        begun, only = time.monotonic(), {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        seconds = compile_missing(wanted, arguments.workers, _show, only)
        run(WORKER, "ship", str(folder), given=wanted, environment=only)
        size = sum(file.stat().st_size for file in (folder / level).iterdir()) / 1e6
        print(f"{level}: {len(seconds)} compiled in {time.monotonic() - begun:.0f} s, {size:.1f} MB", flush=True)
    about = shipped.fit()._asdict() | {"levels": levels, "calls": len(wanted), "tag": tag()}
    (folder / shipped.ABOUT).write_text(json.dumps(about, indent=1) + "\n")
    for name in ("numba", "llvmlite"):  # parts of their functions are compiled in
        texts = [file.read_text() for file in metadata.files(name) or () if "LICENSE" in file.name.upper()]
        (folder / f"LICENSE.{name}").write_text("\n\n".join(texts))
    for each in (folder, *(folder / level for level in levels)):
        each.chmod(0o755)


def _show(entry: str, done: int, total: int) -> None:
    print(f"  {done} of {total}: {entry}", flush=True)


if __name__ == "__main__":
    main()
