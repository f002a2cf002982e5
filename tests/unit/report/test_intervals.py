from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from helpers import count
from voful.report.statistics import intervals
from voful.report.statistics.intervals import (
    clopper_pearson,
    mean_interval,
    percentile_interval,
    resampled_means,
)


def values(n: int, m: int = 3) -> np.ndarray:
    return np.random.default_rng(5).exponential(size=(n, m)) + np.arange(m)


def test_draws_have_the_mean_and_the_error_of_the_mean() -> None:
    sample = values(50)
    draws = resampled_means(sample, repetitions=20_000)
    assert draws.shape == (20_000, 3)
    assert draws.mean(axis=0) == pytest.approx(sample.mean(axis=0), abs=0.01)
    assert draws.std(axis=0) == pytest.approx(sample.std(axis=0) / np.sqrt(50), rel=0.03)


def test_the_same_seeds_are_drawn_for_all_columns_policies_and_calls() -> None:
    sample = values(20)
    draws = resampled_means(sample, stream="problem")
    assert np.array_equal(draws, resampled_means(sample, stream="problem"))
    assert resampled_means(sample[:, :1] + 7.0, stream="problem")[:, 0] == pytest.approx(
        draws[:, 0] + 7.0
    )
    assert not np.array_equal(draws, resampled_means(sample, stream="another"))


def test_blocks_hold_all_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = values(20)
    whole = resampled_means(sample, repetitions=999)
    monkeypatch.setattr(intervals, "_ENTRIES", 20 * 10)
    assert resampled_means(sample, repetitions=999) == pytest.approx(whole, rel=1e-12)


def test_missing_values_are_not_part_of_the_mean() -> None:
    sample = values(6)
    sample[2:, 1] = np.nan
    draws = resampled_means(sample)
    assert draws[:, 0] == pytest.approx(resampled_means(values(6))[:, 0])
    seen = draws[np.isfinite(draws[:, 1]), 1]
    assert len(seen) < len(draws)  # some draws miss both
    assert seen.min() == pytest.approx(sample[:2, 1].min())
    low, high = percentile_interval(draws)
    assert sample[:2, 1].min() <= low[1] <= high[1] <= sample[:2, 1].max()
    sample[:, 2] = np.nan
    low, high = mean_interval(sample)
    assert np.isnan(low[2])
    assert np.isnan(high[2])


def test_one_replicate_has_no_interval() -> None:
    low, high = mean_interval(values(1))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_intervals_cover_the_mean_about_as_often_as_they_say() -> None:
    n, trials = 100, count(10_000)
    sample = np.random.default_rng(0).exponential(size=(n, trials))
    low, high = mean_interval(sample)  # one column a trial
    hits = int(((low <= 1.0) & (high >= 1.0)).sum())
    assert binomtest(hits, trials, 0.92, alternative="less").pvalue > 1e-4  # skewed: below 95 %
    assert binomtest(hits, trials, 0.965, alternative="greater").pvalue > 1e-4


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
