"""
A queue with three simulators
=============================

Three simulators of one queue exist, one for each kind of customer. The true queue is a mixture of
them with unknown weights. VARLin, Algorithm 2 of the paper, runs the queue well while it finds out
which mixture it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import voful
from voful.envs import LinearMixtureMDP

# %%
# Three simulators
# ----------------
#
# A simulator is a table of probabilities of the next state: up to eight customers wait, one of
# three servers works, and with probability 0.3 somebody arrives.

kinds = ["short", "long", "fragile"]
finishes = np.array([[0.60, 0.30, 0.10], [0.10, 0.45, 0.20], [0.05, 0.15, 0.50]])  # kind, server
capacity, horizon, arrives = 8, 100, 0.3
S, A = capacity + 1, 3
P = np.zeros((3, S, A, S))
for i in range(3):
    for n in range(S):
        for a in range(A):
            done = finishes[i, a] if n > 0 else 0.0
            up = arrives * (1 - done) if n < capacity else 0.0
            down = done * (1 - arrives)
            P[i, n, a, min(n + 1, capacity)] += up
            P[i, n, a, max(n - 1, 0)] += down
            P[i, n, a, n] += 1 - up - down

# %%
# Rewards are known: short queues and cheap servers. A whole episode pays at most 1.

cost = np.array([0.0, 0.02, 0.08])
rewards = np.maximum(1 - np.arange(S)[:, None] / capacity - cost, 0) / horizon
model = voful.LinearMixtureModel(P, rewards, horizon, initial_state=4)

# %%
# The true queue, and the agent
# -----------------------------
#
# The environment knows the weights and plays the part of the true queue. The agent sees states
# and actions only. Half of the episodes follow its plan, half try any server at any time: an agent
# learns what matters for its decisions, and trying everything tells the weights themselves.

theta_star = np.array([0.2, 0.3, 0.5])
queue = LinearMixtureMDP(model, theta_star, seed=3)
n_episodes = 400
agent = voful.VARLin(model, n_episodes=n_episodes)
rng = np.random.default_rng(0)
moments, lower, upper, values, promised = [], [], [], [], []
while agent.episodes_learnt < n_episodes:
    plan = agent.plan()
    for turn in range(min(plan.episodes, n_episodes - agent.episodes_learnt)):
        tried = rng.integers(A, size=(horizon + 1, S))
        states, actions, lengths = queue.rollout(tried if turn % 2 else plan.actions)
        agent.update(states[0, : lengths[0] + 1], actions[0, : lengths[0]])
    moments.append(agent.episodes_learnt)
    values.append(queue.policy_value(plan.actions))
    promised.append(plan.value)
    agent.plan()  # renews the set
    low, high = agent.confidence_set.interval(np.eye(3))
    lower.append(low)
    upper.append(high)

# %%
# The weights
# -----------
#
# The set holds the true weights at all times with probability 95 %. Its ends along each axis:

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
for i, colour in enumerate(("#0072B2", "#009E73", "#D55E00")):
    low, high = np.array(lower)[:, i], np.array(upper)[:, i]
    axes.fill_between(moments, low, high, color=colour, alpha=0.25, lw=0, step="post")
    axes.axhline(theta_star[i], color=colour, lw=1.2)
    axes.text(n_episodes * 1.03, theta_star[i], kinds[i], color=colour, va="center")
axes.set(xscale="log", xlim=(1, n_episodes), ylim=(0, 1))
axes.set(xlabel="episodes", ylabel="weight")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
for kind, low, high in zip(kinds, lower[-1], upper[-1], strict=True):
    print(f"{kind}: between {low:.2f} and {high:.2f}")

# %%
# The decisions
# -------------
#
# A plan's value is a promise: no way of running the queue is worth more, if the weights are in the
# set. It comes down to what is possible, and what the plans are really worth comes up to it.

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.step(moments, promised, where="post", color="#D55E00", label="promised by the plan")
axes.step(moments, values, where="post", color="#0072B2", label="true value of the plan")
axes.axhline(queue.optimal_value, color="black", lw=0.8, ls=":", label="best possible")
axes.set(xscale="log", xlabel="episodes", ylabel="value of an episode")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
