from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voful import OFUL, BetOFUL, registry
from voful.confidence.base import BallSet
from voful.envs import LAWS, LinearBandit, linear_bandit
from voful.experiments.play.compiled_loop import LONGEST, can_play, longest_call, play_compiled
from voful.experiments.play.execute import _columns, prepare_bandit
from voful.experiments.play.loop import Columns, play
from voful.experiments.study.run import Contender, Problem, Run

N_ROUNDS = 600  # two blocks and a part of a third
COMPILED = [e.id for e in registry.entries("bandit") if "_rule" in vars(e.cls)]

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "fixed": {"dim": 5, "n_arms": 20, "noise": "gaussian", "sigma": 0.3},
    "redrawn": {"dim": 3, "n_arms": 5, "arms": "ball", "redraw": True, "noise": "uniform"},
    "corners": {"dim": 4, "n_arms": 9, "arms": "corners", "redraw": True, "noise": "two_point"},
    "tiny": {"dim": 2, "arms": "tiny_then_unit", "n_tiny": 300, "noise": "rare_positive"},
    "given": {"dim": 2, "arms": [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]], "noise": "bernoulli"},
    "many given": {
        "dim": 2,
        "arms": [[0.0, 0.0], *([math.cos(i), math.sin(i)] for i in range(40))],
        "noise": "uniform",
        "sigma": 0.5,
    },
    "by arm": {"dim": 3, "n_arms": 8, "noise": "rare_negative", "sigma": [0.1, 0.4]},
    "by direction": {"dim": 6, "sigma_low": 0.0, "sigma_high": 0.5, "noise": "gaussian"},
    "no noise": {"dim": 3, "n_arms": 4, "noise": "none", "reward_range": (-0.8, 2.0)},
}


def both(
    id: str, environment: dict[str, Any], n_rounds: int = N_ROUNDS, **params: Any
) -> tuple[Columns, Columns, Any, Any]:
    entry = registry.lookup(id)
    played = []
    for compiled in (True, False):
        env = linear_bandit(**environment, seed=3)
        offered = {"n_rounds": n_rounds, "reward_range": env.reward_range, "seed": 4}
        params = {**entry.params, **params}
        policy = registry.build(entry.cls, env.dim, offered=offered, **params)
        if compiled:
            assert can_play(policy, env, n_rounds)
            columns = play_compiled(policy, env, n_rounds, check_every=10)
        else:
            pass_variance = entry.needs_variance
            records = play(policy, env, n_rounds, pass_variance=pass_variance, check_every=10)
            columns = _columns(records)
        played.append((columns, policy))
    (fast, fast_policy), (slow, slow_policy) = played
    return fast, slow, fast_policy, slow_policy


def determined(columns: Columns) -> Columns:
    return {name: values for name, values in columns.items() if "time" not in name}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("id", COMPILED)
