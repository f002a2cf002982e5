"""Targets: which probabilities a policy would have given to the arms of a log's rows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from voful.bandits.base import Policy
from voful.logs.log import Log, rectangle
from voful.typing import FloatArray
from voful.validation import fail_shape, fail_type

Target: TypeAlias = Any
"""(n,) probabilities of the logged actions, (n, n_arms) of all arms, a Policy, or a function of a
row's arms that returns their probabilities."""

Rows: TypeAlias = Callable[[Log, slice], FloatArray]
"""(rows of the log, where they are in it) -> (n,) or (n, n_arms) probabilities; in order."""


def rows_of(name: str, target: Target, n: int, learn: bool = False) -> Rows:
    """The target as a function of a log's rows, asked once for each, in their order.

    A policy is copied: it stays as it is. With `learn` the copy learns each row after it has said
    its probabilities.
    """
    if isinstance(target, Policy):
        return _of_policy(copy.deepcopy(target), learn)
    if learn:
        raise fail_type("learn", target, "a Policy as target: nothing else can learn")
    if callable(target):
        return lambda log, rows: _each(log, lambda arms, row: target(arms.copy()), None)
    law = rectangle(name, target, n)
    return lambda log, rows: law[rows]


def _of_policy(policy: Policy, learn: bool) -> Rows:
    def ask(arms: FloatArray, row: Log) -> FloatArray:
        # `choose` and not `probabilities`: Thompson sampling draws its votes.
        said = policy.choose(arms).probabilities
        if learn:
            policy.update(arms[row.actions[0]], float(row.rewards[0]))
        return said

    return lambda log, rows: _each(log, ask, policy.dim)


def _each(log: Log, ask: Callable[[FloatArray, Log], Any], dim: int | None) -> FloatArray:
    """One row at a time; (n, most arms)."""
    if dim is None:
        dim = log.contexts.shape[1] if log.contexts is not None else 0
    said: list[FloatArray] = []
    for row in range(len(log)):
        arms = log.arms_of(row, dim)
        law = np.asarray(ask(arms, log[row : row + 1]))
        if law.shape != (len(arms),):
            place = f"target of row {log.first_row + row}"
            raise fail_shape(place, law.shape, f"one probability for each of {len(arms)} arms")
        said.append(law)
    filled = np.zeros((len(log), max(log.n_arms or 0, max(map(len, said), default=1))))
    for row, law in enumerate(said):
        filled[row, : len(law)] = law
    return filled
