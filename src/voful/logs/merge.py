"""One policy from several that learnt different rows of one world."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from voful import validation
from voful.bandits.base import Policy
from voful.bandits.betoful import CUT, BetOFUL
from voful.bandits.confidence_ball import ConfidenceBall2, ball_radius
from voful.bandits.epsilon_greedy import EpsilonGreedy, exploration_rate
from voful.bandits.lin_ts import LinTS
from voful.bandits.linucb import LinUCB
from voful.bandits.oful import OFUL, self_normalized, self_normalized_radius
from voful.confidence.betting.merging import add_sets
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.state import open_clock
from voful.confidence.ellipsoids.merging import merged_ridge
from voful.confidence.ellipsoids.ridge import open_ridge
from voful.lineage import Lineage, repeated
from voful.logs import wealth
from voful.logs.evaluator import Evaluator
from voful.monitor.watch import N_ALARMS, SEGMENT, TOTAL
from voful.typing import FloatArray
from voful.validation import fail, fail_type

RIDGES = (OFUL, LinTS, LinUCB, EpsilonGreedy, ConfidenceBall2)
"""Policies that are functions of ridge sums, which add."""

MERGEABLE = "BetOFUL, " + ", ".join(cls.__name__ for cls in RIDGES) + " or Evaluator"
REBENDS = 2  # of rows that are kept, on the merged set

_FREE = {"seed", "width_scale", "on_change", "audit", "refresh", "failure_prob"}
"""Arguments of BetOFUL in which shards may differ: no part of a bet or of its wealth."""


def merge(policies: Sequence[Any], *, failure_prob: float | None = None, after: Any = None) -> Any:
    """One policy (or `Evaluator`) that has learnt what all of `policies` have.

    Of ridge policies (OFUL, LinTS, LinUCB, EpsilonGreedy, ConfidenceBall2) it is the one that saw
    all rows. Of betting sets (BetOFUL) it is wider than that one: every shard bet with what it knew
    alone. Where rows can move, teach one policy all of them; where they lie in files, `voful.learn`
    with `shards` loses next to nothing.

    Parameters
    ----------
    policies
        Two or more that learnt different rows of the same world, with the same arguments. They stay
        as they are. The choice which to merge must not depend on what they have learnt, and the
        result is their sole successor: merge again from all of their later forms, or go on with it.
    failure_prob
        Of BetOFUL: delta_M of the merged set. theta* leaves the merged set or one of the shards'
        with probability at most sum delta_s + delta_M = `total_failure_prob`. Default: sum delta_s.
        (With m shards at delta/(2m) that is delta in all.)
    after
        What an earlier merge of the same policies returned: a shard that has learnt less than it
        had then is refused.

    Raises
    ------
    ValueError
        Where arguments differ, where rows or an ancestor would count twice, where a set is empty,
        refuted or was restarted, or where a shard is older than in `after`.
    """
    parts: list[Any] = list(policies)
    if len(parts) < 2:
        raise fail("policies", len(parts), "at least two")
    kinds = {type(part) for part in parts}
    first: Any = parts[0]
    cls = type(first)
    if not isinstance(first, (BetOFUL, Evaluator, *RIDGES)):
        raise fail_type("policies[0]", first, MERGEABLE)
    if len(kinds) > 1:
        raise fail("policies", sorted(kind.__name__ for kind in kinds), f"all {cls.__name__}")
    betting = isinstance(first, BetOFUL)
    if failure_prob is not None and not betting:
        raise fail("failure_prob", failure_prob, "None: only betting sets need a new one")
    _check_arguments(parts, _FREE if betting else {"seed"})
    rows = [part.lineage for part in parts]
    if twice := repeated(rows):
        holders = [i for i, table in enumerate(rows) if twice[0] in table]
        raise fail(
            "policies",
            f"the same rows in {holders}",
            "policies without a common ancestor or file: rows that count twice void the set",
        )
    _check_later(rows, after)
    merged = _empty_copy(first, failure_prob, parts) if betting else _new(first)
    put: Callable[[Any, list[Any]], None] = (
        _put_bets if betting else _put_rows if cls is Evaluator else _put_ridges
    )
    put(merged, parts)
    if not isinstance(first, Evaluator):
        merged._rng.bit_generator.state = first._rng.bit_generator.state
    spent = sum(part.total_failure_prob for part in parts) if betting else 0.0
    sources = {name: n for table in rows for name, n in table.items()}
    merged._lineage = Lineage(sources, "", spent)
    return merged


def _new(part: Any) -> Any:
    return type(part).from_config(copy.deepcopy(part.config()))


def _check_arguments(parts: Sequence[Any], free: set[str]) -> None:
    """ValueError where an argument that counts differs."""
    first = parts[0].config()
    for i, part in enumerate(parts[1:], start=1):
        for name, value in part.config().items():
            if name not in free and not np.array_equal(value, first[name]):
                raise fail(f"policies[{i}]: {name}", value, f"{first[name]}, as policies[0]")


def _check_later(rows: Sequence[dict[str, int]], after: Any) -> None:
    """ValueError where a shard has learnt less than at the merge before."""
    if after is None:
        return
    if not isinstance(after, (Policy, Evaluator)):
        raise fail_type("after", after, "what `merge` returned, or None")
    now = {name: n for table in rows for name, n in table.items()}
    for name, before in after.lineage.items():
        if now.get(name, 0) < before:
            raise fail(
                "policies",
                f"{now.get(name, 0)} rows of a source",
                f"at least the {before} that it had at the merge before: no older forms",
            )


# --- ridge policies -----------------------------------------------------------------------------


def _put_ridges(merged: Any, parts: Sequence[Any]) -> None:
    """Sums add; radius, rate and counts are functions of them."""
    if merged._space.n_rounds is not None:
        merged._space.check_rounds(0, sum(part.n_observations for part in parts))
    dim, block = merged.dim, merged._state.blocks[0]
    block[:] = merged_ridge([part._state.blocks[0] for part in parts], block, dim)
    ridge, constants = open_ridge(block, dim), merged._state.constants
    if isinstance(merged, (OFUL, LinTS)):
        ridge.radius[0] = self_normalized_radius(ridge, self_normalized(constants))
    elif isinstance(merged, ConfidenceBall2):
        ridge.radius[0] = ball_radius(ridge.n[0] + 1.0, dim, constants)
    elif isinstance(merged, LinUCB):
        block[-1] = ridge.n[0]
    else:
        block[-1] = exploration_rate(ridge.n[0] + 1.0, *constants)
    if isinstance(merged, OFUL):
        merged._chosen[:] = block


# --- betting sets -------------------------------------------------------------------------------


def _empty_copy(first: Any, failure_prob: float | None, parts: Sequence[BetOFUL]) -> BetOFUL:
    """The policy to come, before it has learnt anything, of shards that can be merged."""
    check_shape(first)
    for i, part in enumerate(parts):
        facts = part._watch.facts
        if part.confidence_set.is_empty or part._standing.answers_nothing:
            raise fail(f"policies[{i}]: status", part.status, "a set that is not empty or refuted")
        if facts[N_ALARMS] > 0 or facts[SEGMENT] != facts[TOTAL]:
            raise fail(
                f"policies[{i}]",
                f"restarted after {part.alarms[-1].round if part.alarms else 0} rewards",
                "policies that saw one world: no alarm and no restart",
            )
        if part.n_observations == 0:
            raise fail(f"policies[{i}]: n_observations", 0, "at least 1")
    total = float(sum(part.total_failure_prob or 0.0 for part in parts))
    if failure_prob is None and not total < 1.0:
        raise fail("failure_prob", None, f"a number: the shards' add up to {total:g}")
    delta = validation.probability("failure_prob", total if failure_prob is None else failure_prob)
    config = copy.deepcopy(first.config()) | {
        "failure_prob": delta,
        "refresh": all(part.refresh for part in parts),
    }
    made: BetOFUL = BetOFUL.from_config(config)  # type: ignore[assignment]
    return made


def check_shape(policy: BetOFUL) -> None:
    """ValueError where a set's form is learnt from its rows, or is not one of quadratics alone."""
    if policy.bet == CUT:
        raise fail("bet", CUT, "mixed, product or ratio: sets of constant risk do not add")
    if policy._learns_in_python:
        told = {name: getattr(policy, name) for name in ("misfit", "grow_range")}
        raise fail("policy", told, "no misfit and no grow_range: shards must agree")


