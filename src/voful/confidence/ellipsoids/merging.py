"""Ridge estimates of several shards put together: their sums add, exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import log_det, unwhiten, whiten, whitener_from
from voful.confidence.ellipsoids.ridge import open_ridge
from voful.typing import FloatArray
from voful.validation import fail


def merged_ridge(parts: Sequence[FloatArray], start: FloatArray, dim: int) -> FloatArray:
    """The block that has learnt all rows of `parts`, `start` being one that has learnt none.

    M = lambda I + sum_s (M_s - lambda I), response = sum_s response_s; the rest follows from them.
    Radius and what stands behind the ridge are the start's: they are the algorithm's own.
    """
    block, begin = start.copy(), open_ridge(start, dim)
    merged = open_ridge(block, dim)
    for part in parts:
        shard = open_ridge(part, dim)
        merged.precision[...] += shard.precision - begin.precision
        merged.response[...] += shard.response
        merged.n[...] += shard.n
    if not _factorise(block, dim):
        raise fail(
            "policies",
            float(np.trace(merged.precision)),
            "sums in which rounding leaves the ridge its weight: rescale the features",
        )
    return block


@kernel
def _factorise(block: FloatArray, d: int) -> bool:
    """Whitener, ln det and centre from M and the response."""
    ridge, whitened = open_ridge(block, d), np.empty(d)
    if not whitener_from(ridge.precision, ridge.whitener):
        return False
    ridge.log_det[0] = log_det(ridge.whitener)
    whiten(ridge.whitener, ridge.response, whitened)
    unwhiten(ridge.whitener, whitened, ridge.center)
    return True
