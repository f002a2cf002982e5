"""Value-targeted agents: regret against the horizon, and CPU seconds of a run.

python benchmarks/value_targets.py    # ctgoal, K = 20 000, theta* = (.15, .25, .6), one seed
"""

from __future__ import annotations

from time import process_time

from voful import registry
from voful.envs.mixture.families import ctgoal
from voful.experiments.play.episodes import EpisodeRecord, play_episodes

HORIZONS = (16, 64, 256, 1024)
EPISODES = 20_000
IDS = ("ucrl-vtr", "ucrl-vtr-plus", "hf-ucrl-vtr-plus", "bet-vtr", "posterior-mixture")


def run(id: str, horizon: int, n_episodes: int) -> EpisodeRecord:
    env = ctgoal(horizon, theta_star=[0.15, 0.25, 0.6], seed=0)
    agent = registry.create(id, env.model, n_episodes=n_episodes)
    *_, last = play_episodes(agent, env, n_episodes, record_at=[n_episodes])
    return last


def main() -> None:
    horizons = " | ".join(f"H = {H}" for H in HORIZONS)
    print(f"| agent | {horizons} | CPU at the last | planning | learning |")
    print("|---|" + "---|" * (len(HORIZONS) + 3))
    for id in IDS:
        run(id, 16, 20)  # compile
        regrets = []
        for horizon in HORIZONS:
            started = process_time()
            last = run(id, horizon, EPISODES)
            seconds = process_time() - started
            regrets.append(f"{last.regret:.0f}")
        times = f"{seconds:.1f} | {last.plan_time:.1f} | {last.update_time:.1f}"
        print(f"| {id} | {' | '.join(regrets)} | {times} |", flush=True)


if __name__ == "__main__":
    main()
