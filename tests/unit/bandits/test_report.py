"""Means that are linear up to a misfit: choices as ever, answers by a set that allows for it."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import sphere
from voful.bandits.report import STEPS, Report
from voful.experiments.play.compiled_loop import can_play
from voful.typing import FloatArray

HALF = sphere(np.random.default_rng(8), 3, 3)
ARMS = np.concatenate([HALF, -HALF])
ROUNDS = 1000
THETA = np.array([0.4, -0.2, 0.1])


def mean(x: FloatArray, e: float) -> float:
    """An intercept that the model does not have, and arms that cannot stand in for it."""
    return float(x @ THETA) + e


def serve(policy: Any, n: int, seed: int, e: float = 0.15) -> list[int]:
    """A few choices, which are returned, among many rounds of arms at random."""
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(n):
        i = int(rng.integers(0, 6))
        if rng.random() < 0.2:
            i = policy.select(ARMS)
            chosen.append(i)
        policy.update(ARMS[i], mean(ARMS[i], e) + 0.05 * rng.choice([-1.0, 1.0]))
    return chosen


@pytest.mark.parametrize("misfit", [0.15, "unknown"])
def test_choices_are_those_without_it(misfit: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        plain = serve(voful.BetOFUL(3), ROUNDS, 1)
    assert serve(voful.BetOFUL(3, misfit=misfit), ROUNDS, 1) == plain


def plain_ends() -> tuple[str, FloatArray, FloatArray]:
    """Status and ends of a policy that knows nothing of misfit, and has no check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        plain = voful.BetOFUL(3, on_change=None)
        serve(plain, ROUNDS, 1)
        _, lower, upper = plain.index(ARMS)
        return plain.status, lower, upper


def test_its_intervals_hold_the_means() -> None:
    policy = voful.BetOFUL(3, misfit=0.15)
    serve(policy, ROUNDS, 1)
    _, lower, upper = policy.index(ARMS)
    means = np.array([mean(x, 0.15) for x in ARMS])
    assert policy.status == "ok"
    assert ((lower <= means) & (means <= upper)).all()
    assert (upper - lower).mean() < 1.5
    inside = policy.confidence_set.interval(ARMS)
    np.testing.assert_allclose(np.clip(inside[0], -1, 1), lower)
    status, _, upper = plain_ends()  # the control
    assert status == "empty" or not (means <= upper).all()


def test_an_unknown_misfit_is_raised_as_far_as_the_data_ask() -> None:
    policy = voful.BetOFUL(3, misfit="unknown")
    serve(policy, ROUNDS, 1)
    _, lower, upper = policy.index(ARMS)
    status, plain_lower, plain_upper = plain_ends()
    assert policy.status == status == "ok"
    assert policy._report is not None
    assert policy._report.step[0] >= 1
    assert (upper - lower).mean() > 2.0 * (plain_upper - plain_lower).mean()


def test_a_linear_world_needs_no_step() -> None:
    policy, plain = voful.BetOFUL(3, misfit="unknown"), voful.BetOFUL(3)
    serve(policy, 300, 1, e=0.0)
    serve(plain, 300, 1, e=0.0)
    assert policy._report is not None
    assert policy._report.step[0] == 0
    for ours, theirs in zip(policy.index(ARMS), plain.index(ARMS), strict=True):
        np.testing.assert_array_equal(ours, np.clip(theirs, -1, 1))


@pytest.mark.parametrize("misfit", [0.15, "unknown"])
@pytest.mark.parametrize("more", [{}, {"grow_range": True, "reward_range": (-0.2, 0.2)}])
def test_it_is_saved_loaded_and_copied(misfit: Any, more: Any, tmp_path: Path) -> None:
    policy = voful.BetOFUL(3, misfit=misfit, **more)
    serve(policy, 300, 1)
    policy.save(tmp_path / "policy")
    loaded, copied = voful.load(tmp_path / "policy"), copy.deepcopy(policy)
    expected = serve(policy, 200, 2)
    for twin in (loaded, copied):
        assert serve(twin, 200, 2) == expected
        a, b = policy.state(), twin.state()
        assert a.keys() == b.keys()
        assert all((a[name] == b[name]).all() for name in a)
        assert (twin.status, twin.alarms) == (policy.status, policy.alarms)


def test_live_views_survive_a_step() -> None:
    policy = voful.BetOFUL(3, misfit="unknown")
    Theta = policy.confidence_set
    serve(policy, ROUNDS, 1)
    assert policy._report is not None
    assert policy._report.step[0] >= 1
    assert policy.confidence_set is Theta
    assert Theta.misfit > 0.0
    assert Theta.theta_norm == 10.0
    assert Theta.n_observations == policy.n_observations == ROUNDS


def test_beyond_the_last_step_the_range_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voful.bandits.report.STEPS", 0)
    policy = voful.BetOFUL(3, misfit="unknown")
    x = np.array([[1.0, 0.0, 0.0]])
    with pytest.warns(RuntimeWarning, match="refuted"):
        policy.partial_fit(np.repeat(x, 400, axis=0), np.repeat([0.9, -0.9], 200))
    assert policy.status == "refuted"
    assert [float(v[0]) for v in policy.index(x)[1:]] == [-1.0, 1.0]


def test_a_known_misfit_has_alarms_of_its_own() -> None:
    policy = voful.BetOFUL(3, misfit=0.1)
    x = np.array([[1.0, 0.0, 0.0]])
    policy.partial_fit(np.repeat(x, 400, axis=0), np.repeat([0.9, -0.9], 200))
    assert len(policy.alarms) >= 1
    assert policy.status == "ok"  # it has learnt anew
    assert policy.index(x)[2][0] < 0.0


@pytest.mark.parametrize("bad", [-0.1, np.nan, "much", None])
def test_bad_misfits_are_refused(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="misfit: got"):
        voful.BetOFUL(3, misfit=bad)


def test_an_unknown_one_needs_the_history() -> None:
    with pytest.raises(ValueError, match="misfit: got 'unknown'; expected refresh=True"):
        voful.BetOFUL(3, misfit="unknown", refresh=False)
    voful.BetOFUL(3, misfit=0.1, refresh=False)


def test_a_crafted_step_is_refused() -> None:
    policy = voful.BetOFUL(3, misfit="unknown")
    serve(policy, 50, 1, e=0.0)
    for step in (1.0, 0.5, -1.0, STEPS + 1.0):
        with pytest.raises(ValueError, match="does not satisfy|is float64 of shape"):
            policy.restore(policy.state() | {"_report/step": np.array([step])})


def test_it_is_played_in_python() -> None:
    env = voful.envs.linear_bandit(dim=3, seed=1)
    assert not can_play(voful.BetOFUL(3, misfit=0.1), env, 10)
    assert can_play(voful.BetOFUL(3), env, 10)


def test_an_interrupt_leaves_the_two_sets_at_most_a_row_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: Report, x: FloatArray, reward: float) -> None:
        if self.betting.n_observations == 5:
            raise KeyboardInterrupt
        learn(self, x, reward)

    policy, learn = voful.BetOFUL(3, misfit=0.1), Report.learn
    monkeypatch.setattr(Report, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        policy.partial_fit(np.tile(ARMS, (50, 1)), np.zeros(300))
    assert policy.confidence_set.n_observations == 5
    assert policy.n_observations == 6
