"""
Which of ten teasers? Clicks at one per cent
============================================

A news page shows one of ten teasers to each visitor. Some get a click from one visitor in two
hundred, the best from one in thirty. We want to show good ones soon, and to know when to stop.
"""

import matplotlib.pyplot as plt
import numpy as np

import voful

# %%
# The truth, which the policy is not told, and the page's visitors:

rng = np.random.default_rng(1)
rates = np.array([0.005, 0.006, 0.007, 0.008, 0.009, 0.010, 0.011, 0.012, 0.015, 0.033])
rates = rng.permutation(rates)
n_visitors = 30_000
chances = rng.random(n_visitors)

# %%
# Each teaser is a feature of its own, so the parameter is the vector of click rates. A reward is 0
# or 1. Nothing else has to be chosen: the policy finds out by itself that clicks at one per cent
# have a variance of 0.01, where the range allows 0.25.

teasers = np.eye(10)
policy = voful.BetOFUL(dim=10, reward_range=(0.0, 1.0), failure_prob=0.05)
moments = np.unique(np.geomspace(100, n_visitors, 60).astype(int))
intervals = []
shown = np.zeros(10, dtype=int)
for visitor in range(n_visitors):
    i = policy.select(teasers)
    shown[i] += 1
    policy.update(teasers[i], chances[visitor] < rates[i])
    if visitor + 1 in moments:
        intervals.append(policy.confidence_set.interval(teasers))

# %%
# Intervals that shrink
# ---------------------
#
# With probability 95 % the intervals hold the true rates of all ten teasers at all times. So one
# may look at them after every visitor, and keep the tightest ends so far.

lower = np.maximum.accumulate([low for low, _ in intervals])
upper = np.minimum.accumulate([high for _, high in intervals])

# %%
# When to stop
# ------------
#
# Optimism does not try a bad teaser until it is surely bad, only as long as it could be the best.
# So do not wait until one interval is above all others. Ask what a decision could cost: choose the
# teaser with the best lower end, and no other is better by more than the largest upper end minus
# that. Once this is less than one and a half clicks in a hundred visitors, we stop.

leader = lower.argmax(axis=1)
at_most = upper.max(axis=1) - lower.max(axis=1)
enough = int(np.argmax(at_most < 0.015))
stop = int(moments[enough])
best = int(np.argmax(rates))
print(f"after {stop:,} visitors: teaser {leader[enough]}, and none is better by more than 1.5 %")
print(f"the best one is teaser {best}")

figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
orange, blue = "#D55E00", "#0072B2"
axes.fill_between(moments, lower[:, best], upper[:, best], color=orange, alpha=0.3, lw=0)
axes.plot(moments, np.delete(upper, best, axis=1).max(axis=1), color=blue)
axes.plot(moments, np.delete(lower, best, axis=1).max(axis=1), color=blue, ls="--")
axes.axhline(rates[best], color=orange, lw=1)
axes.axvline(stop, color="black", lw=0.8, ls=":")
axes.text(stop, 0.135, "enough ", ha="right")
axes.text(120, 0.036, "rate of the best teaser", color=orange)
axes.text(2500, 0.085, "its interval", color=orange)
axes.text(120, 0.004, "lower end of the best rival (dashed), upper end (solid)", color=blue)
axes.set(xscale="log", xlim=(100, n_visitors), ylim=(0, 0.14))
axes.set(xlabel="visitors", ylabel="click rate")
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What was shown
# --------------
#
# A rival is tried as long as it could still be the best one.

order = np.argsort(rates)
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
axes.bar(range(10), shown[order], color=[orange if i == best else blue for i in order])
axes.set_xticks(range(10), [f"{rates[i]:.1%}" for i in order])
axes.set(yscale="log", xlabel="true click rate of the teaser", ylabel="times shown")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
print(f"{shown[best] / n_visitors:.0%} of all visitors saw the best teaser")
lost = (rates[best] - rates) @ shown
print(f"clicks lost against showing it to all: {lost:.0f} of {rates[best] * n_visitors:.0f}")
