from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from voful.report.statistics.proportions import clopper_pearson


@pytest.mark.parametrize("n", [1, 10, 57])
def test_it_is_the_exact_interval(n: int) -> None:
    low, high = clopper_pearson(np.arange(n + 1), n)
    for k in range(n + 1):
        exact = binomtest(k, n).proportion_ci(0.95, method="exact")
        assert (low[k], high[k]) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_without_trials_nothing_is_known() -> None:
    low, high = clopper_pearson([0, 3], [0, 3])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert high[1] == 1.0
