"""Machine code that comes with the package: run where it fits, whole and from trusted places; never where anything changed."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import supple
from supple.kernels.compiling import INTERPRETED, shipped
from supple.kernels.compiling.cache import MAGIC, keep

SOURCE = Path(supple.__file__).parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="files have owners and modes on POSIX only")
COMPILED = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
X86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="levels of x86-64")
V2 = "+cx16,+sahf,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3"
V3 = V2 + ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
V4 = V3 + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
ALL = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


# ── levels ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@X86
@pytest.mark.parametrize(
    ("processor", "features", "level"),
    [
        ("znver4", V4, "x86-64-v4"),
        ("haswell", V3, "x86-64-v3"),
        ("skylake-avx512", V4.replace("+avx512vl", "-avx512vl"), "x86-64-v3"),  # one is missing
        ("haswell", V3.replace("+fma", "-fma"), "x86-64-v2"),
        ("nehalem", V2, "x86-64-v2"),
        ("core2", V2.replace("+sse4.2", "-sse4.2"), None),
        ("generic", "", None),  # a processor that somebody chose, of which nothing is known
        ("x86-64-v3", "", "x86-64-v3"),  # a level that somebody chose
    ],
)
def test_the_highest_level_that_the_host_covers_is_used(processor: str, features: str, level: str | None):
    assert shipped.level_of(processor, features, ALL) == level


@X86
def test_a_level_that_did_not_come_is_not_used():
    assert shipped.level_of("znver4", V4, ALL[:2]) == "x86-64-v3"
    assert shipped.level_of("haswell", V3, ALL[2:]) is None


# ── a package with code ──────────────────────────────────────────────────────────────────────────────────────────────
# An entry that calls a leaf of another file, and what a build does, with these two alone.
ENTRY = '''"""An entry whose leaf lives in another file."""

from supple.kernels.compiling import entry
from supple.kernels.probe_leaf import probe_leaf


@entry
def probe_entry(x):
    return probe_leaf(x)
'''
LEAF = '''"""A leaf."""

from supple.kernels.compiling import leaf


@leaf
def probe_leaf(x):
    return x + {constant}
'''
BUILD = """
import json, sys
from pathlib import Path
from numba import types
from supple.kernels.compiling import recording, shipped, warming
recording.entry_modules = lambda package=None: ["supple.kernels.probe"]
calls = [recording.Call("supple.kernels.probe.probe_entry", (types.float64,))]
warming.compiled(calls)
folder = Path(sys.argv[1])
about = shipped.fit()._asdict() | {"levels": [warming.ship(calls, folder)]}
(folder / "about.json").write_text(json.dumps(about))
"""
# An entry is called by its name, without its source; it was loaded if the source still is not there when it has answered.
USE = """
import sys
from supple.kernels.compiling import entry_in
probe_entry = entry_in("supple.kernels.probe.probe_entry")
print(probe_entry(1.0), int("supple.kernels.probe" not in sys.modules))
"""
WITH_SOURCE = """
from supple.kernels.probe import probe_entry
print(probe_entry(1.0), sum(probe_entry.stats.cache_hits.values()))
"""
BOTH = """
from supple.kernels.compiling import entry_in
named = entry_in("supple.kernels.probe.probe_entry")
first = named(1.0)
from supple.kernels.probe import probe_entry
assert first == named(1.0) == probe_entry(1.0)
"""


def run(package: Path, script: str, *arguments: str, **environment: str) -> tuple[list[str], str]:
    """What a script prints, in a fresh process with that package, and what is said."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_", "PYTHONPATH"))}
    settings = {**kept, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def level() -> str:
    """A level that this machine has for sure: the lowest."""
    return next(iter(shipped.levels_here()))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package into which code was shipped."""
    root = tmp_path_factory.mktemp("built")
    package = root / "site" / "supple"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "shipped"))
    (package / "kernels" / "probe.py").write_text(ENTRY)
    (package / "kernels" / "probe_leaf.py").write_text(LEAF.format(constant=41.0))
    folder = package / "kernels" / "shipped"
    folder.mkdir()
    chosen = {"NUMBA_CPU_NAME": level(), "NUMBA_CPU_FEATURES": ""}
    run(package, BUILD, str(folder), SUPPLE_CACHE=str(root / "cache"), **chosen)
    for each in (package, package / "kernels", folder, folder / level()):
        each.chmod(0o755)
    return package


@pytest.fixture
def package(built: Path, tmp_path: Path) -> Path:
    """A copy of it elsewhere: nothing depends on where it was built."""
    return Path(shutil.copytree(built, tmp_path / "elsewhere" / "supple"))


def use(package: Path, tmp_path: Path, **environment: str) -> tuple[float, int, str]:
    """The probe's answer, how often it was loaded, and what was said; with an empty cache."""
    cache = tmp_path / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    (value, hits), said = run(package, USE, **{"SUPPLE_CACHE": str(cache), **environment})
    return float(value), int(hits), said


def code(package: Path) -> Path:
    (file,) = package.rglob("*.code")
    return file


@COMPILED
def test_what_came_is_run_and_nothing_is_said_made_or_copied(package: Path, tmp_path: Path):
    assert use(package, tmp_path) == (42.0, 1, "")
    for script in (WITH_SOURCE, BOTH + WITH_SOURCE):
        (value, hits), said = run(package, script, SUPPLE_CACHE=str(tmp_path / "cache"))
        assert (float(value), int(hits), said) == (42.0, 1, "")
    assert not (tmp_path / "cache").exists()


@COMPILED
def test_what_is_kept_in_the_cache_needs_no_source_either(package: Path, tmp_path: Path):
    shutil.rmtree(package / "kernels" / "shipped")
    (value, hits), said = run(package, USE, SUPPLE_CACHE=str(tmp_path / "cache"))
    assert (float(value), int(hits)) == (42.0, 0)
    assert "compiling probe" in said
    assert run(package, USE, SUPPLE_CACHE=str(tmp_path / "cache")) == (["42.0", "1"], "")
    (package / "kernels" / "probe_leaf.py").write_text(LEAF.format(constant=1.0))
    assert run(package, USE, SUPPLE_CACHE=str(tmp_path / "cache"))[0] == ["2.0", "0"]


def test_interpreted_the_source_is_what_runs(package: Path, tmp_path: Path):
    (package / "kernels" / "probe_leaf.py").write_text(LEAF.format(constant=2.0))
    assert run(package, USE, NUMBA_DISABLE_JIT="1") == (["3.0", "0"], "")


@COMPILED
@POSIX
def test_it_is_run_from_a_package_that_cannot_be_written_to(package: Path, tmp_path: Path):
    for each in (code(package), *(p for p in package.rglob("*") if p.is_dir())):
        each.chmod(0o555 if each.is_dir() else 0o444)
    assert use(package, tmp_path, HOME="/nowhere", XDG_CACHE_HOME="/proc/nowhere") == (42.0, 1, "")
    for each in package.rglob("*"):
        each.chmod(0o755)


@COMPILED
@pytest.mark.parametrize("file", ["probe.py", "probe_leaf.py", "tree.py", "algebra/__init__.py"])
def test_a_changed_kernel_never_runs_old_code(package: Path, tmp_path: Path, file: str):
    if file == "probe_leaf.py":
        (package / "kernels" / file).write_text(LEAF.format(constant=1.0))
    else:
        with open(package / "kernels" / file, "a") as stream:
            stream.write("\n# edited\n")
    value, hits, said = use(package, tmp_path)
    assert (value, hits) == (2.0 if file == "probe_leaf.py" else 42.0, 0)
    assert "sources of kernels were changed" in said


@COMPILED
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("import numba; numba.__version__ = '0.68.99'", "came compiled for Numba {numba}, and this is 0.68.99"),
        ("import llvmlite; llvmlite.__version__ = '0.99'", "and this is 0.99"),
        ("from importlib import machinery as m; m.EXTENSION_SUFFIXES = ['.cpython-399.so']", "another Python"),
        ("import platform; platform.machine = lambda: 'riscv64'", "another kind of machine"),
    ],
)
def test_another_numba_python_or_machine_never_runs_it(package: Path, tmp_path: Path, change: str, said: str):
    import numba

    (value, hits), told = run(package, f"{change}\n{USE}", SUPPLE_CACHE=str(tmp_path / "cache"))
    assert (float(value), int(hits)) == (42.0, 0)
    assert said.format(numba=numba.__version__) in told


