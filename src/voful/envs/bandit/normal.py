"""The normal quantile and the symmetrically truncated Gaussian, as functions of plain numbers."""

from __future__ import annotations

import math
from typing import Final

from voful.compiled import part

# Wichura (1988), "Algorithm AS 241: The percentage points of the normal distribution",
# routine PPND16: numerator and denominator for |p - 1/2| <= 0.425, then for
# r = sqrt(-log min(p, 1 - p)) <= 5, then beyond. Lowest degree first.
_CENTRE_TOP: Final = (
    3.3871328727963666080e0,
    1.3314166789178437745e2,
    1.9715909503065514427e3,
    1.3731693765509461125e4,
    4.5921953931549871457e4,
    6.7265770927008700853e4,
    3.3430575583588128105e4,
    2.5090809287301226727e3,
)
_CENTRE_BOTTOM: Final = (
    1.0,
    4.2313330701600911252e1,
    6.8718700749205790830e2,
    5.3941960214247511077e3,
    2.1213794301586595867e4,
    3.9307895800092710610e4,
    2.8729085735721942674e4,
    5.2264952788528545610e3,
)
_MIDDLE_TOP: Final = (
    1.42343711074968357734e0,
    4.63033784615654529590e0,
    5.76949722146069140550e0,
    3.64784832476320460504e0,
    1.27045825245236838258e0,
    2.41780725177450611770e-1,
    2.27238449892691845833e-2,
    7.74545014278341407640e-4,
)
_MIDDLE_BOTTOM: Final = (
    1.0,
    2.05319162663775882187e0,
    1.67638483018380384940e0,
    6.89767334985100004550e-1,
    1.48103976427480074590e-1,
    1.51986665636164571966e-2,
    5.47593808499534494600e-4,
    1.05075007164441684324e-9,
)
_TAIL_TOP: Final = (
    6.65790464350110377720e0,
    5.46378491116411436990e0,
    1.78482653991729133580e0,
    2.96560571828504891230e-1,
    2.65321895265761230930e-2,
    1.24266094738807843860e-3,
    2.71155556874348757815e-5,
    2.01033439929228813265e-7,
)
_TAIL_BOTTOM: Final = (
    1.0,
    5.99832206555887937690e-1,
    1.36929880922735805310e-1,
    1.48753612908506148525e-2,
    7.86869131145613259100e-4,
    1.84631831751005468180e-5,
    1.42151175831644588870e-7,
    2.04426310338993978564e-15,
)


@part
def _polynomial(coefficients: tuple[float, ...], r: float) -> float:
    value = 0.0
    for k in range(len(coefficients) - 1, -1, -1):
        value = value * r + coefficients[k]
    return value


@part
def _quantile(q: float, tail: float) -> float:
    # Normal quantile at p = 1/2 + q, where tail = min(p, 1 - p) is given apart for precision.
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * _polynomial(_CENTRE_TOP, r) / _polynomial(_CENTRE_BOTTOM, r)
    r = math.sqrt(-math.log(tail))
    if r <= 5.0:
        z = _polynomial(_MIDDLE_TOP, r - 1.6) / _polynomial(_MIDDLE_BOTTOM, r - 1.6)
    else:
        z = _polynomial(_TAIL_TOP, r - 5.0) / _polynomial(_TAIL_BOTTOM, r - 5.0)
    return z if q > 0.0 else -z


@part
def normal_quantile(p: float) -> float:
    """Inverse of the standard normal CDF at p in (0, 1), Wichura's AS 241 (PPND16)."""
    return _quantile(p - 0.5, min(p, 1.0 - p))


@part
def truncated_gaussian(sigma: float, room: float, u: float) -> float:
    """N(0, sigma^2) truncated to [-room, room], at the uniform u in (0, 1), by inverse CDF."""
    c = room / sigma
    if c < 1e-8:  # density constant on [-room, room] up to c^2/2 < 1e-16
        return (2.0 * u - 1.0) * room
    # p = Phi(-c) + u (Phi(c) - Phi(-c)) = 1/2 + (u - 1/2) erf(c / sqrt 2)
    q = (u - 0.5) * math.erf(c / math.sqrt(2.0))
    return min(max(sigma * _quantile(q, 0.5 - abs(q)), -room), room)


@part
def truncated_gaussian_variance(sigma: float, room: float) -> float:
    """Variance of `truncated_gaussian` for u uniform on (0, 1)."""
    # sigma^2 (1 - 2 c phi(c) / erf(c / sqrt 2)), c = room / sigma
    c = room / sigma
    if c > 40.0:
        return sigma * sigma
    if c >= 1.0:
        phi = math.exp(-0.5 * c * c) / math.sqrt(2.0 * math.pi)
        return sigma * sigma * (1.0 - 2.0 * c * phi / math.erf(c / math.sqrt(2.0)))
    # The difference cancels for small c. With S = sum_n c^(2n) / (2n+1)!! it is (S - 1) / S
    # = c^2 T / (1 + c^2 T), T = 1/3 + c^2/15 + ..., and sigma^2 c^2 = room^2.
    T, term, odd = 0.0, 1.0 / 3.0, 3.0
    while term > 1e-18:
        T += term
        odd += 2.0
        term *= c * c / odd
    return room * room * T / (1.0 + c * c * T)
