"""Regressions on values and their powers, the learning half of UCRL-VTR and its successors.

Regression m = 0..M-1 sees x_m = (P_i V^(2^m)(s, a))_i and y_m = V^(2^m)(s') at each step, with
weight 1 / sigma_bar_m^2. With the sets of the episode's start and [.] the clip to [0, 1],

    sigma_bar_m^2 = max(gamma^2 |x_m|_{S_m^-1}, alpha^2, b_m),
    b_m = [<x_{m+1}, theta_{m+1}>] - [<x_m, theta_m>]^2
          + min(1, 2 beta_m |x_m|_{M_m^-1}) + min(1, beta_{m+1} |x_{m+1}|_{M_{m+1}^-1})

and b_{M-1} = 1, S_m the matrix of the step. UCRL-VTR is M = 1; UCRL-VTR+ is M = 2 without
leverage (gamma = 0); HF-UCRL-VTR+ is M ~ log2(K H).

All but the leverage is known at the start of the episode, and that is the regression's own. So
steps are taken a chunk at a time, and within it one regression after the other: the arrays of
one stay at hand, and each sees its steps in their order.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.algebra import dot, whiten
from voful.confidence.ellipsoids.ridge import Ridge, log_det_ratio, open_ridge, ridge_update_within
from voful.mdp.trajectories import Transitions, Walks
from voful.typing import FloatArray, IntArray

CHUNK = 64  # steps whose features stay in the cache


@part
def line_radius(floor: float, slope: float, offset: float, log_det_ratio: float) -> float:
    """floor + sqrt(slope log_det_ratio + offset)."""
    return floor + math.sqrt(slope * max(log_det_ratio, 0.0) + offset)


@part
def power_features(
    transitions: Transitions,
    values: FloatArray,
    horizon: int,
    states: IntArray,
    actions: IntArray,
    start: int,
    v: FloatArray,
    X: FloatArray,
    Y: FloatArray,
    used: IntArray,
) -> None:
    """X[m, c] and Y[m, c] of the steps h = start + c, c < len(used), for m < used[c]; v is room.

    From moment used[c] on features are 0 (X[used[c], c] is 0): they teach nothing.
    """
    successors, n_successors, probabilities = transitions
    M, _, d = X.shape
    last = values.shape[0] - 1
    for c in range(used.shape[0]):
        h = start + c
        s, a = states[h], actions[h]
        row = min(horizon - h - 1, last)  # of V_{h+1}
        n = n_successors[s, a]
        for b in range(n):
            v[b] = values[row, successors[s, a, b]]
        y = values[row, states[h + 1]]
        m, some = 0, True
        while some and m < M:
            some = False
            for i in range(d):
                total = 0.0
                for b in range(n):
                    total += probabilities[s, a, b, i] * v[b]
                X[m, c, i] = total
                some = some or total != 0.0
            if some:
                Y[m, c] = y
                y *= y
                for b in range(n):
                    v[b] *= v[b]
                m += 1
        used[c] = m


@part
def means_and_errors(
    ridge: Ridge, beta: float, X: FloatArray, p: FloatArray, mean: FloatArray, width: FloatArray
) -> None:
    """[<x, theta>] and beta |x|_{M^-1} for the rows x of X; p is room."""
    for c in range(X.shape[0]):
        mean[c] = min(max(dot(X[c], ridge.center), 0.0), 1.0)
        width[c] = beta * math.sqrt(whiten(ridge.whitener, X[c], p))


@part
def variance_bound(mean: FloatArray, width: FloatArray, m: int, c: int) -> float:
    """b_m of step c."""
    if m == mean.shape[0] - 1:
        return 1.0
    bound = mean[m + 1, c] - mean[m, c] * mean[m, c]
    bound += min(1.0, 2.0 * width[m, c])
    bound += min(1.0, width[m + 1, c])
    return float(bound)


@kernel
def learn_moments(
    transitions: Transitions,
    values: FloatArray,
    horizon: int,
    walks: Walks,
    blocks: FloatArray,
    radii: FloatArray,
    width_scale: float,
    alpha_squared: float,
    gamma_squared: float,
) -> None:
    """All regressions over all steps.

    A row of blocks is one regression, see `open_ridge`; radii[k, m]: floor, slope and offset of
    beta_m in the k-th of these episodes.
    """
    states, actions, lengths = walks
    B, d = transitions.probabilities.shape[2:]
    M = blocks.shape[0]
    X, Y = np.zeros((M, CHUNK, d)), np.empty((M, CHUNK))
    mean, width = np.zeros((M, CHUNK)), np.zeros((M, CHUNK))
    most_used = np.empty(CHUNK, dtype=np.int64)
    v, p, direction, carries = np.empty(B), np.empty(d), np.empty(d), np.empty(d)
    old, beta = np.empty(blocks.shape), np.empty(M)
    for k in range(lengths.shape[0]):
        for m in range(M):
            for i in range(blocks.shape[1]):
                old[m, i] = blocks[m, i]
            floor, slope, offset = radii[k, m]
            growth = log_det_ratio(open_ridge(old[m], d))
            beta[m] = width_scale * line_radius(floor, slope, offset, growth)
        for start in range(0, lengths[k], CHUNK):
            steps = min(CHUNK, lengths[k] - start)
            used = most_used[:steps]
            power_features(
                transitions, values, horizon, states[k], actions[k], start, v, X, Y, used
            )
            most = used.max()
            if M > 1:
                for m in range(min(most + 1, M)):
                    ridge = open_ridge(old[m], d)
                    means_and_errors(ridge, beta[m], X[m, :steps], p, mean[m], width[m])
            for m in range(most):
                ridge = open_ridge(blocks[m], d)
                for c in range(steps):
                    if used[c] > m:
                        x = X[m, c]
                        bound = max(variance_bound(mean, width, m, c), alpha_squared)
                        squared = whiten(ridge.whitener, x, p)
                        weight = 1.0 / max(gamma_squared * math.sqrt(squared), bound)
                        ridge_update_within(
                            ridge, x, Y[m, c], weight, squared, p, direction, carries
                        )
