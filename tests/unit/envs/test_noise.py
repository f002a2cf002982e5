from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import integrate, stats

from voful.envs.bandit import noise as laws
from voful.envs.bandit.noise import LAWS, ArmScale, ConstantScale, DirectionScale, Noise
from voful.typing import FloatArray

Case: TypeAlias = tuple[float, float, float, float]  # mean, sigma, lo, hi

loose: Any = laws  # for calls that the types forbid
TWO_VALUED = ("two_point", "rare_positive", "rare_negative", "bernoulli")
PLAYED = tuple(law for law in LAWS if law != "adversary")
CASES: list[Case] = [
    (0.0, 0.1, -1.0, 1.0),
    (0.3, 0.5, -1.0, 1.0),
    (-0.9, 0.5, -1.0, 1.0),
    (0.7, 5.0, 0.0, 1.0),
    (0.999, 0.3, -1.0, 1.0),
    (-0.25, 1e-3, -0.5, 2.0),
    (0.0, 1e6, -1.0, 1.0),
    (0.5, 1e-6, 0.0, 1.0),
]


def draw(law: str, case: Case, u: float) -> float:
    return laws.draw(LAWS.index(law), *case, u)


def variance(law: str, case: Case) -> float:
    return laws.variance(LAWS.index(law), *case)


def two_point_moments(law: str, case: Case) -> tuple[float, float]:
    """Exact mean and variance of a two-valued law: its step is found by bisection."""
    low, high = draw(law, case, 1e-300), draw(law, case, 1.0 - 2.0**-53)
    left, right = 0.0, 1.0
    for _ in range(200):
        u = 0.5 * (left + right)
        value = draw(law, case, u)
        assert value in (low, high)
        left, right = (u, right) if value == low else (left, u)
    mean = left * low + (1.0 - left) * high
    return mean, left * low**2 + (1.0 - left) * high**2 - mean**2


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("law", TWO_VALUED)
def test_two_valued_laws_are_centred_with_the_stated_variance(law: str, case: Case) -> None:
    mean, var = two_point_moments(law, case)
    assert mean == pytest.approx(0.0, abs=1e-15)
    assert var == pytest.approx(variance(law, case), rel=1e-9, abs=3e-16)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("law", ["none", "gaussian", "uniform", "two_point"])
def test_symmetric_laws_are_odd_about_one_half(law: str, case: Case) -> None:
    u = (np.arange(512) + 0.5) / 1024  # dyadic: 1 - u is exact
    for v in u:
        assert draw(law, case, v) == -draw(law, case, 1.0 - v)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("law", ["gaussian", "uniform"])
def test_continuous_laws_have_the_stated_variance(law: str, case: Case) -> None:
    scale = min(case[1], 1.0)
    second = integrate.quad(
        lambda u: (draw(law, case, u) / scale) ** 2, 0.0, 0.5, epsabs=0, epsrel=1e-11, limit=500
    )[0]
    assert 2.0 * second * scale**2 == pytest.approx(variance(law, case), rel=1e-9)


@pytest.mark.parametrize("law", PLAYED)
@pytest.mark.parametrize("case", CASES)
def test_draw_is_an_inverse_cdf(law: str, case: Case) -> None:
    values = [draw(law, case, u) for u in np.linspace(1e-9, 1 - 1e-9, 2001)]
    assert np.all(np.diff(values) >= 0.0)


