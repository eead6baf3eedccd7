"""Where compiled code is kept, and what the user hears: with small kernels, so that compiling takes a second."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import breadth

pytest.importorskip("numba", reason="numba is not installed (the extra `fast`)")

SMALL = """
from numba import float64, njit

NAME = "numba"

@njit(float64(float64), cache=True)
def double(x):
    return 2.0 * x
"""
ASK = (
    "from breadth import kernels; k = kernels.load('numba'); print(k.NAME, k.double(2.0) if k.NAME == 'numba' else '')"
)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package with small kernels. Python keeps its own compiled files elsewhere."""
    folder = tmp_path / "src" / "breadth"
    shutil.copytree(Path(breadth.__file__).parent, folder, ignore=shutil.ignore_patterns("data", "__pycache__"))
    (folder / "kernels" / "numba.py").write_text(SMALL)
    return folder


def ask(copy, **settings):
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "BREADTH_COMPILED")
    }
    environment |= {"PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1", **settings}
    return subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)


def block(copy):
    """Make it impossible, for root too, to write beside the source and into a home. The rest of the environment."""
    (copy / "kernels" / "__pycache__").write_text("")
    temporary = copy.parents[1] / "tmp"
    temporary.mkdir()
    return {"HOME": "/dev/null/none", "XDG_CACHE_HOME": "/dev/null/none", "TMPDIR": str(temporary)}


def test_compiling_is_announced_when_it_happens_and_only_then(copy, tmp_path):
    first = ask(copy, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert first.stdout == "numba 4.0\n"
    assert first.stderr == "compiling breadth's kernels, which takes one to two minutes; this happens once\n"
    assert ask(copy, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stderr == ""


@pytest.mark.parametrize("changed", ["problem.py", "kernels/compiled/sets.py"])
def test_code_is_compiled_again_when_a_file_that_goes_into_it_changes(copy, changed):
    """Numba itself looks at the file of the function alone."""
    assert ask(copy).stderr.startswith("compiling")
    assert ask(copy).stderr == ""
    later = time.time() + 10.0
    os.utime(copy / changed, (later, later))
    assert ask(copy).stderr.startswith("compiling")


def test_where_nothing_can_be_written_code_goes_into_a_private_folder(copy):
    places = block(copy)
    first = ask(copy, **places)
    assert first.stdout == "numba 4.0\n"
    warnings = first.stderr.splitlines()
    assert len(warnings) == 2
    assert re.search(r"kept in .*breadth-kernels-\d+; set NUMBA_CACHE_DIR", warnings[0])
    assert warnings[1].startswith("compiling")
    (made,) = Path(places["TMPDIR"]).iterdir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    again = ask(copy, **places)
    assert again.stdout == "numba 4.0\n"
    assert len(again.stderr.splitlines()) == 1  # it is not compiled again


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
def test_a_folder_that_others_can_write_to_is_not_used(copy):
    places = block(copy)
    planted = Path(places["TMPDIR"]) / f"breadth-kernels-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert ask(copy, **places).stdout == "numba 4.0\n"
    assert list(planted.iterdir()) == []


def test_where_there_is_no_place_at_all_numpy_takes_over(copy):
    code = "import tempfile; tempfile.gettempdir = lambda: '/dev/null/none'; tempfile.tempdir = '/dev/null/none'; "
    places = block(copy)
    environment = {**os.environ, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1", **places}
    done = subprocess.run(
        [sys.executable, "-c", code + ASK], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "numpy \n"
    assert done.stderr.count("\n") == 1
    assert "numba cannot be used" in done.stderr


def test_a_damaged_cache_is_left_aside(copy, tmp_path):
    cache = tmp_path / "cache"
    ask(copy, NUMBA_CACHE_DIR=str(cache))
    for file in cache.rglob("*.nbi"):
        file.write_bytes(b"")
    places = block(copy)
    done = ask(copy, **{**places, "NUMBA_CACHE_DIR": str(cache)})
    assert done.stdout == "numba 4.0\n"
    assert "set NUMBA_CACHE_DIR" in done.stderr


def test_a_numba_that_cannot_be_imported_is_one_warning(copy):
    broken = copy.parents[1] / "broken" / "numba"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('Numba needs another NumPy')")
    done = ask(copy, PYTHONPATH=os.pathsep.join((str(broken.parent), str(copy.parent))))
    assert done.stdout == "numpy \n"
    assert done.stderr == "numba cannot be used (Numba needs another NumPy); NumPy does the same work, more slowly\n"


def test_registers_of_256_bits_gather_the_same(tmp_path):
    """A processor with 512 bits has these registers too, so both kinds can be tried. Each has its own compiled code."""
    vnni = pytest.importorskip("breadth.kernels.compiled.vnni")
    if vnni.TOGETHER == 0:
        pytest.skip("this processor has no instruction for products of bytes (VNNI)")
    code = """
import numpy as np
from breadth.kernels import numpy as plain
from breadth.kernels.compiled import vnni
rng = np.random.default_rng(0)
b = vnni.TOGETHER
codes = rng.integers(-127, 128, (301, 64)).astype(np.int8)
packed = rng.integers(1, 256, (16, b, 4)).astype(np.uint8)
ones = np.ones(301, dtype=np.float32)
lists = [(np.zeros((b, 400), dtype=np.int64), np.zeros((b, 400), dtype=np.float32), np.zeros(b, dtype=np.int64))
         for _ in range(2)]
for kernel, (positions, scores, counts) in zip((plain, vnni), lists):
    bars = np.full(b, 20_000, dtype=np.float32)
    keeps = np.full(b, 400)
    directions = packed, ones[:b], ones[:b], ones[:b]
    assert kernel.gather(codes, ones, ones, *directions, keeps, 0, bars, positions, scores, counts) == 301
assert all((one == other).all() for one, other in zip(*lists)) and lists[0][2].sum() > 100
print(b)
"""
    environment = {**os.environ, "BREADTH_VNNI": "256", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "32\n"
