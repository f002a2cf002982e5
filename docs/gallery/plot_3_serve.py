"""
Save, serve, load
=================

A policy inside a service: requests come one by one, rewards come late, the process is restarted now
and then. What has to be kept is one file.
"""

import tempfile
from collections import deque
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import voful

Waiting = deque[tuple[int, np.ndarray]]
file = Path(tempfile.mkdtemp()) / "policy.voful"

# %%
# The world: twenty candidates a request in five dimensions, and rewards that arrive 100 requests
# later. The seed makes both lives below see the same requests.

theta_star = np.array([0.4, -0.3, 0.2, 0.1, 0.0])


def request(number: int) -> np.ndarray:
    """Candidates of a request."""
    return np.random.default_rng([1, number]).uniform(-0.4, 0.4, (20, 5))


def reward(number: int, x: np.ndarray) -> float:
    """What comes of a choice."""
    return float(x @ theta_star + np.random.default_rng([2, number]).uniform(-0.2, 0.2))


def serve(policy: voful.BetOFUL, first: int, last: int, waiting: Waiting) -> list[int]:
    """Requests first .. last - 1: choose now, learn what has arrived."""
    choices = []
    for number in range(first, last):
        arms = request(number)
        choices.append(policy.select(arms))
        waiting.append((number, arms[choices[-1]]))
        if len(waiting) > 100:
            asked, x = waiting.popleft()
            policy.update(x, reward(asked, x))  # x is passed: the policy need not remember it
    return choices


# %%
# Serve and save
# --------------
#
# ``refresh=False`` is the streaming form, for servers: every update takes the same time, and memory
# does not grow.

policy = voful.BetOFUL(dim=5, refresh=False)
waiting: Waiting = deque()
before = serve(policy, 0, 2000, waiting)
policy.save(file)
pending = list(waiting)  # of your own queue; the policy knows nothing of them
print(f"{file.stat().st_size / 1000:.1f} kB;", policy)

# %%
# The file is written under another name and then renamed, so a crash leaves the old one. It is a
# zip of arrays and JSON, without pickle: nothing in it is ever executed.
#
# A new process loads it and goes on
# ----------------------------------
#
# Not nearly, but bit for bit: the same choices as if nothing had happened.

after = serve(policy, 2000, 4000, waiting)
restored = voful.load(file)
again = serve(restored, 2000, 4000, deque(pending))
print("the same choices:", after == again)
print("the same intervals:", np.array_equal(policy.index(np.eye(5)), restored.index(np.eye(5))))

# %%
# What it costs
# -------------
#
# Time of each request, choice and update together, with the requests themselves left out.

times = []
arms = [request(number) for number in range(4000, 6000)]
for number, candidates in enumerate(arms, start=4000):
    started = perf_counter()
    i = restored.select(candidates)
    restored.update(candidates[i], reward(number, candidates[i]))
    times.append(perf_counter() - started)
micro = np.sort(times) * 1e6
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
axes.plot(micro, np.arange(1, len(micro) + 1) / len(micro), color="#0072B2")
axes.set(xscale="log", xlabel="µs a request", ylabel="share of requests", ylim=(0, 1))
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What late rewards cost
# ----------------------
#
# The first hundred requests are decided without any reward at all. There the difference is made,
# and after that it hardly grows.

prompt = voful.BetOFUL(dim=5, refresh=False)
regrets: dict[str, list[float]] = {"rewards 100 requests late": [], "rewards at once": []}
for number in range(4000):
    candidates = request(number)
    means = candidates @ theta_star
    late = (before + after)[number]
    i = prompt.select(candidates)
    prompt.update(candidates[i], reward(number, candidates[i]))
    regrets["rewards 100 requests late"].append(means.max() - means[late])
    regrets["rewards at once"].append(means.max() - means[i])
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
for (name, lost), line in zip(regrets.items(), ("-", "--"), strict=True):
    axes.plot(np.cumsum(lost), line, color="black", label=name)
axes.set(xlabel="requests", ylabel="regret", ylim=(0, None))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
