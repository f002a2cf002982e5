from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from voful.confidence import LikelihoodSet
from voful.confidence.mixture import linear_programmes
from voful.confidence.mixture.likelihood import ROUNDS
from voful.confidence.mixture.log_likelihood import (
    maximum_likelihood,
    mixture_evidence,
    outside_points,
    relative_log_likelihood,
)
from voful.typing import ConfidenceSet, FloatArray


def data(
    dim: int, seed: int = 0, groups: int = 5, visits: int = 100, outcomes: int = 4
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Laws (groups * outcomes, dim), counts, theta*."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.ones(dim))
    p = np.moveaxis(rng.dirichlet(np.ones(outcomes), size=(groups, dim)), 1, 2)
    counts = [rng.multinomial(visits, law @ theta / (law @ theta).sum()) for law in p]
    return p.reshape(-1, dim), np.concatenate(counts).astype(float), theta


@pytest.mark.parametrize("dim", [2, 3, 5, 8])
def test_maximum_likelihood(dim: int) -> None:
    p, n, _ = data(dim)
    theta = maximum_likelihood(p, n, np.full(dim, 1.0 / dim))
    assert theta.min() >= 0.0
    assert theta.sum() == pytest.approx(1.0)
    # optimality: no corner has a larger slope than theta, whose own is sum n
    slope = (n / (p @ theta)) @ p
    assert slope.max() <= n.sum() + 1e-3
    best = minimize(
        lambda z: -float(n @ np.log(p @ (z * z / (z @ z)))),
        np.ones(dim),
        method="Nelder-Mead" if dim == 2 else "BFGS",
    )
    assert float(n @ np.log(p @ theta)) >= -float(best.fun) - 1e-5


def test_maximum_likelihood_when_one_step_tells_almost_nothing() -> None:
    """As in a fine time step: all laws nearly the same; EM would crawl."""
    rng = np.random.default_rng(1)
    p = np.array([[0.999, 0.9995], [0.001, 0.0005]])
    theta_star = np.array([0.3, 0.7])
    n = rng.multinomial(10**7, p @ theta_star).astype(float)
    theta = maximum_likelihood(p, n, np.full(2, 0.5))
    assert p @ theta == pytest.approx(n / n.sum(), rel=1e-9)


def test_relative_log_likelihood() -> None:
    p, n, _ = data(3)
    one, two = np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.3, 0.2])
    expected = n @ np.log(p @ one) - n @ np.log(p @ two)
    assert relative_log_likelihood(p, n, two, one[None])[0] == pytest.approx(expected)
    excluded = relative_log_likelihood(
        np.array([[0.0, 0.5]]), np.ones(1), np.full(2, 0.5), np.eye(2)
    )
    assert excluded[0] == -np.inf


@pytest.mark.parametrize("dim", [2, 3])
def test_evidence_is_a_lower_bound_and_not_far(dim: int) -> None:
    p, n, _ = data(dim)
    theta_hat = maximum_likelihood(p, n, np.full(dim, 1.0 / dim))
    sample = np.random.default_rng(0).dirichlet(np.ones(dim), size=400_000)
    exact = float(np.log(np.mean(np.exp(relative_log_likelihood(p, n, theta_hat, sample)))))
    bound = mixture_evidence(p, n, theta_hat)
    assert bound <= exact + 0.05
    assert bound >= exact - 1.0 * dim


def test_evidence_without_information() -> None:
    assert mixture_evidence(np.ones((1, 3)), np.ones(1), np.full(3, 1 / 3)) == pytest.approx(0.0)


