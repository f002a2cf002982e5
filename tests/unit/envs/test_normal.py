from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from voful.envs.bandit import normal


def test_normal_quantile_against_scipy() -> None:
    p = np.concatenate(
        [
            np.logspace(-300, -1, 2000),
            np.linspace(0.001, 0.999, 2001),
            1.0 - np.logspace(-15, -1, 500),
            0.5 + np.logspace(-16, -2, 50),
        ]
    )
    ours = np.array([normal.normal_quantile(v) for v in p])
    np.testing.assert_allclose(ours, ndtri(p), rtol=1e-12, atol=1e-300)
