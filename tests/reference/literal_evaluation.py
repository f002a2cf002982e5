"""Evaluation from logs, literally: pure NumPy, O(n G A); the compiled engine must equal it."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray, IntArray

SLACK = 1e-9  # of the threshold


def components(b: FloatArray, prior: FloatArray, difference: bool = False) -> FloatArray:
    """(b, kappa, weight): each bet with kappa 1/2 and 9/10, half its weight each.

    A difference with b > 1/16 only with 1/2.
    """
    rows = []
    for bet, p in zip(b, prior / prior.sum(), strict=True):
        kappas = (0.5,) if difference and bet > 1 / 16 else (0.5, 0.9)
        rows += [(bet, kappa, p / len(kappas)) for kappa in kappas]
    return np.array(rows).T


VALUE = components(2.0 ** np.arange(4, -17, -1.0), np.ones(21))
DIFFERENCE = components(2.0 ** np.arange(-2, -17, -1.0), np.ones(15), True)


def horizon(n: int, failure_prob: float, difference: bool = False) -> FloatArray:
    k = np.arange(6, -7, -1.0)
    b = math.sqrt(2 * math.log(2 / failure_prob) / n) * 2.0**k
    p = 0.5 ** np.abs(k)
    keep = b <= 0.25 if difference else b > 0
    return components(b[keep], p[keep], difference)


def log_wealth(
    rho: FloatArray,
    h: FloatArray,
    chosen: IntArray,
    y: FloatArray,
    q: FloatArray,
    b: float,
    kappa: float,
    wbar: FloatArray | None = None,
) -> float:
    """sum_s log(1 + b Z_{s,b}) for one bet; rho, h, q (n, A); h may be 0; wbar bounds |rho|/h."""
    row = np.arange(len(y))
    with np.errstate(divide="ignore", invalid="ignore"):
        if wbar is None:
            wbar = np.where(rho == 0, 0.0, np.abs(rho) / h)
        limit = kappa / (b * wbar)  # inf where rho = 0, 0 where unsupported
    qb = np.where(rho > 0, np.minimum(q, limit), np.where(rho < 0, np.maximum(q, 1 - limit), q))
    delta = rho[row, chosen] / h[row, chosen]
    Z = (rho * qb).sum(1) + delta * (y - qb[row, chosen])
    return float(np.log1p(b * Z).sum())


def lower(
    n: int, L: FloatArray, b: FloatArray, prior: FloatArray, threshold: float, lo: float, hi: float
) -> float:
    logp = np.log(prior / prior.sum())

    def K(m: float) -> float:
        v = logp + L - n * np.log1p(b * m)
        return float(v.max() + math.log(np.exp(v - v.max()).sum()))

    if K(lo) < threshold:
        return lo
    if K(hi) >= threshold:
        return hi
    for _ in range(60):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if K(mid) >= threshold else (lo, mid)
    return lo


def value(
    pi: FloatArray,
    h: FloatArray,
    chosen: IntArray,
    rewards: FloatArray,
    q: FloatArray,
    failure_prob: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    wbar: FloatArray | None = None,
    bets: FloatArray = VALUE,
) -> tuple[float, float]:
    lo, hi = reward_range
    y = (rewards - lo) / (hi - lo)
    b, kappa, prior = bets
    t, n = math.log(2 / failure_prob) + SLACK, len(y)
    pairs = list(zip(b, kappa, strict=True))
    L = np.array([log_wealth(pi, h, chosen, y, q, x, k, wbar) for x, k in pairs])
    U = np.array([log_wealth(pi, h, chosen, 1 - y, 1 - q, x, k, wbar) for x, k in pairs])
    below, above = (lower(n, side, b, prior, t, 0, 1) for side in (L, U))
    return lo + (hi - lo) * below, hi - (hi - lo) * above


def difference(
    pi: FloatArray,
    pi2: FloatArray,
    h: FloatArray,
    chosen: IntArray,
    y: FloatArray,
    q: FloatArray,
    failure_prob: float = 0.05,
    wbar: FloatArray | None = None,
    bets: FloatArray = DIFFERENCE,
) -> tuple[float, float]:
    b, kappa, p = bets
    t, n, rho = math.log(2 / failure_prob) + SLACK, len(y), pi - pi2
    pairs = list(zip(b, kappa, strict=True))
    L = np.array([log_wealth(rho, h, chosen, y, q, x, k, wbar) for x, k in pairs])
    U = np.array([log_wealth(-rho, h, chosen, y, q, x, k, wbar) for x, k in pairs])
    return lower(n, L, b, p, t, -1, 1), -lower(n, U, b, p, t, -1, 1)


# --- what is stated by formulas -----------------------------------------------------------------


def against_logged(
    w: FloatArray, y: FloatArray, failure_prob: float = 0.05, bets: FloatArray = DIFFERENCE
) -> tuple[float, float]:
    """Z = (w - 1) y below, (w - 1)(1 - y) above, b <= 1/4."""
    b, _, p = bets
    t, n = math.log(2 / failure_prob) + SLACK, len(y)
    L = np.array([np.log1p(x * (w - 1) * y).sum() for x in b])
    U = np.array([np.log1p(x * (w - 1) * (1 - y)).sum() for x in b])
    return lower(n, L, b, p, t, -1, 1), -lower(n, U, b, p, t, -1, 1)


def running(w: FloatArray, y: FloatArray) -> FloatArray:
    """k_t = (1/2 + sum_{s<t} w y) / (1 + sum_{s<t} w), clipped to [0, 1]."""
    k = [(0.5 + (w[:t] * y[:t]).sum()) / (1 + w[:t].sum()) for t in range(len(y))]
    clipped: FloatArray = np.clip(np.array(k), 0.0, 1.0)
    return clipped


def ridge_predictions(arms: FloatArray, chosen: IntArray, y: FloatArray) -> FloatArray:
    """(n, A): ridge 1 with a penalised intercept on earlier rows, clipped to [0, 1]."""
    n, n_arms, d = arms.shape
    z = np.concatenate([np.ones((n, n_arms, 1)), arms], axis=2)
    q = np.empty((n, n_arms))
    for t in range(n):
        X = z[np.arange(t), chosen[:t]]
        q[t] = z[t] @ np.linalg.solve(np.eye(d + 1) + X.T @ X, X.T @ y[:t])
    return np.clip(q, 0.0, 1.0)


def weight_evalue(w: FloatArray) -> float:
    """max_t sum_b p_b prod_{s<=t} (1 + b w_s)/(1 + b), and 1 before any row."""
    b = 2.0 ** np.arange(4, -17, -1.0)
    steps = np.log1p(b * w[:, None]) - np.log1p(b)
    return max(1.0, float(np.exp(steps.cumsum(axis=0)).mean(axis=1).max(initial=1.0)))
