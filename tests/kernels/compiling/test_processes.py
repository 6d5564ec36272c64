"""Fresh processes with one small kernel: what they keep, what they load, and what they never load."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from supple.kernels.compiling import INTERPRETED, cache as caching
from supple.kernels.compiling.cache import keep

POSIX = pytest.mark.skipif(os.name != "posix", reason="files have owners and modes on POSIX only")
SOURCES = Path(caching.__file__).parents[3]
# A module whose name makes it one of ours, with one small kernel, in a package of which no more is imported than is needed.
PROBE = """
import os, sys, types
module = types.ModuleType("supple.probe")
sys.modules["supple.probe"] = module
from supple.kernels.compiling import entry
exec(compile("def probe(x):\\n    return 2.0 * x + 1.0\\n", "probe", "exec"), module.__dict__)
probe = entry(module.probe)
print(probe(20.5), sum(probe.stats.cache_hits.values()))
"""


def run(cache: Path, before: str = "") -> tuple[float, int, str]:
    """The probe's answer in a fresh process, how often it was loaded, and what was said."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_"))}
    settings = {**kept, "SUPPLE_CACHE": str(cache), "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(
        [sys.executable, "-c", before + PROBE], env=settings, capture_output=True, text=True, check=True
    )
    value, hits = done.stdout.split()
    return float(value), int(hits), done.stderr


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_damaged_cache_is_compiled_anew_with_one_line(tmp_path: Path):
    cache, chance = tmp_path / "cache", random.Random(2)
    value, hits, said = run(cache)
    assert (value, hits) == (42.0, 0)
    assert said.count("\n") == 1
    assert "compiling probe" in said
    assert run(cache) == (42.0, 1, "")
    (file,) = cache.rglob("*.code")
    whole = file.read_bytes()
    flipped = bytearray(whole)
    for _ in range(20):
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    elsewhere = tmp_path / "elsewhere" / "x"
    keep(elsewhere, "of another Python", b"whatever")
    for damage in (b"", whole[: len(whole) // 2], bytes(len(whole)), bytes(flipped), elsewhere.read_bytes()):
        file.write_bytes(damage)
        value, hits, said = run(cache)
        assert (value, hits) == (42.0, 0)
        assert said.count("\n") == 1
        assert re.search("is damaged|is of another kernel", said)
        assert file.read_bytes() != damage
    assert run(cache) == (42.0, 1, "")  # what was compiled anew was kept


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_sealed_file_that_does_not_load_is_compiled_anew(tmp_path: Path):
    script = PROBE + (
        "import pickle; from supple.kernels.compiling.cache import keep\n"
        "place = probe._cache.place(probe.signatures[0], probe.targetctx.codegen())\n"
        "keep(*place, pickle.dumps(('not', 'a', 'result')))"
    )
    settings = {
        **os.environ,
        "SUPPLE_CACHE": str(tmp_path / "c"),
        "PYTHONPATH": str(SOURCES),
    }
    subprocess.run([sys.executable, "-c", script], env=settings, capture_output=True, check=True)
    value, hits, said = run(tmp_path / "c")
    assert (value, hits) == (42.0, 0)
    assert "cannot be loaded" in said
    assert said.count("\n") == 1


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_another_numba_never_runs_what_this_one_kept(tmp_path: Path):
    assert run(tmp_path / "cache")[:2] == (42.0, 0)
    upgrade = "import numba; numba.__version__ = '0.68.99'\n"
    assert run(tmp_path / "cache", upgrade)[:2] == (42.0, 0)
    assert run(tmp_path / "cache", upgrade)[:2] == (42.0, 1)  # each finds its own
    assert run(tmp_path / "cache") == (42.0, 1, "")


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_of_processes_that_begin_at_once_one_compiles(tmp_path: Path):
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: run(tmp_path / "cache"), range(4)))
    assert {value for value, _, _ in answers} == {42.0}
    assert sum(hits for _, hits, _ in answers) == 3
    assert sum("compiling probe (" in said and "waiting" not in said for _, _, said in answers) == 1
    assert not list(tmp_path.rglob("*.lock"))
    assert run(tmp_path / "cache") == (42.0, 1, "")


@POSIX
@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_without_a_folder_to_trust_nothing_is_kept_and_one_line_says_so(tmp_path: Path):
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    value, hits, said = run(cache)
    assert (value, hits) == (42.0, 0)
    assert said.count("\n") == 1
    assert "anew in every process" in said
    assert "open to others" in said
    assert not list(cache.iterdir())


@POSIX
@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_on_a_full_disk_it_works_and_says_that_nothing_is_kept(tmp_path: Path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"  # no file can grow
    value, hits, said = run(tmp_path / "cache", full)
    assert (value, hits) == (42.0, 0)
    assert "could not be kept, and is compiled again by the next process" in said
    assert run(tmp_path / "cache")[:2] == (42.0, 0)
    assert run(tmp_path / "cache") == (42.0, 1, "")
