"""Algorithm 2's tests with the paper's constants: layers of the variance, levels of the clip.

For moment m, layer i, level j and direction mu (line 16, Eq. "rl-conf-ball"),

    |sum over T^{m,i} of clip_j(x mu) (theta x - y)|
        <= 4 sqrt(sum over T^{m,i} of clip_j(x mu)^2 eta iota) + 4 l_j iota,

T^{m,i} the steps with eta in (l_{i+1}, l_i]: two halfspaces each, whose sums are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel
from voful.confidence.algebra import dot
from voful.confidence.levels import ell
from voful.confidence.mixture.observations import Observations
from voful.invariants import Invariants, whole
from voful.persistence import Stateful
from voful.typing import FloatArray, IntArray
from voful.validation import TOLERANCE

COMPUTABLE_LEVELS = 16
"""Levels that are kept where the directions are not given: down to 2^-14, VARLin2's to 2^-16."""


def paper_iota(dim: int, horizon: int, n_episodes: int, delta: float) -> float:
    """Algorithm 2, line 1: iota = 16 d ln(d H K / delta)."""
    return 16.0 * dim * math.log(dim * horizon * n_episodes / delta)


def paper_moments(horizon: int, n_episodes: int) -> int:
    """Algorithm 2, line 1: m = 0..L_0, L_0 = ceil(log2(K H)); how many these are."""
    return math.ceil(math.log2(n_episodes * horizon)) + 1


def paper_levels(horizon: int, n_episodes: int) -> int:
    """Algorithm 2, line 1: L_1 = L_2 = ceil(5 log2(H K) + 3)."""
    return math.ceil(5.0 * math.log2(horizon * n_episodes) + 3.0)


@dataclass(frozen=True)
class Layering:
    """What distinguishes VARLin's set, as printed, from VARLin2's: layers, levels and price.

    Attributes
    ----------
    levels
        The l_j at which products are clipped.
    iota
        Of the right sides.
    n_layers
        How many layers (l_{i+1}, l_i], l_i = 2^(2-i), of the variance are tested.
    open_end
        Whether the last layer takes smaller variances too; else these enter no test.
    """

    levels: tuple[float, ...]
    iota: float
    n_layers: int
    open_end: bool


def varlin_layering(dim: int, horizon: int, n_episodes: int, delta: float) -> Layering:
    """Algorithm 2, line 1: L_1 = L_2 layers and levels l_j = 2^(2-j); steps below are left out."""
    L = paper_levels(horizon, n_episodes)
    iota = paper_iota(dim, horizon, n_episodes, delta)
    return Layering(tuple(ell(j) for j in range(1, L + 1)), iota, L, open_end=False)


def varlin2_layering(dim: int, horizon: int, n_episodes: int, delta: float) -> Layering:
    """Levels 2^-l and layers (2^-l, 2^(1-l)], l = 1..L = floor(log2(H K)) + 1, the last one open.

    With l_i = 2^(2-i) these layers are i = 2..L+1: no variance exceeds 1.
    """
    L = math.floor(math.log2(horizon * n_episodes)) + 1
    levels = tuple(2.0**-level for level in range(1, L + 1))
    return Layering(levels, varlin2_iota(dim, horizon, n_episodes, delta), L + 1, open_end=True)


def varlin2_iota(dim: int, horizon: int, n_episodes: int, delta: float) -> float:
    """iota = O(d ln(H K / delta)) for which all tests, with all mu in B_1(2), hold at all times.

    With n = H K, G = ceil(log2 n) + 1 and M moments,

        p = ln(2 G M L^2 / delta) + d ln(1 + 4 n 2^L),   iota = 3p/8 + 1/4 + sqrt(3p/8 / n).

    Proof. One test with |X| <= b = 2^-l and variances that sum up to V = v b^2 p: by Freedman's
    inequality, for G slopes s = 0.7 2^(-j/2) and both signs at once and at all times,
    |S| <= b p min_s (c v s + 1/s), c = (e^0.7 - 1.7) / 0.49 < 0.642, off an event of probability
    2 G e^-p (`voful.concentration.lines_radius`). This is at most 4 sqrt(3/8 p V) + 3/2 b p: up to
    v = 25 by s = 0.7, as 0.45 v + 1.43 <= 2.44 sqrt(v) + 1.5; above by the slope next to the best
    one, 1 / sqrt(c v), at most a factor 2^(1/4) away, which gives 1.63 sqrt(v). That there is one
    follows from V <= n b^2.
    For all mu: B_1(2) has a net of (1 + 4 n / b)^d points at L1 distance r = b / n. As |x_i| <= 1,
    going to the next point changes no weight by more than r, so S by at most n r = b, and sqrt(V)
    by at most r sqrt(n): 1/4 and the root pay for both.
    """
    n = horizon * n_episodes
    L = math.floor(math.log2(n)) + 1
    lines = math.ceil(math.log2(n)) + 1
    tests = paper_moments(horizon, n_episodes) * L * L
    price = math.log(2.0 * lines * tests / delta) + dim * math.log1p(4.0 * n * 2.0**L)
    share = 0.375 * price
    return share + 0.25 + math.sqrt(share / n)


LAYERINGS = {"varlin": varlin_layering, "varlin2": varlin2_layering}


