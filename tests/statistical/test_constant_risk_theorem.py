"""Lemmas 1 to 7, (2), (3) and (4) of docs/theory.md, with adversarial choices in every band."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from helpers import assert_exit_rate, count, sphere
from reference.literal_cr_betoful import LiteralCR, Parameters
from reference.theorem_checks import TheoremChecks
from voful.typing import FloatArray

DELTA, RUNS, ROUNDS, N_ARMS = 0.05, 500, 500, 6


class Setting(NamedTuple):
    parameters: Parameters
    bets: str  # "product", "ratio" (where it is allowed) or "either"


SETTINGS = {
    "Corollary 2": Setting(Parameters(0.1, math.inf, 0.25, 0.2, 1 / 3), "product"),
    "practical": Setting(Parameters(12.0, 0.3, 0.9, 0.02, 0.3), "ratio"),
    "practical, either bet": Setting(Parameters(12.0, 0.3, 0.9, 0.02, 0.3), "either"),
    "half the cap": Setting(Parameters(1.0, 1.0, 0.5, 0.1, 1.0), "either"),
    "no tau": Setting(Parameters(12.0, math.inf, 0.9, 0.1, 0.3), "product"),
    "wild": Setting(Parameters(60.0, 50.0, 0.9, 0.02, 0.05), "either"),
}
NOISES = (
    "none", "small", "large", "rare", "binary", "quiet then loud", "loud then quiet", "late jumps",
)  # fmt: skip
ARMS = ("fixed", "redrawn", "tiny", "alternating")


def arms_of(kind: str, fixed: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    if kind == "fixed":
        return fixed
    drawn = sphere(rng, len(fixed), fixed.shape[1])
    if kind == "tiny":
        return drawn * 10.0 ** rng.uniform(-3, 0, (len(fixed), 1))
    return drawn * (0.8 if k % 2 else 0.01) if kind == "alternating" else drawn


def reward(kind: str, mean: float, k: int, rng: np.random.Generator) -> float:
    """In [-1, 1] with this mean."""
    loud = {"quiet then loud": k > ROUNDS // 3, "loud then quiet": k < ROUNDS // 3}.get(kind)
    if kind == "none" or loud is False:
        return mean
    if kind == "binary" or loud:
        return 1.0 if rng.random() < (1 + mean) / 2 else -1.0
    if kind == "rare" or (kind == "late jumps" and k > ROUNDS // 2):
        p = 0.02
        return 1.0 if rng.random() < p else mean - p / (1 - p) * (1.0 - mean)
    if kind == "late jumps":
        return mean
    return mean + min(0.1 if kind == "small" else 0.6, 1.0 - abs(mean)) * float(rng.uniform(-1, 1))


class Adversary:
    """Who makes the choices that the theorem leaves free; one habit or none for a whole run."""

    def __init__(self, run: int, rng: np.random.Generator, steeper: float = 1.0) -> None:
        self.rng, self.steeper = rng, steeper
        self.slope_habit = ("default", "lowest", "highest", "any")[run % 4]
        self.alpha_habit = ("best", "lowest", "any")[run % 3]
        self.cuts = run % 5 in (1, 3)
        self.index = (1.0, 1.0, 0.5, 0.1)[run // 4 % 4]  # Corollary 3: any smaller index

    def slope(self, lowest: float, highest: float, default: float) -> float:
        habit = self.slope_habit
        if habit == "any":
            habit = str(self.rng.choice(["default", "lowest", "highest", "between"]))
        between = lowest * math.pow(highest / lowest, float(self.rng.random()))
        chosen = {"default": default, "lowest": lowest, "highest": highest, "between": between}
        return chosen[habit] * self.steeper

    def alpha(self, low: float, best: float) -> float:
        between = 0.98 * float(self.rng.random())
        share = {"best": 0.98, "lowest": 0.0, "any": between}[self.alpha_habit]
        return low + share * max(best - low, 0.0)  # `best` is from a grid: a little less is safe

    def interval(self, mean: float) -> tuple[float, float]:
        if not (self.cuts and self.rng.random() < 0.3):
            return -math.inf, math.inf
        below, above = 10.0 ** self.rng.uniform(-3, 0, 2)
        return mean - below, mean + above


def play(
    name: str, run: int, rounds: int = ROUNDS, steeper: float = 1.0, riskier: float = 1.0
) -> TheoremChecks:
    claimed, bets = SETTINGS[name]
    parameters = claimed._replace(G=riskier * claimed.G)
    rng = np.random.default_rng([41, list(SETTINGS).index(name), run])
    dim = (2, 5, 3)[run % 3]
    theta_star = sphere(rng, 1, dim, (0.5, 0.9)[run % 2])[0]
    cr = LiteralCR(dim, DELTA, -1.0, 1.0, 1.0, parameters)
    checks = TheoremChecks(cr, theta_star, bets != "product", claimed)
    adversary = Adversary(run, rng, steeper)
    noise, kind = NOISES[run % len(NOISES)], ARMS[run // len(NOISES) % len(ARMS)]
    fixed = sphere(rng, N_ARMS, dim)
    for k in range(rounds):
        arms = arms_of(kind, fixed, k, rng)
        means = arms @ theta_star
        upper = arms @ cr.center + np.sqrt(cr.rad * cr.leverages(arms))
        i = int(np.argmax(means + adversary.index * (upper - means)))
        ratio = bets == "ratio" or (bets == "either" and bool(rng.random() < 0.5))
        bet = cr.place(arms[i], ratio, adversary.interval(float(means[i])))
        y = reward(noise, float(means[i]), k, rng)
        done = cr.update(arms[i], y, bet, adversary.slope, adversary.alpha)
        checks.see(arms[i], y, done, float(means.max() - means[i]))
        if checks.failed or not checks.on_the_event:
            break
    return checks


@pytest.mark.parametrize("name", SETTINGS)
def test_every_inequality_holds_in_every_round(name: str) -> None:
    left = bad = top_ups = 0
    for run in range(count(RUNS)):
        checks = play(name, run)
        assert not checks.failed, (run, checks.failed)
        left += not checks.on_the_event
        bad, top_ups = bad + checks.bad, top_ups + checks.cr.top_ups
    assert_exit_rate(left, count(RUNS), DELTA)
    if name == "wild":  # else the test would say nothing about them
        assert bad > 0
        assert top_ups > 0


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_slopes_above_the_band_violate_them() -> None:
    """Slopes above c / m break Lemma 1; slopes that carry more risk than g break Lemma 4."""
    bankrupt, risky = set[str](), set[str]()
    for run in range(24):
        bankrupt |= play("half the cap", run, 200, steeper=4.0).failed
        risky |= play("Corollary 2", run, 200, riskier=1000.0).failed
    assert any(inequality.startswith("1") for inequality in bankrupt), bankrupt
    assert any(inequality.startswith("4") for inequality in risky), risky
