"""VARLin(2) and LikelihoodUCRL: regret against the horizon, cost, when printed constants learn.

python benchmarks/varlin.py regret    # ctgoal, K = 20 000, three permutations, two seeds
python benchmarks/varlin.py cost      # CPU seconds and memory of the acceptance cells
python benchmarks/varlin.py eight [SEED]  # ctgoal, d = 8, H = 64, K = 5000, three kinds of weights
python benchmarks/varlin.py printed   # episodes until the paper's constants cut, and plan well
"""

from __future__ import annotations

import resource
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from voful import LikelihoodUCRL, LinearMixtureModel, VARLin, VARLin2
from voful.envs import LinearMixtureMDP
from voful.envs.mixture.families import ctgoal, mortal
from voful.experiments.play.episodes import EpisodeRecord, play_episodes

PERMUTATIONS = ([0.15, 0.25, 0.6], [0.6, 0.15, 0.25], [0.25, 0.6, 0.15])
HORIZONS = (16, 64, 256, 1024)
EPISODES = 20_000
MOST_AT_256 = {"bernstein": 15.0, "mgf": 10.0, "likelihood": 8.0}

Maker = Callable[[LinearMixtureModel, int], Any]

AGENTS: dict[str, Maker] = {
    "bernstein": lambda model, K: VARLin(model, n_episodes=K),
    "mgf": lambda model, K: VARLin(model, n_episodes=K, constants="mgf"),
    "likelihood": lambda model, K: LikelihoodUCRL(model, n_episodes=K),
    "paper, iota x 0.003": lambda model, K: VARLin(
        model, n_episodes=K, constants="paper", iota_scale=3e-3
    ),
    "VARLin2": lambda model, K: VARLin2(model, n_episodes=K),
    "VARLin2, iota x 0.1": lambda model, K: VARLin2(model, n_episodes=K, iota_scale=0.1),
}


def run(make: Maker, env: LinearMixtureMDP, n_episodes: int) -> EpisodeRecord:
    agent = make(env.model, n_episodes)
    *_, last = play_episodes(agent, env, n_episodes, record_at=[n_episodes])
    return last


def agent_time(record: EpisodeRecord) -> float:
    return record.plan_time + record.update_time


def regret() -> bool:
    """Mean regret for each horizon, and whether it is as flat and as small as it should be."""
    print("| agent | " + " | ".join(f"H = {H}" for H in HORIZONS) + " | covered | flat |")
    print("|---|" + "---|" * (len(HORIZONS) + 2))
    fine = True
    for name, make in AGENTS.items():
        means, covered = [], True
        for H in HORIZONS:
            records = [
                run(make, ctgoal(H, theta_star=theta, seed=seed), EPISODES)
                for theta in PERMUTATIONS
                for seed in (0, 1)
            ]
            means.append(statistics.mean(record.regret for record in records))
            covered = covered and all(record.covered and record.optimistic for record in records)
        flat = means[-1] <= 2.0 * max(means[0], 2.0)
        fine = fine and flat and covered and means[2] <= MOST_AT_256.get(name, np.inf)
        figures = " | ".join(f"{mean:.1f}" for mean in means)
        print(f"| {name} | {figures} | {covered} | {flat} |", flush=True)
    return fine


def large_model(n_states: int = 400, branching: int = 8, horizon: int = 128) -> LinearMixtureMDP:
    rng = np.random.default_rng(0)
    successors = np.array(
        [
            [rng.choice(n_states, branching, replace=False) for _ in range(4)]
            for _ in range(n_states)
        ]
    )
    laws = rng.dirichlet(np.ones(branching), size=(3, n_states, 4))
    rewards = rng.random((n_states, 4)) / horizon
    model = LinearMixtureModel.from_successors(successors, laws, rewards, horizon)
    return LinearMixtureMDP(model, PERMUTATIONS[0])


