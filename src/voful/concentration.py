"""The inequalities, as pure functions: each gives a radius and says when it holds.

X_1, X_2, ... are martingale differences with |X_i| <= b; S = sum X_i. "Fixed n" means that the
inequality holds at one n chosen in advance, "all n" that it holds at all n at once.
"""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray

# --- the paper's ------------------------------------------------------------------------------


def paper_empirical_bernstein(sum_squares: float, b: float, delta: float) -> float:
    """|S| <= 8 sqrt(sum X_i^2 ln(1/delta)) + 16 b ln(1/delta)  (the paper, Theorem "m0m1").

    Fixed n, delta < 1/e; fails with probability at most `paper_empirical_bernstein_failure`.
    """
    log = math.log(1.0 / delta)
    return 8.0 * math.sqrt(sum_squares * log) + 16.0 * b * log


def paper_empirical_bernstein_failure(n: int, delta: float) -> float:
    """6 delta log2(n): the failure probability of `paper_empirical_bernstein`."""
    return 6.0 * delta * math.log2(n)


def paper_bernstein(sum_variances: float, b: float, delta: float, epsilon: float) -> float:
    """|S| <= 2 sqrt(2 V ln(1/delta)) + 2 sqrt(epsilon ln(1/delta)) + 2 b ln(1/delta).

    V = sum E[X_i^2 | F_{i-1}], any epsilon > 0; fixed n (the paper's Lemma "ten", from Zhang, Ji,
    Du 2020, Lemma 11; VARLin rests on it). Fails with probability at most
    `paper_bernstein_failure`.
    """
    log = math.log(1.0 / delta)
    return 2.0 * (math.sqrt(2.0 * sum_variances * log) + math.sqrt(epsilon * log) + b * log)


def paper_bernstein_failure(n: int, b: float, delta: float, epsilon: float) -> float:
    """2 (log2(b^2 n / epsilon) + 1) delta: the failure probability of `paper_bernstein`."""
    return 2.0 * (math.log2(b * b * n / epsilon) + 1.0) * delta


def variances_from_squares(sum_squares: float, delta: float) -> float:
    """Sum E[X_i^2 | F_{i-1}] <= 8 sum X_i^2 + 4 ln(4/delta), |X_i| <= 1 (Lemma "mchernoff2").

    Fixed n; fails with probability at most `variance_lemma_failure`.
    """
    return 8.0 * sum_squares + 4.0 * math.log(4.0 / delta)


def squares_from_variances(sum_variances: float, delta: float) -> float:
    """Sum X_i^2 <= 8 sum E[X_i^2 | F_{i-1}] + 4 ln(4/delta), |X_i| <= 1 (Lemma "mchernoff").

    Fixed n; fails with probability at most `variance_lemma_failure`.
    """
    return 8.0 * sum_variances + 4.0 * math.log(4.0 / delta)


def variance_lemma_failure(n: int, delta: float) -> float:
    """(ceil(log2 n) + 1) delta: the failure probability of the two variance lemmas."""
    return (math.ceil(math.log2(n)) + 1.0) * delta


# --- KT: coin betting -------------------------------------------------------------------------


def kt_log_price(n: int, delta: float) -> float:
    """xi = 1/2 ln(pi n + 1) + ln(1/delta), the exponent of `kt_radius`."""
    return 0.5 * math.log(math.pi * n + 1.0) - math.log(delta)


def kt_radius(sum_squares: float, n: int, b: float, delta: float) -> float:
    """|S| <= sqrt(2 xi sum X_i^2) + b xi, xi = 1/2 ln(pi n + 1) + ln(1/delta), for all n.

    The wealth W = integral of prod (1 + beta X_i / b) over the arcsine law of beta in [-1, 1] is a
    nonnegative martingale, so W < 1/delta for ever with probability 1 - delta (Ville). ln W is at
    least that of the best constant beta minus 1/2 ln(pi n + 1) (Krichevsky, Trofimov 1981;
    Cover, Ordentlich 1996), and ln(1 + beta c) >= beta c - c^2 beta^2 / (2 (1 - beta)) for c >= -1
    (Fan, Grama, Liu 2015), whose best beta gives the radius.
    """
    xi = kt_log_price(n, delta)
    return math.sqrt(2.0 * sum_squares * xi) + b * xi


# --- a grid of lines --------------------------------------------------------------------------


def line_grid(b: float, n_lines: int = 41) -> FloatArray:
    """Slopes 0.7 / b * 2^(-j/2): mis-tuning costs at most 1.5 % of the root term."""
    return np.array([0.7 / b * 2.0 ** (-0.5 * j) for j in range(n_lines)])


def empirical_curvature(u: float) -> float:
    """c(u) = (-ln(1 - u) - u) / u^2: ln(1 + v) >= v - c(u) v^2 for |v| <= u < 1."""
    if u < 1e-4:
        return 0.5 + u / 3.0 + u * u / 4.0
    return (-math.log1p(-u) - u) / (u * u)


def freedman_curvature(u: float) -> float:
    """c(u) = (e^u - 1 - u) / u^2: E exp(v) <= exp(c(u) E v^2) for centred v <= u."""
    if u < 1e-4:
        return 0.5 + u / 6.0 + u * u / 24.0
    return (math.expm1(u) - u) / (u * u)


def lines_radius(
    second_moment: float, b: float, delta: float, *, predictable: bool, n_lines: int = 41
) -> float:
    """|S| <= min over the grid of c(lambda b) lambda V + ln(2 G / delta) / lambda, for all n.

    V = sum X_i^2 (`predictable` False) or sum E[X_i^2 | F_{i-1}] (True: Freedman). Each slope and
    each sign is a supermartingale; the G = n_lines slopes share delta.
    """
    curvature = freedman_curvature if predictable else empirical_curvature
    price = math.log(2.0 * n_lines / delta)
    return min(
        curvature(slope * b) * slope * second_moment + price / slope
        for slope in map(float, line_grid(b, n_lines))
    )
