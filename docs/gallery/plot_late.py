"""
Rewards that come late
======================

A policy that hears nothing has no reason to change its mind: it plays one arm until the first
reward is there. Told which arms wait for their rewards, it looks elsewhere meanwhile.
"""

# %%
# Twenty fixed arms in five dimensions; every reward is learnt 100 rounds after its arm was played.
# The same policy twice, once through `voful.Tickets`, which keeps a list of what waits.

from collections import deque
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import voful
from voful.envs import linear_bandit

N_ROUNDS, DELAY = 3000, 100

regret = {"not told": np.zeros(N_ROUNDS), "told what waits": np.zeros(N_ROUNDS)}
played = {label: np.zeros(N_ROUNDS, dtype=int) for label in regret}

env = linear_bandit(dim=5, n_arms=20, sigma=0.1, seed=3)
policy, waiting = voful.BetOFUL(5), deque[Any]()
for t in range(N_ROUNDS):
    means = env.mean_rewards
    i = policy.select(env.arms)
    regret["not told"][t], played["not told"][t] = means.max() - means[i], i
    waiting.append((env.arms[i].copy(), env.pull(i).reward))
    if len(waiting) > DELAY:
        policy.update(*waiting.popleft())

# %%
# With tickets the caller keeps a number, not the arm. Tickets can be saved with the policy, and
# rewards may come in any order.

env = linear_bandit(dim=5, n_arms=20, sigma=0.1, seed=3)
desk, waiting = voful.Tickets(voful.BetOFUL(5)), deque()
for t in range(N_ROUNDS):
    means = env.mean_rewards
    ticket = desk.select(env.arms)
    i = ticket.index
    regret["told what waits"][t], played["told what waits"][t] = means.max() - means[i], i
    waiting.append((ticket.id, env.pull(i).reward))
    if len(waiting) > DELAY:
        desk.update(*waiting.popleft())

# %%
# Above: the regret. Below: which arm was played in the first rounds. Without being told, the first
# 100 rounds are one arm, and so are the next ones.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6))
for label, values in regret.items():
    (line,) = top.plot(np.cumsum(values), label=label)
    bottom.plot(played[label][:500], ".", markersize=3, color=line.get_color(), label=label)
top.set(xlabel="round", ylabel="regret")
top.legend()
bottom.axvline(DELAY, color="grey", linestyle=":")
bottom.set(xlabel="round (dotted: the first reward is learnt)", ylabel="arm played")
figure.tight_layout()
plt.show()

# %%
# Both know the same afterwards; what they paid for it differs.

for label, values in regret.items():
    print(f"{label}: regret {values.sum():.0f}")
