"""A table as a bandit: contexts in a random order, rewards as they were, no parameter known."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from voful import validation
from voful.envs.bandit.linear_bandit import Feedback, check_index
from voful.envs.bandit.streams import ARMS, generator
from voful.envs.real.hindsight import linear_policies
from voful.envs.real.tables import TABLES, Table, table
from voful.typing import ConfidenceSet, FloatArray, IntArray, Seed

SCALINGS: Final = ("told", "unit")
JUDGED: Final = 3000  # rounds, on which the reference is the better of two policies


class RealBandit:
    """Real data played as a linear bandit, which it is not quite.

    Each pass over the table is in a new random order. "digits" and "breast_cancer" show one row and
    pay 1 for its class: an arm for each class a, e_a ⊗ context, so that every class has a parameter
    of its own. "diamonds" shows ten stones and pays price / largest price. Features are
    standardised, clipped at ±3, with an intercept.

    Nobody knows theta* here, and means are not quite linear. What stands in for the best arm is a
    reference: the best linear policy in hindsight, the better of least squares and logistic
    regression, fitted to the whole table, by their rewards in the first 3,000 rounds. So regret
    may be negative.

    Parameters
    ----------
    data
        "digits", "breast_cancer" or "diamonds"; needs the extra ``voful[data]``.
    scaling
        "told": features as they are, and `feature_norm` is their largest norm; "unit": divided by
        it, so that they lie in the unit ball.
    seed
        The order of the rows comes from it.
    """

    theta_star = None
    """There is none: whether a set holds it cannot be asked."""

    def __init__(self, data: str, *, scaling: str = "told", seed: Seed = 0) -> None:
        self._data = validation.choice("data", data, tuple(TABLES))
        self._scaling = validation.choice("scaling", scaling, SCALINGS)
        self._seed = validation.seed(seed)
        known = table(data)
        longest = float(np.linalg.norm(known.features, axis=1).max())
        self.feature_norm = longest if scaling == "told" else 1.0
        self._table = Table(known.features * (self.feature_norm / longest), *known[1:])
        self._weights = self._better(linear_policies(data))
        self._round = 0
        self._enter(0)

    @property
    def n_arms(self) -> int:
        """Number of arms in a round."""
        return self._table.shown if self._table.shown > 1 else self.n_actions

    @property
    def n_actions(self) -> int:
        """How many parameters there are: one for each class, a single one for "diamonds"."""
        return int(self._table.rewards.shape[1])

    @property
    def dim(self) -> int:
        """Dimension of the arms: of the features, times the number of parameters."""
        return int(self._table.features.shape[1]) * self.n_actions

    @property
    def reward_range(self) -> tuple[float, float]:
        """(0, 1)."""
        return 0.0, 1.0

    @property
    def round(self) -> int:
        """Number of finished rounds."""
        return self._round

    @property
    def context(self) -> FloatArray:
        """The current row, shape (p,), for one model per action; ValueError for "diamonds"."""
        if self._table.shown > 1:
            raise ValueError(f"{self._data}: each arm has features of its own, there is no context")
        context: FloatArray = self._features(self._rows[self._place])[0]
        return context

    @property
    def arms(self) -> FloatArray:
        """Arms of the current round, shape (n_arms, dim), the caller's own copy."""
        if self._table.shown > 1:
            return self._features(self._rows[self._place])
        arms = np.zeros((self.n_arms, self.n_actions, len(self.context)))
        places = np.arange(self.n_arms)
        arms[places, places] = self.context
        return arms.reshape(self.n_arms, self.dim)

    @property
    def mean_rewards(self) -> FloatArray:
        """What each of the current arms pays, shape (n_arms,)."""
        rewards: FloatArray = self._rewards_of(self._rows[self._place : self._place + 1])[0]
        return rewards.copy()

    @property
    def optimal_value(self) -> float:
        """What the reference's choice pays in the current round; another arm may pay more."""
        return float(self._reference[self._place])

    def pull(
        self, index: int | np.integer[Any], confidence_set: ConfidenceSet | None = None
    ) -> Feedback:
        """Play one of the current arms and go on to the next round.

        The reward is its own mean, without noise: what looks like noise is what features do not
        say.
        """
        check_index(index, self.n_arms)
        reward = float(self.mean_rewards[index])
        self._round += 1
        self._place += 1
        if self._place == len(self._rows):
            self._enter(self._round // len(self._rows))
        return Feedback(reward, reward, 0.0)

    def _enter(self, number: int) -> None:
        """Begin a pass over the table."""
        self._rows = self._pass(number)
        self._reference = self._paid(self._rows, self._weights)
        self._place = 0

    def _pass(self, number: int) -> IntArray:
        """The rows of each round of a pass, (rounds, shown)."""
        n, shown = len(self._table.features), self._table.shown
        order = generator(self._seed, ARMS, number).permutation(n)
        return order[: n - n % shown].reshape(-1, shown)

    def _features(self, rows: IntArray) -> FloatArray:
        features: FloatArray = self._table.features[rows]
        return features

    def _rewards_of(self, rows: IntArray) -> FloatArray:
        """(rounds, n_arms)."""
        rewards: FloatArray = self._table.rewards[rows].reshape(len(rows), -1)
        return rewards

    def _paid(self, rows: IntArray, weights: FloatArray) -> FloatArray:
        """What playing the largest score pays in each round, shape (rounds,)."""
        scores = (self._features(rows) @ weights).reshape(len(rows), -1)
        chosen: FloatArray = self._rewards_of(rows)[np.arange(len(rows)), scores.argmax(axis=1)]
        return chosen

    def _better(self, policies: tuple[FloatArray, ...]) -> FloatArray:
        passes = -(-JUDGED // len(self._pass(0)))
        rows = np.concatenate([self._pass(k) for k in range(passes)])[:JUDGED]
        return max(policies, key=lambda weights: float(self._paid(rows, weights).sum()))

    def __repr__(self) -> str:
        return (
            f"RealBandit({self._data!r}, scaling={self._scaling!r}, dim={self.dim}, "
            f"n_arms={self.n_arms}, feature_norm={self.feature_norm:g}, round={self._round})"
        )