def test_same_bits_as_the_python_loop(id: str, environment: str, tmp_path: Path) -> None:
    fast, slow, fast_policy, slow_policy = both(id, ENVIRONMENTS[environment])
    assert determined(fast) == determined(slow)
    assert list(fast) == list(slow)
    assert len(fast["regret"]) > 40
    rng = np.random.default_rng(0)
    arms = rng.uniform(-0.3, 0.3, (6, fast_policy.dim))
    for ours, theirs in zip(fast_policy.index(arms), slow_policy.index(arms), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    fast_policy.save(tmp_path / "policy")
    loaded = registry.load(tmp_path / "policy")
    assert loaded.n_observations == N_ROUNDS
    choice = slow_policy.select(arms)
    assert fast_policy.select(arms) == loaded.select(arms) == choice  # also the random ones


def test_runs_longer_than_one_call() -> None:
    fast, slow, *_ = both("oful", {"dim": 2, "n_arms": 3}, LONGEST + 300)
    assert determined(fast) == determined(slow)
    assert longest_call(3, 2) == LONGEST
    assert longest_call(1000, 100) < 1000


def test_all_but_the_linear_programmes_are_compiled() -> None:
    others = {entry.id for entry in registry.entries("bandit")} - set(COMPILED)
    assert others == {"voful", "voful-paper", "voful2"}


@pytest.mark.parametrize("id", COMPILED)
def test_compiled_sets_live_in_a_ball(id: str) -> None:
    """`Kernels.holds` leaves the ball to the loop."""
    Theta = registry.create(id, 2, n_rounds=10).confidence_set
    assert Theta is None or isinstance(Theta, BallSet)


def test_every_environment_law_is_tried() -> None:
    assert {e["noise"] for e in ENVIRONMENTS.values()} == set(LAWS) - {"adversary"}


@pytest.mark.parametrize(
    ("id", "params"),
    [
        ("oful", {"width_scale": 1e-3}),
        ("losan", {"width_scale": 0.01}),
        ("lofav", {"width_scale": 0.01}),
        ("oful-rare", {"theta_norm": 0.1}),
        ("betoful", {"refresh": False}),
        ("betoful", {"bet": "product"}),
        ("betoful", {"bet": "ratio", "width_scale": 0.1}),
    ],
)
def test_same_where_theta_leaves_the_set(id: str, params: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LofavSet is empty")  # so thin that nothing is left
        fast, slow, *_ = both(id, ENVIRONMENTS["fixed"], **params)
    assert determined(fast) == determined(slow)
    if "width_scale" in params or "theta_norm" in params:
        assert not fast["covered"][-1]


def test_an_empty_set_says_so_and_plays_on() -> None:
    def env() -> LinearBandit:
        return linear_bandit(dim=2, noise="none", theta_norm=0.9, seed=0)

    def wrong() -> BetOFUL:
        return BetOFUL(2, theta_norm=0.1, theta_center=[-0.8, -0.2], on_change=None)

    with pytest.warns(RuntimeWarning, match="is empty"):
        fast = play_compiled(wrong(), env(), 2000, check_every=10)
    with pytest.warns(RuntimeWarning, match="is empty"):
        slow = _columns(play(wrong(), env(), 2000, check_every=10))
    assert determined(fast) == determined(slow)


@pytest.mark.parametrize(("id", "on_change"), [("betoful", "restart"), ("certified", "restart")])
@pytest.mark.parametrize("redraw", [False, True])
def test_alarms_are_counted_alike(id: str, on_change: str, redraw: bool) -> None:
    changing = {"dim": 2, "sigma": 0.1, "change_at": [900, 1400], "change": "flip"}
    fast, slow, policy, _ = both(id, {**changing, "redraw": redraw}, 1800, on_change=on_change)
    assert determined(fast) == determined(slow)
    rounds = [alarm.round for alarm in policy.alarms]
    assert len(rounds) >= 2
    assert fast["alarms"] == [sum(r <= point for r in rounds) for point in fast["round"]]


def test_an_alarm_with_a_warning_is_one() -> None:
    changing = {"dim": 2, "sigma": 0.1, "change_at": [300, 450], "change": "flip"}
    with pytest.warns(RuntimeWarning, match="refuted"):
        fast, slow, *_ = both("betoful", changing, on_change="warn")
    assert determined(fast) == determined(slow)
    assert fast["alarms"][-1] == 1


def test_recording_points_and_time() -> None:
    env = linear_bandit(dim=2, seed=0)
    play_compiled(OFUL(2), env, 1)  # loads the kernels
    columns = play_compiled(OFUL(2), env, 3000, record_at=[1500, 3000])
    assert columns["round"] == [1500, 3000]
    for name in ("select_time", "update_time"):
        first, last = columns[name]
        assert 0.0 < first < last < 1.0


class Contrary(OFUL):
    """Derives from a compiled policy, and plays otherwise."""

    def select(self, arms: Any, mask: Any = None, **options: Any) -> Any:
        return len(arms) - 1


@pytest.mark.parametrize(
    ("policy", "environment"),
    [
        (Contrary(2), {}),
        (registry.create("voful", 2, n_rounds=100), {}),
        (OFUL(2), {"noise": "adversary"}),
        (OFUL(2, reward_range=(0.0, 1.0)), {}),
        (OFUL(3), {}),
        (registry.create("lofav", 2, n_rounds=99), {}),
    ],
)
def test_what_the_python_loop_plays(policy: Any, environment: dict[str, Any]) -> None:
    assert not can_play(policy, linear_bandit(dim=2, **environment), 100)


def test_arms_that_the_policy_refuses() -> None:
    policy = OFUL(2, feature_norm=0.5)
    with pytest.raises(ValueError, match="norm <= 0.5"):
        play_compiled(policy, linear_bandit(dim=2), 10)


def test_studies_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the Python loop")

    monkeypatch.setattr("voful.experiments.play.execute.play", refuse)
    run = Run(Problem("p", {"dim": 2}, 20), Contender("oful", "oful"), 0, 0)
    assert prepare_bandit(run).play()["round"][-1] == 20
    adversary = Run(Problem("p", {"dim": 2, "noise": "adversary"}, 20), run.contender, 0, 0)
    with pytest.raises(AssertionError, match="the Python loop"):
        prepare_bandit(adversary)


def test_warnings_are_not_noise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play_compiled(OFUL(2), linear_bandit(dim=2), 300)
