"""What a matrix, its whitener and a ridge estimate from a file must satisfy."""

from __future__ import annotations

import math

import numpy as np

from voful.confidence.ellipsoids.ridge import open_ridge
from voful.invariants import SLACK, Invariants, whole
from voful.typing import FloatArray
from voful.validation import ObservationSpace

FAR = 1e40
"""No sum over 2^53 rounds is so many times its largest term; squares of it are finite."""

LARGEST_RADIUS = 1e120


def scale_of(space: ObservationSpace) -> float:
    """A bound on rewards."""
    low, high = space.reward_limits
    return 1.0 + max(abs(low), abs(high))


def sound_matrix(matrix: FloatArray, whitener: FloatArray, ridge: float) -> Invariants:
    """M >= ridge I where it is cheap to see, and a whitener (transposed) that is not larger."""
    diagonal = np.diagonal(matrix)
    yield "a diagonal of at least the ridge", bool((diagonal >= ridge * (1.0 - SLACK)).all())
    roots = np.sqrt(diagonal)
    limit = (1.0 + SLACK) * roots[:, None] * roots
    yield "entries within those of the diagonal", bool((np.abs(matrix) <= limit).all())
    yield "a symmetric matrix", bool((np.abs(matrix - matrix.T) <= SLACK * limit).all())
    yield "a triangular whitener", bool((np.tril(whitener, -1) == 0.0).all())
    yield "a whitener with a positive diagonal", bool((np.diagonal(whitener) >= 1e-150).all())
    largest = 10.0 / math.sqrt(ridge)
    yield "a whitener of M >= ridge I", bool((np.abs(whitener) <= largest).all())


def sound_log_det(log_det: float, start: float, dim: int) -> Invariants:
    """Of a matrix that began as the ridge and grew."""
    least = start - SLACK * (1.0 + abs(start))
    yield "ln det M of at least ln det(ridge I)", bool(least <= log_det <= 1000.0 * dim)


def sound_ridge(block: FloatArray, own: FloatArray, dim: int, rewards: float) -> Invariants:
    """Of one block, `own` being the object's (of which the ridge counts, which never changes).

    `rewards` is a bound on their size.
    """
    found, start = open_ridge(block, dim), float(open_ridge(own, dim).log_det_start[0])
    ridge = math.exp(start / dim)
    yield "the ridge of its arguments", bool(found.log_det_start[0] == start)
    yield "a whole number of rounds", whole(found.n)
    yield from sound_matrix(found.precision, found.whitener, ridge)
    yield from sound_log_det(float(found.log_det[0]), start, dim)
    far = FAR * rewards
    limit = far * (1.0 + np.sqrt(np.diagonal(found.precision)))
    yield "a response of rewards in the range", bool((np.abs(found.response) <= limit).all())
    near = far * max(1.0, 1.0 / math.sqrt(ridge))
    yield "an estimate of rewards in the range", bool((np.abs(found.center) <= near).all())
    yield "a radius that can be squared", bool(abs(found.radius[0]) <= LARGEST_RADIUS)


def sound_ridges(blocks: FloatArray, own: FloatArray, dim: int, rewards: float) -> Invariants:
    """Of each block, in its place."""
    for block, mine in zip(blocks, own, strict=True):
        yield from sound_ridge(block, mine, dim, rewards)
