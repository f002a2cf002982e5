from __future__ import annotations

import numpy as np
import pytest

from helpers import full, sphere
from reference.literal_lofav import LiteralLOFAV, long_double_gaps
from reference.literal_losan import LiteralLOSAN
from voful import LOFAV, LOSAN
from voful.typing import FloatArray

THETA_STAR = np.array([0.4, -0.2, 0.1])


@pytest.mark.parametrize("constants", ["tight", "paper"])
def test_same_choices_and_same_set_as_the_literal_algorithm(constants: str) -> None:
    rng = np.random.default_rng(5)
    safe = constants == "tight"
    fast = LOFAV(3, n_rounds=90, failure_prob=0.1, theta_norm=0.9, constants=constants)
    slow = LiteralLOFAV(3, 90, R=2.0, sigma_0=1.0 if safe else 2.0, S=0.9, delta=0.1, safe=safe)
    assert fast.n_layers == slow.L == 3
    for _ in range(60):
        arms = sphere(rng, 6, 3) * rng.uniform(0.1, 1.0, (6, 1))
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = float(arms[choice] @ THETA_STAR + rng.uniform(-0.2, 0.2))
        fast.update(arms[choice], reward)
        slow.X.append(arms[choice])
        slow.y.append(reward)
    Theta, n = fast.confidence_set, fast.n_layers
    for i, layer in enumerate(slow.layers()):
        hat, bar = Theta.parts[i], Theta.parts[n + i]
        np.testing.assert_allclose(hat.precision, layer.Sigma, atol=1e-12)
        np.testing.assert_allclose(hat.center, layer.theta_hat, atol=1e-12)
        np.testing.assert_allclose(bar.precision, layer.Q, atol=1e-12)
        np.testing.assert_allclose(bar.center, layer.theta_bar, atol=1e-12)
        assert 0.5 * Theta.radii[n + i] ** 2 == pytest.approx(layer.beta, rel=1e-11)
        assert 0.5 * Theta.radii[i] ** 2 == pytest.approx(layer.gamma, rel=1e-11)
        gap = Theta.layers[i].gap.sum()
        assert -gap == pytest.approx(layer.L_minus_K, rel=1e-9, abs=1e-13)
        np.testing.assert_allclose(Theta.radii[i] ** 2, 2 * layer.gamma)
        np.testing.assert_allclose(Theta.radii[n + i] ** 2, 2 * layer.beta)


def some_rounds(n: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(8)
    X = sphere(rng, n, 3) * rng.uniform(0.1, 1.0, (n, 1))
    return X, X @ THETA_STAR + rng.uniform(-0.3, 0.3, n)


def test_the_regret_equality() -> None:
    """What was lost against theta*, exactly, with norms in Sigma_t.

    sum f_s(theta_{s-1}) - f_s(theta*) = (lambda |theta*|^2 - |theta* - theta_t|^2) / 2 + sum F^2 f
    """
    X, y = some_rounds(120)
    slow = LiteralLOFAV(3, 4000, R=2.0, sigma_0=1.0, S=1.0, delta=0.1, safe=True)
    slow.X, slow.y = list(X), list(y)
    fast = LOFAV(3, n_rounds=4000)
    fast.partial_fit(X, y)
    Theta = fast.confidence_set
    for i, layer in enumerate(slow.layers(probe=THETA_STAR)):
        part, learnt, ridge = Theta.parts[i], Theta.layers[i], 0.25**i  # (2^-(i+1) R / S)^2
        offset = THETA_STAR - part.center
        right = 0.5 * ridge * THETA_STAR @ THETA_STAR + learnt.shrunk[0]
        right -= 0.5 * offset @ part.precision @ offset
        left = learnt.loss[0] - layer.f_star
        assert left == pytest.approx(right, abs=1e-12)


def test_the_regret_equality_of_losan() -> None:
    X, y = some_rounds(120)
    policy, slow = LOSAN(3, noise_scale=0.7), LiteralLOSAN(3, 0.7, 0.05, 1.0)
    Theta = policy.confidence_set
    beta = Theta.blocks[0, -1:]
    shrunk = -float(beta[0])
    left = 0.0
    for x, reward in zip(X, y, strict=True):
        Sigma, theta_hat, _ = slow.matrices()
        weight = min(1.0, 1 / float(x @ np.linalg.solve(Sigma, x)))
        left += 0.5 * weight * ((reward - x @ theta_hat) ** 2 - (reward - x @ THETA_STAR) ** 2)
        policy.update(x, reward)
        slow.X.append(x)
        slow.y.append(reward)
    shrunk += float(beta[0])
    offset = THETA_STAR - Theta.center
    right = 0.5 * 0.7**2 * THETA_STAR @ THETA_STAR + shrunk
    right -= 0.5 * offset @ Theta.precision @ offset
    assert left == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_a_long_quiet_run_does_not_cancel(noise: float) -> None:
    """100,000 rounds (--full): a difference of sums 10^4 and more is right to 10^-11."""
    n = 100_000 if full() else 30_000
    rng = np.random.default_rng(3)
    X = sphere(rng, n, 3) * rng.uniform(0.2, 1.0, (n, 1))
    X[: n // 2, 2] *= 0.01  # one direction is learnt late
    y = X @ np.array([0.7, -0.5, 0.4]) + noise * rng.choice([-1.0, 1.0], n)
    policy = LOFAV(3, n_rounds=n)
    policy.partial_fit(X, y)
    Theta = policy.confidence_set
    gaps = long_double_gaps(X, y, R=2.0, S=1.0, L=policy.n_layers)
    fast = np.array([layer.gap[0] + layer.gap[1] for layer in Theta.layers])
    assert (fast > 0).all()
    np.testing.assert_allclose(fast, gaps.astype(float), rtol=1e-11)
    assert np.isfinite(Theta.radii).all()
    assert (Theta.radii > 0).all()
    assert Theta.contains([0.7, -0.5, 0.4])
