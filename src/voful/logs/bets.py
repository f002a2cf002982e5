"""The fixed bets of an evaluation: a mixture over (b, kappa), chosen before any row is seen.

Fixed, because concavity in the proof's last step needs a bet that never changes: no tuning.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.typing import FloatArray


class Bets(NamedTuple):
    """Pairs (b, kappa), the largest bets first."""

    b: FloatArray
    limit: FloatArray  # kappa / b: a prediction is clipped at limit / w
    log_prior: FloatArray


def mixture(failure_prob: float, horizon: int | None, difference: bool) -> Bets:
    """The mixture for values or differences; with a horizon n, narrowest after n rows.

    Values: b = 2^4, ..., 2^-16; differences: 2^-2, ..., 2^-16; with equal weights. A horizon:
    b = sqrt(2 ln(2/alpha) / n) 2^k, |k| <= 6, with weights 2^-|k|.
    """
    if horizon is None:
        b: FloatArray = 2.0 ** np.arange(-2.0 if difference else 4.0, -17.0, -1.0)
        prior: FloatArray = np.ones(len(b))
    else:
        k = np.arange(6.0, -7.0, -1.0)
        b = math.sqrt(2.0 * math.log(2.0 / failure_prob) / horizon) * 2.0**k
        prior = np.power(0.5, np.abs(k))
        if difference:
            b, prior = np.minimum(b, 0.25)[b <= 0.25], prior[b <= 0.25]
            if len(b) == 0:
                b, prior = np.array([0.25]), np.ones(1)
    return _split(b, prior / prior.sum(), difference)


def _split(b: FloatArray, prior: FloatArray, difference: bool) -> Bets:
    """Each bet with kappa = 1/2 and 9/10; a difference with b > 1/16 with 1/2 only."""
    rows = [
        (bet, kappa / bet, math.log(share / len(kappas)))
        for bet, share in zip(b, prior, strict=True)
        for kappas in [(0.5,) if difference and bet > 1.0 / 16.0 else (0.5, 0.9)]
        for kappa in kappas
    ]
    return Bets(*np.ascontiguousarray(np.array(rows).T))
