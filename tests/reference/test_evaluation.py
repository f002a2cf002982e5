"""The compiled engine equals the literal forms, and satisfies identities that hold exactly."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import literal_evaluation as literal
from voful import Evaluator, Log
from voful.typing import FloatArray, IntArray


class Case(NamedTuple):
    log: Log
    h: FloatArray
    pi: FloatArray
    other: FloatArray
    arms: FloatArray
    a: IntArray
    y: FloatArray


def draw_case(seed: int, n: int, n_arms: int, gaps: bool = False, noise: float = 0.3) -> Case:
    """A random log; with `gaps` the logging policy never plays some arms."""
    rng = np.random.default_rng(seed)
    h = rng.dirichlet(np.full(n_arms, 0.7), n) * 0.98 + 0.02 / n_arms
    if gaps:
        h[:, 1:] *= rng.random((n, n_arms - 1)) < 0.7
        h /= h.sum(axis=1, keepdims=True)
    sparse = rng.choice([0.05, 0.3, 3.0])
    pi, other = rng.dirichlet(np.full(n_arms, sparse), (2, n))
    arms = rng.standard_normal((n, n_arms, 2))
    a = (h.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    mean = 1.0 / (1.0 + np.exp(-arms[np.arange(n), a] @ [1.0, -1.0]))
    y = np.clip(mean + noise * rng.standard_normal(n), 0.0, 1.0)
    return Case(Log(a, y, h, arms=arms), h, pi, other, arms, a, y)


cases = st.builds(
    draw_case,
    st.integers(0, 10**6),
    st.integers(1, 90),
    st.integers(2, 5),
    st.booleans(),
    st.sampled_from([0.0, 0.3]),
)


def interval(case: Case, **how: Any) -> FloatArray:
    evaluator = Evaluator(**how)
    baseline = case.other if evaluator.versus == "baseline" else None
    evaluator.update(case.log, case.pi, baseline)
    return np.array(evaluator.interval())


def alike(k: FloatArray, case: Case) -> FloatArray:
    """A number for each row, for all its arms."""
    return np.repeat(k[:, None], case.h.shape[1], axis=1)


def largest(rho: FloatArray, case: Case) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return alike(np.where(rho == 0, 0.0, np.abs(rho) / case.h).max(axis=1), case)


def weights(case: Case) -> FloatArray:
    rows = np.arange(len(case.y))
    return case.pi[rows, case.a] / case.h[rows, case.a]


@given(cases, st.sampled_from([0.05, 0.5]), st.sampled_from([None, 50]))
def test_values(case: Case, alpha: float, horizon: int | None) -> None:
    _, h, pi, _, arms, a, y = case
    bets = literal.VALUE if horizon is None else literal.horizon(horizon, alpha)
    nothing, w = np.zeros_like(h), weights(case)
    expected = {
        "ips": literal.value(
            pi, h, a, y, nothing, alpha, wbar=np.full_like(h, np.inf), bets=bets
        ),
        "snips": literal.value(
            pi, h, a, y, alike(literal.running(w, y), case), alpha, wbar=largest(pi, case),
            bets=bets,
        ),
        "dr": literal.value(pi, h, a, y, literal.ridge_predictions(arms, a, y), alpha, bets=bets),
    }  # fmt: skip
    for estimator, ends in expected.items():
        dim = 2 if estimator == "dr" else None
        found = interval(case, estimator=estimator, failure_prob=alpha, horizon=horizon, dim=dim)
        np.testing.assert_allclose(found, ends, atol=1e-9)


@given(cases, st.sampled_from([0.05, 0.5]), st.sampled_from([None, 400]))
def test_differences(case: Case, alpha: float, horizon: int | None) -> None:
    _, h, pi, other, arms, a, y = case
    bets = literal.DIFFERENCE if horizon is None else literal.horizon(horizon, alpha, True)
    known: Any = {"failure_prob": alpha, "bets": bets}
    rho, endless = pi - other, np.full_like(h, np.inf)
    mean = alike(literal.running(np.ones(len(y)), y), case)
    expected = {
        "ips": literal.difference(pi, other, h, a, y, np.zeros_like(h), wbar=endless, **known),
        "snips": literal.difference(pi, other, h, a, y, mean, wbar=largest(rho, case), **known),
        "dr": literal.difference(
            pi, other, h, a, y, literal.ridge_predictions(arms, a, y), **known
        ),
    }
    for estimator, ends in expected.items():
        dim = 2 if estimator == "dr" else None
        how = {"estimator": estimator, "failure_prob": alpha, "horizon": horizon, "dim": dim}
        np.testing.assert_allclose(interval(case, versus="baseline", **how), ends, atol=1e-9)
    logged = interval(case, versus="logged", failure_prob=alpha, horizon=horizon)
    expected_logged = literal.against_logged(weights(case), y, **known)
    np.testing.assert_allclose(logged, expected_logged, atol=1e-9)


@given(cases, st.floats(0.01, 0.9))
def test_a_bound_on_propensities(case: Case, share: float) -> None:
    """Where only those of the arms played are known: w(a) <= pi(a)/p, or 1/p."""
    _, h, pi, _, arms, a, y = case
    rows = np.arange(len(y))
    played, w = h[rows, a], weights(case)
    p = share * float(played.min())
    log = Log(a, y, played, arms=arms)
    k = alike(literal.running(w, y), case)
    for estimator, q, wbar in (
        ("snips", k, alike((pi / p).max(axis=1), case)),
        ("dr", literal.ridge_predictions(arms, a, y), np.where(pi > 0.0, pi / p, 0.0)),
    ):
        full_h = np.where(np.arange(h.shape[1]) == a[:, None], h, 1.0)  # of others: not used
        evaluator = Evaluator(
            estimator=estimator, min_propensity=p, dim=2 if estimator == "dr" else None
        )
        evaluator.update(log, pi)
        expected = literal.value(pi, full_h, a, y, q, wbar=wbar)
        np.testing.assert_allclose(evaluator.interval(), expected, atol=1e-9)
    chosen = Evaluator(min_propensity=p)
    chosen.update(log, pi[rows, a])
    one, inverse = np.ones((len(y), 1)), 1.0 / np.maximum(w, 1e-300)[:, None]
    expected = literal.value(one, inverse, np.zeros_like(a), y, k[:, :1], wbar=one / p)
    np.testing.assert_allclose(chosen.interval(), expected, atol=1e-9)
    unknown = Evaluator()
    unknown.update(log, pi[rows, a])
    ips = Evaluator(estimator="ips")
    ips.update(log, pi)
    np.testing.assert_allclose(unknown.interval(), ips.interval(), atol=1e-12)


@given(cases)
def test_estimates_and_evidence(case: Case) -> None:
    _, h, pi, other, arms, a, y = case
    rows, w = np.arange(len(y)), weights(case)
    base = other[rows, a] / h[rows, a]
    q = literal.ridge_predictions(arms, a, y)
    Z = (pi * q).sum(axis=1) + w * (y - q[rows, a])

    def snips(w: FloatArray) -> float:
        return float((w * y).sum() / w.sum()) if w.sum() > 0 else 0.0

    for versus, expected in (
        (None, {"ips": (w * y).mean(), "snips": snips(w), "dr": Z.mean()}),
        ("baseline", {"ips": ((w - base) * y).mean(), "snips": snips(w) - snips(base)}),
        ("logged", {"ips": ((w - 1) * y).mean(), "snips": snips(w) - y.mean()}),
    ):
        for estimator, estimate in expected.items():
            dim = 2 if estimator == "dr" else None
            evaluator = Evaluator(estimator=estimator, versus=versus, dim=dim)
            evaluator.update(case.log, pi, other if versus == "baseline" else None)
            clipped = np.clip(estimate, *evaluator.interval())
            assert evaluator.estimate == pytest.approx(clipped, abs=1e-9)
            tested = 0.5 * (w + base) if versus == "baseline" else w
            evidence = literal.weight_evalue(tested)
            assert evaluator.weight_evalue == pytest.approx(evidence, rel=1e-9)
            squares = (tested**2).sum()
            effective = tested.sum() ** 2 / squares if squares > 0 else 0.0
            assert evaluator.effective_n == pytest.approx(effective, rel=1e-9)
            assert evaluator.max_weight == pytest.approx(tested.max(), rel=1e-12)


# --- identities ---------------------------------------------------------------------------------

HOW: list[dict[str, Any]] = [
    {"estimator": "ips"},
    {"estimator": "snips"},
    {"estimator": "ips", "versus": "baseline"},
    {"estimator": "snips", "versus": "baseline"},
    {"estimator": "ips", "versus": "logged"},
]


@pytest.mark.parametrize("how", HOW, ids=lambda how: "-".join(how.values()))
@given(case=cases)
def test_flipped_rewards_flip_the_interval(how: dict[str, Any], case: Case) -> None:
    """Of 1 - y: 1 less the value, and minus the difference."""
    one = 1.0 if "versus" not in how else 0.0
    flipped = case._replace(log=Log(case.a, 1.0 - case.y, case.h, arms=case.arms))
    lower, upper = interval(case, **how)
    np.testing.assert_allclose(interval(flipped, **how), [one - upper, one - lower], atol=1e-9)


@pytest.mark.parametrize("how", HOW[2:4], ids=lambda how: "-".join(how.values()))
@given(case=cases)
def test_swapped_policies_swap_the_ends(how: dict[str, Any], case: Case) -> None:
    swapped = case._replace(pi=case.other, other=case.pi)
    lower, upper = interval(case, **how)
    np.testing.assert_allclose(interval(swapped, **how), [-upper, -lower], atol=1e-12)


@pytest.mark.parametrize("how", HOW, ids=lambda how: "-".join(how.values()))
@given(case=cases, low=st.floats(-50.0, 50.0), width=st.floats(0.01, 100.0))
def test_rescaled_rewards_rescale_the_interval(
    how: dict[str, Any], case: Case, low: float, width: float
) -> None:
    rewards = low + width * case.y
    scaled = case._replace(log=Log(case.a, rewards, case.h, arms=case.arms))
    origin = low if "versus" not in how else 0.0
    found = interval(scaled, reward_range=(low, low + width), **how)
    expected = origin + width * interval(case, **how)
    np.testing.assert_allclose(found, expected, atol=1e-8 * (1.0 + width + abs(low)))


def test_the_comparison_can_fail() -> None:
    """The control: another kappa moves the ends by more than the tolerance."""
    case = draw_case(3, 80, 3)
    b, kappa, prior = literal.VALUE
    nothing = alike(literal.running(weights(case), case.y), case)
    other = literal.value(
        case.pi, case.h, case.a, case.y, nothing, wbar=largest(case.pi, case),
        bets=np.array([b, 0.8 * kappa, prior]),
    )  # fmt: skip
    assert np.abs(interval(case, estimator="snips") - other).max() > 1e-6
