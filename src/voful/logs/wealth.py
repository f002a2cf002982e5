"""What a log's rows do to the wealth of fixed bets, and what the wealth says: the ends.

Row t has a weight w = pi(a)/h(a) for the target, another for the baseline (0 without one), and a
reward y in [0, 1]. For each fixed (b, kappa), with rho = pi - pi' and delta = w - w',

    q_b(a) = min(q(a), kappa/(b w(a)))      where rho(a) > 0
           = max(q(a), 1 - kappa/(b w(a)))  where rho(a) < 0
    Z_b    = sum_a rho(a) q_b(a) + delta (y - q_b(a_t)),     L_b += ln(1 + b Z_b),

and the lower end after t rows is the largest m with sum_b p_b exp(L_b - t ln(1 + b m)) >= 2/alpha.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.ellipsoids.ridge import open_ridge, ridge_update
from voful.typing import FloatArray, IntArray

VALUE: Final = 0
DIFFERENCE: Final = 1
AGAINST_LOGGED: Final = 2

# Places in `sums`.
ROWS: Final = 0
WEIGHT: Final = 1
WEIGHTED: Final = 2  # sum of w y
BASE_WEIGHT: Final = 3
BASE_WEIGHTED: Final = 4
REWARD: Final = 5  # sum of y
MODELLED: Final = 6  # sum of Z without clipping
SQUARES: Final = 7  # of the weights that are tested, as are the next three
TESTED: Final = 8
LARGEST_WEIGHT: Final = 9
EVALUE: Final = 10
PENDING: Final = 11  # rows in the products, not yet in the logarithms
N_SUMS: Final = 12

EVERY: Final = 8  # rows between logarithms
HUGE: Final = 1e12  # a weight whose row is taken into the logarithms at once
MOST: Final = 1e200  # of the wealth that tests the weights
LEAST: Final = 1e-200  # below, such a bet is lost for ever
SLACK: Final = 1e-9  # of the threshold, for rounding


@part
def settle(sums: FloatArray, logs: FloatArray, products: FloatArray) -> None:
    """Take the products into the logarithms."""
    sums[PENDING] = 0.0
    for side in range(logs.shape[0]):
        for j in range(logs.shape[1]):
            logs[side, j] += math.log(products[side, j])
            products[side, j] = 1.0


@part
def weigh(w: float, sums: FloatArray, tests: FloatArray) -> None:
    """Bets 2^4, ..., 2^-16 that weights average more than 1: V_b *= (1 + b w)/(1 + b)."""
    sums[TESTED] += w
    sums[SQUARES] += w * w
    sums[LARGEST_WEIGHT] = max(sums[LARGEST_WEIGHT], w)
    total, b = 0.0, 16.0
    for j in range(tests.shape[0]):
        V = tests[j] * ((1.0 + b * w) / (1.0 + b))
        V = MOST if V > MOST else 0.0 if V < LEAST else V
        tests[j] = V
        total += V
        b *= 0.5
    sums[EVALUE] = max(sums[EVALUE], total / tests.shape[0])


@part
def count_row(w: float, base: float, y: float, sums: FloatArray) -> None:
    """The sums that estimates are made of."""
    sums[ROWS] += 1.0
    sums[WEIGHT] += w
    sums[WEIGHTED] += w * y
    sums[BASE_WEIGHT] += base
    sums[BASE_WEIGHTED] += base * y
    sums[REWARD] += y
    sums[PENDING] += 1.0


@part
def running_prediction(kind: int, sums: FloatArray) -> float:
    """k_t: the weighted mean of earlier rewards; of a difference the mean of all that is logged."""
    if kind == VALUE:
        k = (0.5 + sums[WEIGHTED]) / (1.0 + sums[WEIGHT])
    else:
        k = (0.5 + sums[REWARD]) / (1.0 + sums[ROWS])
    return float(min(max(k, 0.0), 1.0))


@kernel
def bet_alike(
    kind: int,
    weights: FloatArray,
    base_weights: FloatArray,
    y: FloatArray,
    largest: FloatArray,
    plus: FloatArray,
    minus: FloatArray,
    b: FloatArray,
    limit: FloatArray,
    sums: FloatArray,
    logs: FloatArray,
    products: FloatArray,
    tests: FloatArray,
) -> None:
    """Rows with one prediction for all arms: k_t, or none where largest is infinite.

    largest: the row's largest w(a); plus and minus: the sums of rho's positive and negative parts.
    """
    n_bets, lower, upper = b.shape[0], products[0], products[1]
    for t in range(y.shape[0]):
        w, base, reward = weights[t], base_weights[t], y[t]
        delta, k = w - base, running_prediction(kind, sums)
        scale = 1.0 / max(largest[t], 1e-200)
        up, down = plus[t], minus[t]
        if max(w, base) > HUGE:
            settle(sums, logs, products)
        if kind == AGAINST_LOGGED:
            below, above = delta * reward, delta * (1.0 - reward)
            for j in range(n_bets):
                lower[j] *= 1.0 + b[j] * below
                upper[j] *= 1.0 + b[j] * above
        elif kind == VALUE:
            other, loss = 1.0 - k, 1.0 - reward
            for j in range(n_bets):
                most = limit[j] * scale
                low = most if most < k else k
                high = most if most < other else other
                lower[j] *= 1.0 + b[j] * (up * low + delta * (reward - low))
                upper[j] *= 1.0 + b[j] * (up * high + delta * (loss - high))
        else:
            for j in range(n_bets):
                most = limit[j] * scale
                low = most if most < k else k
                high = 1.0 - most if 1.0 - most > k else k
                mine, its = (low, high) if delta > 0.0 else (high, low)
                lower[j] *= 1.0 + b[j] * (up * low - down * high + delta * (reward - mine))
                upper[j] *= 1.0 + b[j] * (down * low - up * high - delta * (reward - its))
        count_row(w, base, reward, sums)
        weigh(0.5 * (w + base) if kind == DIFFERENCE else w, sums, tests)
        if sums[PENDING] >= EVERY or max(w, base) > HUGE:
            settle(sums, logs, products)


@part
def bet_side(
    rho: FloatArray,
    h: FloatArray,
    q: FloatArray,
    action: int,
    delta: float,
    y: float,
    b: FloatArray,
    limit: FloatArray,
    Z: FloatArray,
    wealth: FloatArray,
) -> None:
    """One side of a row whose arms have predictions of their own; Z is room.

    With g = q where rho > 0 and 1 - q where rho < 0, a clipped term is min(|rho| g, limit h), less
    |rho| where rho < 0: no division, and one sweep over the bets for each arm.
    """
    sign = 1.0 if rho[action] > 0.0 else -1.0
    size = abs(rho[action])
    start, share = 0.0, 0.0
    if size > 0.0:
        start = delta * y if sign > 0.0 else delta * (y - 1.0)
        share = -sign * delta / size
    most = size * (q[action] if sign > 0.0 else 1.0 - q[action])
    for j in range(b.shape[0]):
        reach = limit[j] * h[action]
        Z[j] = start + share * (reach if reach < most else most)
    for a in range(rho.shape[0]):
        if rho[a] == 0.0:
            continue
        most, less = (rho[a] * q[a], 0.0) if rho[a] > 0.0 else (-rho[a] * (1.0 - q[a]), rho[a])
        for j in range(b.shape[0]):
            reach = limit[j] * h[a]
            Z[j] += (reach if reach < most else most) + less
    for j in range(b.shape[0]):
        wealth[j] *= 1.0 + b[j] * Z[j]


@kernel
def bet_modelled(
    kind: int,
    actions: IntArray,
    weights: FloatArray,
    base_weights: FloatArray,
    y: FloatArray,
    rho: FloatArray,
    h: FloatArray,
    features: FloatArray,
    blocks: FloatArray,
    b: FloatArray,
    limit: FloatArray,
    sums: FloatArray,
    logs: FloatArray,
    products: FloatArray,
    tests: FloatArray,
) -> None:
    """Rows whose arms have predictions of their own: ridge regression on the rows before.

    rho, h: (n, A), h at most the arms' propensities. features: (n or 1, A, d) with one block, or
    (n, 1, d) with a block for each action.
    """
    n_arms, n_models, d = rho.shape[1], blocks.shape[0], features.shape[2] + 1
    q, flipped, x, Z = np.empty(n_arms), np.empty(n_arms), np.ones(d), np.empty(b.shape[0])
    centers = np.empty((n_models, d))
    for model in range(n_models):
        centers[model] = open_ridge(blocks[model], d).center
    for t in range(y.shape[0]):
        rows = features[t if features.shape[0] > 1 else 0]
        action, reward, w, base = actions[t], y[t], weights[t], base_weights[t]
        delta, plain = w - base, 0.0
        for a in range(n_arms):
            model, row = a if n_models > 1 else 0, a if rows.shape[0] > 1 else 0
            predicted = centers[model, 0]
            for i in range(1, d):
                predicted += centers[model, i] * rows[row, i - 1]
            q[a] = min(max(predicted, 0.0), 1.0)
            plain += rho[t, a] * q[a]
        sums[MODELLED] += plain + delta * (reward - q[action])
        if max(w, base) > HUGE:
            settle(sums, logs, products)
        bet_side(rho[t], h[t], q, action, delta, reward, b, limit, Z, products[0])
        if kind == VALUE:
            flipped[:] = 1.0 - q
            loss = 1.0 - reward
            bet_side(rho[t], h[t], flipped, action, delta, loss, b, limit, Z, products[1])
        else:
            flipped[:] = -rho[t]
            bet_side(flipped, h[t], q, action, -delta, reward, b, limit, Z, products[1])
        count_row(w, base, reward, sums)
        weigh(0.5 * (w + base) if kind == DIFFERENCE else w, sums, tests)
        if sums[PENDING] >= EVERY or max(w, base) > HUGE:
            settle(sums, logs, products)
        model = action if n_models > 1 else 0
        x[1:] = rows[action if rows.shape[0] > 1 else 0]
        ridge = open_ridge(blocks[model], d)
        ridge_update(ridge, x, reward, 1.0)
        centers[model] = ridge.center


@kernel
def lower_end(
    n: float,
    wealth: FloatArray,
    product: FloatArray,
    b: FloatArray,
    log_prior: FloatArray,
    threshold: float,
    least: float,
    most: float,
) -> float:
    """The largest m in [least, most] with ln K_n(m) >= threshold, by 60 bisections."""
    terms = np.empty(b.shape[0])
    low, high = least, most
    for step in range(62):
        m = low if step == 0 else high if step == 1 else 0.5 * (low + high)
        top = -math.inf
        for j in range(b.shape[0]):
            terms[j] = log_prior[j] + wealth[j] + math.log(product[j]) - n * math.log1p(b[j] * m)
            top = max(top, terms[j])
        total = 0.0
        for j in range(b.shape[0]):
            total += math.exp(terms[j] - top)
        rejected = top + math.log(total) >= threshold + SLACK
        if step == 0 and not rejected:
            return least
        if step == 1:
            if rejected:
                return most
        elif rejected:
            low = m
        elif step > 1:
            high = m
    return low
