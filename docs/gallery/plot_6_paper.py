"""
The paper in pictures
=====================

*Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear mixture
MDP. NeurIPS 2021.* Three claims, each with a picture: the set of Algorithm 1 is cut where the data
contradict it; OFUL cannot profit from small noise and VOFUL can; the regret of Algorithm 2 does not
grow with the horizon.
"""

import matplotlib.pyplot as plt
import numpy as np

import voful
from voful.confidence.outline import outline
from voful.envs import ctgoal, linear_bandit
from voful.experiments.play.episodes import play_episodes
from voful.experiments.play.loop import play

# %%
# Algorithm 1's set, cut round by round
# -------------------------------------
#
# At first every parameter in the unit ball is possible. Each test asks whether the weighted
# residuals of a parameter are larger than chance allows, given their own squares: no variance has
# to be known. What fails a test is eliminated for good.

env = linear_bandit(dim=2, n_arms=12, theta_norm=0.5, noise="two_point", sigma=0.1, seed=3)
policy, oful = voful.VOFUL(2, n_rounds=1000), voful.OFUL(2)
stops = (1, 30, 60, 100, 200, 1000)
figure, panels = plt.subplots(2, 3, figsize=(8, 5.6), layout="constrained")
angle = np.linspace(0, 2 * np.pi, 200)
for k in range(1, stops[-1] + 1):
    arms = env.arms
    i = policy.select(arms)
    reward = env.pull(i).reward
    policy.update(arms[i], reward)
    oful.update(arms[i], reward)
    if k in stops:
        panel = panels.flat[stops.index(k)]
        panel.plot(np.cos(angle), np.sin(angle), color="grey", lw=0.8)
        for polygon in outline(policy.confidence_set):
            panel.fill(*polygon.T, color="#0072B2", alpha=0.8, lw=0)
        for polygon in outline(oful.confidence_set):
            panel.plot(*np.vstack([polygon, polygon[:1]]).T, color="#D55E00", lw=1.2, ls="--")
        panel.plot(*env.theta_star, "*", color="white", mec="black", ms=10)
        panel.set(title=f"after {k:,} rounds", aspect="equal", xticks=[], yticks=[])
        panel.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
        panel.axis("off")
figure.suptitle("blue: Algorithm 1's set; dashed: OFUL's; star: the true parameter", fontsize=10)
plt.show()

# %%
# Appendix B: tiny arms, then a large one
# ---------------------------------------
#
# A stream of tiny arms for 1,000 rounds, and then arms of norm 1. One ridge parameter cannot fit
# both; tests at every scale can. One run of each on the same arms and the same noise:

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
for id, colour in (("oful", "#D55E00"), ("voful", "#0072B2")):
    stream = linear_bandit(
        dim=2, n_arms=8, arms="tiny_then_unit", n_tiny=1000, theta_norm=0.5, sigma=0.05, seed=1
    )
    policy_on_stream = voful.create(id, 2, n_rounds=2000)
    records = list(play(policy_on_stream, stream, 2000, record_at=range(20, 2001, 20)))
    rounds, regret = zip(*((r.round, r.regret) for r in records), strict=True)
    axes.plot(rounds, regret, color=colour)
    axes.text(rounds[-1] * 1.01, regret[-1], id, color=colour, va="center")
axes.axvline(1000, color="black", lw=0.8, ls=":")
axes.set(xlabel="round", ylabel="regret", xlim=(0, 2150), ylim=(0, None))
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The horizon
# -----------
#
# One continuous-time problem, cut into ever more steps. The reward of an episode is at most 1
# whatever the horizon. Regret of one run of 4,000 episodes, both axes logarithmic:

horizons = (16, 64, 256)
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
for id, colour in (("ucrl-vtr", "#D55E00"), ("varlin", "#0072B2")):
    regrets = []
    for horizon in horizons:
        mdp = ctgoal(horizon, seed=0)
        agent = voful.create(id, mdp.model, n_episodes=4000)
        *_, last = play_episodes(agent, mdp, 4000)
        regrets.append(last.regret)
        print(f"{id}, H = {horizon}: {last.regret:.1f}")
    axes.plot(horizons, regrets, marker="o", color=colour)
    axes.text(horizons[-1] * 1.06, regrets[-1], id, color=colour, va="center")
axes.set(xscale="log", yscale="log", xlim=(14, 420), ylim=(1, 4000))
axes.set(xlabel="horizon H", ylabel="regret of 4,000 episodes")
axes.set_xticks(horizons, [str(h) for h in horizons])
axes.minorticks_off()
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Where each line of the paper is in the code: :doc:`/paper_map`. All agents and all horizons:
# :doc:`/mdp_comparison`.
