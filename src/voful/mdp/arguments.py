"""The parameters that several agents have, each with its check, default and usual meaning."""

from __future__ import annotations

from functools import partial
from typing import Any

from voful import validation
from voful.mdp.model import LinearMixtureModel
from voful.parameters import parameter


def mixture_model(name: str, value: object) -> LinearMixtureModel:
    """Check that it is a model."""
    if not isinstance(value, LinearMixtureModel):
        raise validation.fail_type(name, value, "a LinearMixtureModel")
    return value


def mixture_of_kernels(name: str, value: object) -> LinearMixtureModel:
    """Check that it is a model under which transitions have a likelihood."""
    model = mixture_model(name, value)
    if not model.stochastic:
        raise validation.fail(name, model, "base models that are probability kernels")
    return model


def n_episodes(meaning: str = "K: how many episodes will be played in all.") -> Any:
    """K, required."""
    return parameter(validation.positive_int, meaning)


def failure_prob(meaning: str = "delta: probability that theta* ever leaves the set.") -> Any:
    """delta."""
    return parameter(validation.probability, meaning, default=0.05)


def choice(meaning: str, *words: str, default: str) -> Any:
    """One of some words."""
    return parameter(partial(validation.choice, allowed=words), meaning, default=default)


def of_the_set(meaning: str, default: Any) -> Any:
    """What the set checks that the agent makes."""
    return parameter(lambda name, value: value, meaning, default=default)


def known_absorbing() -> Any:
    """Whether a tabular agent knows which states are never left and pay nothing."""
    return parameter(
        validation.boolean,
        "Whether the agent is told which states are never left and pay nothing. If not, it has to "
        "find out; a trajectory that stops there goes on in its view, with the plan's actions.",
        default=True,
    )


def width_scale(meaning: str) -> Any:
    """A factor with which widths are tuned; 1 is the theory."""
    return parameter(validation.positive_float, meaning, default=1.0)


def seed(meaning: str = "Unused by the algorithm itself, which is deterministic.") -> Any:
    """A whole number or a SeedSequence."""
    return parameter(validation.seed_value, meaning, default=0)
