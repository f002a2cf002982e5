from __future__ import annotations

import numpy as np
import pytest

from mdp_helpers import plan_for_each_episode, random_model, random_walk
from reference.literal_tabular import LiteralMVP, LiteralUCBVI
from voful import MVP, UCBVI

K, DELTA = 400, 0.1
MODEL = random_model(3, n_states=4, horizon=5)
WIDTHS = [1.0, 0.003]  # the narrow one shows every term: the full bonus is above 1 for long


@pytest.mark.parametrize("bonus", ["hoeffding", "bernstein"])
@pytest.mark.parametrize("width", WIDTHS)
def test_ucbvi_is_the_printed_algorithm_divided_by_the_horizon(
    bonus: str, width: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rewards in [0, 1] there are rewards / H here."""
    plan_for_each_episode(monkeypatch)
    H = MODEL.horizon
    fast = UCBVI(
        MODEL,
        n_episodes=K,
        failure_prob=DELTA,
        bonus=bonus,
        known_absorbing=False,
        width_scale=width,
    )
    slow = LiteralUCBVI(H * MODEL.rewards, H, K, DELTA, bonus, width)
    rng = np.random.default_rng(0)
    while fast.episodes_learnt < K:
        plan = fast.plan()
        np.testing.assert_allclose(H * plan.value_row(0), slow.plan(), rtol=1e-12)
        for _ in range(plan.episodes):
            states, actions = random_walk(MODEL, rng, stop=False)
            fast.update(states, actions)
            slow.update(states, actions)
    np.testing.assert_allclose(H * fast.plan().value_row(0), slow.plan(), rtol=1e-12)
    if width < 1.0:
        assert fast.plan().value < 0.99


@pytest.mark.parametrize("constants", ["tight", "sharp", "paper"])
@pytest.mark.parametrize("width", WIDTHS)
def test_mvp_is_the_transcription_and_plans_only_when_a_count_doubles(
    constants: str, width: float
) -> None:
    fast = MVP(
        MODEL,
        n_episodes=K,
        failure_prob=DELTA,
        constants=constants,
        known_absorbing=False,
        width_scale=width,
    )
    slow = LiteralMVP(MODEL.rewards, MODEL.horizon, K, DELTA, constants, width)
    rng = np.random.default_rng(0)
    plan, triggers = fast.plan(), 0
    for _ in range(K):
        np.testing.assert_allclose(plan.value_row(0), slow.plan(), rtol=1e-12)
        states, actions = random_walk(MODEL, rng, stop=False)
        fast.update(states, actions)
        slow.update(states, actions)
        renewed = fast.plan()
        assert (renewed is plan) == (slow.triggers == triggers)
        plan, triggers = renewed, slow.triggers
    if width < 1.0:
        assert plan.value < 0.99
