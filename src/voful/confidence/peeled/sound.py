"""What peeled tests from a file must satisfy."""

from __future__ import annotations

import numpy as np

from voful.confidence.peeled.tests import flat_size, unpack
from voful.invariants import SLACK, Invariants
from voful.typing import FloatArray

STEEPEST = 1e20
"""No direction over its level, no price and no scale of a width is so large."""


def sound_tests(flat: FloatArray, dim: int, n: float, rewards: float) -> Invariants:
    """Of a flat array of tests after at most n rounds with rewards of at most this size."""
    yield "whole tests", (len(flat) - dim) % (flat_size(1, dim) - dim) == 0 and len(flat) >= dim
    T = unpack(flat, dim)
    sums = 10.0 * (n + 1.0) * (rewards + 2.0) ** 2  # |c| <= 1, |x| <= 1, |r| <= |y| + |theta|
    limits = (
        (T.nu, STEEPEST), (T.a, sums), (T.b, sums), (T.e, sums), (T.f, sums), (T.G, sums),
        (T.kappa, 1e60), (T.beta0, 1e60), (T.beta1, 1e60), (T.o, 1.0 + SLACK),
    )  # fmt: skip
    yield "sums of bounded terms", all((np.abs(view) <= most).all() for view, most in limits)
    positive = (T.e, T.kappa, T.beta0, T.beta1, np.diagonal(T.G, axis1=1, axis2=2))
    yield "sums of squares, and prices", all(bool((view >= 0.0).all()) for view in positive)
    roots = np.sqrt(np.diagonal(T.G, axis1=1, axis2=2))
    within = np.abs(T.G) <= (1.0 + SLACK) * roots[:, :, None] * roots[:, None, :] + SLACK
    yield "entries within those of the diagonal", bool(within.all())
