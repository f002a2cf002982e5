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

from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.ellipsoids.ridge import LOG_DET, ridge_update_within
from voful.typing import FloatArray, IntArray

CHUNK = 64  # steps whose features stay in the cache


@kernel
def line_radius(floor: float, slope: float, offset: float, log_det_ratio: float) -> float:
    """floor + sqrt(slope log_det_ratio + offset)."""
    return floor + math.sqrt(slope * max(log_det_ratio, 0.0) + offset)


@kernel
def power_features(
    successors: IntArray,
    n_successors: IntArray,
    probabilities: FloatArray,
    values: FloatArray,
    horizon: int,
    states: IntArray,
    actions: IntArray,
    start: int,
    stop: int,
    v: FloatArray,
    X: FloatArray,
    Y: FloatArray,
    used: IntArray,
) -> None:
    """X[m, c] and Y[m, c] of the steps h = start + c < stop, for m < used[c]; v is room.

    From moment used[c] on features are 0 (X[used[c], c] is 0): they teach nothing.
    """
    M, _, d = X.shape
    last = values.shape[0] - 1
    for h in range(start, stop):
        c = h - start
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


@kernel
def means_and_errors(
    X: FloatArray,
    steps: int,
    center: FloatArray,
    whitener: FloatArray,
    beta: float,
    x: FloatArray,
    p: FloatArray,
    mean: FloatArray,
    width: FloatArray,
) -> None:
    """[<x, theta>] and beta |x|_{M^-1} for the first rows x of X; x and p are room."""
    for c in range(steps):
        for i in range(x.shape[0]):
            x[i] = X[c, i]
        mean[c] = min(max(dot(x, center), 0.0), 1.0)
        width[c] = beta * math.sqrt(whiten(whitener, x, p))


@kernel
def regress(
    precision: FloatArray,
    whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    X: FloatArray,
    Y: FloatArray,
    taken: IntArray,
    bounds: FloatArray,
    gamma_squared: float,
    x: FloatArray,
    p: FloatArray,
) -> None:
    """The rows `taken` of X in their order, with weights 1 / max(gamma^2 |x|_{S^-1}, bound)."""
    d = x.shape[0]
    direction, carries = np.empty(d), np.empty(d)
    for c in taken:
        for i in range(d):
            x[i] = X[c, i]
        squared = whiten(whitener, x, p)
        weight = 1.0 / max(gamma_squared * math.sqrt(squared), bounds[c])
        ridge_update_within(
            precision,
            whitener,
            response,
            center,
            tally,
            x,
            Y[c],
            weight,
            squared,
            p,
            direction,
            carries,
        )


@kernel
def learn_moments(
    successors: IntArray,
    n_successors: IntArray,
    probabilities: FloatArray,
    values: FloatArray,
    horizon: int,
    states: IntArray,
    actions: IntArray,
    lengths: IntArray,
    precisions: FloatArray,
    whiteners: FloatArray,
    responses: FloatArray,
    centers: FloatArray,
    tallies: FloatArray,
    log_det_ridge: float,
    radii: FloatArray,
    width_scale: float,
    alpha_squared: float,
    gamma_squared: float,
) -> None:
    """All regressions over all steps.

    radii[k, m]: floor, slope and offset of beta_m in the k-th of these episodes.
    """
    B, d = probabilities.shape[2:]
    M = centers.shape[0]
    X, Y = np.zeros((M, CHUNK, d)), np.empty((M, CHUNK))
    mean, width = np.zeros((M, CHUNK)), np.zeros((M, CHUNK))
    bounds, beta = np.empty(CHUNK), np.empty(M)
    used, taken = np.empty(CHUNK, dtype=np.int64), np.empty(CHUNK, dtype=np.int64)
    v, x, p = np.empty(B), np.empty(d), np.empty(d)
    old_whiteners, old_centers = np.empty(whiteners.shape), np.empty(centers.shape)
    for k in range(lengths.shape[0]):
        old_whiteners[:] = whiteners
        old_centers[:] = centers
        for m in range(M):
            growth = tallies[m, LOG_DET] - log_det_ridge
            floor, slope, offset = radii[k, m]
            beta[m] = width_scale * line_radius(floor, slope, offset, growth)
        for start in range(0, lengths[k], CHUNK):
            stop = min(start + CHUNK, lengths[k])
            steps = stop - start
            power_features(
                successors,
                n_successors,
                probabilities,
                values,
                horizon,
                states[k],
                actions[k],
                start,
                stop,
                v,
                X,
                Y,
                used,
            )
            most = 0
            for c in range(steps):
                most = max(most, used[c])
            if M > 1:
                for m in range(min(most + 1, M)):
                    means_and_errors(
                        X[m],
                        steps,
                        old_centers[m],
                        old_whiteners[m],
                        beta[m],
                        x,
                        p,
                        mean[m],
                        width[m],
                    )
            for m in range(most):
                n = 0
                for c in range(steps):
                    if used[c] > m:
                        taken[n] = c
                        n += 1
                        bound = 1.0
                        if m < M - 1:
                            bound = mean[m + 1, c] - mean[m, c] * mean[m, c]
                            bound += min(1.0, 2.0 * width[m, c])
                            bound += min(1.0, width[m + 1, c])
                        bounds[c] = max(bound, alpha_squared)
                regress(
                    precisions[m],
                    whiteners[m],
                    responses[m],
                    centers[m],
                    tallies[m],
                    X[m],
                    Y[m],
                    taken[:n],
                    bounds,
                    gamma_squared,
                    x,
                    p,
                )
