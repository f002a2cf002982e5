"""The arguments of the paper's Algorithm 1, which its set and its policy share."""

from __future__ import annotations

from functools import partial

from voful import validation
from voful.parameters import Declared, parameter
from voful.typing import FloatArray


def at_least_two(name: str, value: object) -> int:
    """A whole number >= 2."""
    number = validation.positive_int(name, value)
    if number < 2:
        raise validation.fail(name, value, "a whole number >= 2")
    return number


class PeeledParameters(Declared):
    """What defines a peeled set, but for its levels."""

    dim: int = parameter(
        partial(validation.positive_int, most=10**5),
        "Dimension d; arms must lie in the unit ball.",
        kw_only=False,
    )
    n_rounds: int = parameter(at_least_two, "K. More updates raise RuntimeError.")
    failure_prob: float = parameter(validation.probability, "delta.", default=0.05)
    reward_range: tuple[float, float] = parameter(
        validation.reward_range,
        "(low, high) of the rewards (of their means, where the noise is sub-Gaussian). The paper's "
        "is (-1, 1).",
        default=(-1.0, 1.0),
    )
    constants: str = parameter(
        partial(validation.choice, allowed=("kt", "paper")),
        '"kt" or "paper": which price the tests pay; see the notes of `PeeledSet`.',
        default="kt",
    )
    directions: FloatArray | None = parameter(  # what is allowed depends on `dim`
        lambda name, value: value, "(N, dim) array of mu; None: chosen here.", default=None
    )
    iota_scale: float = parameter(
        validation.positive_float, 'Multiplies iota ("paper") or xi ("kt").', default=1.0
    )
    width_scale: float = parameter(
        validation.positive_float, "Multiplies both terms of the right side.", default=1.0
    )
    reward_noise: str = parameter(
        partial(validation.choice, allowed=("bounded", "subgaussian")),
        '"bounded", or "subgaussian": rewards are not bounded, their noise is `noise_scale`-'
        "sub-Gaussian; they are clipped at O(log K) and the clipping's bias is added to the "
        "threshold (the paper's Remark in its Preliminaries).",
        default="bounded",
    )
    noise_scale: float = parameter(
        validation.positive_float, 'For "subgaussian" only.', default=1.0
    )
