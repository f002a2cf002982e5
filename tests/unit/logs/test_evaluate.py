from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from voful import Evaluator, Log
from voful.typing import FloatArray


def make_log(n: int = 400, n_arms: int = 3, seed: int = 0) -> tuple[Log, FloatArray]:
    """A log of a policy that is known, and a target's probabilities."""
    rng = np.random.default_rng(seed)
    h = 0.8 * rng.dirichlet(np.ones(n_arms), n) + 0.2 / n_arms
    arms = rng.standard_normal((n, n_arms, 2))
    arms /= np.linalg.norm(arms, axis=2, keepdims=True)
    a = (h.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    y = (rng.random(n) < 0.5 + 0.4 * arms[np.arange(n), a, 0]).astype(float)
    return Log(a, y, h, arms=arms), rng.dirichlet(np.ones(n_arms), n)


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_pieces_give_the_same_bits(estimator: str, tmp_path: Path) -> None:
    """One call, many calls, and calls before and after a file: the same numbers."""
    log, pi = make_log()
    dim = 2 if estimator == "dr" else None
    whole, parts = (Evaluator(estimator=estimator, dim=dim) for _ in range(2))
    whole.update(log, pi)
    for start, stop in ((0, 1), (1, 14), (14, 14), (14, 300)):
        parts.update(log[start:stop], pi[start:stop])
    parts.save(tmp_path / "e")
    loaded = voful.load(tmp_path / "e")
    loaded.update(log[300:], pi[300:])
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, loaded.state()[name])
    assert whole.interval() == loaded.interval()
    assert whole.n == 400
    assert "after 400 rows" in repr(whole)


def test_evaluate_is_the_evaluator() -> None:
    log, pi = make_log()
    evaluator = Evaluator(estimator="ips")
    evaluator.update(log, pi)
    found = voful.evaluate(log, pi, estimator="ips", checkpoints=[7, 100, 100, 5000])
    assert (found.lower, found.upper) == evaluator.interval()
    assert found.trajectory.n.tolist() == [7, 100, 400]
    assert found.trajectory.lower[-1] == found.lower
    evaluator = Evaluator(estimator="ips")
    evaluator.update(log[:100], pi[:100])
    assert found.trajectory.upper[1] == evaluator.interval()[1]
    assert voful.evaluate(log, pi, checkpoints=4).trajectory.n.tolist() == [100, 200, 300, 400]
    steps = voful.evaluate(log, pi).trajectory.n
    assert steps[0] == 1
    assert steps[-1] == 400
    assert (steps[1:] <= 1.1 * steps[:-1] + 1).all()
    json.dumps(found.as_dict())
    text = repr(found)
    assert "value: " in text
    assert "with probability 0.95" in text


def test_targets_of_all_kinds() -> None:
    log, _ = make_log(60)
    policy = voful.OFUL(2, reward_range=(0, 1))
    policy.partial_fit(log.x, log.rewards)
    before = copy.deepcopy(policy.state())
    law = np.array([policy.probabilities(log.arms_of(t, 2)) for t in range(60)])
    by_law = voful.evaluate(log, law)
    by_policy = voful.evaluate(log, policy)
    by_function = voful.evaluate(log, policy.probabilities)
    assert repr(by_law) == repr(by_policy) == repr(by_function)
    assert by_law.lower == by_policy.lower == by_function.lower
    assert all((policy.state()[name] == array).all() for name, array in before.items())
    learning = voful.evaluate(log, voful.OFUL(2, reward_range=(0, 1)), learn=True)
    learner = voful.OFUL(2, reward_range=(0, 1))
    laws = []
    for t in range(60):
        laws.append(learner.probabilities(log.arms_of(t, 2)))
        learner.update(log.x[t], log.rewards[t])
    assert learning.lower == voful.evaluate(log, np.array(laws)).lower
    with pytest.raises(TypeError, match="learn"):
        voful.evaluate(log, law, learn=True)


def test_contexts_stand_for_block_arms() -> None:
    rng = np.random.default_rng(0)
    n = 300
    h, contexts = np.full((n, 3), 1 / 3), 0.5 * rng.standard_normal((n, 2)).clip(-1, 1)
    log = Log(rng.integers(0, 3, n), rng.random(n), h, contexts=contexts)
    policy = voful.OFUL(6, reward_range=(0, 1))
    policy.partial_fit(log.x, log.rewards)
    law = np.array([policy.probabilities(log.arms_of(t, 6)) for t in range(n)])
    assert voful.evaluate(log, policy).lower == voful.evaluate(log, law).lower
    dr = voful.evaluate(log, law, estimator="dr")
    assert dr.upper - dr.lower < 0.4
    with pytest.raises(ValueError, match="multiple of 2"):
        voful.evaluate(log, voful.OFUL(5, reward_range=(0, 1)))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"reward_range": (0.0, 0.5)}, r"rewards\[\d+\]: got 1.0; expected a number in reward_range"),
    ({"min_propensity": 0.5}, r"propensities\[\d+\]: .* at least min_propensity = 0.5"),
    ({"min_propensity": 0.0}, r"min_propensity: got 0.0"),
    ({"estimator": "best"}, "estimator: got 'best'; expected one of"),
    ({"failure_prob": 1.0}, "failure_prob"),
    ({"horizon": 0}, "horizon"),
    ({"checkpoints": [0]}, "checkpoints"),
]