@pytest.mark.parametrize("c", [1e-3, 0.1, 0.999, 1.0, 1.001, 2.0, 5.0, 8.0])
def test_gaussian_is_the_truncated_normal(c: float) -> None:
    sigma = 1.0 / c
    for u in (1e-6, 0.01, 0.2, 0.5, 0.77, 0.999):
        expected = stats.truncnorm.ppf(u, -c, c, scale=sigma)
        assert draw("gaussian", (0.0, sigma, -1.0, 1.0), u) == pytest.approx(
            expected, rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("c", [1e-3, 0.1, 0.5, 0.999999, 1.0, 1.5, 3.0, 6.0, 39.0, 41.0])
def test_gaussian_variance_against_quadrature(c: float) -> None:
    top = integrate.quad(lambda z: z * z * math.exp(-z * z / 2), 0, min(c, 12), epsrel=1e-13)[0]
    bottom = integrate.quad(lambda z: math.exp(-z * z / 2), 0, min(c, 12), epsrel=1e-13)[0]
    sigma = 1.0 / c
    assert variance("gaussian", (0.0, sigma, -1.0, 1.0)) == pytest.approx(
        sigma**2 * top / bottom, rel=1e-12
    )


@pytest.mark.parametrize("sigma", [1e8, 1e150, 1e300])
def test_gaussian_with_huge_sigma_is_uniform(sigma: float) -> None:
    case = (0.5, sigma, 0.0, 1.0)
    assert variance("gaussian", case) == pytest.approx(0.25 / 3.0, rel=1e-14)
    assert draw("gaussian", case, 0.75) == pytest.approx(0.25, rel=1e-14)


@pytest.mark.parametrize("law", PLAYED)
@pytest.mark.parametrize("sigma", [0.0, 1e-320, 1e-160, 1e308])
@pytest.mark.parametrize("mean", [-1.0, -1.0 + 1e-300, 0.0, 1.0 - 1e-16, 1.0])
def test_extreme_scales_and_means_stay_finite(law: str, sigma: float, mean: float) -> None:
    case = (mean, sigma, -1.0, 1.0)
    assert 0.0 <= variance(law, case) <= 1.0
    for u in (2.0**-53, 0.5, 1.0 - 2.0**-53):
        assert math.isfinite(draw(law, case, u))
        assert -1.0 <= laws.reward(LAWS.index(law), *case, u) <= 1.0


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_bernoulli_at_the_ends_is_certain(mean: float) -> None:
    kind = LAWS.index("bernoulli")
    assert {laws.reward(kind, mean, 0.1, 0.0, 1.0, u) for u in (0.01, 0.5, 0.99)} == {mean}


@given(
    law=st.sampled_from(PLAYED),
    lo=st.floats(-10, 10),
    width=st.floats(1e-6, 20),
    where=st.floats(0, 1),
    sigma=st.one_of(st.just(0.0), st.floats(1e-12, 1e6)),
    k=st.integers(0, 2**52 - 1),
)
@example(law="rare_positive", lo=-0.3, width=0.7, where=0.9, sigma=0.1, k=2**52 - 1)
def test_reward_never_leaves_the_range(
    law: str, lo: float, width: float, where: float, sigma: float, k: int
) -> None:
    hi = lo + width
    mean = min(max(lo + where * width, lo), hi)
    kind = LAWS.index(law)
    value = laws.reward(kind, mean, sigma, lo, hi, (k + 0.5) * 2.0**-52)
    assert lo <= value <= hi
    if law == "bernoulli":
        assert value in (lo, hi)
    var = laws.variance(kind, mean, sigma, lo, hi)
    assert 0.0 <= var <= (hi - mean) * (mean - lo) * (1 + 1e-12)
    if law not in ("none", "bernoulli"):
        assert var <= sigma**2 * (1 + 1e-12)
    both = laws.reward_and_variance(kind, mean, sigma, lo, hi, (k + 0.5) * 2.0**-52)
    assert both == (value, var)


@pytest.mark.parametrize("kind", [-1, len(LAWS)])
def test_unknown_code_is_an_error(kind: int) -> None:
    with pytest.raises(ValueError, match="kind"):
        laws.draw(kind, 0.0, 0.1, -1.0, 1.0, 0.5)
    with pytest.raises(ValueError, match="kind"):
        laws.variance(kind, 0.0, 0.1, -1.0, 1.0)


def test_adversary_must_choose_before_it_draws() -> None:
    with pytest.raises(ValueError, match="adversary"):
        laws.draw(laws.ADVERSARY, 0.0, 0.1, -1.0, 1.0, 0.5)


class Interval:
    """Confidence set that only knows its interval."""

    def __init__(self, lower: float, upper: float) -> None:
        self.bounds = lower, upper

    def interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        assert X.shape == (1, 2)
        return np.array([self.bounds[0]]), np.array([self.bounds[1]])


def knowing(lower: float, upper: float) -> Any:
    return Interval(lower, upper)


def test_adversary_pushes_the_estimate_away() -> None:
    noise = Noise("adversary", ConstantScale(0.1))
    x = np.array([1.0, 0.0])
    below = noise.kind_against(knowing(-0.5, 0.1), x, 0.2, 0)
    above = noise.kind_against(knowing(0.1, 0.5), x, 0.2, 0)
    assert (below, above) == (laws.RARE_POSITIVE, laws.RARE_NEGATIVE)
    # the frequent value goes the way in which the estimate errs already
    assert laws.draw(below, 0.2, 0.1, -1.0, 1.0, 0.5) < 0.0
    assert laws.draw(above, 0.2, 0.1, -1.0, 1.0, 0.5) > 0.0
    without = [noise.kind_against(None, x, 0.2, t) for t in range(4)]
    assert without == [laws.RARE_POSITIVE, laws.RARE_NEGATIVE] * 2
    assert Noise("uniform", ConstantScale(0.1)).kind_against(None, x, 0.2, 1) == laws.UNIFORM


@pytest.mark.parametrize("case", CASES)
def test_adversary_has_one_variance_whatever_it_chooses(case: Case) -> None:
    exact = variance("adversary", case)
    for law in ("rare_positive", "rare_negative"):
        assert variance(law, case) == exact


def test_scales() -> None:
    arms = np.array([[[0.5, 0.0], [-0.5, 0.1], [0.0, 1.0]], [[-1.0, 0.0], [0.2, 0.1], [0.3, 0.0]]])
    np.testing.assert_array_equal(ConstantScale(0.2).sigmas(arms), np.full((2, 3), 0.2))
    np.testing.assert_array_equal(ArmScale([0.1, 0.2]).sigmas(arms), [[0.1, 0.2, 0.1]] * 2)
    by_side = DirectionScale([1.0, 0.0], sigma_low=0.1, sigma_high=0.3)
    np.testing.assert_array_equal(by_side.sigmas(arms), [[0.3, 0.1, 0.1], [0.1, 0.3, 0.3]])
    assert ArmScale(np.array([0.1, 0.2])) == ArmScale([0.1, 0.2])
    assert hash(by_side) == hash(DirectionScale((1, 0), sigma_low=0.1, sigma_high=0.3))


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: loose.ConstantScale(-0.1), "sigma"),
        (lambda: loose.ConstantScale(math.nan), "sigma"),
        (lambda: loose.ConstantScale(math.inf), "sigma"),
        (lambda: loose.ConstantScale("0.1"), "sigma"),
        (lambda: loose.ConstantScale(True), "sigma"),
        (lambda: loose.ArmScale([]), "by_arm"),
        (lambda: loose.ArmScale(0.1), "by_arm"),
        (lambda: loose.ArmScale([0.1, -0.1]), "by_arm"),
        (lambda: loose.ArmScale([0.1, math.nan]), "by_arm"),
        (lambda: loose.ArmScale([[0.1]]), "by_arm"),
        (lambda: loose.ArmScale("ab"), "by_arm"),
        (lambda: loose.DirectionScale([0.0, 0.0], sigma_low=0.1, sigma_high=0.2), "direction"),
        (lambda: loose.DirectionScale([math.nan, 0.0], sigma_low=0.1, sigma_high=0.2), "direction"),
        (lambda: loose.DirectionScale([[1.0]], sigma_low=0.1, sigma_high=0.2), "direction"),
        (lambda: loose.DirectionScale(1.0, sigma_low=0.1, sigma_high=0.2), "direction"),
        (lambda: loose.DirectionScale([1.0], sigma_low=-0.1, sigma_high=0.2), "sigma_low"),
        (lambda: loose.DirectionScale([1.0], sigma_low=0.1, sigma_high=math.inf), "sigma_high"),
        (lambda: loose.Noise("cauchy", ConstantScale(0.1)), "law"),
        (lambda: loose.Noise(3, ConstantScale(0.1)), "law"),
        (lambda: loose.Noise("gaussian"), "scale"),
        (lambda: loose.Noise("gaussian", 0.1), "scale"),
    ],
)
def test_bad_input_names_the_argument(build: Callable[[], object], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{name}"):
        build()


def test_direction_of_another_dimension() -> None:
    scale = DirectionScale([1.0, 0.0, 0.0], sigma_low=0.1, sigma_high=0.2)
    with pytest.raises(ValueError, match="direction"):
        scale.sigmas(np.zeros((1, 4, 2)))