def test_outside_points_are_just_outside() -> None:
    p, n, _ = data(3)
    theta_hat = maximum_likelihood(p, n, np.full(3, 1 / 3))
    points = outside_points(p, n, theta_hat, np.eye(3), 5.0)
    level = relative_log_likelihood(p, n, theta_hat, points)
    assert (level <= -5.0 + 1e-9).all()
    assert (level >= -5.5).all()


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 6])
def test_set(dim: int) -> None:
    p, n, theta = data(dim, seed=3)
    Theta = LikelihoodSet(p)
    assert isinstance(Theta, ConfidenceSet)
    assert Theta.contains(theta)
    Theta.learn(n)
    assert Theta.contains(theta)
    assert Theta.contains(Theta.center)
    assert not Theta.contains(np.full(dim, 2.0))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, dim))
    members = rng.dirichlet(np.ones(dim), size=2000)
    members = np.array([m for m in members if Theta.contains(m)] + [Theta.center])
    upper = Theta.support(X)
    assert (upper >= (X @ members.T).max(axis=1) - 1e-9).all()
    if dim == 3:  # tangents close in on the set
        fine = np.concatenate([members, boundary(Theta)])
        gap = upper - (X @ fine.T).max(axis=1)
        assert gap.max() < 0.02
    assert Theta.n_observations == n.sum()
    assert repr(Theta) == f"<LikelihoodSet in R^{dim} after {int(n.sum())} transitions>"


def boundary(Theta: LikelihoodSet) -> FloatArray:
    """Last members on rays from the centre."""
    angle = np.linspace(0.0, 2 * np.pi, 400)
    plane = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    rays = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ plane
    found = []
    for ray in rays:
        low, high = 0.0, 1.0
        for _ in range(30):
            middle = 0.5 * (low + high)
            inside = Theta.contains(Theta.center + middle * ray)
            low, high = (middle, high) if inside else (low, middle)
        found.append(Theta.center + low * ray)
    return np.array(found)


def test_a_round_asks_once_along_each_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    """From d = 5 on: the programmes that give the boxes' ends also give the corners to cut off."""
    asked: list[FloatArray] = []
    solve = linear_programmes._solve

    def count(solver: Any, cost: FloatArray) -> tuple[bool, Any]:
        asked.append(cost)
        return solve(solver, cost)

    monkeypatch.setattr(linear_programmes, "_solve", count)
    dim = 8
    p, n, _ = data(dim)
    LikelihoodSet(p).learn(n)
    axes = 2 * (dim + dim - 1)  # the coordinates, those of the frame, both ends
    assert axes < len(asked) <= ROUNDS * (axes + 2)  # and two for centres


def test_batches_add_up_and_copies_continue() -> None:
    p, n, _ = data(3)
    one, two = LikelihoodSet(p), LikelihoodSet(p)
    one.learn(n)
    two.learn(np.floor(n / 2))
    two.learn(n - np.floor(n / 2))
    np.testing.assert_allclose(one.center, two.center, atol=1e-6)
    assert two.price <= one.price + 1e-3  # its second half was forecast from the first
    twin = copy.deepcopy(two)
    other = LikelihoodSet(p)
    other.restore(two.state())
    for each in (two, twin, other):
        each.learn(n)
    assert twin.price == two.price == other.price
    np.testing.assert_array_equal(twin.support(np.eye(3)), two.support(np.eye(3)))
    np.testing.assert_array_equal(other.support(np.eye(3)), two.support(np.eye(3)))


def forecasts(p: FloatArray, batches: list[FloatArray]) -> float:
    """F, literally: each batch under argmax of L + sum ln theta_i of those before."""
    total, seen = 0.0, np.zeros(len(p))
    for more in batches:
        found = minimize(
            lambda z, seen=seen: -float(seen @ np.log(p @ softmax(z)) + np.log(softmax(z)).sum()),
            np.zeros(p.shape[1]),
        )
        total += float(more @ np.log(p @ softmax(found.x)))
        seen = seen + more
    return total


def softmax(z: FloatArray) -> FloatArray:
    e = np.exp(z - z.max())
    normalised: FloatArray = e / e.sum()
    return normalised


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_forecasts_pay_for_the_set(dim: int) -> None:
    p, n, _ = data(dim)
    rng = np.random.default_rng(1)
    batches = [rng.binomial(n.astype(int), 0.1).astype(float) for _ in range(8)]
    Theta = LikelihoodSet(p, failure_prob=0.05)
    for more in batches:
        Theta.learn(more)
    total = np.sum(batches, axis=0)
    largest = float(total @ np.log(p @ Theta.center))
    wealth = forecasts(p, batches) - largest
    integral = mixture_evidence(p[total > 0], total[total > 0], Theta.center)
    evidence = np.logaddexp(wealth, integral) - np.log(2.0)
    assert Theta.price == pytest.approx(np.log(1 / 0.05) - evidence, abs=1e-3)
    assert wealth > integral or dim == 2  # the integral's bound loses with each base model