def _put_bets(merged: BetOFUL, parts: Sequence[BetOFUL]) -> None:
    """Quadratics add; rows that are kept are bent again on the merged set."""
    sets = [part.confidence_set for part in parts]
    Theta = merged.confidence_set
    memory = add_sets([part.memory for part in sets], Theta.memory)
    n = int(open_clock(memory).n[0])
    if merged.refresh:
        history: FloatArray = np.concatenate([part.history[: part.n_observations] for part in sets])
        for _ in range(REBENDS):
            bet_refresh(memory, history)
        Theta.history = history
    take_over(merged, memory, n)


def take_over(policy: BetOFUL, memory: FloatArray, n: int) -> None:
    """Let a policy that has learnt nothing have this block, of n rows."""
    policy.confidence_set.memory[:] = memory
    policy._watch.facts[[TOTAL, SEGMENT]] = n


# --- evaluators ---------------------------------------------------------------------------------


def _put_rows(merged: Evaluator, parts: Sequence[Evaluator]) -> None:
    """Logarithms of wealths of fixed bets add; so do sums.

    The wealth that tests the weights is the product's as it is now: what the shards' had reached
    before is not what one pass had.
    """
    for part in parts:
        merged._logs += part._logs + np.log(part._products)
        merged._tests *= part._tests
        largest = max(merged._sums[wealth.LARGEST_WEIGHT], part._sums[wealth.LARGEST_WEIGHT])
        merged._sums += part._sums
        merged._sums[wealth.LARGEST_WEIGHT] = largest
        np.clip(merged._tests, 0.0, wealth.MOST, out=merged._tests)
    merged._sums[wealth.PENDING] = 0.0
    merged._sums[wealth.EVALUE] = merged._tests.mean()
    for row, start in enumerate(_new(merged)._blocks):
        blocks = [part._blocks[row] for part in parts]
        merged._blocks[row] = merged_ridge(blocks, start, (merged.dim or 0) + 1)
