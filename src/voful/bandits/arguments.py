"""The parameters that several policies have, each with its check, default and usual meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from voful import validation
from voful.parameters import parameter
from voful.typing import FloatArray

ON_CHANGE = ("restart", "warn", "raise")

dimension = partial(validation.positive_int, most=10**5)
"""Of arms; beyond, no matrix fits into a memory."""


def failure_prob(meaning: str = "Probability that theta* ever leaves the set.") -> Any:
    """delta."""
    return parameter(validation.probability, meaning, default=0.05)


def n_rounds(meaning: str = "K: how many rewards will be learnt at most.") -> Any:
    """K, required."""
    return parameter(validation.positive_int, meaning)


def reward_range(meaning: str = "(low, high): rewards outside are refused.") -> Any:
    """A pair."""
    return parameter(validation.reward_range, meaning, default=(-1.0, 1.0))


def reward_range_or_none(instead: str) -> Any:
    """A pair, or None where rewards are unbounded and the user says `instead`."""
    meaning = f"(low, high); None where rewards are unbounded (then `{instead}` is needed)."
    return parameter(validation.reward_range_or_none, meaning, default=(-1.0, 1.0))


def half_range(bounds: tuple[float, float] | None) -> float:
    """Half the reward range: rewards in it are so sub-Gaussian (Hoeffding's lemma)."""
    if bounds is None:
        raise validation.fail("noise_scale", None, "a number > 0 where reward_range is None")
    return 0.5 * (bounds[1] - bounds[0])


def range_length(bounds: tuple[float, float] | None) -> float:
    """The length of the reward range, which no noise exceeds, since the mean lies in it too."""
    if bounds is None:
        raise validation.fail("noise_bound", None, "a number > 0 where reward_range is None")
    return validation.scale("reward_range (its length)", bounds[1] - bounds[0])


def theta_center() -> Any:
    """A point, or None; `checked_center` checks it."""
    meaning = "Centre of the ball in which theta* lies; None: 0."
    return parameter(lambda name, value: value, meaning, default=None)


def checked_center(policy: Any) -> FloatArray | None:
    """`theta_center`, checked now that the dimension is known."""
    if policy.theta_center is not None:
        policy.theta_center = validation.vector("theta_center", policy.theta_center, policy.dim)
    center: FloatArray | None = policy.theta_center
    return center


def noise_scale(meaning: str) -> Any:
    """A sub-Gaussian scale; by default half the reward range (Hoeffding's lemma)."""
    return parameter(
        validation.positive_float,
        meaning,
        default=None,
        derived=lambda policy: half_range(policy.reward_range),
    )


def noise_bound(meaning: str) -> Any:
    """R with |noise| <= R; by default the reward range's length, since the mean lies in it too."""
    return parameter(
        validation.scale,
        meaning,
        default=None,
        derived=lambda policy: range_length(policy.reward_range),
    )


def theta_norm(meaning: str = "S: |theta*| <= S.") -> Any:
    """S."""
    return parameter(validation.scale, meaning, default=1.0)


def theta_norm_or_none(meaning: str) -> Any:
    """S, or None where nothing is known of it: see `unknown_norm`."""
    return parameter(
        lambda name, value: None if value is None else validation.scale(name, value),
        f"{meaning} None: not known, 10^3 half the reward range / feature_norm.",
        default=1.0,
    )


def unknown_norm(bounds: tuple[float, float], feature_norm: float) -> float:
    """What theta_norm=None stands for: in five dimensions it costs next to nothing."""
    return 1e3 * half_range(bounds) / feature_norm


def theta_scale(meaning: str = "S: |theta*| <= S.") -> Any:
    """S, where the algorithm divides by its square."""
    return parameter(validation.scale, meaning, default=1.0)


def feature_norm(meaning: str = "Arms must satisfy |x| <= feature_norm.") -> Any:
    """The largest norm of an arm."""
    return parameter(validation.positive_float, meaning, default=1.0)


def on_change(default: str | None = "restart") -> Any:
    """What follows an alarm of the policy's own check."""
    return parameter(
        lambda name, value: None if value is None else validation.choice(name, value, ON_CHANGE),
        'When the data contradict the set: "restart" (learn anew, guarded: a wrong model is '
        'refuted after a few tries), "warn" (once; intervals are the reward range from then on), '
        '"raise" (`voful.monitor.ModelAlarm`), or None (no check).',
        default=default,
    )


def width_scale(meaning: str = "Multiplies the radius (1 = the theory).") -> Any:
    """The factor with which all widths are tuned alike."""
    return parameter(validation.positive_float, meaning, default=1.0)


def constants(meaning: str, words: Sequence[str] = ("tight", "paper")) -> Any:
    """Which constants; the first is the default."""
    return parameter(partial(validation.choice, allowed=words), meaning, default=words[0])


def seed(meaning: str = "Unused by the rule itself, which is deterministic.") -> Any:
    """A whole number or a SeedSequence."""
    return parameter(validation.seed_value, meaning, default=0)
