"""Choices with their probabilities, to be logged; see `voful.logs` for what logs are good for."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from voful.typing import BoolArray, FloatArray, IntArray
from voful.validation import ObservationSpace, fail, fail_shape, finite_float, positive_int


class Choice(NamedTuple):
    """An arm that was drawn, and how probable each arm was.

    Attributes
    ----------
    index
        Row of the arms to play.
    probability
        Of this arm: log it.
    probabilities
        (n_arms,) of all arms, in their order; 0 where masked. Their sum is 1.
    """

    index: int  # type: ignore[assignment]  # tuples have a method of this name
    probability: float
    probabilities: FloatArray


class Lottery:
    """How an arm is drawn from known probabilities, on checked input."""

    _chooses_by_upper: bool = False
    """Whether `select` maximises the upper end of `index`: then choices can be spread."""

    _rng: np.random.Generator
    _turn: int

    @property
    @abstractmethod
    def n_observations(self) -> int:
        """How many rewards were learnt."""

    @abstractmethod
    def _choose(self, arms: FloatArray, mask: BoolArray) -> int: ...

    @abstractmethod
    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]: ...

    def _draw(
        self, arms: FloatArray, mask: BoolArray, floor: float, spread: float, draws: int
    ) -> Choice:
        """Draw an arm, and say how probable each was."""
        votes = positive_int("draws", draws, 10**6)
        floor, spread = self._checked(floor, spread, arms, mask)
        self._turn += 1
        try:
            planned, law = self._law_of(arms, mask, floor, spread, votes)
            index = int(np.argmax(law))
            if law[index] < 1.0:
                sums = np.cumsum(law)
                u = self._rng.random() * sums[-1]
                index = min(int(np.searchsorted(sums, u, side="right")), _last(law))
            self._settle(arms, mask, planned, index)
        finally:
            self._turn += 1
        return Choice(index, float(law[index]), law)

    def _chances(
        self, arms: FloatArray, mask: BoolArray, floor: float, spread: float
    ) -> FloatArray:
        """The probabilities alone, nothing changed."""
        floor, spread = self._checked(floor, spread, arms, mask)
        return self._law_of(arms, mask, floor, spread, None)[1]

    def _choose_often(self, pairs: Sequence[tuple[FloatArray, BoolArray]]) -> IntArray:
        """A choice for each pair of arms and mask."""
        self._turn += 1
        try:
            return np.array([self._choose(*pair) for pair in pairs], dtype=np.int64)
        finally:
            self._turn += 1

    def _checked(
        self, floor: float, spread: float, arms: FloatArray, mask: BoolArray
    ) -> tuple[float, float]:
        n = _count(arms, mask)
        floor, spread = finite_float("floor", floor), finite_float("spread", spread)
        if not 0.0 <= floor * n <= 1.0:
            raise fail("floor", floor, f"a number from 0 to 1/{n}, one over the allowed arms")
        if spread < 0.0:
            raise fail("spread", spread, "a number >= 0")
        if spread > 0.0 and not self._chooses_by_upper:
            name = type(self).__name__
            raise fail("spread", spread, f"0: {name} does not maximise the upper bounds of `index`")
        return floor, spread

    def _law_of(
        self, arms: FloatArray, mask: BoolArray, floor: float, spread: float, draws: int | None
    ) -> tuple[int, FloatArray]:
        """`select`'s arm (of several, the likeliest) and the probabilities of all arms."""
        if spread > 0.0:
            i, law = self._spread(arms, mask, spread, draws is None)
        else:
            i, law = self._law(arms, mask, draws)
        allowed = np.ones(len(arms), dtype=np.bool_) if len(mask) == 0 else mask
        n = int(allowed.sum())
        return i, np.where(allowed, (1.0 - n * floor) * law + floor, 0.0)

    def _law(self, arms: FloatArray, mask: BoolArray, draws: int | None) -> tuple[int, FloatArray]:
        """`select`'s law; draws is None where nothing may be changed."""
        i = self._peek(arms, mask) if draws is None else self._choose(arms, mask)
        return i, one_hot(i, len(arms))

    def _spread(
        self, arms: FloatArray, mask: BoolArray, spread: float, peek: bool
    ) -> tuple[int, FloatArray]:
        """Inverse gap weighting over upper bounds."""
        i = self._peek(arms, mask) if peek else self._choose(arms, mask)
        upper = self._index(arms)[2]
        rivals = self._rivals(arms, mask)
        n = int(rivals.sum())
        gamma = (n - 1) * math.sqrt(self.n_observations + 1) / spread
        law = np.where(rivals, 1.0 / (n + gamma * np.maximum(0.0, upper[i] - upper)), 0.0)
        law[i] = 0.0
        law[i] = 1.0 - law.sum()
        return i, law

    def _rivals(self, arms: FloatArray, mask: BoolArray) -> BoolArray:
        """The arms that `spread` gives a chance."""
        return np.ones(len(arms), dtype=np.bool_) if len(mask) == 0 else mask

    def _peek(self, arms: FloatArray, mask: BoolArray) -> int:
        """`_choose` that changes nothing; where `_choose` notes its choice, it is not this one."""
        return self._choose(arms, mask)

    def _settle(self, arms: FloatArray, mask: BoolArray, planned: int, drawn: int) -> None:
        """The arm that was drawn is played, where `_choose` has noted another one."""

    def _choose_several(self, arms: FloatArray, mask: BoolArray, k: int) -> IntArray:
        """One after the other, each among the arms that are left: the k largest upper bounds."""
        left = np.ones(len(arms), dtype=np.bool_) if len(mask) == 0 else mask.copy()
        k = positive_int("k", k)
        if k > left.sum():
            raise fail("k", k, f"at most the number of allowed arms, {left.sum()}")
        chosen = np.empty(k, dtype=np.int64)
        for place in range(k):
            chosen[place] = self._choose(arms, left) if place == 0 else self._next(arms, left)
            left[chosen[place]] = False
        return chosen

    def _next(self, arms: FloatArray, left: BoolArray) -> int:
        """One more arm of the same choice."""
        return self._choose(arms, left)


