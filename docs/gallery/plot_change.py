"""
The world turns over
====================

A confidence set that has learnt one world is narrow around the wrong value in the next. `BetOFUL`
checks its own set in every round, and learns anew after an alarm.
"""

# %%
# Twenty fixed arms in five dimensions. After 1,000 rounds the parameter becomes its opposite, and
# nobody tells the policies: the best arm is now the worst.

import matplotlib.pyplot as plt
import numpy as np

import voful
from voful.envs import linear_bandit
from voful.monitor import ModelCheck

N_ROUNDS, FLIP = 2000, 1000
RULES = {"no check": None, "restart (the default)": "restart"}

figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(7, 6))
for label, on_change in RULES.items():
    env = linear_bandit(dim=5, sigma=0.1, change_at=[FLIP], change="flip", seed=1)
    policy = voful.BetOFUL(5, on_change=on_change)
    regret, outside = np.zeros(N_ROUNDS), np.zeros(N_ROUNDS, dtype=bool)
    for t in range(N_ROUNDS):
        means = env.mean_rewards
        i = policy.select(env.arms)
        _, lower, upper = policy.index(env.arms)
        outside[t] = not lower[i] <= means[i] <= upper[i]
        regret[t] = means.max() - means[i]
        policy.update(env.arms[i], env.pull(i).reward)
    (line,) = top.plot(np.cumsum(regret), label=label)
    bottom.plot(np.cumsum(outside), color=line.get_color(), label=label)
    for alarm in policy.alarms:
        top.axvline(alarm.round, color=line.get_color(), linestyle=":")
        print(f"{label}: alarm in round {alarm.round}, statistic {alarm.statistic:.0f}")

top.set(ylabel="regret", ylim=(0, 300))
top.legend()
bottom.set(xlabel="round", ylabel="rounds with a wrong interval", ylim=(0, 200))
figure.tight_layout()

# %%
# The dotted line is the alarm. The statistic is a betting score against the set: while the set is
# right, it ever reaches 20 with probability at most 0.05 (and as much for the set itself). It
# can be had alone, beside any model that gives intervals. Here the mean leaves its interval after
# 150 rounds.

check = ModelCheck((-1.0, 1.0))
rng = np.random.default_rng(0)
for t in range(300):
    mean = 0.2 if t < 150 else 0.5  # the model says: between 0.1 and 0.3
    if check.update(0.1, 0.3, float(np.clip(mean + 0.1 * rng.standard_normal(), -1.0, 1.0))):
        print(f"alarm in round {t + 1}")
        break
check.plot()
plt.show()
