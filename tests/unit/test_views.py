"""Named parts of a block: the same for Python and for kernels, alive as long as they are used."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from voful.typing import FloatArray
from voful.views import borrowed, view


@numba.njit
def viewed(block: FloatArray, start: int, rows: int, columns: int) -> float:
    part = view(block, start, (rows, columns))
    part[rows - 1, columns - 1] += 1.0
    return float(part.sum())


@numba.njit
def lent(block: FloatArray, start: int, rows: int, columns: int) -> float:
    part = borrowed(block, start, (rows, columns))
    part[rows - 1, columns - 1] += 1.0
    return float(part.sum())


@pytest.mark.parametrize("kernel", [viewed, lent])
@pytest.mark.parametrize(("start", "rows", "columns"), [(0, 1, 1), (2, 3, 4), (5, 5, 3)])
def test_kernels_see_what_python_sees(kernel: object, start: int, rows: int, columns: int) -> None:
    block, expected = np.arange(20.0), np.arange(20.0)
    plain = getattr(kernel, "py_func", kernel)
    assert kernel(block, start, rows, columns) == plain(expected, start, rows, columns)  # type: ignore[operator]
    np.testing.assert_array_equal(block, expected)
    assert np.shares_memory(view(block, start, (rows, columns)), block)


PLAY = """
import hashlib
import numba, numpy as np
import voful
from voful.views import borrowed

rng, digest = np.random.default_rng(0), hashlib.sha256()
arms = rng.normal(size=(6, 3)) / 4
for policy in (voful.BetOFUL(3), voful.BetOFUL(3, on_change="restart"), voful.CertifiedUCB(3)):
    for _ in range(600):  # with refreshes
        x = arms[policy.select(arms)]
        policy.update(x, float(x @ [0.5, -0.3, 0.2]) + rng.uniform(-0.1, 0.1))
    for _ in range(300):  # a world that contradicts the set
        policy.update(arms[0], rng.choice([-0.9, 0.9]))
    for array in policy._state[:1]:
        digest.update(array.tobytes())
first, other = voful.BetOFUL(3), voful.BetOFUL(3)
for policy in (first, other):
    policy.partial_fit(np.tile(arms, (80, 1)), rng.uniform(-1, 1, 480))
digest.update(voful.merge([first, other])._state[0].tobytes())
print(digest.hexdigest())


@numba.njit
def dangling(n):
    part = borrowed(np.ones(n), 0, (n,))  # nothing holds the block
    other, total = np.empty(n), 0.0  # most likely in its place
    for i in range(n):
        total += part[i]
    return total, other[0]


print(dangling(300)[0])
"""


def play(perturb: int) -> list[str]:
    """What is printed where the allocator fills what it hands out and takes back with a pattern."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAY],
        env={**os.environ, "MALLOC_PERTURB_": str(perturb)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_nothing_is_read_from_memory_that_was_freed() -> None:
    """The control borrows from a block that nothing holds: it reads the pattern."""
    (played, control), (played_again, other_control) = play(85), play(204)
    assert played == played_again
    assert control != other_control
