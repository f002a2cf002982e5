"""Faults of the folder in which compiled kernels are kept: the kernel goes on, and says so once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import errno
from voful.compiled import kernel
{fault}
@kernel
def add(a, b):
    return a + b
assert add(1.0, 2.0) == 3.0 and add(1, 2) == 3
print(sum(add.stats.cache_hits.values()))
"""

SAID = "so every process compiles anew"

FULL_DISK = """
import numba.core.caching as caching
def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")
caching.IndexDataCacheFile.save = full
"""


def run(tmp_path: Path, fault: str = "") -> list[int]:
    """(how often it is said, kernels found on disk) of a process with a small kernel."""
    script = tmp_path / "small.py"
    if not script.exists() or script.read_text() != CODE.format(fault=fault):
        stamp = script.stat() if script.exists() else None
        script.write_text(CODE.format(fault=fault))
        if stamp:
            os.utime(script, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return [done.stderr.count(SAID), int(done.stdout)]


def test_undisturbed(tmp_path: Path) -> None:
    """The control: kept, and found by the next process."""
    assert run(tmp_path) == [0, 0]
    assert run(tmp_path) == [0, 2]


def test_a_full_disk(tmp_path: Path) -> None:
    assert run(tmp_path, FULL_DISK) == [1, 0]


def test_a_truncated_index(tmp_path: Path) -> None:
    run(tmp_path)
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    index.write_bytes(index.read_bytes()[:20])
    assert run(tmp_path) == [1, 0]
    assert run(tmp_path)[0] == 0, "the index is whole again"


def test_truncated_kernels(tmp_path: Path) -> None:
    run(tmp_path)
    for kernel in (tmp_path / "cache").rglob("*.nbc"):
        kernel.write_bytes(kernel.read_bytes()[:50])
    assert run(tmp_path)[0] <= 1


def test_nowhere_to_write(tmp_path: Path) -> None:
    fault = """
import numba
made = numba.njit
def njit(*args, **options):
    if options.get("cache"):
        raise RuntimeError("cannot cache function: no locator available")
    return made(*args, **options)
numba.njit = njit
"""
    path = tmp_path / "nowhere.py"
    path.write_text(CODE.format(fault=fault))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(SAID) == 1
