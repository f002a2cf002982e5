"""Environments: they own theta*, know every true mean and variance, and no algorithm."""

from voful.envs.bandit.arms import GivenArms, RandomArms, TinyThenUnitArms
from voful.envs.bandit.drift import Drift
from voful.envs.bandit.linear_bandit import Feedback, LinearBandit, linear_bandit
from voful.envs.bandit.noise import LAWS, ArmScale, ConstantScale, DirectionScale, Noise
from voful.envs.mixture.families import (
    FAMILIES,
    ctgoal,
    ctqueue,
    ctrandom,
    gridworld,
    mixture_family,
    mortal,
    riverswim,
)
from voful.envs.mixture.linear_mixture import LinearMixtureMDP, Trajectories
from voful.envs.mixture.toy_text import GymnasiumMixture, from_gymnasium
from voful.envs.real.real_bandit import RealBandit

__all__ = [
    "FAMILIES",
    "LAWS",
    "ArmScale",
    "ConstantScale",
    "DirectionScale",
    "Drift",
    "Feedback",
    "GivenArms",
    "GymnasiumMixture",
    "LinearBandit",
    "LinearMixtureMDP",
    "Noise",
    "RandomArms",
    "RealBandit",
    "TinyThenUnitArms",
    "Trajectories",
    "ctgoal",
    "ctqueue",
    "ctrandom",
    "from_gymnasium",
    "gridworld",
    "linear_bandit",
    "mixture_family",
    "mortal",
    "riverswim",
]
