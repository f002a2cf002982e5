"""The inequalities, as pure functions: each gives a radius and says when it holds.

X_1, X_2, ... are martingale differences with |X_i| <= b; S = sum X_i. "Fixed n" means that the
inequality holds at one n chosen in advance, "all n" that it holds at all n at once.

For vectors, S = sum eta_i x_i, where x_i is known before the martingale difference eta_i.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from voful.compiled import part

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


@part
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


N_LINES = 41  # slopes 0.7 / b * 2^(-j/2): mis-tuning costs at most 1.5 % of the root term


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


def lines_radius(second_moment: float, b: float, delta: float, *, predictable: bool) -> float:
    """|S| <= min over the grid of c(lambda b) lambda V + ln(2 G / delta) / lambda, for all n.

    V = sum X_i^2 (`predictable` False) or sum E[X_i^2 | F_{i-1}] (True: Freedman). Each slope and
    each sign is a supermartingale; the G = 41 slopes share delta.
    """
    curvature = freedman_curvature if predictable else empirical_curvature
    price = math.log(2.0 * N_LINES / delta)
    slopes = (0.7 / b * math.pow(2.0, -0.5 * j) for j in range(N_LINES))
    return min(curvature(s * b) * s * second_moment + price / s for s in slopes)


# --- vectors: the self-normalised sum |S|_{Z^-1} ----------------------------------------------


class SelfNormalizedBernstein(NamedTuple):
    """|S_n|_{Z_n^-1} <= sqrt(slope ln(det Z_n / det(lambda I)) + offset); see the function below.

    Attributes
    ----------
    slope, offset
        Of the square of the radius, a line in the logarithm of the determinant.
    largest
        The radius at the largest logarithm that was allowed for.
    """

    slope: float
    offset: float
    largest: float

    def radius(self, log_det_ratio: float) -> float:
        """The radius at ln(det Z_n / det(lambda I)) = sum ln(1 + w_i^2)."""
        return bernstein_radius(log_det_ratio, self.slope, self.offset)


@part
def bernstein_radius(log_det_ratio: float, slope: float, offset: float) -> float:
    """`SelfNormalizedBernstein.radius`."""
    return math.sqrt(slope * max(log_det_ratio, 0.0) + offset)


# Free constants of `self_normalized_bernstein`, to be chosen before the data.
_GROWTHS = np.geomspace(0.02, 4.0, 128)  # s
_EXPONENTS = np.geomspace(0.05, 12.0, 128)  # u


@lru_cache  # a grid search, the same for all runs of a study
def self_normalized_bernstein(
    *, variance: float, linear: float, square: float, log_det_bound: float, delta: float
) -> SelfNormalizedBernstein:
    """Bernstein's inequality for |S_n|_{Z_n^-1}, Z_n = lambda I + sum x_i x_i', for all n.

    With w_i = |x_i|_{Z_{i-1}^-1}, it needs E[eta_i^2 | F_{i-1}] <= `variance`,
    |eta_i| w_i / (1 + w_i^2) <= `linear`, |eta_i| w_i / sqrt(1 + w_i^2) <= `square`, and
    L_n = ln(det Z_n / det(lambda I)) <= `log_det_bound` as long as it is used. For any s, u > 0
    chosen in advance, with l = ln(2/delta), g = (e^s - 1) / s and c = `freedman_curvature`(u),
    with probability at least 1 - delta

        |S_n|^2_{Z_n^-1} <= g variance L_n + square^2 l / s + l / a,
        a = min(1 / (4 c variance), u / (2 linear beta)),

    where beta is the root of the right side at L_n = log_det_bound. This takes the place of the
    bounds of Zhou, Gu, Szepesvari (2021) and of Zhou, Gu (2022), below.

    Proof. q_n = |S_n|^2_{Z_n^-1} obeys exactly, with m = <x_n, Z_{n-1}^-1 S_{n-1}>,

        q_n = q_{n-1} + (2 eta m - m^2 + eta^2 w^2) / (1 + w^2).

    (i) |m| <= w sqrt(q_{n-1}). While q_{n-1} <= beta^2, v = 2 a eta m / (1 + w^2) is at most u in
    size, so E exp(v) <= exp(c E v^2) <= exp(4 c a^2 m^2 variance / (1 + w^2)^2), which is at most
    exp(a m^2 / (1 + w^2)) by 4 c a variance <= 1: the exponential of a times the sum of
    (2 eta m - m^2) / (1 + w^2), stopped when q exceeds beta^2, is a supermartingale, and the sum
    stays below l / a (Ville, delta / 2). The papers drop -m^2 and pay a cross term for it.
    (ii) Y = eta^2 w^2 / (1 + w^2) lies in [0, square^2] and has mean at most
    variance w^2 / (1 + w^2) <= variance ln(1 + w^2); e^{sy} <= 1 + (e^s - 1) y on [0, 1] makes
    sum Y <= g variance L_n + square^2 l / s (Ville, delta / 2).
    On both events q_n <= beta^2 follows by induction, so that the stopping never happens.

    (s, u) is the pair of a fixed grid with the smallest beta: deterministic, hence allowed.
    """
    price = math.log(2.0 / delta)
    s, u = _GROWTHS[:, np.newaxis], _EXPONENTS[np.newaxis, :]
    slopes = np.expm1(s) / s * variance
    squares = slopes * log_det_bound + square * square * price / s
    by_variance = 4.0 * variance * price * np.array([freedman_curvature(v) for v in u[0]])
    half = linear * price / u
    # beta^2 = squares + max(4 c variance l, 2 linear beta l / u): the larger of the two roots.
    beta = np.maximum(np.sqrt(squares + by_variance), half + np.sqrt(half * half + squares))
    i, j = np.unravel_index(int(beta.argmin()), beta.shape)
    largest, growth = float(beta[i, j]), float(_GROWTHS[i])
    return SelfNormalizedBernstein(
        slope=float(slopes[i, 0]),
        offset=square * square * price / growth
        + max(float(by_variance[j]), 2.0 * float(half[0, j]) * largest),
        largest=largest,
    )


@part
def log_det_growth(n: float, dim: int, feature_norm: float, ridge: float) -> float:
    """d ln(1 + n A^2 / (d lambda)) >= ln(det Z_n / det(lambda I)) where |x_i| <= A."""
    return dim * math.log1p(n * feature_norm * feature_norm / (dim * ridge))


@part
def zhou_gu_szepesvari_radius(
    n: float,
    dim: int,
    variance: float,
    b: float,
    feature_norm: float,
    ridge: float,
    delta: float,
) -> float:
    """|S_n|_{Z_n^-1} <= 8 sigma sqrt(d ln(1 + n A^2 / (d lambda)) t) + 4 b t.

    t = ln(4 n^2 / delta), |eta_i| <= b, E[eta_i^2 | F_{i-1}] <= sigma^2 = `variance`, |x_i| <= A;
    all n >= 1 (Zhou, Gu, Szepesvari 2021, Theorem 4.1).
    """
    price = math.log(4.0 * n * n / delta)
    growth = log_det_growth(n, dim, feature_norm, ridge)
    return 8.0 * math.sqrt(variance * growth * price) + 4.0 * b * price


@part
def zhou_gu_radius(
    n: float,
    dim: int,
    variance: float,
    b: float,
    largest: float,
    feature_norm: float,
    ridge: float,
    delta: float,
) -> float:
    """|S_n|_{Z_n^-1} <= 12 sqrt(sigma^2 d ln(1 + n A^2 / (d lambda)) t) + 30 `largest` t.

    t = ln(32 (ln(b / largest) + 1) n^2 / delta), |eta_i| min(1, w_i) <= `largest` <= b, the rest as
    in `zhou_gu_szepesvari_radius`; all n >= 1 (Zhou, Gu 2022, Theorem 4.3 with epsilon = largest:
    24 t largest + 6 t epsilon).
    """
    price = math.log(32.0 * (math.log(b / largest) + 1.0) * n * n / delta)
    growth = log_det_growth(n, dim, feature_norm, ridge)
    return 12.0 * math.sqrt(variance * growth * price) + 30.0 * largest * price


# --- vectors: the sum weighed by its own variation, |S|_{H^-1} --------------------------------


class VariationBernstein(NamedTuple):
    """|S_n|_{H_n^-1} <= c e + G / e, G = price + ln(det H_n / det(lambda I)) / 2, e <= cap.

    Attributes
    ----------
    curvature, cap, price
        c, the largest e, and what G starts from; see `variation_bernstein`.
    """

    curvature: float
    cap: float
    price: float

    def radius(self, log_det_ratio: float) -> float:
        """The radius at ln(det H_n / det(lambda I)), with the best e."""
        return variation_radius(log_det_ratio, self.curvature, self.cap, self.price)


@part
def variation_radius(log_det_ratio: float, curvature: float, cap: float, price: float) -> float:
    """`VariationBernstein.radius`."""
    gamma = price + 0.5 * max(log_det_ratio, 0.0)
    best = min(math.sqrt(gamma / curvature), cap)
    return curvature * best + gamma / best


def variation_bernstein(
    dim: int, *, ridge: float, b: float, delta: float, exponent: float, predictable: bool = True
) -> VariationBernstein:
    """Bernstein's inequality for |S_n|_{H_n^-1}, for all n, where |eta_i| |x_i| <= b.

    H_n = lambda I + sum v_i x_i x_i' with lambda = `ridge` and v_i = E[eta_i^2 | F_{i-1}] or any
    larger number known before eta_i (`predictable`), or v_i = eta_i^2 (False). For u = `exponent`
    (below 1 if not predictable) fixed in advance, r = u / b and c = c(u) the curvature of the
    lines, with probability at least 1 - delta

        |S_n|_{H_n^-1} <= c e + G_n / e   for all 0 < e <= sqrt(lambda) r / 2,
        G_n = ln(1/delta) + ln(det H_n / lambda^d) / 2 + ln(F(2 k) / F(k / 2)),   k = c lambda r^2,

    F the distribution function of chi^2 with d degrees of freedom; the last term is at most d ln 2.
    Faury, Abeille, Calauzenes, Fercoq (2020), Theorem 1, is c = r = 1, e = sqrt(lambda) / 2.

    Proof. For |xi| <= r, exp(<xi, S_n> - c xi'(H_n - lambda I) xi) is a supermartingale, or below
    the martingale prod (1 + eta_i <xi, x_i>). Mix over the density proportional to
    exp(-c lambda |xi|^2) on |xi| <= r and keep the ball of radius r / 2 about some |xi_0| <= r / 2:
    there the exponent is <xi_0, S> - c xi_0'H xi_0 plus a linear term, which Jensen's inequality
    drops by symmetry, minus c z'Hz; the integral of the latter is at least
    sqrt(lambda^d / det H) times that of exp(-c lambda |z|^2), since H >= lambda I shrinks the ball.
    With Ville, <xi_0, S_n> - c xi_0'H_n xi_0 <= G_n for all n and all such xi_0 at once; take
    xi_0 = e H^-1 S / |S|_{H^-1}, whose norm is at most e / sqrt(lambda).
    """
    from scipy.special import gammainc  # a tenth of a second, and only this needs it

    curvature = freedman_curvature if predictable else empirical_curvature
    c, r = curvature(exponent), exponent / b
    inner = c * ridge * r * r  # half of the chi^2 argument
    whole, quarter = (float(gammainc(0.5 * dim, z)) for z in (inner, 0.25 * inner))
    shrinkage = dim * math.log(2.0)
    if quarter > 0.0:  # else both have underflowed
        shrinkage = min(shrinkage, math.log(whole / quarter))
    return VariationBernstein(c, 0.5 * math.sqrt(ridge) * r, shrinkage - math.log(delta))


@lru_cache
def best_variation_bernstein(
    dim: int, *, ridge: float, b: float, delta: float, log_det_ratio: float
) -> VariationBernstein:
    """The predictable `variation_bernstein` whose exponent suits ln(det H / lambda^d) best."""
    candidates = (
        variation_bernstein(dim, ridge=ridge, b=b, delta=delta, exponent=float(u))
        for u in np.geomspace(0.02, 8.0, 60)
    )
    return min(candidates, key=lambda bound: bound.radius(log_det_ratio))


@part
def faury_radius(log_det_ratio: float, dim: int, ridge: float, b: float, delta: float) -> float:
    """|S_n|_{H_n^-1} <= sqrt(k)/2 + 2/sqrt(k) (ln(det(H_n / lambda)^(1/2) / delta) + d ln 2).

    k = lambda / b^2, |eta_i| |x_i| <= b; all n (Faury, Abeille, Calauzenes, Fercoq 2020, Theorem 1,
    printed for b = 1).
    """
    root = math.sqrt(ridge) / b
    gamma = 0.5 * log_det_ratio - math.log(delta) + dim * math.log(2.0)
    return 0.5 * root + 2.0 / root * gamma


# --- a layer of weighted least squares --------------------------------------------------------
#
# x_1, x_2, ... and weights w_s in (0, 1] are predictable, Z_t = ridge I + sum w_s^2 x_s x_s',
# w_s |x_s|_{Z_{s-1}^-1} <= rho; the noise is centred with |eta_s| <= b. S_t = sum w_s^2 eta_s x_s
# and V_t = sum w_s^2 eta_s^2.


@part
def layer_ranges(rho: float, n: float, delta: float) -> int:
    """How many dyadic ranges `layer_deviation` needs to hold at all times up to n."""
    return max(1, math.ceil(math.log2(math.sqrt(n) / (2.0 * rho * math.log(1.0 / delta)))) + 1)


@part
def layer_slope(rho: float, xi: float) -> float:
    """rho (1 + sqrt(8 xi)): what sqrt(V) counts in `layer_deviation`."""
    return rho * (1.0 + math.sqrt(8.0 * xi))


@part
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


@part
def self_bounded_radius(slope: float, offset: float, residual: float) -> float:
    """The largest beta with beta <= slope sqrt(residual^2 + beta^2) + offset; slope < 1.

    The noise that nobody sees from the residuals that everybody sees: for the ridge estimate c and
    beta = |theta* - c|_Z, V + ridge |theta*|^2 = residual^2 + beta^2 exactly, with
    residual^2 = sum w^2 (y - <x, c>)^2 + ridge |c|^2.
    """
    rest = 1.0 - slope * slope
    inner = offset * offset + rest * residual * residual
    return (offset + slope * math.sqrt(inner)) / rest
