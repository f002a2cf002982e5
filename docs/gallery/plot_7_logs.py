"""
What would another policy have earned?
======================================

A shop logs what it recommends, and how probable each choice was. Months later somebody asks whether
a simpler policy would have done as well. The log knows, with an interval that may be looked at
after every row.
"""

import matplotlib.pyplot as plt
import numpy as np

import voful

rng = np.random.default_rng(0)
theta_star = np.array([0.5, 0.6, -0.4])

# %%
# Log
# ---
#
# Five candidates a visitor, with an intercept and two features. ``choose`` draws one and says the
# probabilities; ``spread`` keeps some for the runners-up, at a price in regret that is known: at
# most 2 c sqrt(K).

n = 4000
policy = voful.OFUL(dim=3, reward_range=(0.0, 1.0), feature_norm=1.3)
visitors = rng.uniform(-0.5, 0.5, (n, 5, 3))
visitors[:, :, 0] = 1.0
clicks = visitors @ theta_star  # the shop does not know these
actions, rewards, propensities = np.empty(n, dtype=int), np.empty(n), np.empty((n, 5))
for t, arms in enumerate(visitors):
    choice = policy.choose(arms, spread=1.0)
    rewards[t] = rng.random() < clicks[t, choice.index]
    policy.update(arms[choice.index], rewards[t])
    actions[t], propensities[t] = choice.index, choice.probabilities
log = voful.Log(actions, rewards, propensities, arms=visitors)
print(log)

# %%
# Evaluate
# --------
#
# Three candidates to take its place: the first feature alone, the second alone, and chance.


def greedy(feature: int, sign: float) -> np.ndarray:
    """Probabilities of the policy that looks at one feature only."""
    best = (sign * visitors[:, :, feature]).argmax(axis=1)
    return np.array(np.eye(5)[best])


candidates = {
    "first feature": greedy(1, 1.0),
    "second feature": greedy(2, -1.0),
    "chance": np.full((n, 5), 0.2),
}
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, target in candidates.items():
    found = voful.evaluate(log, target)
    found.plot(ax, label=name)
    truth = (target * clicks).sum(axis=1).mean()
    print(
        f"{name}: {found.estimate:.3f} in [{found.lower:.3f}, {found.upper:.3f}], truth {truth:.3f}"
    )
ax.set(xlim=(20, n), ylim=(0.2, 1.0), ylabel="clicks a visitor")
ax.legend(loc="upper right")

# %%
# Is it better than what was played?
# ----------------------------------
#
# Differences have intervals of their own. Each is true at all times, so the first row at which one
# leaves zero behind is a row at which one may stop.

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name in ("first feature", "chance"):
    found = voful.compare(log, candidates[name])
    found.plot(ax, label=name)
    path = found.trajectory
    sure = (path.lower > 0.0) | (path.upper < 0.0)
    if sure.any():
        verdict = "better" if path.lower[sure][0] > 0.0 else "worse"
        print(f"{name}: {verdict} than what was logged, sure after {path.n[sure][0]} rows")
    else:
        print(f"{name}: not told apart from what was logged")
ax.set(xlim=(20, n), ylim=(-0.6, 0.6))
ax.legend(loc="upper right")

# %%
# Are the propensities right?
# ---------------------------
#
# Weights of right propensities average at most 1. ``weight_evalue`` bets against it: it reaches 100
# once in a hundred right logs, and very soon in a wrong one.

wrong = propensities**2
wrong /= wrong.sum(axis=1, keepdims=True)
for name, law in (("as logged", propensities), ("squared by mistake", wrong)):
    evaluator = voful.Evaluator()
    evaluator.update(voful.Log(actions, rewards, law), candidates["chance"])
    print(f"{name}: e-value {evaluator.weight_evalue:.3g}")
