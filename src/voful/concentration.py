"""The inequalities, as pure functions: each gives a radius and says when it holds.

X_1, X_2, ... are martingale differences with |X_i| <= b; S = sum X_i. "Fixed n" means that the
inequality holds at one n chosen in advance, "all n" that it holds at all n at once.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel
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


@kernel
def kt_log_price(n: float, delta: float) -> float:
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


# --- a layer of weighted least squares --------------------------------------------------------
#
# x_1, x_2, ... and weights w_s in (0, 1] are predictable, Z_t = ridge I + sum w_s^2 x_s x_s',
# w_s |x_s|_{Z_{s-1}^-1} <= rho; the noise is centred with |eta_s| <= b. S_t = sum w_s^2 eta_s x_s
# and V_t = sum w_s^2 eta_s^2.


@kernel
def layer_ranges(rho: float, n: int, delta: float) -> int:
    """How many dyadic ranges `layer_deviation` needs to hold at all times up to n."""
    return max(1, math.ceil(math.log2(math.sqrt(n) / (2.0 * rho * math.log(1.0 / delta)))) + 1)


@kernel
def layer_slope(rho: float, xi: float) -> float:
    """rho (1 + sqrt(8 xi)): what sqrt(V) counts in `layer_deviation`."""
    return rho * (1.0 + math.sqrt(8.0 * xi))


@kernel
def layer_deviation(sum_squares: float, rho: float, b: float, xi: float) -> float:
    """|S_t|_{Z_t^-1} <= rho ((1 + sqrt(8 xi)) sqrt(V_t) + 4 b xi), for all t up to n.

    xi = `kt_log_price` (t, delta / `layer_ranges` (rho, n, delta)); fails with probability at most
    delta. No variance is known or estimated: V_t is the noise itself.

    With q = |S|^2_{Z^-1}, m_t = <x_t, Z_{t-1}^-1 S_{t-1}> and g = w_t^2 |x_t|^2_{Z_{t-1}^-1} it is
    exact that q_t = q_{t-1} + w_t^2 (2 eta m - m^2 + eta^2 g) / (1 + g). The term with eta^2 is <=
    rho^2 w_t^2 eta^2; the one with eta m, X_t, is at most 2 rho |w_t eta| sqrt(q_{t-1}) in size:
    with M = max_{s<t} sqrt(q_s) its squares sum to at most 4 rho^2 M^2 V. `kt_radius` for X_s cut
    off where sqrt(q_{s-1}) > 2^k b_0, b_0 = 2 b rho ln(1/delta), one for each k (sqrt(q) is at most
    b sqrt(n) always), gives q_t <= rho^2 V + M (sqrt(8 rho^2 V xi) + 4 b rho xi): the range is
    rounded up by at most 2, V is not; below b_0 the range term is at most (2 b rho xi)^2. At the
    time when q is largest this reads x^2 <= A + B x, hence x <= sqrt(A) + B.
    """
    return layer_slope(rho, xi) * math.sqrt(sum_squares) + 4.0 * b * rho * xi


@kernel
def self_bounded_radius(slope: float, offset: float, residual: float) -> float:
    """The largest beta with beta <= slope sqrt(residual^2 + beta^2) + offset; slope < 1.

    The noise that nobody sees from the residuals that everybody sees: for the ridge estimate c and
    beta = |theta* - c|_Z, V + ridge |theta*|^2 = residual^2 + beta^2 exactly, with
    residual^2 = sum w^2 (y - <x, c>)^2 + ridge |c|^2.
    """
    rest = 1.0 - slope * slope
    inner = offset * offset + rest * residual * residual
    return (offset + slope * math.sqrt(inner)) / rest
