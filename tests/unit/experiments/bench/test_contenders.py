from __future__ import annotations

import numpy as np
import pytest

from voful import OFUL, registry
from voful.bench.contenders import (
    BY_ROUND,
    REFERENCE,
    WHOLE_LOOP,
    Play,
    compiled_contenders,
    contenders,
    lean_numpy_oful,
    numba_oful_by_round,
    numba_oful_whole_loop,
    public_api,
    quarters,
    through_api,
    through_loop,
)
from voful.bench.data import make_data
from voful.experiments.play.loop import play


@pytest.mark.parametrize("by_hand", [lean_numpy_oful, numba_oful_by_round, numba_oful_whole_loop])
def test_the_references_are_the_same_algorithm(by_hand: Play) -> None:
    """They play the same arms as ours, so that the ratio compares like with like."""
    data = make_data(3, 8, 400)
    ours = public_api(OFUL(3), data, 400)
    assert by_hand(data, 400).played == ours.played
    assert len(set(ours.played)) > 1
    assert len(ours.clock) == 5


def test_data_are_those_of_the_environment() -> None:
    """The table pays what the environment would pay, and knows the variances."""
    data = make_data(3, 4, 300)
    policy = OFUL(3)
    chosen = public_api(policy, data, 300).played
    env = data.env
    fresh = make_data(3, 4, 300).env
    for t, i in enumerate(chosen):
        feedback = fresh.pull(i)
        assert data.rewards[t][i] == feedback.reward
        assert data.variances[i] == feedback.variance
    assert env.round == 0
    other = OFUL(3)
    *_, _last = play(other, make_data(3, 4, 300).env, 300, record_at=[300])
    np.testing.assert_array_equal(policy.confidence_set.center, other.confidence_set.center)


def test_every_policy_is_a_contender() -> None:
    names = list(contenders(make_data(2, 3, 8)))
    ids = [entry.id for entry in registry.entries("bandit")]
    assert names[: 3 + len(ids)] == [REFERENCE, BY_ROUND, WHOLE_LOOP, *ids]


@pytest.mark.parametrize("id", ["weighted-oful", "betoful"])
def test_a_run_tells_what_is_remembered(id: str) -> None:
    data = make_data(2, 3, 40)
    run = through_api(id)(data, 40)
    assert run.state_bytes is not None
    assert run.state_bytes >= 8 * 2 * 2
    assert len(run.played) == 40


def test_quarters() -> None:
    assert list(quarters(10)) == [(0, 2), (2, 5), (5, 8), (8, 10)]


def test_whole_runs_are_timed_by_quarters() -> None:
    data = make_data(2, 3, 80)
    assert list(compiled_contenders(data, ["oful", "voful"])) == ["oful, whole run"]
    run = through_loop("oful")(data, 80)
    assert len(run.clock) == 5
    assert run.clock == sorted(run.clock)
    assert run.clock[1] > 0.0
    assert run.state_bytes == through_api("oful")(data, 80).state_bytes