def layer(eta: FloatArray) -> IntArray:
    """Algorithm 2, line 15: i with eta in (l_{i+1}, l_i], l_i = 2^(2-i); huge where eta = 0."""
    mantissa, exponent = np.frexp(eta)  # eta = mantissa 2^exponent, mantissa in [1/2, 1)
    above = np.where(mantissa > 0.5, exponent, exponent - 1)  # smallest power of 2 >= eta
    return np.where(eta > 0.0, 2 - above, np.iinfo(np.int32).max).astype(np.int64)


@kernel
def _add(
    slots: IntArray,
    X: FloatArray,
    eta: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    directions: FloatArray,
    levels: FloatArray,
    totals: FloatArray,
) -> None:
    """Add clip_j(x mu) x, clip_j(x mu) y and clip_j(x mu)^2 eta to totals[slot, mu, j]."""
    C, d = X.shape
    for k in range(C):
        slot = slots[k]
        if slot < 0:
            continue
        for u in range(directions.shape[0]):
            product = dot(X[k], directions[u])
            for j in range(levels.shape[0]):
                weight = min(max(product, -levels[j]), levels[j])
                total = totals[slot, u, j]
                for i in range(d):
                    total[i] += weight * counts[k] * X[k, i]
                total[d] += weight * sums[k]
                total[d + 1] += weight * weight * counts[k] * eta[k]


LARGEST_KEY = 10_000  # of moments and layers, both logarithms
LARGEST_SUM = 1e30  # over all steps of all episodes, of terms of size at most 4


class LayeredTests(Stateful):
    """The sums of all tests; layers are made when the first step falls into them.

    Parameters
    ----------
    directions
        (n, d) the mu to test along; both signs of one are the same test.
    layering
        Layers, levels and price.
    width_scale
        Multiplies the right side.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("keys", "totals")
    _growing: ClassVar[tuple[str, ...]] = ("keys", "totals")

    def __init__(self, directions: FloatArray, layering: Layering, width_scale: float) -> None:
        self.directions = directions
        self.layering = layering
        self.iota = layering.iota
        self.levels = np.array(layering.levels)
        self.width_scale = width_scale
        n, d = directions.shape
        self.keys = np.empty((0, 2), dtype=np.int64)  # (m, i) of each row of totals
        self.totals = np.empty((0, n, len(self.levels), d + 2))

    def _invariants(self, state: Arrays) -> Invariants:
        keys, totals = state["keys"], state["totals"]
        yield "a moment and a layer each", keys.shape == (len(keys), 2)
        yield "sums for each key", totals.shape == (len(keys), *self.totals.shape[1:])
        yield "moments and layers", whole(keys) and bool((keys <= LARGEST_KEY).all())
        yield "each once", len(np.unique(keys, axis=0)) == len(keys)
        yield "sums of moderate terms", bool((np.abs(totals) <= LARGEST_SUM).all())
        yield "sums of squares", bool((totals[..., -1] >= 0.0).all())

    def add(self, m: int, seen: Observations, eta: FloatArray) -> None:
        """Learn the observations of moment m, with their variance bounds."""
        layers, last = layer(eta), self.layering.n_layers
        if self.layering.open_end:
            layers = np.minimum(layers, last)
        tested = np.unique(layers[layers <= last])
        self._make_room(m, tested)
        slots = np.full(len(layers), -1, dtype=np.int64)
        for i in tested:
            slots[layers == i] = np.flatnonzero((self.keys == (m, i)).all(axis=1))[0]
        counts = seen.counts.sum(axis=1)
        sums = (seen.counts * seen.targets).sum(axis=1)  # Algorithm 2, line 14: of V^(2^m)
        _add(slots, seen.X, eta, counts, sums, self.directions, self.levels, self.totals)

    def _make_room(self, m: int, layers: IntArray) -> None:
        known = self.keys[self.keys[:, 0] == m, 1]
        new = np.setdiff1d(layers, known)
        if len(new):
            keys = np.stack([np.full(len(new), m), new], axis=1)
            self.keys = np.concatenate([self.keys, keys])
            room = np.zeros((len(new), *self.totals.shape[1:]))
            self.totals = np.concatenate([self.totals, room])

    def thresholds(self) -> FloatArray:
        """The right sides, shape (layers, directions, levels)."""
        root = np.sqrt(self.totals[..., -1] * self.iota)
        right: FloatArray = self.width_scale * 4.0 * (root + self.levels * self.iota)
        return right

    def pass_at(self, theta: FloatArray) -> bool:
        """Whether theta passes every test (1e-9 relative slack)."""
        d = len(theta)
        left = np.abs(self.totals[..., :d] @ theta - self.totals[..., d])
        return bool((left <= self.thresholds() * (1.0 + TOLERANCE)).all())

    def halfspaces(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """(A, b, group of each row): A theta <= b; a group is a direction and a sign."""
        n, d = self.directions.shape
        normals = self.totals[..., :d].reshape(-1, d)
        means = self.totals[..., d].reshape(-1)
        right = self.thresholds().reshape(-1)
        groups = np.broadcast_to(np.arange(n)[None, :, None], self.totals.shape[:3]).reshape(-1)
        return (
            np.concatenate([normals, -normals]),
            np.concatenate([right + means, right - means]),
            np.concatenate([groups, n + groups]),
        )
