"""The linear bandit: reward = <x, theta*> + noise. It owns theta* and never computes regret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.envs.bandit import arms as arm_sources
from voful.envs.bandit.arms import ArmSource, GivenArms, RandomArms, TinyThenUnitArms, projections
from voful.envs.bandit.drift import Drift
from voful.envs.bandit.noise import (
    ADVERSARY,
    ArmScale,
    ConstantScale,
    DirectionScale,
    Noise,
    Scale,
    reward_and_variance,
    variances,
)
from voful.envs.bandit.streams import BLOCK_ROUNDS, NOISE, THETA, generator, uniforms
from voful.typing import ConfidenceSet, FloatArray, Seed

RANGE_SLACK = 1e-9  # what rounding may add to a mean; such means are clipped into the range


class Feedback(NamedTuple):
    """What a pull returns; a policy may see the reward only."""

    reward: float
    mean: float
    variance: float


class Block(NamedTuple):
    """Arms of BLOCK_ROUNDS consecutive rounds, and what is true of them.

    The first axis of arms (R, n_arms, dim), means, sigmas (R, n_arms) and thetas (R, dim) is the
    round, and R = 1 if neither arms nor theta* ever change (thetas: if theta* does not).
    """

    arms: FloatArray
    means: FloatArray
    sigmas: FloatArray
    thetas: FloatArray


def check_index(index: int | np.integer[Any], n_arms: int) -> None:
    """TypeError or ValueError where it is no row of the arms."""
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
        raise validation.fail_type("index", index, "an integer")
    if not 0 <= index < n_arms:
        raise validation.fail("index", index, f"an integer from 0 to {n_arms - 1}")


class LinearBandit:
    """Stochastic linear bandit with bounded rewards and known noise variances.

    Parameters
    ----------
    theta_star
        The parameter, shape (dim,). Every mean <x, theta*> must lie in `reward_range`.
    arms
        Where the arms come from: `RandomArms`, `TinyThenUnitArms` or `GivenArms`.
    noise
        Law and scale of the noise.
    reward_range
        (lowest, highest) reward.
    drift
        How theta* changes; None: it does not.
    seed
        Arms and noise are drawn from two streams of it that depend on nothing else, so that
        any two policies meet the same arms and the same uniforms.
    """

    _block: Block
    _best: FloatArray  # largest mean of each round of the block
    _uniforms: FloatArray  # that the block's noise is made of
    _row: int  # of the current round in the block's arms
    _round: int

    def __init__(
        self,
        theta_star: npt.ArrayLike,
        *,
        arms: ArmSource,
        noise: Noise,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        drift: Drift | None = None,
        seed: Seed = 0,
    ) -> None:
        if not isinstance(arms, ArmSource):
            allowed = "RandomArms, TinyThenUnitArms or GivenArms"
            raise validation.fail_type("arms", arms, allowed)
        if not isinstance(noise, Noise):
            raise validation.fail_type("noise", noise, "a Noise")
        theta = np.array(validation.vector("theta_star", theta_star, arms.dim))
        lo, hi = validation.reward_range("reward_range", reward_range)
        if drift is not None and not isinstance(drift, Drift):
            raise validation.fail_type("drift", drift, "a Drift or None")
        norm = float(np.linalg.norm(theta))
        lowest, highest = arms.mean_range(theta) if drift is None else (-norm, norm)
        if lowest < lo - RANGE_SLACK or highest > hi + RANGE_SLACK:
            raise validation.fail(
                "theta_star (lowest and highest mean)",
                (lowest, highest),
                f"means <x, theta*> inside reward_range {(lo, hi)}",
            )
        theta.flags.writeable = False
        self._first_theta = theta
        self._drift = drift
        self._source = arms
        self._noise = noise
        self._kind = noise.kind
        self._lo, self._hi = lo, hi
        self._seed = validation.seed(seed)
        self._enter(self.block(0), 0)

    @property
    def dim(self) -> int:
        """Dimension d of the arms."""
        return self._source.dim

    @property
    def n_arms(self) -> int:
        """Number of arms in a round."""
        return self._source.n_arms

    @property
    def reward_range(self) -> tuple[float, float]:
        """(lowest, highest) reward."""
        return self._lo, self._hi

    @property
    def theta_star(self) -> FloatArray:
        """The parameter of the current round, shape (dim,), read-only."""
        thetas = self._block.thetas
        theta: FloatArray = thetas[self._row if len(thetas) > 1 else 0].view()
        theta.flags.writeable = False
        return theta

    @property
    def noise(self) -> Noise:
        """Law and scale of the noise."""
        return self._noise

    @property
    def round(self) -> int:
        """Number of finished rounds."""
        return self._round

    @property
    def arms(self) -> FloatArray:
        """Arms of the current round, shape (n_arms, dim), the caller's own copy."""
        X: FloatArray = self._block.arms[self._row].copy()
        return X

    @property
    def rounds_differ(self) -> bool:
        """Whether later rounds may have other arms or another theta*."""
        return self._source.changes or self._drift is not None

    @property
    def mean_rewards(self) -> FloatArray:
        """<x, theta*> of the current arms, shape (n_arms,)."""
        means: FloatArray = self._block.means[self._row].copy()
        return means

    @property
    def variances(self) -> FloatArray:
        """True noise variance of the current arms, shape (n_arms,)."""
        block, row = self._block, self._row
        return variances(self._kind, block.means[row], block.sigmas[row], self._lo, self._hi)

    @property
    def optimal_value(self) -> float:
        """Largest mean reward of the current arms."""
        return float(self._best[self._row])

    def pull(
        self, index: int | np.integer[Any], confidence_set: ConfidenceSet | None = None
    ) -> Feedback:
        """Play one of the current arms and go on to the next round.

        Parameters
        ----------
        index
            Row of `arms`.
        confidence_set
            The learner's set, which only the "adversary" noise looks at.
        """
        check_index(index, self._source.n_arms)
        block, row, t = self._block, self._row, self._round
        mean = block.means.item(row, index)
        kind = self._kind
        if kind == ADVERSARY:
            x = block.arms[row, index].copy()
            kind = self._noise.kind_against(confidence_set, x, mean, t)
        reward, variance = reward_and_variance(
            kind,
            mean,
            block.sigmas.item(row, index),
            self._lo,
            self._hi,
            self._uniforms.item(t % BLOCK_ROUNDS),
        )
        if (t + 1) % BLOCK_ROUNDS == 0:
            self._enter(self.block((t + 1) // BLOCK_ROUNDS), t + 1)
        else:
            self._round = t + 1
            if self.rounds_differ:
                self._row = row + 1
        return Feedback(reward, mean, variance)

    def block(self, index: int) -> Block:
        """Return rounds index * BLOCK_ROUNDS and on, as fresh arrays; changes nothing.

        This is what `pull` plays from.
        """
        X = self._source.block(self._seed, index)
        if self._drift is None:
            thetas, means = self._first_theta[np.newaxis].copy(), projections(X, self._first_theta)
        else:
            thetas = self._drift.thetas(self._first_theta, self._seed, index)
            X = np.repeat(X, len(thetas), axis=0) if len(X) == 1 else X
            means = np.concatenate(
                [projections(X[t : t + 1], theta) for t, theta in enumerate(thetas)]
            )
        return Block(X, np.clip(means, self._lo, self._hi), self._noise.sigmas(X), thetas)

    def blocks(self, n_rounds: int) -> Iterator[Block]:
        """The first n_rounds rounds, to be read only; one block if they do not differ."""
        yield self._block if self._round < BLOCK_ROUNDS else self.block(0)
        if self.rounds_differ:
            yield from map(self.block, range(1, -(-n_rounds // BLOCK_ROUNDS)))

    def uniforms(self, first: int, last: int) -> FloatArray:
        """What the noise of rounds first + 1 .. last is made of, shape (last - first,)."""
        skipped = first - first % BLOCK_ROUNDS
        blocks = range(first // BLOCK_ROUNDS, -(-last // BLOCK_ROUNDS))
        return uniforms(self._seed, NOISE, blocks=blocks)[first - skipped : last - skipped]

    def _enter(self, block: Block, t: int) -> None:
        self._block = block
        self._best = block.means.max(axis=1)
        self._uniforms = self.uniforms(t, t + BLOCK_ROUNDS)
        self._round = t
        self._row = 0

    def __repr__(self) -> str:
        return (
            f"LinearBandit(dim={self.dim}, n_arms={self.n_arms}, arms={self._source!r}, "
            f"noise={self._noise!r}, reward_range={self.reward_range}, round={self._round})"
        )


def linear_bandit(
    *,
    dim: int,
    n_arms: int = 20,
    arms: str | Sequence[Sequence[float]] | FloatArray = "sphere",
    redraw: bool = False,
    theta_norm: float = 0.5,
    theta_star: Sequence[float] | FloatArray | None = None,
    noise: str = "gaussian",
    sigma: float | Sequence[float] | FloatArray = 0.1,
    sigma_low: float | None = None,
    sigma_high: float | None = None,
    direction: Sequence[float] | None = None,
    reward_range: tuple[float, float] = (-1.0, 1.0),
    n_tiny: int | None = None,
    tiny_norm: float | None = None,
    change_at: Sequence[int] = (),
    change: str = "draw",
    walk: float = 0.0,
    seed: Seed = 0,
) -> LinearBandit:
    """Build a random linear bandit from plain values, as declared in a study.

    theta*, arms and noise come from three streams of `seed`.

    Parameters
    ----------
    dim, n_arms, redraw
        Size of the arm set, and whether it is drawn anew each round.
    arms
        "sphere", "ball", "corners", "tiny_then_unit" (Appendix B of the paper), or the rows
        of a given array (then `n_arms` and `redraw` do not count).
    theta_norm
        |theta*|, drawn uniformly on that sphere.
    theta_star
        The parameter itself, instead of a drawn one (for a reward range that is not symmetric,
        say, with given arms).
    noise
        One of `voful.envs.LAWS`.
    sigma
        Scale of the noise; a sequence: by arm, cyclically.
    sigma_low, sigma_high, direction
        If one of them is given: sigma_high where x.direction > 0, else sigma_low. Each sigma
        left out is `sigma`; `direction` left out is the first axis.
    reward_range
        (lowest, highest) reward.
    n_tiny, tiny_norm
        For "tiny_then_unit" only, see `TinyThenUnitArms`; n_tiny is needed there.
    change_at, change, walk
        How theta* changes, see `Drift`; by default it does not.
    seed
        Everything random comes from it.
    """
    dim = validation.positive_int("dim", dim)
    source = _source(dim, n_arms, arms, redraw, n_tiny, tiny_norm)
    root = validation.seed(seed)
    radius = validation.nonnegative_float("theta_norm", theta_norm)
    if theta_star is None:
        theta_star = radius * arm_sources.on_sphere(generator(root, THETA), (dim,))
    scale = _scale(dim, sigma, sigma_low, sigma_high, direction)
    law = Noise(noise, scale)
    drift = Drift(change_at, change, walk)
    return LinearBandit(
        theta_star,
        arms=source,
        noise=law,
        reward_range=reward_range,
        drift=drift if drift.change_at or drift.walk > 0.0 else None,
        seed=root,
    )


def _source(
    dim: int,
    n_arms: int,
    arms: str | Sequence[Sequence[float]] | FloatArray,
    redraw: bool,
    n_tiny: int | None,
    tiny_norm: float | None,
) -> ArmSource:
    if isinstance(arms, str) and arms == "tiny_then_unit":
        if n_tiny is None:
            raise validation.fail("n_tiny", n_tiny, "an integer >= 1 with these arms")
        return TinyThenUnitArms(dim, n_arms, n_tiny, tiny_norm, redraw)
    for name, value in (("n_tiny", n_tiny), ("tiny_norm", tiny_norm)):
        if value is not None:
            raise validation.fail(name, value, 'None unless arms = "tiny_then_unit"')
    if isinstance(arms, str):
        validation.choice("arms", arms, (*arm_sources.SHAPES, "tiny_then_unit"))
        return RandomArms(dim, n_arms, arms, redraw)
    given = GivenArms(arms)
    if given.dim != dim:
        raise validation.fail_shape("arms", given.array.shape, f"shape (n, {dim})")
    return given


def _scale(
    dim: int,
    sigma: float | Sequence[float] | FloatArray,
    sigma_low: float | None,
    sigma_high: float | None,
    direction: Sequence[float] | None,
) -> Scale:
    by_direction = not (sigma_low is None and sigma_high is None and direction is None)
    if isinstance(sigma, (Sequence, np.ndarray)):
        if by_direction:
            raise validation.fail("sigma", sigma, "one number with sigma_low, sigma_high")
        return ArmScale(sigma)
    constant = ConstantScale(sigma)
    if not by_direction:
        return constant
    return DirectionScale(
        np.eye(dim)[0] if direction is None else direction,
        sigma_low=constant.sigma if sigma_low is None else sigma_low,
        sigma_high=constant.sigma if sigma_high is None else sigma_high,
    )
