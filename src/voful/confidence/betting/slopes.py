"""H2 step 3 and H2b 3': the slopes of one round, fixed before the reward is seen."""

from __future__ import annotations

from voful.compiled import kernel
from voful.confidence.betting import product, ratio
from voful.confidence.betting.minorant import kind_of
from voful.confidence.betting.state import LAMBDA, LARGEST, LOG_DET, PRODUCT, RAD, VARIANCE, Rules
from voful.typing import FloatArray

_product_slope, _ratio_slope, _margins = product.slope, ratio.slope, ratio.margins


@kernel
def choose_slopes(
    rules: Rules,
    scalars: FloatArray,
    spread: FloatArray,
    residuals: FloatArray,
    d: int,
    a: float,
    lo: float,
    up: float,
    out: FloatArray,
) -> None:
    """Write S_j; the ellipsoid that is thinnest along x speaks for the set."""
    e = 0
    for i in range(1, spread.shape[0]):
        if scalars[i, RAD] * spread[i] < scalars[e, RAD] * spread[e]:
            e = i
    for j in range(out.shape[0]):
        if kind_of(rules.bets, j) == PRODUCT:
            out[j] = _product_slope(
                a,
                lo,
                up,
                rules.y_low,
                rules.y_high,
                rules.half,
                residuals[VARIANCE],
                rules.log_inverse_delta + scalars[e, LAMBDA] * rules.rho**2,
                scalars[e, LOG_DET] + d,
            )
        else:
            m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
            growth = 3.0 * d / scalars[e, RAD]
            out[j] = _ratio_slope(
                a, lo, up, m_plus, m_minus, residuals[VARIANCE], residuals[LARGEST], growth
            )
