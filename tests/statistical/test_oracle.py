"""The oracle used at every d, against the certified one at d = 2."""

from __future__ import annotations

import math

import numpy as np

from helpers import full, sphere
from reference.exact_peeled import exact_support
from voful.confidence import PeeledSet
from voful.confidence.peeled.cuts import supports
from voful.confidence.peeled.outer_polytope import new_polytope
from voful.typing import FloatArray

STATES = 2500 if full() else 60  # certified answers take a twentieth of a second each
BALL_WIDTH = 2.0


def random_set(rng: np.random.Generator) -> PeeledSet:
    """Arms, noise, directions and thresholds vary widely."""
    n = int(math.exp(rng.uniform(math.log(30), math.log(3000))))
    theta_star = sphere(rng, 1, 2, rng.uniform(0.05, 0.95))[0]
    kind = rng.integers(3)
    if kind == 0:  # few arms
        arms = sphere(rng, int(rng.integers(2, 8)), 2)
        X = arms[rng.choice(len(arms), n, p=rng.dirichlet(np.ones(len(arms))))]
    elif kind == 1:  # all norms
        X = sphere(rng, n, 2) * 10 ** rng.uniform(-1.5, 0, (n, 1))
    else:  # concentrated
        X = sphere(rng, 1, 2) + rng.uniform(0.05, 1) * rng.standard_normal((n, 2))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    noise = rng.choice([0.0, 0.01, 0.1, 0.3]) * math.sqrt(3) * rng.uniform(-1, 1, n)
    D = sphere(rng, int(rng.integers(3, 12)), 2, 2.0) * rng.uniform(0.2, 1, (1, 1))
    Theta = PeeledSet(
        2, n_rounds=3000, directions=D, iota_scale=float(rng.uniform(0.1, 1.0)), failure_prob=0.1
    )
    Theta.partial_fit(X, np.clip(X @ theta_star + noise, -1, 1))
    return Theta


def plain_cuts(Theta: PeeledSet, X: FloatArray) -> FloatArray:
    """Cuts from the questions alone, without the pass along the tests' normals."""
    upper, _, _ = supports(
        Theta._flat, new_polytope(2), X, Theta._reference(Theta._flat), 1e-3, True
    )
    return upper


def test_never_below_the_exact_support_and_mostly_tight() -> None:
    rng = np.random.default_rng(1)
    gaps: dict[str, list[float]] = {"plain cuts": [], "with shrinking": []}
    for _ in range(STATES):
        Theta = random_set(rng)
        x = sphere(rng, 1, 2)[0]
        both = np.stack([x, -x])
        exact = [exact_support(Theta._flat, side, 1e-5, 400_000) for side in both]
        lower, upper = np.array(exact).T
        assert np.isfinite(lower).all()
        answers = {"plain cuts": plain_cuts(Theta, both), "with shrinking": Theta.support(both)}
        bounds, gap = Theta.support(both, return_gap=True)
        assert (bounds - gap <= upper + 1e-9).all()  # the member found is a member
        width = float(upper.sum())
        for name, bound in answers.items():
            assert (bound >= lower - 1e-9).all(), name
            if 0.02 < width <= 0.7 * BALL_WIDTH:
                gaps[name].append((float(bound.sum()) - width) / width)
    for name, gap_list in gaps.items():
        print(
            f"{name}: {len(gap_list)} states, relative gap median {np.median(gap_list):.4f}, "
            f"95th percentile {np.quantile(gap_list, 0.95):.4f}"
        )
    assert np.median(gaps["plain cuts"]) <= 0.25
    assert np.median(gaps["with shrinking"]) <= 0.05
    assert np.quantile(gaps["with shrinking"], 0.95) <= 0.25