@pytest.mark.parametrize("changing", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_forecasts_never_beat_the_maximum(seed: int, changing: bool) -> None:
    """max(L + R) grows by at least what was forecast: F <= max L, so the set is never empty."""
    rng, dim = np.random.default_rng(seed), 2 + seed
    p, _, theta = data(dim, seed=seed)
    Theta, batches = LikelihoodSet(p), []
    for _ in range(8):
        theta = rng.dirichlet(np.full(dim, 0.3)) if changing else theta
        batches.append(rng.poisson(rng.integers(1, 200) * (p @ theta)).astype(float))
        Theta.learn(batches[-1])
    lost = forecasts(p, batches) - float(np.sum(batches, axis=0) @ np.log(p @ Theta.center))
    assert lost < 0.0
    assert Theta._wealth[0] == pytest.approx(lost, abs=1e-2)
    assert Theta.contains(Theta.center)


def test_forecasts_are_good_however_much_was_seen() -> None:
    """They cost some nats for each factor e of data: no search stops on its way."""
    p, _, theta = data(3)
    Theta, rng = LikelihoodSet(p), np.random.default_rng(0)
    for n in 10.0 ** np.arange(1, 11, 0.5):
        Theta.learn(rng.poisson(n * (p @ theta)))
        assert Theta._wealth[0] > -3.0 * np.log(n) - 3.0
        score = (Theta.counts / (p @ Theta._forecast)) @ p + 1.0 / Theta._forecast
        assert score == pytest.approx(score.mean(), rel=1e-4)  # the same for all base models


def test_laws_of_any_size() -> None:
    """Only their ratios count, and powers of 2 do not even round."""
    p, n, _ = data(3)
    plain, tiny = LikelihoodSet(p), LikelihoodSet(p * 2.0**-600)
    plain.learn(n)
    tiny.learn(n)
    assert plain.price == tiny.price
    hardly = LikelihoodSet([[1e-170, 0.0], [0.5, 0.6]])
    hardly.learn([1, 1])
    assert np.isfinite(hardly.price)


def test_one_call_pays_at_most_the_integral_and_ln_2() -> None:
    p, n, _ = data(4)
    Theta = LikelihoodSet(p)
    Theta.learn(n)
    integral = mixture_evidence(p[n > 0], n[n > 0], Theta.center)
    assert Theta.price <= np.log(1 / 0.05) + np.log(2.0) - integral + 1e-9


def test_laws_that_agree_say_nothing() -> None:
    Theta = LikelihoodSet([[0.5, 0.5], [0.5, 0.5]])
    Theta.learn([100, 3])
    np.testing.assert_allclose(Theta.support(np.eye(2)), 1.0)
    assert Theta.contains([1.0, 0.0])


def test_width_scale_multiplies_the_price() -> None:
    p, n, _ = data(3)
    one, two = LikelihoodSet(p), LikelihoodSet(p, width_scale=2.0)
    one.learn(n)
    two.learn(n)
    assert two.price == pytest.approx(2.0 * one.price)


def test_bad_input_changes_nothing() -> None:
    Theta = LikelihoodSet([[0.5, 0.4], [0.5, 0.6], [0.0, 0.0]])
    before = {name: array.tobytes() for name, array in Theta.state().items()}
    for counts in ([1, 2], [1, -1, 0], [1.5, 0, 0], [0, 0, 1], [np.nan, 0, 0]):
        with pytest.raises(ValueError, match="counts: got .*; expected"):
            Theta.learn(counts)
    assert {name: array.tobytes() for name, array in Theta.state().items()} == before
    for laws in ([[-0.1, 0.5]], np.empty((0, 2)), [0.5], [[np.nan, 0.2]]):
        with pytest.raises(ValueError, match="laws.*: got .*; expected"):
            LikelihoodSet(laws)
    with pytest.raises(ValueError, match="failure_prob"):
        LikelihoodSet([[0.5, 0.4]], failure_prob=0.0)