@COMPILED
@pytest.mark.parametrize(
    "chosen",
    [{"NUMBA_OPT": "1"}, {"NUMBA_BOUNDSCHECK": "1"}, {"SUPPLE_SHORTCUTS": "0"}, {"SUPPLE_CHECKED": "1"}],
    ids=str,
)
def test_other_settings_never_run_it(package: Path, tmp_path: Path, chosen: dict[str, str]):
    value, hits, said = use(package, tmp_path, **chosen)
    assert (value, hits) == (42.0, 0)
    assert "other settings" in said


@COMPILED
@X86
def test_on_another_processor_it_is_compiled(package: Path, tmp_path: Path):
    value, hits, said = use(package, tmp_path, NUMBA_CPU_NAME="generic")
    assert (value, hits) == (42.0, 0)
    assert "no code came for this processor (generic)" in said


@COMPILED
def test_damaged_code_is_never_run(package: Path, tmp_path: Path):
    file = code(package)
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(MAGIC) + 100] ^= 1
    for damage in (b"", whole[:-1], whole + b"\0", bytes(len(whole)), bytes(flipped)):
        file.write_bytes(damage)
        value, hits, said = use(package, tmp_path)
        assert (value, hits) == (42.0, 0)
        assert f"{file.name} is damaged" in said
    keep(file, "some other key", b"payload")
    value, hits, said = use(package, tmp_path)
    assert (value, hits) == (42.0, 0)
    assert "is of another kernel" in said


