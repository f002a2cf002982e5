"""What a mixture is learnt from: targets of next states, counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.typing import FloatArray


class Observations(NamedTuple):
    """C laws of the next state, each with a target that was fixed before, and what happened.

    Row k stands for one state and action under one target g: outcome b has probability
    probabilities[k, b, i] under base model i, pays targets[k, b] = g(outcome b), and happened
    counts[k, b] times. X[k, i] is the mean of the target under base model i. All that a test sums
    over time depends on the row only, so counts are all that has to be kept.
    """

    probabilities: FloatArray  # (C, B, d)
    targets: FloatArray  # (C, B)
    counts: FloatArray  # (C, B)
    X: FloatArray  # (C, d)

    def squared(self) -> Observations:
        """The same with the target's square: from moment m to m + 1."""
        return observe(self.probabilities, self.targets * self.targets, self.counts)


def observe(probabilities: FloatArray, targets: FloatArray, counts: FloatArray) -> Observations:
    """Observations of checked arrays."""
    # Algorithm 2, line 12
    X = np.ascontiguousarray(np.einsum("kbi,kb->ki", probabilities, targets))
    return Observations(probabilities, targets, counts, X)


def check(
    dim: int, probabilities: npt.ArrayLike, targets: npt.ArrayLike, counts: npt.ArrayLike
) -> Observations:
    """Observations of arrays as they come: finite, shapes that agree, targets in [0, 1]."""
    laws = validation.finite_array("probabilities", probabilities, 3, f"shape (C, B, {dim})")
    if laws.shape[2] != dim:
        raise validation.fail_shape("probabilities", laws.shape, f"shape (C, B, {dim})")
    pays = validation.finite_array("targets", targets, 2, f"shape {laws.shape[:2]}")
    seen = validation.finite_array("counts", counts, 2, f"shape {laws.shape[:2]}")
    for name, array in (("targets", pays), ("counts", seen)):
        if array.shape != laws.shape[:2]:
            raise validation.fail_shape(name, array.shape, f"shape {laws.shape[:2]}")
    if pays.size and not (pays.min() >= 0.0 and pays.max() <= 1.0):
        raise validation.fail(
            "targets", [float(pays.min()), float(pays.max())], "numbers in [0, 1]"
        )
    if seen.size and (seen.min() < 0.0 or (seen != np.floor(seen)).any()):
        raise validation.fail(
            "counts", seen[seen != np.abs(np.floor(seen))][0], "whole numbers >= 0"
        )
    return observe(laws, pays, seen)
