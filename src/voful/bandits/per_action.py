"""PerAction: one context, several actions, and a betting set of its own for each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from voful import persistence, validation
from voful.bandits import arguments as given
from voful.bandits.betoful import BetOFUL
from voful.bandits.optimism import most_optimistic
from voful.bandits.propensities import Choice, Lottery
from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.betting.predictors import leader
from voful.confidence.betting.questions import none_left, radius_of
from voful.confidence.betting.state import (
    BETS,
    n_ellipsoids,
    open_clock,
    open_ellipsoids,
    open_predictors,
    open_rules,
)
from voful.parameters import Declared, parameter
from voful.typing import BoolArray, FloatArray, IntArray, Path, Seed
from voful.validation import boolean, choice, fail, fail_shape, fail_type

WORST_LAST: Final = ("ok", "edge", "empty", "refuted")


@kernel
def show(memory: FloatArray, front: FloatArray) -> None:
    """Write what a choice needs of a set: centre, radius and whitener of each ellipsoid.

    Where nothing is left of the set its estimate stands there, with radius 0: it decides alone.
    """
    Theta, rules = open_ellipsoids(memory), open_rules(memory)
    E, d = Theta.center.shape
    predictors = open_predictors(memory)
    estimate = predictors.theta[leader(predictors)]
    nothing = none_left(Theta, open_clock(memory))
    i = 0
    for e in range(E):
        for j in range(d):
            front[i + j] = estimate[j] if nothing else Theta.center[e, j]
        i += d
        front[i] = 0.0 if nothing else radius_of(Theta, e, rules.width_scale)
        i += 1
        for j in range(d):
            for k in range(d):
                front[i + k] = Theta.whitener[e, j, k]
            i += d


@kernel
def choose_action(fronts: FloatArray, contexts: FloatArray, mask: BoolArray) -> int:
    """`most_optimistic` where each action has ellipsoids of its own: the least upper end counts.

    One context for all actions, or a row for each.
    """
    n_actions, d = fronts.shape[0], contexts.shape[1]
    upper, width, whitened = np.empty(n_actions), np.empty(n_actions), np.empty(d)
    size = d + 1 + d * d
    for a in range(n_actions):
        upper[a], width[a] = math.inf, 0.0
        if mask.shape[0] > 0 and not mask[a]:
            continue
        x = contexts[a if contexts.shape[0] > 1 else 0]
        for e in range(fronts.shape[1] // size):
            front = fronts[a, e * size : (e + 1) * size]
            half = front[d] * math.sqrt(whiten(front[d + 1 :].reshape((d, d)), x, whitened))
            end = dot(x, front[:d]) + half
            if end < upper[a]:
                upper[a], width[a] = end, half
    return most_optimistic(upper, width, mask)


class PerAction(Lottery, Declared):
    """One linear model per action: E[y | past, context c, action a] = <c, theta_a>.

    Each action has a `BetOFUL` of its own at failure_prob / n_actions; the action with the largest
    upper end is played, and only its model learns from the reward. By the union bound, with
    probability at least 1 - failure_prob every theta_a is in its set at all times: rewards in a
    known range, |theta_a| <= theta_norm, and whatever else `BetOFUL` needs, for each action.

    The same problem could be written as one of dimension n_actions * dim, with arms e_a ⊗ c. Then
    one radius must serve all actions and grows with their number, and an update costs
    (n_actions * dim)^2; here it costs dim^2. Where actions share parameters (a price, a colour),
    describe them by features and use one policy of `voful.bandits` instead.

    Every context may be one for all actions, of shape (dim,), or have a row of its own for each
    action, of shape (n_actions, dim). Delayed and batched rewards keep what they keep for
    `BetOFUL`.

    Notes
    -----
    The model is that of LinUCB with disjoint linear models (Li et al., WWW 2010), with this
    library's own sets. Where nothing is left of an action's set, its estimate decides.
    """

    _chooses_by_upper = True
    _parts: ClassVar[tuple[str, ...]] = ("models",)

    n_actions: int = parameter(
        partial(validation.positive_int, most=10**5), "How many actions there are.", kw_only=False
    )
    dim: int = parameter(given.dimension, "Dimension d of the contexts.", kw_only=False)
    failure_prob: float = given.failure_prob("Probability that any theta_a ever leaves its set.")
    reward_range: tuple[float, float] = given.reward_range()
    theta_norm: float | None = given.theta_norm_or_none("|theta_a| <= theta_norm for every action.")
    feature_norm: float = given.feature_norm("Contexts must satisfy |c| <= feature_norm.")
    bet: str = parameter(
        partial(choice, allowed=BETS),
        '"mixed" (default), "ratio" or "product", see `BetOFUL`.',
        default="mixed",
    )
    refresh: bool = parameter(
        boolean, "Whether old rounds are kept and used again, see `BetOFUL`.", default=True
    )
    width_scale: float = given.width_scale(
        "Multiplies the half-width of the sets where they are used or asked (1 = the theory)."
    )
    on_change: str | None = given.on_change()
    seed: Seed = given.seed("Of the draws of `choose`; `select` is deterministic.")

    def _build(self) -> None:
        self._space = validation.ObservationSpace(self.dim, self.feature_norm, self.reward_range)
        self._rng = np.random.default_rng(validation.seed(self.seed))
        self.models = tuple(
            BetOFUL(
                self.dim,
                failure_prob=self.failure_prob / self.n_actions,
                reward_range=self.reward_range,
                theta_norm=self.theta_norm,
                feature_norm=self.feature_norm,
                bet=self.bet,
                refresh=self.refresh,
                width_scale=self.width_scale,
                on_change=self.on_change,
            )
            for _ in range(self.n_actions)
        )
        size = n_ellipsoids(BETS.index(self.bet)) * (self.dim + 1 + self.dim**2)
        self._fronts = np.zeros((self.n_actions, size))
        self._show_all()

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return int(config["n_actions"]) * int(config["dim"]) ** 2  # a matrix for each action

    # --- choosing -------------------------------------------------------------------------------

    def select(self, context: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> int:
        """Choose an action.

        Parameters
        ----------
        context
            (dim,) array, or (n_actions, dim): a row for each action.
        mask
            (n_actions,) booleans: which actions may be played; None: all.
        """
        rows, allowed = self._rows(context), self._space.mask(mask, self.n_actions)
        return int(choose_action(self._fronts, rows, allowed))

    def select_many(
        self,
        contexts: Sequence[npt.ArrayLike] | FloatArray,
        masks: Sequence[npt.ArrayLike | None] | None = None,
    ) -> IntArray:
        """An action for each of several contexts, all from what is known now: (m,) integers."""
        m = len(contexts)
        if masks is not None and len(masks) != m:
            raise fail_shape("masks", (len(masks),), f"{m} masks, as many as contexts")
        pairs = [
            self._allowed(context, None if masks is None else masks[i])
            for i, context in enumerate(contexts)
        ]
        return self._choose_often(pairs)

    def choose(
        self,
        context: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        floor: float = 0.0,
        spread: float = 0.0,
    ) -> Choice:
        """Draw an action from probabilities that are known, and say them: for logs.

        `floor` is the least probability of an allowed action, `spread` weights actions by their
        gaps (`Policy.choose` has the formulas). Without either it is the action of `select`.
        """
        return self._draw(*self._allowed(context, mask), floor, spread, 1)

    def probabilities(
        self,
        context: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        floor: float = 0.0,
        spread: float = 0.0,
    ) -> FloatArray:
        """The probabilities of `choose`, (n_actions,), without drawing: nothing is changed."""
        return self._chances(*self._allowed(context, mask), floor, spread)

    # --- learning -------------------------------------------------------------------------------

    def update(self, context: npt.ArrayLike, action: int, reward: float) -> None:
        """Learn that `action` paid `reward` in this context (delayed and off-policy work).

        Parameters
        ----------
        context
            As for `select`; or the action's own row, which is all that is looked at.
        action
            From 0 to n_actions - 1.
        reward
            What it paid.
        """
        place = self._action(action)
        rows, paid = self._rows(context), self._space.reward(reward)
        row = rows[place if len(rows) > 1 else 0]
        self._turn += 1
        try:
            self.models[place]._observe(row, paid, 0.0)
        finally:  # also where the model raises an alarm, after it has learnt
            self._show(place)
            self._turn += 1

    def partial_fit(
        self, contexts: npt.ArrayLike, actions: npt.ArrayLike, rewards: npt.ArrayLike
    ) -> None:
        """Learn many rewards at once: the same result as one by one, in this order.

        Shapes (n, dim), (n,) and (n,): the contexts of the actions played.
        """
        rows, paid = self._space.batch(contexts, rewards, "contexts")
        allowed = f"{len(paid)} integers from 0 to {self.n_actions - 1}"
        places = validation.integer_array("actions", actions, 1, allowed)
        if len(places) != len(paid):
            raise fail_shape("actions", places.shape, f"shape ({len(paid)},)")
        if not ((places >= 0) & (places < self.n_actions)).all():
            raise fail("actions", places, allowed)
        self._turn += 1
        try:
            for place in np.unique(places).tolist():  # what one learns is nothing to the others
                own = places == place
                try:
                    self.models[place]._observe_many(rows[own], paid[own], np.zeros(own.sum()))
                finally:
                    self._show(place)
        finally:
            self._turn += 1

    # --- asking ---------------------------------------------------------------------------------

    def index(self, context: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(mean, lower, upper) of each action's expected reward, each of shape (n_actions,)."""
        return self._index(self._allowed(context, None)[0])

    def predict(self, contexts: npt.ArrayLike) -> FloatArray:
        """Estimated expected reward of every action in every context: (n, n_actions)."""
        rows = validation.matrix("contexts", contexts, self.dim)
        return np.stack([model._predict(rows) for model in self.models], axis=1)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt, by all models together."""
        return sum(model.n_observations for model in self.models)

    @property
    def statuses(self) -> tuple[str, ...]:
        """The status of each action's model: "ok", "edge", "empty" or "refuted".

        ``models[a].status_since`` and ``models[a].alarms`` count the action's own rewards.
        """
        return tuple(model.status for model in self.models)

    @property
    def status(self) -> str:
        """The worst of `statuses`."""
        return max(self.statuses, key=WORST_LAST.index)

    def save(self, path: Path) -> None:
        """Write the policy to one file (arrays and JSON); `voful.load` continues it exactly."""
        persistence.save(self, path)

    def __repr__(self) -> str:
        return f"{super().__repr__()} after {self.n_observations} observations"

    # --- inside ---------------------------------------------------------------------------------

    def _allowed(
        self, context: npt.ArrayLike, mask: npt.ArrayLike | None
    ) -> tuple[FloatArray, BoolArray]:
        """A row for each action, and which may be played."""
        rows = self._rows(context)
        if len(rows) != self.n_actions:
            rows = np.repeat(rows, self.n_actions, axis=0)
        return rows, self._space.mask(mask, self.n_actions)

    def _rows(self, context: npt.ArrayLike) -> FloatArray:
        """One row, or one for each action."""
        if np.ndim(context) != 2:
            return self._space.arm(context, "context")[np.newaxis]
        rows = self._space.arms(context, "context")
        if len(rows) != self.n_actions:
            allowed = f"shape ({self.dim},), or ({self.n_actions}, {self.dim}): a row for each"
            raise fail_shape("context", rows.shape, allowed)
        return rows

    def _action(self, action: object) -> int:
        if isinstance(action, bool) or not isinstance(action, (int, np.integer)):
            raise fail_type("action", action, "an integer")
        if not 0 <= action < self.n_actions:
            raise fail("action", action, f"an integer from 0 to {self.n_actions - 1}")
        return int(action)

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        return int(choose_action(self._fronts, arms, mask))

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        ends = [model._index(arms[a : a + 1]) for a, model in enumerate(self.models)]
        mean, lower, upper = (np.concatenate(column) for column in zip(*ends, strict=True))
        return mean, lower, upper

    def _show(self, place: int) -> None:
        show(self.models[place].confidence_set.memory, self._fronts[place])

    def _show_all(self) -> None:
        for place in range(self.n_actions):
            self._show(place)

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._assign(arrays)
        self._show_all()
