"""Algorithm 2's tests with the paper's constants: layers of the variance, levels of the clip.

For moment m, layer i, level j and direction mu (line 16, Eq. "rl-conf-ball"),

    |sum over T^{m,i} of clip_j(x mu) (theta x - y)|
        <= 4 sqrt(sum over T^{m,i} of clip_j(x mu)^2 eta iota) + 4 l_j iota,

T^{m,i} the steps with eta in (l_{i+1}, l_i]: two halfspaces each, whose sums are kept.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful.compiled import kernel
from voful.confidence.levels import ell
from voful.confidence.observations import Observations
from voful.persistence import Stateful
from voful.typing import FloatArray, IntArray
from voful.validation import TOLERANCE

COMPUTABLE_LEVELS = 16
"""Levels that are kept where the directions are not given: l_j >= 2^-14."""


def paper_iota(dim: int, horizon: int, n_episodes: int, delta: float) -> float:
    """Algorithm 2, line 1: iota = 16 d ln(d H K / delta)."""
    return 16.0 * dim * math.log(dim * horizon * n_episodes / delta)


def paper_moments(horizon: int, n_episodes: int) -> int:
    """Algorithm 2, line 1: m = 0..L_0, L_0 = ceil(log2(K H)); how many these are."""
    return math.ceil(math.log2(n_episodes * horizon)) + 1


def paper_levels(horizon: int, n_episodes: int) -> int:
    """Algorithm 2, line 1: L_1 = L_2 = ceil(5 log2(H K) + 3)."""
    return math.ceil(5.0 * math.log2(horizon * n_episodes) + 3.0)


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
            product = 0.0
            for i in range(d):
                product += X[k, i] * directions[u, i]
            for j in range(levels.shape[0]):
                weight = min(max(product, -levels[j]), levels[j])
                total = totals[slot, u, j]
                for i in range(d):
                    total[i] += weight * counts[k] * X[k, i]
                total[d] += weight * sums[k]
                total[d + 1] += weight * weight * counts[k] * eta[k]


class LayeredTests(Stateful):
    """The sums of all tests; layers are made when the first step falls into them.

    Parameters
    ----------
    directions
        (n, d) the mu to test along; both signs of one are the same test.
    iota
        The paper's, scaled.
    n_layers, n_levels
        L_1 and L_2. Steps with eta <= l_{L_1 + 1} enter no test, as printed.
    width_scale
        Multiplies the right side.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("keys", "totals")
    _growing: ClassVar[tuple[str, ...]] = ("keys", "totals")

    def __init__(
        self,
        directions: FloatArray,
        iota: float,
        n_layers: int,
        n_levels: int,
        width_scale: float,
    ) -> None:
        self.directions = directions
        self.iota = iota
        self.n_layers = n_layers
        self.levels = np.array([ell(j) for j in range(1, n_levels + 1)])
        self.width_scale = width_scale
        n, d = directions.shape
        self.keys = np.empty((0, 2), dtype=np.int64)  # (m, i) of each row of totals
        self.totals = np.empty((0, n, n_levels, d + 2))

    def add(self, m: int, seen: Observations, eta: FloatArray) -> None:
        """Learn the observations of moment m, with their variance bounds."""
        layers = layer(eta)
        tested = np.unique(layers[layers <= self.n_layers])
        self._make_room(m, tested)
        slots = np.full(len(layers), -1, dtype=np.int64)
        for i in tested:
            slots[layers == i] = np.flatnonzero((self.keys == (m, i)).all(axis=1))[0]
        counts = seen.counts.sum(axis=1)
        sums = (seen.counts * seen.targets).sum(axis=1)
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
