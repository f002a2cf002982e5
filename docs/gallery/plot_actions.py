"""
One model per action
====================

A start page can show one of four stories to each visitor. Nothing is known about the stories, a
little about the visitors: their age and the hour. `voful.PerAction` learns a model for each story.
"""

# %%
# Whether a story is read depends on who comes when. The rates below are unknown to the policy; they
# are linear in the context (an intercept, age, hour), which is scaled to [-1, 1].

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

import voful

STORIES = ["politics", "football", "science", "cinema"]
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#777777"]
RATES = np.array([  # intercept, age, hour
    [0.40, 0.25, -0.10],
    [0.40, -0.25, 0.10],
    [0.45, 0.00, -0.25],
    [0.30, -0.05, 0.25],
])  # fmt: skip
N_ROUNDS = 6000


def visitor(rng: np.random.Generator) -> Any:
    return np.array([1.0, *rng.uniform(-1.0, 1.0, 2)])


# %%
# The loop
# --------
# A context comes, an action is chosen, a reward follows. Only the chosen action's model learns.

rng = np.random.default_rng(7)
policy = voful.PerAction(
    n_actions=4, dim=3, reward_range=(0.0, 1.0), feature_norm=np.sqrt(3.0), failure_prob=0.05
)
regret, shown = np.zeros(N_ROUNDS), np.zeros(N_ROUNDS, dtype=int)
for t in range(N_ROUNDS):
    context = visitor(rng)
    shown[t] = policy.select(context)
    rates = RATES @ context
    policy.update(context, shown[t], rng.random() < rates[shown[t]])
    regret[t] = rates.max() - rates[shown[t]]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
windows = np.arange(0, N_ROUNDS, 300)
for story, colour in enumerate(COLOURS):
    share = [(shown[w : w + 300] == story).mean() for w in windows]
    axes[0].plot(windows + 150, share, color=colour, label=STORIES[story])
axes[0].set(xlabel="visitor", ylabel="how often it is shown", ylim=(0, None))
axes[0].legend(frameon=False, ncols=2)
others = [RATES @ visitor(rng) for _ in range(4000)]
at_random = np.mean([rates.max() - rates.mean() for rates in others])
axes[1].plot(regret.cumsum(), color="#0072B2", label="PerAction")
axes[1].plot([0, N_ROUNDS], [0, at_random * N_ROUNDS], color="#777777", label="a story at random")
axes[1].set(xlabel="visitor", ylabel="reads lost against the best story", ylim=(0, None))
axes[1].legend(frameon=False)
plt.show()

# %%
# What it knows, and how surely
# -----------------------------
# `policy.index` gives a mean and an interval for each action. All intervals hold at once, for all
# contexts and at all times, with probability at least 0.95. Here they are drawn along the age, at
# noon (solid: estimate; dashed: truth). They are narrow where a story was shown to such visitors.

fig, axes = plt.subplots(1, 4, figsize=(10, 3.0), layout="constrained", sharey=True)
ages = np.linspace(-1.0, 1.0, 41)
ends = np.array([policy.index(np.array([1.0, age, 0.0])) for age in ages])  # (41, 3, 4)
for story, (ax, colour) in enumerate(zip(axes, COLOURS, strict=True)):
    ax.fill_between(ages, ends[:, 1, story].clip(0, 1), ends[:, 2, story].clip(0, 1),
                    color=colour, alpha=0.2, linewidth=0)  # fmt: skip
    ax.plot(ages, ends[:, 0, story], color=colour)
    ax.plot(ages, RATES[story, 0] + RATES[story, 1] * ages, "--", color="black", linewidth=1)
    ax.set(title=STORIES[story], xlabel="age", ylim=(0, 1))
axes[0].set_ylabel("share of readers")
plt.show()

# %%
# What it would show
# ------------------
# The choice over the plane of ages and hours, in the colours of the stories, beside the truth.

grid = np.linspace(-1.0, 1.0, 60)
contexts = [np.array([1.0, age, hour]) for hour in grid for age in grid]
chosen = policy.select_many(contexts).reshape(60, 60)
best = (np.array(contexts) @ RATES.T).argmax(axis=1).reshape(60, 60)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
colours = ListedColormap(COLOURS)
for ax, picture, title in ((axes[0], chosen, "PerAction's choice"), (axes[1], best, "best story")):
    ax.imshow(picture, origin="lower", extent=(-1, 1, -1, 1), cmap=colours, vmin=0, vmax=3,
              alpha=0.7)  # fmt: skip
    ax.set(title=title, xlabel="age", ylabel="hour")
plt.show()

print(policy.statuses)
