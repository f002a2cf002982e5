"""A policy's rounds as kernels over its state, for loops that never leave compiled code.

A policy whose `select` and `update` come down to kernels names three of them in ``_kernels`` and
gives their common first argument in ``_state``: a tuple of its live arrays and its constants. They
call what `select`, `update` and `contains` call, in the same order, so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from voful.bandits.optimism import most_optimistic_in_ellipsoid, most_optimistic_in_ellipsoids
from voful.compiled import kernel
from voful.confidence.algebra import quadratic_form
from voful.confidence.ellipsoids.intersection import in_all
from voful.confidence.ellipsoids.ridge import within
from voful.typing import BoolArray, FloatArray

State: TypeAlias = tuple[Any, ...]

Ridge: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""What `ridge_update` updates: precision, whitener, response, center, tally."""


class Kernels(NamedTuple):
    """The rounds of one policy.

    Attributes
    ----------
    choose
        (state, arms, mask) -> row of arms.
    observe
        (state, x, reward, variance): what `update` does.
    holds
        (state, theta) -> whether theta is in the set, given that it is in the set's ball.
    """

    choose: Callable[[Any, FloatArray, BoolArray], int]
    observe: Callable[[Any, FloatArray, float, float], None]
    holds: Callable[[Any, FloatArray], bool]


@kernel
def no_set(state: State, theta: FloatArray) -> bool:
    """`Kernels.holds` of a policy without a set; nobody asks."""
    return False


@kernel
def choose_in_ellipsoid(ridge: Ridge, radius: float, arms: FloatArray, mask: BoolArray) -> int:
    """Optimism over one ellipsoid; where it is empty, means decide."""
    usable = radius if radius >= 0.0 else 0.0
    return most_optimistic_in_ellipsoid(arms, mask, ridge[3], ridge[1], usable)


@kernel
def in_ellipsoid(ridge: Ridge, radius: float, theta: FloatArray) -> bool:
    """Whether theta is in the ellipsoid."""
    return radius >= 0.0 and within(quadratic_form(ridge[0], theta - ridge[3]), radius)


@kernel
def usable_radii(radii: FloatArray) -> FloatArray:
    """The radii, or zeros where an ellipsoid is empty: then means decide."""
    return radii if np.all(radii >= 0.0) else np.zeros(radii.shape[0])


@kernel
def choose_in_ellipsoids(
    ridges: Ridge, radii: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """Optimism over an intersection."""
    return most_optimistic_in_ellipsoids(arms, mask, ridges[3], ridges[1], usable_radii(radii))


@kernel
def in_ellipsoids(ridges: Ridge, radii: FloatArray, theta: FloatArray) -> bool:
    """Whether theta is in every ellipsoid."""
    return bool(np.all(radii >= 0.0)) and in_all(ridges[0], ridges[3], radii, theta)
