"""Environments: they own theta*, know every true mean and variance, and no algorithm."""

from voful.envs.arms import GivenArms, RandomArms, TinyThenUnitArms
from voful.envs.linear_bandit import Feedback, LinearBandit, linear_bandit
from voful.envs.noise import LAWS, ArmScale, ConstantScale, DirectionScale, Noise

__all__ = [
    "LAWS",
    "ArmScale",
    "ConstantScale",
    "DirectionScale",
    "Feedback",
    "GivenArms",
    "LinearBandit",
    "Noise",
    "RandomArms",
    "TinyThenUnitArms",
    "linear_bandit",
]
