"""
A heuristic under guard
=======================

Tuned widths lower the regret, and now and then a run locks on a wrong arm. `CertifiedUCB` needs no
tuning, and says at all times how much regret there may have been.
"""

# %%
# Twenty fixed arms in five dimensions, with noise of standard deviation 0.3. Four rules play the
# same five problems: optimism over two valid sets, OFUL with a tenth of its width, which is what
# people tune to, and `CertifiedUCB`. None of them is told the noise. On these five seeds the tuned
# width is best; it has no guarantee, and its worst runs are elsewhere (see the page of the
# algorithm).

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import voful
from voful.envs import linear_bandit

N_ROUNDS, SEEDS = 2000, range(40, 45)
RULES: dict[str, Any] = {
    "OFUL": lambda: voful.OFUL(5),
    "BetOFUL": lambda: voful.BetOFUL(5),
    "OFUL, a tenth of the width": lambda: voful.OFUL(5, width_scale=0.1),
    "CertifiedUCB": lambda: voful.CertifiedUCB(5),
}


def play(policy: Any, seed: int) -> tuple[Any, Any]:
    """Regret after each round, and the policy's own bound on it."""
    env = linear_bandit(dim=5, n_arms=20, sigma=0.3, seed=seed)
    arms, best = env.arms, env.optimal_value
    regret, ledger = np.zeros(N_ROUNDS), np.full(N_ROUNDS, np.nan)
    for t in range(N_ROUNDS):
        i = policy.select(arms)
        feedback = env.pull(i)
        policy.update(arms[i], feedback.reward)
        regret[t] = best - feedback.mean
        ledger[t] = getattr(policy, "ledger", np.nan)
    return regret.cumsum(), ledger


runs = {name: [play(make(), seed) for seed in SEEDS] for name, make in RULES.items()}

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
colours = ["#000000", "#D55E00", "#777777", "#0072B2"]
for (name, found), colour in zip(runs.items(), colours, strict=True):
    regrets = np.array([regret for regret, _ in found])
    ax.plot(regrets.mean(axis=0), color=colour, label=name)
    ax.fill_between(range(N_ROUNDS), regrets.min(axis=0), regrets.max(axis=0), color=colour,
                    alpha=0.12, linewidth=0)  # fmt: skip
ax.set(xlabel="round", ylabel="regret (mean, and range over 5 seeds)", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# The ledger
# ----------
# `policy.ledger` is a bound on the regret so far that needs no knowledge of the truth: with
# probability at least 0.95 the regret never passes it. It adds, round by round, how much better
# another arm could be for some parameter in the confidence set. Once one arm is certified to be the
# best, nothing can be lost any more, and the ledger stands still (left).

fig, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for ax, sigma in zip(axes, (0.0, 0.3), strict=True):
    env = linear_bandit(dim=2, arms=np.eye(2), theta_star=[0.5, -0.4], sigma=sigma, seed=3)
    policy, arms = voful.CertifiedUCB(2), env.arms
    regret, ledger = np.zeros(3000), np.zeros(3000)
    for t in range(3000):
        i = policy.select(arms)
        feedback = env.pull(i)
        policy.update(arms[i], feedback.reward)
        regret[t], ledger[t] = env.optimal_value - feedback.mean, policy.ledger
    arm, certified = policy.best_arm(arms)  # with the truth unknown
    ax.plot(ledger, color="#D55E00", label="ledger: certified bound")
    ax.plot(regret.cumsum(), color="#0072B2", label="regret")
    word = "certified" if certified else "not certified yet"
    ax.set(
        xlabel="round",
        title=f"σ = {sigma}: best arm {arm}, {word}",
        yscale="symlog",
        ylim=(0, None),
    )
axes[0].legend(frameon=False)
plt.show()

# %%
# Your own rule
# -------------
# The guard takes any object with `scores(arms)` and `update(x, reward)`. This one is greedy. The
# best arm is noisy and its first reward is bad: greedy alone never plays it again.


class Greedy:
    """Plays what looks best so far."""

    def __init__(self, dim: int) -> None:
        self.gram, self.response = 1e-3 * np.eye(dim), np.zeros(dim)

    def scores(self, arms: Any) -> Any:
        return arms @ np.linalg.solve(self.gram, self.response)

    def update(self, x: Any, reward: float) -> None:
        self.gram += np.outer(x, x)
        self.response += reward * x


rng = np.random.default_rng(1)
noise = rng.choice([-0.7, 0.7], 4000)
noise[0] = -0.7
arms, theta = np.eye(2), np.array([0.3, 0.1])
guarded, alone = voful.Guarded(2, heuristic=Greedy(2)), Greedy(2)
lost = np.zeros((2, 4000))
for t in range(4000):
    players: tuple[Any, Any] = (alone, guarded)
    for k, player in enumerate(players):
        i = int(np.argmax(alone.scores(arms))) if k == 0 else guarded.select(arms)
        player.update(arms[i], float(theta[i] + (noise[t] if i == 0 else 0.0)))
        lost[k, t] = 0.3 - theta[i]

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(lost[0].cumsum(), color="#777777", label="greedy")
ax.plot(lost[1].cumsum(), color="#0072B2", label="greedy under guard")
ax.set(xlabel="round", ylabel="regret")
ax.legend(frameon=False)
plt.show()
print(f"overruled in {guarded.overruled} of 4000 rounds; the ledger says {guarded.ledger:.0f}")
