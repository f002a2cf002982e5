from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import sphere
from reference.literal_peeled import clip, worst_ratio
from voful.confidence import PeeledSet
from voful.typing import FloatArray


def data(rng: np.random.Generator, dim: int, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    X = sphere(rng, n, dim) * 10 ** rng.uniform(-2, 0, (n, 1))
    theta_star = sphere(rng, 1, dim, rng.uniform(0.1, 0.9))[0]
    noise = rng.choice([0.0, 0.02, 0.3]) * rng.uniform(-1, 1, n)
    return X, np.clip(X @ theta_star + noise, -1, 1), theta_star


@pytest.mark.filterwarnings("ignore:PeeledSet is empty")  # tiny width_scale: so it may be
@given(
    seed=st.integers(0, 100_000),
    dim=st.integers(1, 4),
    n=st.integers(0, 80),
    constants=st.sampled_from(["kt", "paper"]),
    peeling=st.sampled_from(["voful", "voful2"]),
    width_scale=st.sampled_from([1.0, 0.1, 0.01, 1e-3]),
    iota_scale=st.sampled_from([1.0, 0.05]),
    high=st.sampled_from([1.0, 2.0]),
)
def test_contains_is_the_literal_double_loop(
    seed: int,
    dim: int,
    n: int,
    constants: str,
    peeling: str,
    width_scale: float,
    iota_scale: float,
    high: float,
) -> None:
    high = 1.0 if constants == "paper" else high  # printed for rewards in [-1, 1]
    rng = np.random.default_rng(seed)
    X, y, theta_star = data(rng, dim, n)
    D = sphere(rng, 3, dim, 2.0) * rng.uniform(0.1, 1.0, (3, 1))
    common: dict[str, Any] = {
        "n_rounds": 100,
        "failure_prob": 0.1,
        "constants": constants,
        "iota_scale": iota_scale,
        "width_scale": width_scale,
        "peeling": peeling,
    }
    Theta = PeeledSet(dim, reward_range=(-1.0, high), directions=D, **common)
    Theta.partial_fit(X, y)
    for theta in [theta_star, *sphere(rng, 4, dim, 0.9), *(theta_star + sphere(rng, 3, dim, 0.05))]:
        ratio = worst_ratio(theta, X, y, D, width=1.0 + high, **common)
        if abs(ratio - 1.0) > 1e-7:
            assert Theta.contains(theta) == (ratio < 1.0 and np.linalg.norm(theta) <= 1.0)


@given(ell=st.floats(1e-4, 4.0), u=st.floats(-5, 5))
def test_levels_collapse(ell: float, u: float) -> None:
    """clip(u, l) = l clip(u / l, 1): test (mu, l) divided by l is the level-1 test of mu / l."""
    assert clip(u, ell) == pytest.approx(ell * clip(u / ell, 1.0), rel=1e-12, abs=1e-150)


def test_the_collapsed_family_is_the_intersection_over_levels() -> None:
    """One level-1 family {mu / l_j} keeps exactly what all levels j keep."""
    rng = np.random.default_rng(0)
    X, y, theta_star = data(rng, 3, 60)
    D = sphere(rng, 4, 3, 2.0)
    common: dict[str, Any] = {"n_rounds": 64, "failure_prob": 0.1, "width_scale": 0.02}
    Theta = PeeledSet(3, directions=D, **common)
    Theta.partial_fit(X, y)
    inside = 0
    for theta in theta_star + sphere(rng, 200, 3) * 10 ** rng.uniform(-3, 0, (200, 1)):
        ratio = worst_ratio(theta, X, y, D, width=2.0, constants="kt", **common)
        assert Theta.contains(theta) == (ratio <= 1.0 and np.linalg.norm(theta) <= 1.0)
        inside += ratio <= 1.0
    assert 20 < inside < 180  # the tests bite


@pytest.mark.filterwarnings("ignore:PeeledSet is empty")  # the data turn over: so it is
def test_a_point_may_return_to_the_literal_set_but_not_to_the_running_one() -> None:
    """Theta_k is not monotone: later data can bring an eliminated theta back."""
    u = np.array([1.0, 0.0])
    literal = PeeledSet(2, n_rounds=4000, directions=np.array([u, u * 0.5]), failure_prob=0.1)
    running = PeeledSet(2, n_rounds=4000, failure_prob=0.1)
    theta = 0.1 * u
    for Theta in (literal, running):
        Theta.partial_fit(np.tile(u, (150, 1)), np.full(150, 0.6))
        assert not Theta.contains(theta)
        Theta.partial_fit(np.tile(u, (3850, 1)), np.tile([-0.5, 0.7], 1925))
    assert literal.contains(theta)
    assert not running.contains(theta)
