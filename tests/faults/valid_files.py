"""Valid files of every registered id and of what is not in the table, some that have learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from helpers import make_policy, play_some
from mdp_helpers import random_model, random_walk, signed_model
from voful import BetOFUL, Evaluator, Guarded, Log, PerAction, registry
from voful.mdp.model import LinearMixtureModel


def write_all(directory: Path) -> list[str]:
    """One or two files for each id; their names."""
    for entry in registry.entries():
        for variant, thing in enumerate(_things(entry.id, entry.kind)):
            thing.save(directory / f"{entry.id}-{variant}.voful")
    for variant, policy in enumerate(_unregistered()):
        play_some(policy, 70)
        policy.save(directory / f"{type(policy).__name__.lower()}-{variant + 2}.voful")
    _per_action().save(directory / "peraction-0.voful")
    random_model().save(directory / "model-0.voful")
    for variant, evaluator in enumerate(_evaluators()):
        evaluator.save(directory / f"evaluator-{variant}.voful")
    return [path.name for path in sorted(directory.glob("*.voful"))]


def _unregistered() -> list[Any]:
    return [Guarded(3), *(BetOFUL(3, bet=bet) for bet in ("mixed+cr", "product", "ratio"))]


def _per_action() -> PerAction:
    policy, rng = PerAction(2, 2), np.random.default_rng(0)
    policy.partial_fit(0.7 * rng.random((40, 2)), rng.integers(0, 2, 40), rng.random(40))
    return policy


def _things(id: str, kind: str) -> list[Any]:
    if kind == "bandit":
        old, young = make_policy(id), make_policy(id, 2, seed=np.random.SeedSequence(3).spawn(1)[0])
        play_some(old, 70)
        play_some(young, 3)
        return [old, young]
    return [_agent(id, random_model(), 12), _agent(id, random_model(1, dim=5), 3)] + (
        [_agent(id, signed_model(0), 3)] if id in ("varlin", "ucrl-vtr") else []
    )


def _evaluators() -> list[Evaluator]:
    rng = np.random.default_rng(0)
    laws, arms = rng.dirichlet(np.ones(3), (3, 30)), rng.standard_normal((30, 3, 2))
    log = Log(rng.integers(0, 3, 30), rng.random(30), laws[0], arms=arms)
    made = [
        Evaluator(),
        Evaluator(estimator="dr", dim=2),
        Evaluator(estimator="ips", versus="baseline", horizon=100, reward_range=(-1.0, 2.0)),
    ]
    for evaluator in made:
        evaluator.update(log, laws[1], laws[2] if evaluator.versus else None)
    return made


def _agent(id: str, model: LinearMixtureModel, episodes: int) -> Any:
    agent, rng = registry.create(id, model, n_episodes=200), np.random.default_rng(0)
    for _ in range(episodes):
        agent.plan()
        agent.update(*random_walk(model, rng))
    return agent
