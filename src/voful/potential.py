"""The generalised quadratic potential (the paper's Lemma "gpl"), measured along a run.

For convex f >= 0, growing in |x|, with f(x)/x^2 <= 1 falling in |x|, and any x_i, mu_i in the unit
ball, the paper proves

    sum_i min{ f(x_i mu_i) / (sum_{j<i} f(x_j mu_i) + l^2), 1 } <= O(d^4 log^3(dt/l)),

and O(d log(dt/l)) for the hindsight form, whose denominator sums over all j.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.typing import FloatArray

_BLOCK = 256  # directions at a time: memory O(256 t) instead of O(t^2)


def clip(u: npt.ArrayLike, ell: float) -> FloatArray:
    """sign(u) min(|u|, ell) (the paper, Preliminaries)."""
    clipped: FloatArray = np.clip(np.asarray(u, dtype=np.float64), -ell, ell)
    return clipped


def relaxed_clip(u: npt.ArrayLike, ell: float) -> FloatArray:
    """f_ell, the convex relaxation of clip(x, ell) x: x^2 up to ell, then 2 ell |x| - ell^2.

    clip(x, ell) x <= f_ell(x) <= 2 clip(x, ell) x <= 2 x^2 (the paper, Eq. "convex").
    """
    size = np.abs(np.asarray(u, dtype=np.float64))
    return np.where(size <= ell, size * size, 2.0 * ell * size - ell * ell)


def potential_terms(
    X: npt.ArrayLike,
    directions: npt.ArrayLike,
    ell: float,
    *,
    f: Callable[[FloatArray], FloatArray] | None = None,
    hindsight: bool = False,
) -> FloatArray:
    """The terms of the lemma's sum, shape (t,); their cumulative sum is the potential.

    Parameters
    ----------
    X
        x_1..x_t, shape (t, d).
    directions
        mu_1..mu_t, shape (t, d); in the proof mu_i is the error of the optimistic parameter.
    ell
        l > 0.
    f
        Applied elementwise; default f_ell / 2, the paper's choice for VOFUL.
    hindsight
        Denominator over all rounds (the paper's symmetric version) instead of the past ones.
    """
    points = np.asarray(X, dtype=np.float64)
    dim = points.shape[-1] if points.ndim == 2 else 1
    x = validation.matrix("X", X, dim)
    mu = validation.matrix("directions", directions, dim)
    if mu.shape != x.shape:
        raise validation.fail("directions", f"an array of shape {mu.shape}", f"shape {x.shape}")
    ell = validation.positive_float("ell", ell)
    function = f if f is not None else lambda u: 0.5 * relaxed_clip(u, ell)
    t = x.shape[0]
    terms = np.empty(t)
    for start in range(0, t, _BLOCK):
        i = np.arange(start, min(start + _BLOCK, t))
        values = function(x @ mu[i].T)  # [j, i] = f(x_j mu_i)
        own = values[i, i - start]
        counted = values if hindsight else np.where(np.arange(t)[:, None] < i, values, 0.0)
        terms[i] = np.minimum(own / (counted.sum(axis=0) + ell * ell), 1.0)
    return terms


def elliptical_bound(dim: int, t: int, ell: float) -> float:
    """2 d ln(1 + t / (d l^2)): bounds the sum for f(x) = x^2 (the elliptical potential lemma).

    The paper's Lemma "bound_m2_aux2" weakens it to 4 d ln(t / l).
    """
    return 2.0 * dim * math.log1p(t / (dim * ell * ell))
