"""What may be wrong with the rows of a log: each fault with its name, row and expectation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from voful.typing import BoolArray, FloatArray, IntArray
from voful.validation import fail

LEAST_PROPENSITY = 1e-100
OFF_ONE = 1e-6  # how far the sum of a row's probabilities may be from 1
LARGEST_FEATURE = 1e6  # beyond, a model's ridge of 1 is lost in rounding


class Fault(NamedTuple):
    """Rows that are bad in one way."""

    name: str
    bad: BoolArray  # (n,)
    got: Any  # (n,) or (n, A): what stands there
    expected: str

    def error(self, first_row: int = 0) -> ValueError:
        """The error that names the first bad row."""
        row = int(np.argmax(self.bad))
        found = self.got[row]
        shown = found.item() if isinstance(found, np.generic) else found
        return fail(f"{self.name}[{first_row + row}]", shown, self.expected)


def raise_first(faults: Iterable[Fault], first_row: int = 0) -> None:
    """ValueError about the first fault that any row has."""
    for fault in faults:
        if fault.bad.any():
            raise fault.error(first_row)


def row_faults(
    actions: IntArray,
    rewards: FloatArray,
    propensities: FloatArray,
    law: FloatArray | None,
    n_arms: IntArray | int | None,
) -> Iterator[Fault]:
    """Of what every log has."""
    expected = "a whole number >= 0"
    if n_arms is None:
        bad: BoolArray = actions < 0
    else:
        expected += ", less than the number of its arms"
        bad = (actions < 0) | (actions >= n_arms)
    yield Fault("actions", bad, actions, expected)
    yield Fault("rewards", ~np.isfinite(rewards), rewards, "a finite number")
    yield Fault("propensities", ~_probable(propensities), propensities, "a probability in (0, 1]")
    if law is not None:
        yield from law_faults("propensities", law)


def _probable(propensities: FloatArray) -> BoolArray:
    return (propensities >= LEAST_PROPENSITY) & (propensities <= 1.0 + OFF_ONE)


def law_faults(name: str, law: FloatArray) -> Iterator[Fault]:
    """Of probabilities of all arms, (n, A), or of the logged ones alone, (n,)."""
    inside = (law >= 0.0) & (law <= 1.0 + OFF_ONE)
    if law.ndim == 1:
        yield Fault(name, ~inside, law, "a probability in [0, 1]")
        return
    yield Fault(
        name, ~np.asarray(inside.all(axis=1)), law, "probabilities in [0, 1], one for each arm"
    )
    off: BoolArray = ~(np.abs(np.asarray(law.sum(axis=1)) - 1.0) <= OFF_ONE)
    yield Fault(name, off, law, "probabilities that add up to 1 (within 1e-6)")


def range_faults(rewards: FloatArray, low: float, high: float) -> Iterator[Fault]:
    """Rewards outside of the range: clipping them would void the interval."""
    slack = 1e-9 * (high - low)
    bad = ~((rewards >= low - slack) & (rewards <= high + slack))
    yield Fault("rewards", bad, rewards, f"a number in reward_range ({low:g}, {high:g})")


def floor_faults(propensities: FloatArray, least: float | None) -> Iterator[Fault]:
    """Propensities below what `min_propensity` promises."""
    if least is not None:
        bad = propensities < least * (1.0 - 1e-9)
        yield Fault("propensities", bad, propensities, f"at least min_propensity = {least:g}")


def feature_faults(name: str, features: FloatArray) -> Iterator[Fault]:
    """Features that are not finite, or too large for a model of them: (n, ...)."""
    flat = features.reshape(len(features), -1)
    bad: BoolArray = ~np.asarray((np.abs(flat) <= LARGEST_FEATURE).all(axis=1))
    yield Fault(name, bad, features, "finite numbers of at most 10^6")
