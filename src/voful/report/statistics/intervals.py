"""Intervals of a report: the seeded bootstrap of means over the replicates, the exact binomial."""

from __future__ import annotations

import warnings
import zlib

import numpy as np
import numpy.typing as npt

from voful.typing import FloatArray

REPETITIONS = 1000
LEVEL = 0.95
"""Of every interval in a report."""

_SEED = 2011
_ENTRIES = 4_000_000  # of a block of draws: 32 MB


def resampled_means(
    values: FloatArray, *, stream: str = "", repetitions: int = REPETITIONS
) -> FloatArray:
    """Means of the columns over as many rows, drawn anew with replacement.

    Parameters
    ----------
    values
        (n, m): a row per replicate; NaN is missing, and a mean is over what is there.
    stream
        Calls with the same n and stream draw the same rows, so that policies which met the same
        seeds stay paired; calls with another stream draw independent ones.
    repetitions
        How many draws.

    Returns
    -------
    FloatArray
        (repetitions, m); NaN where a draw met only missing values.
    """
    n = len(values)
    rng = np.random.default_rng([_SEED, n, zlib.crc32(stream.encode())])
    there = np.isfinite(values)
    whole = bool(there.all())
    filled = values if whole else np.where(there, values, 0.0)
    block = max(1, _ENTRIES // n)
    blocks = []
    for start in range(0, repetitions, block):
        counts = _counts(rng, n, min(block, repetitions - start))
        weights = float(n) if whole else counts @ there.astype(np.float64)
        with np.errstate(invalid="ignore"):
            blocks.append((counts @ filled) / weights)
    return np.concatenate(blocks)


def _counts(rng: np.random.Generator, n: int, repetitions: int) -> FloatArray:
    """How often each of n rows is drawn, (repetitions, n)."""
    drawn = rng.integers(n, size=(repetitions, n))
    drawn += n * np.arange(repetitions)[:, None]
    return np.bincount(drawn.ravel(), minlength=repetitions * n).reshape(-1, n).astype(np.float64)


def percentile_interval(draws: FloatArray, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """(low, high) of each column of draws (repetitions, m); NaN where a column is all NaN."""
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    if np.isfinite(draws).all():
        low, high = np.quantile(draws, tails, axis=0)
    else:
        with warnings.catch_warnings(action="ignore"):  # of columns that are all NaN
            low, high = np.nanquantile(draws, tails, axis=0)
    return low, high


def mean_interval(values: FloatArray, *, stream: str = "") -> tuple[FloatArray, FloatArray]:
    """Interval of the mean of each column of values (n, m); NaN with fewer than two rows."""
    if len(values) < 2:
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing.copy()
    return percentile_interval(resampled_means(values, stream=stream))


def clopper_pearson(
    successes: npt.ArrayLike, trials: npt.ArrayLike, level: float = LEVEL
) -> tuple[FloatArray, FloatArray]:
    """(low, high) of the probability, at least `level` likely to hold it whatever it is.

    low solves P(X >= k | low) = (1 - level) / 2 and high P(X <= k | high) = (1 - level) / 2
    (Clopper, Pearson 1934); NaN without trials.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(
        np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    )
    tail = (1.0 - level) / 2.0
    # betaincinv wants both parameters above 0; where they are not, the end is 0 or 1.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1.0), n - k + 1.0, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1.0, np.maximum(n - k, 1.0), 1.0 - tail), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