@pytest.mark.parametrize(("how", "message"), BAD, ids=lambda case: str(case)[:30])
def test_bad_arguments(how: dict[str, Any], message: str) -> None:
    log, pi = make_log(50)
    with pytest.raises(ValueError, match=message):
        voful.evaluate(log, pi, **how)


def test_bad_targets_are_named() -> None:
    log, pi = make_log(50)
    chosen = pi[np.arange(50), log.actions]
    bare = Log(log.actions, log.rewards, log.propensities)
    for target, message in (
        (np.where(np.arange(50) == 7, 1.5, chosen), r"target\[7\]: got 1.5; expected a prob"),
        (np.where(np.arange(50) == 7, np.nan, chosen), r"target\[7\]: got nan"),
        (pi * 0.9, r"target\[0\]: .* add up to 1"),
        (pi[:, :2] / pi[:, :2].sum(axis=1, keepdims=True), r"target: .* as propensities"),
        (pi[:20], "target: got an array of shape"),
        (lambda arms: [1.0], "target of row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            voful.evaluate(log, target)
    with pytest.raises(ValueError, match="arms: got None; .* dr needs them"):
        voful.evaluate(bare, pi, estimator="dr")
    with pytest.raises(ValueError, match=r"\(50, n_arms\): a comparison of two policies needs"):
        voful.compare(bare, chosen, chosen)
    with pytest.raises(ValueError, match=r"dr needs the probabilities of all arms"):
        voful.evaluate(log, chosen, estimator="dr")
    unknown = Log(log.actions, log.rewards, log.propensities, arms=log.arms)
    with pytest.raises(ValueError, match="min_propensity: got None; expected a number, or"):
        voful.evaluate(unknown, pi, estimator="dr")
    with pytest.raises(ValueError, match="expected snips or ips against the policy that logged"):
        voful.compare(log, pi, estimator="dr")
    with pytest.raises(TypeError, match="log: got"):
        voful.evaluate([1, 2], pi)  # type: ignore[arg-type]


def test_one_bad_row_changes_nothing() -> None:
    log, pi = make_log(70_000)  # two pieces, the bad row in the second
    evaluator = Evaluator()
    evaluator.update(log[:100], pi[:100])
    before = {name: array.copy() for name, array in evaluator.state().items()}
    pi[69_000, 0] += 0.5
    with pytest.raises(ValueError, match=r"target\[69000\]"):
        evaluator.update(log, pi)
    with pytest.raises(ValueError, match=r"target\[69000\]"):
        voful.evaluate(log, pi)
    for name, array in evaluator.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_wrong_propensities_are_noticed() -> None:
    rng = np.random.default_rng(0)
    a = (rng.random(2000) < 0.3).astype(int)
    told = np.where(a == 1, 0.1, 0.9)  # in truth 0.3 and 0.7
    log = Log(a, rng.random(2000), told)
    with pytest.warns(UserWarning, match="propensities are wrong: the weights average more than 1"):
        found = voful.evaluate(log, (a == 1).astype(float))
    assert found.weight_evalue > 1e6
    assert "propensities are wrong" in repr(found)


def test_extreme_weights_stay_finite() -> None:
    n = 100
    log = Log(np.zeros(n, dtype=int), np.ones(n), np.full(n, 1e-100))
    for versus in (None, "logged"):
        evaluator = Evaluator(estimator="ips", versus=versus)
        evaluator.update(log, np.ones(n))
        assert np.isfinite([*evaluator.interval(), evaluator.estimate]).all()
        assert evaluator.weight_evalue > 100


def test_nothing_is_known_before_the_first_row() -> None:
    assert Evaluator(reward_range=(-1, 3)).interval() == (-1.0, 3.0)
    assert Evaluator(versus="logged", reward_range=(-1, 3)).interval() == (-4.0, 4.0)
    with pytest.raises(ValueError, match="at least one row"):
        voful.evaluate(Log([], [], []), [])


def test_a_horizon_is_narrower_there() -> None:
    log, pi = make_log(4000)
    ends = [voful.evaluate(log, pi, horizon=n) for n in (None, 4000)]
    assert ends[1].upper - ends[1].lower < ends[0].upper - ends[0].lower


def test_replay_learns_accepted_rows_only() -> None:
    log, _ = make_log(600)
    policy = voful.OFUL(2, reward_range=(0, 1))
    found = voful.replay(log, policy, min_propensity=0.06, seed=1)
    assert policy.n_observations == 0
    assert 5 < found.n < 100
    assert found.max_weight == 1.0
    again = voful.replay(log, policy, min_propensity=0.06, seed=1)
    assert again.estimate == found.estimate
    with pytest.raises(ValueError, match="min_propensity"):
        voful.replay(log, policy, min_propensity=0.3)


def test_plot() -> None:
    log, pi = make_log()
    ax = voful.compare(log, pi).plot(label="a policy")
    voful.compare(log, pi, log.law).plot(ax)
    assert ax.get_xlabel() == "rows"
    assert [text.get_text() for text in ax.legend().get_texts()] == ["a policy", "snips"]