class Chooser(Lottery):
    """What a policy does besides `select`: say probabilities, choose several, choose often."""

    _takes_pending: ClassVar[bool] = False
    """Whether choices heed arms whose rewards are still to come."""

    _pending: FloatArray | None = None
    """These arms, during one choice."""

    _space: ObservationSpace

    def choose(
        self,
        arms: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        floor: float = 0.0,
        spread: float = 0.0,
        draws: int = 64,
        pending: npt.ArrayLike | None = None,
    ) -> Choice:
        """Draw an arm from probabilities that are known, and say them: for logs.

        Without `floor` and `spread` it is `select`'s law: one arm for sure where the policy is
        deterministic, epsilon-greedy's mixture, and for Thompson sampling the shares of `draws`
        votes, from which the arm is drawn.

        Parameters
        ----------
        arms, mask
            As for `select`.
        floor
            Least probability of an allowed arm: p <- (1 - A floor) p + floor.
        spread
            c > 0: inverse gap weighting over the upper bounds u. With i the arm of `select` and
            gamma = (A - 1) sqrt(t) / c, p_a = 1 / (A + gamma max(0, u_i - u_a)), the rest on i.
            Costs at most 2 c sqrt(K) of regret in K rounds.
        draws
            Votes of Thompson sampling.
        pending
            As for `select`; then without `spread`.

        Returns
        -------
        Choice
            index, probability, probabilities.
        """
        with self._awaiting(pending, spread):
            return self._draw(*self._allowed(arms, mask), floor, spread, draws)

    def probabilities(
        self,
        arms: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        floor: float = 0.0,
        spread: float = 0.0,
        pending: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """The probabilities of `choose`, (n_arms,), without drawing: nothing is changed.

        Thompson sampling refuses: its votes are drawn.
        """
        with self._awaiting(pending, spread):
            return self._chances(*self._allowed(arms, mask), floor, spread)

    def select_many(
        self,
        arms_list: Sequence[npt.ArrayLike],
        masks: Sequence[npt.ArrayLike | None] | None = None,
    ) -> IntArray:
        """A choice for each of several sets of arms, all from what is known now: (m,) indices."""
        m = len(arms_list)
        if masks is not None and len(masks) != m:
            raise fail_shape("masks", (len(masks),), f"{m} masks, as many as sets of arms")
        pairs = [
            self._allowed(arms, None if masks is None else masks[i])
            for i, arms in enumerate(arms_list)
        ]
        return self._choose_often(pairs)

    def _allowed(
        self, arms: npt.ArrayLike, mask: npt.ArrayLike | None
    ) -> tuple[FloatArray, BoolArray]:
        rows = self._space.arms(arms)
        return rows, self._space.mask(mask, len(rows))

    @contextmanager
    def _awaiting(self, pending: npt.ArrayLike | None, spread: float) -> Iterator[None]:
        """One choice while these arms wait for their rewards."""
        self._pending = None if pending is None else self._awaited(pending, spread)
        try:
            yield
        finally:
            self._pending = None

    def _awaited(self, pending: npt.ArrayLike, spread: float = 0.0) -> FloatArray | None:
        if not self._takes_pending:
            raise fail("pending", pending, f"nothing: {type(self).__name__} is not told it")
        if spread > 0.0:
            raise fail("spread", spread, "0 where arms are pending")
        rows = self._space.pending(pending)
        return rows if len(rows) > 0 else None


def one_hot(i: int, n: int) -> FloatArray:
    """All on one arm."""
    law = np.zeros(n)
    law[i] = 1.0
    return law


def _count(arms: FloatArray, mask: BoolArray) -> int:
    return len(arms) if len(mask) == 0 else int(mask.sum())


def _last(law: FloatArray) -> int:
    return int(np.flatnonzero(law)[-1])
