"""theta* stays in the constant-risk set, and its bound above the regret; long runs; rates.

Power of each count: .81 against 3 failure_prob (77 runs); with --full (308) .90 against 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import (
    assert_condemned,
    assert_covers,
    assert_exit_rate,
    count,
    coverage_runs,
    full,
    in_turn,
)
from voful import BetOFUL, CRBetOFUL
from voful.bandits.betoful import CUT
from voful.confidence.betting.quadratic import distance, slab
from voful.confidence.betting.risk_round import slope
from voful.confidence.betting.risk_state import N_NUMBERS, open_risk
from voful.confidence.betting.state import new_scratch
from voful.envs import linear_bandit
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.experiments.play.loop import play
from voful.typing import FloatArray

LAWS = ["gaussian", "two_point", "rare_positive", "rare_negative", "heteroscedastic", "adversary"]
DELTA, ROUNDS = 0.1, 300 if full() else 200
LONG = 1_000_000 if full() else 100_000


def plain(compiled: Callable[..., Any]) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(compiled, "py_func", compiled)
    return function


def problem(law: str, dim: int, run: int) -> Any:
    common: dict[str, Any] = {
        "dim": dim, "n_arms": 10, "redraw": run % 3 == 0,
        "seed": np.random.SeedSequence([29, dim, run]), "theta_norm": 0.5 if run % 2 else 0.95,
    }  # fmt: skip
    if law == "heteroscedastic":
        return linear_bandit(sigma_low=0.0, sigma_high=0.3, **common)
    return linear_bandit(noise=law, sigma=0.1 if law.startswith("rare") else 0.4, **common)


def finish(policy: CRBetOFUL, env: Any, rounds: int, check_every: int = 1) -> tuple[float, bool]:
    """Regret, and whether theta* was in the set at every check."""
    if can_play(policy, env, rounds):
        columns = play_compiled(policy, env, rounds, record_at=[rounds], check_every=check_every)
        return columns["regret"][-1], columns["covered"][-1]
    *_, last = play(policy, env, rounds, record_at=[rounds], check_every=check_every)
    return last.regret, bool(last.covered)


@pytest.mark.parametrize("dims", in_turn(2, 5, 10))
@pytest.mark.parametrize("law", LAWS)
def test_cr_betoful_covers_and_bounds_its_regret(law: str, dims: tuple[int, ...]) -> None:
    def left(dim: int, run: int) -> bool:
        policy = CRBetOFUL(dim, failure_prob=DELTA)
        regret, covered = finish(policy, problem(law, dim, run), ROUNDS)
        assert not covered or regret <= policy.regret_bound
        return not covered

    assert_covers(left, dims, DELTA)


def log_wealth(policy: CRBetOFUL, x: FloatArray, y: float, mean: float) -> float:
    """log f at theta* of the bet that the set is about to place; 0 where theta* has left."""
    memory = policy.confidence_set.memory.copy()
    rules, Theta, _, _ = open_risk(memory)
    scratch = new_scratch(rules)
    lo, up = slab(rules, Theta, x, 0.0, rules.y_low, rules.y_high, scratch)
    a = float(x @ Theta.center[0])
    S = plain(slope)(rules, memory[-N_NUMBERS:], a, lo, up, scratch.spread[0])
    r, t = y - a, a - mean
    if not lo <= mean <= up:
        return 0.0
    if rules.y_low < a < rules.y_high:
        return math.log1p(S * t * r) - math.log1p(-S * t * t)
    return math.log1p(S * t * (r + t))


@pytest.mark.parametrize("law", LAWS)
def test_the_quadratic_stays_below_the_log_wealth(law: str) -> None:
    """So theta* can only leave where the wealth has reached 1/delta."""
    for run in range(count(300) // 6):
        env = problem(law, 2 + run % 4, 1000 + run)
        policy, wealth = CRBetOFUL(env.dim, failure_prob=DELTA), 0.0
        Theta = policy.confidence_set.views().Theta
        for _ in range(ROUNDS):
            i = policy.select(env.arms)
            x = env.arms[i].copy()
            feedback = env.pull(i, policy.confidence_set)
            wealth += log_wealth(policy, x, feedback.reward, feedback.mean)
            policy.update(x, feedback.reward)
            lam, theta = float(Theta.lam[0]), env.theta_star
            F = distance(Theta, 0, theta) + lam - math.log(DELTA) - policy.confidence_set.rad
            assert lam * float(theta @ theta) + wealth + 1e-7 >= F
            if not policy.confidence_set.contains(theta):
                assert wealth >= -math.log(DELTA) - 1e-7
                break


def test_the_cut_set_covers() -> None:
    runs, left = coverage_runs(DELTA), 0
    rounds = ROUNDS if full() else ROUNDS // 2  # in Python: a compiled loop would take longer
    for run in range(runs):
        env = problem(LAWS[run % len(LAWS)], 2 + run % 4, run)
        policy = BetOFUL(env.dim, failure_prob=DELTA, bet=CUT)
        *_, last = play(policy, env, rounds, record_at=[rounds])
        left += not last.covered
    assert_exit_rate(left, runs, DELTA)


def test_the_coverage_test_can_fail() -> None:
    """A fiftieth of the squared radius in 3 delta of the runs: the same count condemns the set."""

    def left(run: int) -> bool:
        env, policy = problem("two_point", 2, run), CRBetOFUL(2, failure_prob=DELTA)
        rad = policy.confidence_set.views().Theta.rad
        covered = True
        for _ in range(100):
            i = policy.select(env.arms)
            policy.update(env.arms[i], env.pull(i, policy.confidence_set).reward)
            whole = float(rad[0])
            rad[0] = whole / 50.0
            covered = covered and policy.confidence_set.contains(env.theta_star)
            rad[0] = whole
        return not covered

    assert_condemned(left, DELTA)


@pytest.mark.parametrize("amplitude", [0.0, 0.003])
@pytest.mark.parametrize("dim", [2, 20])
def test_theta_stays_and_the_numbers_stay_right(dim: int, amplitude: float) -> None:
    """Without a moving origin: the quadratic is written about its centre in every round."""
    policy = CRBetOFUL(dim)
    sigma = amplitude / math.sqrt(3.0)  # of uniform noise within the amplitude
    env = linear_bandit(dim=dim, theta_norm=0.5, noise="uniform", sigma=sigma, seed=3)
    _, covered = finish(policy, env, LONG)
    assert covered
    Theta = policy.confidence_set
    assert np.isfinite(Theta.memory).all()
    state = Theta.views().Theta
    M = state.A[0, 0] + state.lam[0] * np.eye(dim)
    whitened = state.whitener[0].T @ M @ state.whitener[0]
    np.testing.assert_allclose(whitened, np.eye(dim), atol=1e-6)


def noiseless_regret(dim: int, seed: int, rounds: int) -> float:
    env = linear_bandit(dim=dim, n_arms=5 * dim, theta_norm=0.5, sigma=0.0, seed=seed)
    return finish(CRBetOFUL(dim), env, rounds, rounds)[0]


def test_without_noise_the_regret_is_linear_in_the_dimension() -> None:
    """5 d arms, d = 5, 10, 20, 40 with --full: within 25 % of the best line through 0."""
    dims = np.array([5, 10, 20, 40] if full() else [5, 10, 20])
    rounds = 6000 if len(dims) == 4 else 3000
    seeds = range(600, 600 + count(50))
    means = np.array([np.mean([noiseless_regret(d, s, rounds) for s in seeds]) for d in dims])
    slope = float((dims * means).sum() / (dims * dims).sum())
    np.testing.assert_allclose(means, slope * dims, rtol=0.25)
