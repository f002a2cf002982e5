"""What lines and ellipsoids from a file must satisfy."""

from __future__ import annotations

import numpy as np

from voful.confidence.ellipsoids.sound import FAR, LARGEST_RADIUS, sound_matrix
from voful.invariants import SLACK, Invariants
from voful.typing import FloatArray


def sound_lines(lines: FloatArray, origin: FloatArray, scale: float) -> Invariants:
    """Sums of bets whose slopes are of the order of `scale`, about a point of the unit ball."""
    yield "an origin in the ball", bool(np.linalg.norm(origin) <= 1.0 + SLACK)
    yield "sums of bounded bets", bool((np.abs(lines) <= FAR * scale).all())
    d = len(origin)
    G = lines[:, : d * d].reshape(-1, d, d)
    apart = np.abs(G - G.transpose(0, 2, 1))
    limit = SLACK * (scale + np.abs(G).max(axis=(1, 2), initial=0.0))[:, None, None]
    yield "symmetric matrices", bool((apart <= limit).all())


def sound_ellipsoid(
    precision: FloatArray,
    whitener: FloatArray,
    center: FloatArray,
    estimate: FloatArray,
    radius: FloatArray,
    ridge: float,
) -> Invariants:
    """A >= ridge I with its whitener, about a point that can be computed with."""
    yield from sound_matrix(precision, whitener, ridge)
    yield "a moderate centre", bool((np.abs(center) <= FAR).all())
    yield "an estimate in the ball", bool(np.linalg.norm(estimate) <= 1.0 + SLACK)
    yield "a radius that can be squared", bool(0.0 <= radius[0] <= LARGEST_RADIUS)


def sound_checks(checks: FloatArray, dim: int, ridge: float) -> Invariants:
    """Rows A, centre, radius with A >= ridge I where it is cheap to see."""
    diagonal = checks[:, : dim * dim : dim + 1]
    yield "diagonals of at least the ridge", bool((diagonal >= ridge * (1.0 - SLACK)).all())
    yield "moderate ellipsoids", bool((np.abs(checks) <= LARGEST_RADIUS).all())
    yield "radii", bool((checks[:, -1] >= 0.0).all())
