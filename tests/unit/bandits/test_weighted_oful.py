from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers import sphere
from voful import OFUL, Faury, WeightedOFUL, WeightedOFULPlus

POLICIES: list[tuple[Any, dict[str, Any]]] = [
    (WeightedOFUL, {"n_rounds": 400}),
    (WeightedOFULPlus, {"n_rounds": 400}),
    (WeightedOFULPlus, {"n_rounds": 400, "with_oful": True}),
    (Faury, {}),
]


def data(n: int, dim: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, dim) * rng.uniform(0.1, 1.0, (n, 1))
    return X, rng.uniform(-0.5, 0.5, n), rng.choice([0.0, 0.01, 0.2], n)


def test_weights_are_inverse_variances_above_the_floor() -> None:
    policy = WeightedOFUL(4, n_rounds=10, noise_bound=1.0, theta_norm=2.0)
    x = np.array([0.6, 0.0, 0.8, 0.0])
    policy.update(x, 0.5, variance=0.5)
    policy.update(x, 0.5, variance=0.01)  # below R^2 / d = 1/4
    expected = 0.25 * np.eye(4) + (1 / 0.5 + 1 / 0.25) * np.outer(x, x)
    np.testing.assert_allclose(policy.confidence_set.precision, expected)


def test_weights_by_leverage() -> None:
    """sigma_bar^2 = gamma^2 |x|_{Z^-1} at first, then the variance."""
    policy = WeightedOFULPlus(4, n_rounds=10_000, noise_bound=1.0)
    x = np.array([0.6, 0.0, 0.8, 0.0])
    assert policy.leverage_scale**2 == pytest.approx(0.5)
    assert policy.deviation_floor == 0.01
    policy.update(x, 0.5, variance=0.01)
    first = 0.5 * math.sqrt(1 / 4)  # |x|^2_{Z^-1} = 1 / lambda = 1/4
    expected = 4.0 * np.eye(4) + np.outer(x, x) / first
    np.testing.assert_allclose(policy.confidence_set.parts[0].precision, expected)
    for _ in range(5000):
        policy.update(x, 0.5, variance=0.3)
    policy_before = policy.confidence_set.parts[0].precision.copy()
    policy.update(x, 0.5, variance=0.04)
    added = policy.confidence_set.parts[0].precision - policy_before
    np.testing.assert_allclose(added, np.outer(x, x) / 0.04, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("R", [0.5, 2.0])
def test_plus_reduces_to_oful(R: float) -> None:
    """sigma = alpha = R and gamma = 0: OFUL's ellipsoid with ridge lambda R^2, in units of R."""
    plus = WeightedOFULPlus(
        3, n_rounds=400, noise_bound=R, ridge=0.8, deviation_floor=R, leverage_scale=0.0
    )
    oful = OFUL(3, ridge=0.8 * R * R)
    X, y, _ = data(400)
    plus.partial_fit(X, y, variances=np.full(400, R * R))
    oful.partial_fit(X, y)
    Theta = plus.confidence_set
    np.testing.assert_allclose(R * R * Theta.parts[0].precision, oful.confidence_set.precision)
    np.testing.assert_allclose(Theta.center, oful.confidence_set.center, atol=1e-12)
    assert Theta.log_det_ratios[0] == pytest.approx(oful.confidence_set.log_det_ratio)


def test_plus_cut_with_oful() -> None:
    X, y, variances = data(300)
    alone = WeightedOFULPlus(3, n_rounds=400, failure_prob=0.05)
    both = WeightedOFULPlus(3, n_rounds=400, failure_prob=0.1, with_oful=True)
    oful = OFUL(3, failure_prob=0.05)
    for policy in (alone, both):
        policy.partial_fit(X, y, variances=variances)
    oful.partial_fit(X, y)
    probes = sphere(np.random.default_rng(1), 40, 3)
    bounds = [policy.confidence_set.support(probes) for policy in (alone, oful)]
    np.testing.assert_allclose(both.confidence_set.support(probes), np.minimum(*bounds))
    assert (bounds[0] < bounds[1]).any()


@pytest.mark.parametrize(("cls", "params"), POLICIES)
def test_quiet_rewards_narrow_the_set(cls: Any, params: dict[str, Any]) -> None:
    X, y, _ = data(400)
    widths = []
    for variance in (0.0, 4.0):
        policy = cls(3, **params)
        policy.partial_fit(X, y, variances=np.full(400, variance))
        lower, upper = policy.confidence_set.interval(np.eye(3))
        widths.append(upper - lower)
    assert (widths[0] < widths[1]).all()


@pytest.mark.parametrize(("cls", "params"), POLICIES)
@pytest.mark.parametrize("constants", ["tight", "paper"])
def test_the_unit_of_the_rewards_does_not_matter(
    cls: Any, params: dict[str, Any], constants: str
) -> None:
    X, y, variances = data(200)
    probes = sphere(np.random.default_rng(1), 10, 3)
    supports = []
    for unit in (1.0, 20.0):
        policy = cls(
            3, **params, constants=constants, reward_range=(-unit, unit), theta_norm=0.7 * unit
        )
        policy.partial_fit(X, unit * y, variances=unit**2 * variances)
        supports.append(policy.confidence_set.support(probes) / unit)
    np.testing.assert_allclose(supports[0], supports[1], rtol=1e-9)


@pytest.mark.parametrize(("cls", "params"), POLICIES)
def test_the_set_alone_takes_an_unknown_variance_for_the_largest(
    cls: Any, params: dict[str, Any]
) -> None:
    X, y, _ = data(50)
    told, untold, batch = (cls(3, **params) for _ in range(3))
    told.partial_fit(X, y, variances=np.full(50, told.noise_bound**2))
    for x, reward in zip(X, y, strict=True):
        untold.confidence_set.update(x, reward)
    batch.confidence_set.partial_fit(X, y)
    for other in (untold, batch):
        np.testing.assert_array_equal(
            other.confidence_set.support(X), told.confidence_set.support(X)
        )


@pytest.mark.parametrize(("cls", "params"), POLICIES)
def test_variance_is_needed_and_checked(cls: Any, params: dict[str, Any]) -> None:
    policy = cls(2, **params)
    for bad in (None, -0.1, math.nan, math.inf, "a"):
        with pytest.raises((ValueError, TypeError), match="variance: got"):
            policy.update([1.0, 0.0], 0.5, variance=bad)
    with pytest.raises((ValueError, TypeError), match="variances: got"):
        policy.partial_fit(np.eye(2), [0.5, 0.5])
    assert policy.n_observations == 0


@pytest.mark.parametrize("cls", [WeightedOFUL, WeightedOFULPlus])
def test_no_more_rounds_than_announced(cls: Any) -> None:
    policy = cls(2, n_rounds=2)
    policy.partial_fit(np.eye(2), [0.1, 0.2], variances=[0.1, 0.1])
    with pytest.raises(RuntimeError, match="n_rounds = 2"):
        policy.update([1.0, 0.0], 0.5, variance=0.1)


@pytest.mark.filterwarnings("ignore:.* is empty")  # such a reward fits no parameter
@pytest.mark.parametrize(("cls", "params"), POLICIES)
def test_unbounded_rewards_need_a_noise_bound(cls: Any, params: dict[str, Any]) -> None:
    assert cls(2, **params, reward_range=(0.0, 3.0)).noise_bound == 3.0
    with pytest.raises(ValueError, match="noise_bound: got None"):
        cls(2, **params, reward_range=None)
    policy = cls(2, **params, reward_range=None, noise_bound=0.5)
    policy.update([1.0, 0.0], 1e3, variance=0.1)
    assert not np.isnan(policy.index(np.eye(2))).any()  # an empty set answers all of the line


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"failure_prob": 1.0}, {"reward_range": (1, 1)}, {"noise_bound": 0.0},
     {"noise_bound": 1e200}, {"theta_norm": 0.0}, {"theta_norm": 1e-200}, {"feature_norm": 1e15},
     {"ridge": 0.0}, {"constants": "loose"}, {"width_scale": -1.0}, {"seed": -1}],
)  # fmt: skip
@pytest.mark.parametrize(("cls", "params"), POLICIES)
def test_bad_arguments_are_named(cls: Any, params: dict[str, Any], bad: dict[str, Any]) -> None:
    (name,) = bad
    arguments = {"dim": 2, **params, "ridge": 1.0, "variation_ridge": 1.0, **bad}
    if cls is not Faury:
        del arguments["variation_ridge"]
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        cls(**arguments)