def cost() -> bool:
    """CPU seconds of one run of each cell, after a run that compiles."""
    print("| agent | cell | agent, s | in all, s | at most |\n|---|---|---|---|---|")
    fine = True
    for name in ("bernstein", "mgf", "likelihood"):
        make = AGENTS[name]
        run(make, ctgoal(16), 50)
        run(make, ctgoal(16, dim=5), 30)
        cells = [
            ("ctgoal d=3 H=1024 K=20000", ctgoal(1024), EPISODES, 15.0),
            ("S=400 A=4 d=3 H=128 K=1000", large_model(), 1000, 60.0),
            ("ctgoal d=16 H=128 K=1000", ctgoal(128, dim=16), 1000, 60.0),
        ]
        for label, env, K, most in cells:
            record = run(make, env, K)
            seconds = agent_time(record) + record.simulate_time
            fine = fine and seconds <= most
            print(f"| {name} | {label} | {agent_time(record):.1f} | {seconds:.1f} | {most:g} |")
        short, long = (
            statistics.median(agent_time(run(make, mortal(H), 3000)) for _ in range(7))
            for H in (1024, 65536)
        )
        fine = fine and long <= 1.3 * short
        print(f"| {name} | mortal H=65536 / H=1024, K=3000 | {long / short:.2f} | | 1.3 |")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nmemory {megabytes:.0f} MB (at most 1000)")
    return fine and megabytes < 1000


def eight(seed: int = 0, dim: int = 8, n_episodes: int = 5000) -> bool:
    """Regret and cost where boxes stand for the set, and whether theta* was always in it.

    "steps" are (1..8)/36 in all rotations: the best action is hardly better than the next one.
    "drawn" come from Dirichlet's law, all weights 1: most actions are much worse.
    """
    steps, rng = np.arange(1.0, dim + 1.0), np.random.default_rng(seed)
    weights = {
        "default": [None],
        "steps": [np.roll(steps / steps.sum(), turn) for turn in range(dim)],
        "drawn": list(rng.dirichlet(np.ones(dim), size=dim)),
    }
    print("| agent | weights | regret | least .. most | plans | agent, s | covered |")
    print("|---|---|---|---|---|---|---|")
    covered = True
    for name in ("bernstein", "likelihood"):
        run(AGENTS[name], ctgoal(16, dim=dim), 30)
        for kind, thetas in weights.items():
            played = [
                run(AGENTS[name], ctgoal(64, dim=dim, theta_star=theta, seed=seed + 2), n_episodes)
                for theta in thetas
            ]
            costs = [record.regret for record in played]
            mean, plans = statistics.mean(costs), statistics.mean(r.plans for r in played)
            seconds = statistics.mean(agent_time(record) for record in played)
            inside = all(record.covered and record.optimistic for record in played)
            covered = covered and inside
            span = f"{min(costs):.0f} .. {max(costs):.0f}"
            figures = f"{mean:.1f} | {span} | {plans:.0f} | {seconds:.2f} | {inside}"
            print(f"| {name} | {kind} | {figures} |", flush=True)
    return covered


def printed() -> bool:
    """Printed constants, ctgoal, K = 10^6: first cut of the set, first optimal plan."""
    print("| H | iota | first cut after | optimal plan after |\n|---|---|---|---|")
    for H in HORIZONS:
        env = ctgoal(H, theta_star=PERMUTATIONS[0])
        agent = VARLin(env.model, n_episodes=10**6, constants="paper")
        first_cut = None
        while env.policy_value(agent.plan().actions) < env.optimal_value - 1e-3:
            for batch in env.rollouts(agent.plan().actions, agent.plan().episodes):
                agent.update_many(*batch)
            if first_cut is None and agent.confidence_set.support(np.eye(3)).min() < 1.0 - 1e-6:
                first_cut = agent.episodes_learnt
        iota = agent.confidence_set.tests.iota  # type: ignore[union-attr]
        print(f"| {H} | {iota:.0f} | {first_cut} | {agent.episodes_learnt} |", flush=True)
    return True


if __name__ == "__main__":
    commands: dict[str, Callable[..., bool]] = {
        "regret": regret,
        "cost": cost,
        "eight": eight,
        "printed": printed,
    }
    sys.exit(0 if commands[sys.argv[1]](*map(int, sys.argv[2:])) else 1)