@COMPILED
def test_a_description_that_lies_runs_nothing(package: Path, tmp_path: Path):
    """Whoever edits about.json to fit does not make the code fit: each file has its own key."""
    about = package / "kernels" / "shipped" / "about.json"
    (package / "kernels" / "probe_leaf.py").write_text(LEAF.format(constant=1.0))
    script = (
        "import json, sys; from supple.kernels.compiling import shipped; print(json.dumps(shipped.fit()._asdict()))"
    )
    words, _ = run(package, script)
    about.write_text(json.dumps(json.loads(about.read_text()) | json.loads(" ".join(words))))
    value, hits, said = use(package, tmp_path)
    assert (value, hits) == (2.0, 0)
    assert "no code came for these arguments" in said
    about.write_text("{")
    value, hits, said = use(package, tmp_path)
    assert (value, hits) == (2.0, 0)
    assert "about.json cannot be read" in said


@COMPILED
@POSIX
@pytest.mark.parametrize("what", ["package", "shipped", "level", "file"])
def test_what_others_may_write_to_is_never_loaded(package: Path, tmp_path: Path, what: str):
    file = code(package)
    place = {"package": package, "shipped": file.parents[1], "level": file.parent, "file": file}[what]
    place.chmod(0o777 if place.is_dir() else 0o666)
    value, hits, said = use(package, tmp_path)
    assert (value, hits) == (42.0, 0)
    assert re.search("open to others|is not ours alone", said)


@POSIX
def test_who_may_own_code_that_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shipped, "_is_own_group", lambda group, user: False)
    tmp_path.chmod(0o755)
    assert shipped.untrusted(tmp_path) == ""
    tmp_path.chmod(0o775)
    assert "open to others" in shipped.untrusted(tmp_path)
    monkeypatch.setattr(shipped, "_is_own_group", lambda group, user: True)  # that of the owner alone
    assert shipped.untrusted(tmp_path) == ""
    tmp_path.chmod(0o755)
    monkeypatch.setattr(shipped, "owners", lambda: (os.stat(tmp_path).st_uid + 1,))
    assert "belongs to somebody else" in shipped.untrusted(tmp_path)
    assert "cannot be read" in shipped.untrusted(tmp_path / "nowhere")