@pytest.mark.parametrize(
    ("cls", "bad"),
    [(WeightedOFUL, {"n_rounds": 0}), (WeightedOFULPlus, {"deviation_floor": 0.0}),
     (WeightedOFULPlus, {"leverage_scale": -1.0}), (WeightedOFULPlus, {"with_oful": 1}),
     (Faury, {"variation_ridge": 0.0})],
)  # fmt: skip
def test_own_arguments_are_named(cls: Any, bad: dict[str, Any]) -> None:
    (name,) = bad
    params = {} if cls is Faury else {"n_rounds": 9}
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        cls(2, **{**params, **bad})


@pytest.mark.parametrize("constants", ["tight", "paper"])
def test_no_observation_no_deviation_in_the_printed_radius(constants: str) -> None:
    """ln(4 t^2 / delta) starts at t = 1; before, |theta*| <= S says it all."""
    for cls in (WeightedOFUL, WeightedOFULPlus):
        policy = cls(2, n_rounds=50, constants=constants)
        upper = policy.confidence_set.support(np.eye(2))
        assert np.isfinite(upper).all()
        assert (upper >= 1.0 - 1e-12).all()
        assert constants == "tight" or upper == pytest.approx(1.0)


def test_long_quiet_runs_stay_finite() -> None:
    rng = np.random.default_rng(0)
    X = np.array([[1.0, 0.0], [0.6, 0.8]])[rng.integers(0, 2, 20_000)]
    y = X @ np.array([0.3, -0.2])
    for cls, params in POLICIES:
        policy = cls(2, **{name: 10**6 if name == "n_rounds" else v for name, v in params.items()})
        policy.partial_fit(X, y, variances=np.zeros(20_000))
        assert policy.confidence_set.contains([0.3, -0.2])
        lower, upper = policy.confidence_set.interval(np.eye(2))
        assert (upper > lower).all()
        np.testing.assert_allclose(policy.confidence_set.center, [0.3, -0.2], atol=1e-3)
