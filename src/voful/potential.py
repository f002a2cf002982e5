"""The generalised quadratic potential (the paper's Lemma "gpl"), measured along a run.

For convex f >= 0, growing in |x|, with f(x)/x^2 <= 1 falling in |x|, and any x_i, mu_i in the unit
ball, the paper proves

    sum_i min{ f(x_i mu_i) / (sum_{j<i} f(x_j mu_i) + l^2), 1 } <= O(d^4 log^3(dt/l)),

and O(d log(dt/l)) for the hindsight form, whose denominator sums over all j. For episodes, whose
steps all see the set of before the episode, `EpisodePotential` counts those that outgrow it.
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


def _matrix(name: str, X: npt.ArrayLike) -> FloatArray:
    """Rows of any dimension."""
    rows = np.asarray(X, dtype=np.float64)
    return validation.matrix(name, X, rows.shape[-1] if rows.ndim == 2 else 1)


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
    x = _matrix("X", X)
    mu = validation.matrix("directions", directions, x.shape[1])
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


def outgrowth(dim: int) -> float:
    """4 (d + 2)^2: growth of the potential within an episode that the paper's proof allows."""
    return 4.0 * (dim + 2) ** 2


class EpisodePotential:
    """Counts the episodes whose own steps outgrow the potential before them (Lemma "boundI").

    Phi_k(mu) = sum over the steps before episode k of clip(x mu, l) x mu + l^2, and Phi_{k,h} adds
    the steps of episode k before h. The paper bounds by O(d log^5(dHK)) how often, for some mu,
    Phi_{k,h}(mu) > 4 (d + 2)^2 Phi_k(mu), for every moment, layer of the variance and level l.
    Terms are not negative, so an episode outgrows if it does so at its end.

    Parameters
    ----------
    directions
        (n, d) the mu to watch.
    levels
        The l to watch; default: 4 * 2^-j, j = 1..12.
    """

    def __init__(self, directions: npt.ArrayLike, levels: npt.ArrayLike | None = None) -> None:
        self._mu = _matrix("directions", directions)
        watched = 4.0 * 0.5 ** np.arange(1, 13) if levels is None else np.atleast_1d(levels)
        self._levels = np.array([validation.positive_float("levels", ell) for ell in watched])
        self._phi: dict[int, FloatArray] = {}
        self.episodes = 0
        self.outgrown = 0

    def add(self, X: npt.ArrayLike, layers: npt.ArrayLike | None = None) -> bool:
        """Add an episode's inputs x_{k,h}, shape (T, d); whether it outgrew what was before.

        Parameters
        ----------
        X
            One row a step.
        layers
            (T,) the variance layer i of each step; default: all in one.
        """
        x = validation.matrix("X", X, self._mu.shape[1])
        layer = np.zeros(len(x), dtype=np.int64) if layers is None else np.asarray(layers)
        if layer.shape != (len(x),):
            raise validation.fail_shape("layers", layer.shape, f"shape ({len(x)},)")
        outgrew = False
        for i in np.unique(layer):
            products = x[layer == i] @ self._mu.T
            more = np.array([(clip(products, ell) * products).sum(0) for ell in self._levels])
            floor = np.broadcast_to((self._levels * self._levels)[:, None], more.shape)
            before = self._phi.get(int(i), floor)
            outgrew = outgrew or bool((before + more > outgrowth(x.shape[1]) * before).any())
            self._phi[int(i)] = before + more
        self.episodes += 1
        self.outgrown += outgrew
        return outgrew
