"""
Nearly linear
=============

Means that bend a little are enough to make a narrow confidence set wrong. `misfit` gives
intervals that allow for it; choices stay as they were.
"""

# %%
# Arms on a circle. The mean reward is linear but for waves on top of it, up to 0.2 high.

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import voful

WAVE, N_ROUNDS = 0.2, 2000
angles = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
arms = np.stack([np.cos(angles), np.sin(angles)], axis=1)
means = 0.5 * arms[:, 0] + WAVE * np.abs(np.sin(2.5 * angles))


def learnt(**params: Any) -> voful.BetOFUL:
    """A policy after some rounds in which customers see three arms each."""
    policy, rng = voful.BetOFUL(2, **params), np.random.default_rng(1)
    for _ in range(N_ROUNDS):
        offered = rng.choice(len(arms), 3, replace=False)
        i = offered[policy.select(arms[offered])]
        policy.update(arms[i], float(np.clip(means[i] + 0.1 * rng.standard_normal(), -1, 1)))
    return policy


# %%
# Three policies that choose alike. The first believes in straight lines and has no check; the
# second is told how high the waves may be; the third finds out by itself.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", RuntimeWarning)  # the first one says that something is wrong
    policies = {
        "misfit=0, no check": learnt(on_change=None),
        "misfit=0.2": learnt(misfit=WAVE),
        'misfit="unknown"': learnt(misfit="unknown"),
    }

figure, axes = plt.subplots(1, 3, sharey=True, figsize=(10, 3.6))
for axis, (label, policy) in zip(axes, policies.items(), strict=True):
    mean, lower, upper = policy.index(arms)
    inside = (lower <= means) & (means <= upper)
    axis.fill_between(angles, lower, upper, alpha=0.3)
    axis.plot(angles, mean, label="estimate")
    axis.plot(angles, means, color="black", linewidth=1, label="true mean")
    axis.set(title=label, xlabel="angle of the arm")
    print(f"{label}: status {policy.status}, true means inside {inside.mean():.0%}")
axes[0].set(ylabel="reward")
axes[0].legend(loc="lower left")
figure.tight_layout()
plt.show()

# %%
# A set that was told the misfit stays as wide as the misfit makes it, however long one waits. One
# that was not allows for as much as its check has asked for so far, and the check looks at the mean
# of what is played, not at each arm: better than nothing, and no guarantee. Waves that are as often
# below the line as above it are not seen at all.
