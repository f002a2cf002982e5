"""The log-likelihood L(theta) = sum n_v ln <theta, p_v> of a mixture: maximum, integral, level set.

Everything is relative to L at a reference: sums of n_v ln(1 + <theta - reference, p_v> /
<reference, p_v>) do not cancel, however long the run.
"""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray

STEPS = 500
"""At most, of a search; while it is far away each covers a twentieth of the rest."""


def relative_log_likelihood(
    p: FloatArray, n: FloatArray, reference: FloatArray, points: FloatArray
) -> FloatArray:
    """L(theta) - L(reference) for the rows theta of points; -inf where theta excludes the data."""
    ratio = ((points - reference) @ p.T) / (p @ reference)
    with np.errstate(divide="ignore"):
        levels: FloatArray = np.log1p(np.maximum(ratio, -1.0)) @ n
    return levels


def penalised_maximum(p: FloatArray, n: FloatArray, start: FloatArray, eps: float) -> FloatArray:
    """argmax of L + eps sum ln theta_i over the simplex, by Newton steps from a point inside.

    Both terms are self-concordant up to the factor eps: damped steps always converge. eps = 1 is
    Laplace's rule, a forecast that excludes nothing.
    """
    d = p.shape[1]
    theta = start
    system = np.zeros((d + 1, d + 1))
    system[d, :d] = system[:d, d] = 1.0
    for _ in range(STEPS):
        q = p @ theta
        gradient = (n / q) @ p + eps / theta
        curvature = (p * (n / (q * q))[:, None]).T @ p + np.diag(eps / (theta * theta))
        system[:d, :d] = curvature
        # Scaled by theta: entries of very different size on the boundary.
        scale = np.append(theta, 1.0)
        scaled = system * scale[:, None] * scale[None, :]
        right = np.append(gradient, 0.0) * scale
        step = theta * np.linalg.solve(scaled, right)[:d]
        decrement = math.sqrt(max(float(step @ curvature @ step), 0.0))
        # stay inside, and damp while far away
        reach = float(np.max(-step / theta))
        length = min(1.0, 0.95 / reach) if reach > 0.0 else 1.0
        if decrement > 0.25:
            length = min(length, max(1.0 / (1.0 + decrement / math.sqrt(eps)), 0.05))
        theta = theta + length * step
        theta = theta / theta.sum()
        if decrement <= 1e-3 * math.sqrt(eps):
            break
    return theta


def maximum_likelihood(p: FloatArray, n: FloatArray, start: FloatArray) -> FloatArray:
    """argmax of L over the simplex, missed by at most 1e-6 d, from a point inside.

    Penalties that fall; the search from a penalised maximum with eps = 1 is short.
    """
    theta = start
    for eps in (1e-2, 1e-4, 1e-6):
        theta = penalised_maximum(p, n, theta, eps)
    return theta


def mixture_evidence(p: FloatArray, n: FloatArray, theta_hat: FloatArray) -> float:
    """Lower bound of ln(integral of e^(L - L(theta_hat)) over the simplex), uniform law.

    Over the simplex with corners u_1..u_d, a part |det U| of the whole, Jensen's inequality and
    concavity give ln(integral) >= ln|det U| + (1/d) sum L(u_i), for any u_i in the simplex. Here
    u_i = (1 - a_i) theta_hat + a_i e_i, so that
    det U = prod a_i (1 + sum (1 - a_i) theta_hat_i / a_i), and each a_i is searched on a grid.
    """
    d = len(theta_hat)
    grid = 2.0 ** (-0.5 * np.arange(61))
    levels = np.empty((d, len(grid)))
    for i, corner in enumerate(np.eye(d)):
        points = theta_hat + grid[:, None] * (corner - theta_hat)
        levels[i] = relative_log_likelihood(p, n, theta_hat, points) / d
    a = np.full(d, 30)
    best = -np.inf
    while True:
        for i in range(d):
            others = sum((1.0 - grid[a[k]]) * theta_hat[k] / grid[a[k]] for k in range(d) if k != i)
            # a_i (1 + others + (1 - a_i) theta_i / a_i), without the other factors a_k
            volume = np.log(grid * (1.0 + others) + (1.0 - grid) * theta_hat[i])
            a[i] = int(np.argmax(volume + levels[i]))
        inner = 1.0 + float(np.sum((1.0 - grid[a]) * theta_hat / grid[a]))
        value = float(np.log(grid[a]).sum()) + math.log(inner)
        value += float(levels[np.arange(d), a].sum())
        if not value > best + 1e-9:
            return max(best, value)
        best = value


def outside_points(
    p: FloatArray, n: FloatArray, theta_hat: FloatArray, corners: FloatArray, price: float
) -> FloatArray:
    """Where the segments from theta_hat to the corners leave {L >= L(theta_hat) - price}: just out.

    Bisection, then Newton steps, which from outside stay outside since L is concave.
    """
    rows = np.maximum(((corners - theta_hat) @ p.T) / (p @ theta_hat), -1.0)
    inside, outside = np.zeros(len(corners)), np.ones(len(corners))
    for _ in range(12):
        middle = 0.5 * (inside + outside)
        low = np.log1p(middle[:, None] * rows) @ n < -price
        inside, outside = np.where(low, inside, middle), np.where(low, middle, outside)
    t = np.minimum(outside, 1.0 - 1e-9)
    for _ in range(4):
        value = np.log1p(t[:, None] * rows) @ n + price
        slope = (rows / (1.0 + t[:, None] * rows)) @ n
        t = np.where((value < 0.0) & (slope < 0.0), np.maximum(t - value / slope, inside), t)
    points: FloatArray = theta_hat + t[:, None] * (corners - theta_hat)
    return points
