"""What every episodic agent shares: checked input, plans renewed when there is news, save, repr."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from voful import persistence, validation
from voful.archive import Arrays
from voful.confidence.base import ParameterSet
from voful.confidence.standing import EMPTY, OK, REFUTED, STATUSES, Standing
from voful.invariants import Invariants
from voful.mdp import arguments as given
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan
from voful.parameters import Declared, parameter
from voful.typing import ConfidenceSet, IntArray, Path, Seed

NEWS = 0.03
"""A plan is renewed when its agent's information has grown by more: 3 %, on average over what is
estimated."""


def epoch_length(learnt: int, n_episodes: int) -> int:
    """Episodes until one looks for news: max(1, floor(sqrt(k)/4)) after k episodes.

    At most those that remain. A plan that tries the wrong action is optimistic until it is renewed:
    sqrt(k) / 4 episodes of it cost less than what is learnt.
    """
    return max(1, min(math.isqrt(learnt) // 4, n_episodes - learnt))


class Agent(Declared):
    """An agent for linear mixture MDPs: `plan`, run the plan, `update` with what happened.

    An agent declares its parameters (`voful.mdp.arguments`), makes the rest in ``_build``, and
    defines ``_make_plan`` (from its set as it is now) and ``_learn`` (many checked trajectories
    at once, the same result as one by one); it may define ``_information``, and one that learns by
    whole plans defines ``_end_epoch``. The public methods are here, once.

    Plans are renewed when there is news: after the episodes of a plan it is kept for as many
    again, unless the agent's information has grown by more than `NEWS`: the logarithm of its
    determinant, over the dimension. While an action is tried that was hardly tried before, that
    happens soon; while the best one is played again and again, ever more rarely: some
    log(K) / `NEWS` plans in all. The set is used only when a plan is made; every set in
    between is a confidence set too, so coverage and optimism stay as they are.
    """

    _arguments: ClassVar[Mapping[str, type[persistence.Persistent]]] = {"model": LinearMixtureModel}
    _arrays: ClassVar[tuple[str, ...]] = ("_tally", "_known")
    _parts: ClassVar[tuple[str, ...]] = ("_plan", "_standing")
    optimistic: ClassVar[bool] = True
    """Whether a plan's value is an upper bound of the optimal one while theta* is in the set."""

    model: LinearMixtureModel = parameter(
        given.mixture_model, "What is known of the MDP.", kw_only=False
    )
    n_episodes: int = given.n_episodes()
    failure_prob: float | None = given.failure_prob()
    seed: Seed = given.seed("Of the agent's own random choices.")

    def _build(self) -> None:
        self._rng = np.random.default_rng(validation.seed(self.seed))
        self._standing = Standing()
        # [episodes learnt, episodes learnt when those of the plan began; -1: there is none yet]
        self._tally = np.array([0, -1], dtype=np.int64)
        self._known = np.zeros(1)  # information when the plan was made
        self._plan = OptimisticPlan(
            np.ones((1, self.model.n_states)),
            np.zeros((1, self.model.n_states), dtype=np.int64),
            horizon=self.model.horizon,
            initial_state=self.model.initial_state,
        )

    def _invariants(self, state: Arrays) -> Invariants:
        learnt, planned = state["_tally"]
        yield "episodes learnt", bool(0 <= learnt <= self.n_episodes and -1 <= planned <= learnt)
        yield "actions of the model", bool((state["_plan/actions"] < self.model.n_actions).all())
        yield "a plan that ends", bool(state["_plan/_facts"][1] <= self.n_episodes)

    @property
    @abstractmethod
    def confidence_set(self) -> ConfidenceSet | None:
        """Live view of the set over theta in R^d; None for tabular agents."""

    @property
    def dim(self) -> int:
        """Dimension d of the parameter."""
        return self.model.dim

    @property
    def status(self) -> str:
        """One of "ok", "empty", "refuted"; not "ok": the set answers as if nothing were known.

        "refuted": no mixture of the base models fits the data. One RuntimeWarning tells. An agent
        without a set is "ok".
        """
        Theta = self.confidence_set
        if isinstance(Theta, ParameterSet):
            empty = Theta.is_empty or Theta.is_empty_along(np.eye(self.dim))
            code = EMPTY if empty else REFUTED if Theta.is_refuted else OK
            if self._standing.note(code, self.episodes_learnt):
                self._standing.tell(self)
        return STATUSES[self._standing.code]

    @property
    def status_since(self) -> int:
        """Episodes learnt when the status was noticed."""
        return self._standing.since if self.status != STATUSES[OK] else 0

    @property
    def episodes_learnt(self) -> int:
        """How many episodes were learnt."""
        return int(self._tally.item(0))

    def plan(self) -> OptimisticPlan:
        """The current plan: the same one until `plan.episodes` updates arrived.

        Then it may be the same one again, for as many episodes, if they brought no news. After the
        last episode: the plan from all that was learnt.
        """
        if self._tally[1] < 0 or self._episodes_due() <= 0:
            self._turn += 1
            try:
                if self._tally[1] < 0 or self._plan_is_over():
                    self._renew_plan()
                else:
                    self._tally[1] = self._tally[0]
            finally:
                self._turn += 1
        return self._plan

    def update(self, states: npt.ArrayLike, actions: npt.ArrayLike) -> None:
        """Learn from one trajectory.

        Parameters
        ----------
        states
            (H+1,) states; (T+1,) with T < H where the trajectory stops early, which it may only
            in a state that is absorbing with zero reward under all base models.
        actions
            (H,) or (T,) actions; they need not follow the plan.
        """
        path, taken = self.model.check_trajectory(states, actions)
        self._take(path[None], taken[None], np.array([len(taken)]))

    def update_many(
        self, states: npt.ArrayLike, actions: npt.ArrayLike, lengths: npt.ArrayLike
    ) -> None:
        """Learn from many trajectories: the same result as one by one, in this order.

        Parameters
        ----------
        states, actions
            (n, W+1) states and (n, W) actions.
        lengths
            (n,) numbers of steps: trajectory i is states[i, :lengths[i]+1] with
            actions[i, :lengths[i]]; what stands behind is not read.
        """
        self._take(*self.model.check_trajectories(states, actions, lengths))

    def save(self, path: Path) -> None:
        """Write the agent and its model to one file; `voful.load` continues it exactly."""
        persistence.save(self, path)

    def _take(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        n, learnt = len(lengths), self.episodes_learnt
        if learnt + n > self.n_episodes:
            raise RuntimeError(
                f"n_episodes = {self.n_episodes}, {learnt} episodes learnt: cannot learn {n} more"
            )
        self._turn += 1
        try:
            self._learn_in_parts(states, actions, lengths)
        finally:
            self._turn += 1

    def _learn_in_parts(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        n = len(lengths)
        if n and self._tally[1] < 0:
            self._renew_plan()
        # The batch is cut where the plan's episodes are over.
        end = min(max(0, self._episodes_due()), n)
        for first, last in ((0, end), (end, n)):
            if first < last:
                part = slice(first, last)
                self._learn(states[part], actions[part], lengths[part])
                self._tally[0] += last - first
                if self._episodes_due() == 0 and self._plan_is_over():
                    self._end_epoch()

    def _renew_plan(self) -> None:
        self._plan = self._make_plan().lasting(self._epoch_length())
        self._tally[1] = self._tally[0]
        self._known[0] = self._information()

    def _epoch_length(self) -> int:
        """Episodes of a plan that is made now, or kept."""
        return epoch_length(self.episodes_learnt, self.n_episodes)

    def _episodes_due(self) -> int:
        """Episodes until the plan is over; negative: so many were learnt beyond."""
        learnt, planned = self._tally.tolist()
        return int(planned + self._plan.episodes - learnt)

    def _plan_is_over(self) -> bool:
        """Whether a plan whose episodes are over is not kept for as many again."""
        too_long = self._plan.episodes > self.n_episodes - self.episodes_learnt
        return too_long or self._has_news()

    def _has_news(self) -> bool:
        return self._information() > float(self._known[0]) + NEWS

    def _information(self) -> float:
        """ln(determinant) / dimension of the agent's information, from all that was learnt.

        Of an agent that does not say: ln(1 + episodes).
        """
        return math.log1p(self.episodes_learnt)

    @abstractmethod
    def _make_plan(self) -> OptimisticPlan:
        """The plan of the set as it is now."""

    @abstractmethod
    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        """Learn checked trajectories played after `self._plan` was made; n >= 1 of them."""

    def _end_epoch(self) -> None:
        """`self._plan` is over, all its episodes were learnt."""

    def __repr__(self) -> str:
        return f"{super().__repr__()} after {self.episodes_learnt} episodes"
