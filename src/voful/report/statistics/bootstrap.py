"""Percentile bootstrap of means over the replicates: seeded, and without a loop over draws."""

from __future__ import annotations

import zlib

import numpy as np

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
    there = np.isfinite(draws)
    if there.all():
        low, high = np.quantile(draws, tails, axis=0)
        return low, high
    low, high = np.full((2, draws.shape[1]), np.nan)
    for column in np.flatnonzero(there.any(axis=0)):
        low[column], high[column] = np.quantile(draws[there[:, column], column], tails)
    return low, high


def mean_interval(values: FloatArray, *, stream: str = "") -> tuple[FloatArray, FloatArray]:
    """Interval of the mean of each column of values (n, m); NaN with fewer than two rows."""
    if len(values) < 2:
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing.copy()
    return percentile_interval(resampled_means(values, stream=stream))
