"""The shipped checks accept an honest policy of a user and catch each way to be wrong."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from voful import OFUL, VOFUL, BetOFUL
from voful.bandits.base import Policy
from voful.checks import ContractError, check_policy
from voful.confidence.ellipsoids.ridge import ridge_update
from voful.typing import FloatArray


class Ball:
    """{theta : |theta - center|_M <= 2}, as a user may write it."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.M, self.b = np.eye(dim), np.zeros(dim)

    @property
    def center(self) -> FloatArray:
        return np.asarray(np.linalg.solve(self.M, self.b))

    is_empty = False

    def contains(self, theta: Any) -> bool:
        gap = checked(theta, (self.dim,)) - self.center
        return bool(gap @ self.M @ gap <= 4.0)

    def support(self, X: Any) -> FloatArray:
        X = checked(X, (len(X), self.dim))
        return np.array(
            [x @ self.center + 2.0 * math.sqrt(x @ np.linalg.solve(self.M, x)) for x in X]
        )

    def interval(self, X: Any) -> tuple[FloatArray, FloatArray]:
        return -self.support(-np.asarray(X)), self.support(X)


def checked(value: Any, shape: tuple[int, ...]) -> FloatArray:
    array = np.array(value, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"got {value!r}")
    return array


class Honest:
    """Only the protocol; nothing of voful's classes."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.confidence_set = Ball(dim)

    def select(self, arms: Any, mask: Any = None) -> int:
        rows = np.array(arms, dtype=float)
        if rows.ndim != 2 or len(rows) == 0:
            raise ValueError(f"got {arms!r}")
        upper = self.confidence_set.support(rows)
        if mask is not None:
            if np.shape(mask) != (len(rows),) or not np.any(mask):
                raise ValueError(f"got {mask!r}")
            upper = np.where(mask, upper, -np.inf)
        return int(np.argmax(upper))

    def update(self, x: Any, reward: Any, *, variance: float | None = None) -> None:
        row, paid = checked(x, (self.dim,)), checked(reward, ())
        self.confidence_set.M += np.outer(row, row)
        self.confidence_set.b += paid * row

    def partial_fit(self, X: Any, rewards: Any, *, variances: Any = None) -> None:
        rows, paid = checked(X, (len(X), self.dim)), checked(rewards, (len(X),))
        for x, reward in zip(rows, paid, strict=True):
            self.update(x, reward)

    def save(self, path: Any) -> None:
        with open(path, "wb") as file:
            np.savez(file, M=self.confidence_set.M, b=self.confidence_set.b)

    @classmethod
    def load(cls, path: str) -> Honest:
        with np.load(path) as arrays:
            policy = cls(len(arrays["b"]))
            policy.confidence_set.M, policy.confidence_set.b = arrays["M"], arrays["b"]
        return policy

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim})"


def test_a_policy_of_a_user_passes() -> None:
    left_out = check_policy(Honest(3), load=Honest.load)
    more = ["check_index_and_predict", "check_probabilities"]
    assert sorted(left_out) == [*more, "check_rounds_limit", "check_variances"]


def test_without_load_only_the_loading_is_left_out() -> None:
    left_out = check_policy(Honest(2))
    assert "pass load=" in left_out["check_save_and_load"]


def test_a_derived_class_is_loaded_by_itself() -> None:
    class Mine(OFUL):
        pass

    assert "check_save_and_load" not in check_policy(Mine(2))


@pytest.mark.parametrize(
    "policy",
    [
        OFUL(2, reward_range=None, noise_scale=1.0),
        OFUL(3, feature_norm=40.0, theta_norm=0.01, reward_range=(5.0, 5.5)),
        BetOFUL(2, feature_norm=1e-3, theta_norm=1e3, reward_range=(0.0, 1.0)),
        VOFUL(2, n_rounds=10**9),
    ],
    ids=["unbounded", "misspecified", "large parameter", "long horizon"],
)
def test_unusual_policies_pass(policy: Any) -> None:
    check_policy(policy)


def test_a_policy_near_its_last_round_is_refused() -> None:
    with pytest.raises(ValueError, match="policy: got one with 20 rounds left; expected at least"):
        check_policy(VOFUL(2, n_rounds=20))


# --- each of these breaks one promise ---------------------------------------------------------


class NumpyInt(Honest):
    def select(self, arms: Any, mask: Any = None) -> Any:
        return np.int64(super().select(arms, mask))


class OneTooFar(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        return super().select(arms, mask) + 1


class IgnoresTheMask(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        super().select(arms, mask)
        return super().select(arms)


class LearnsFromQuestions(Honest):
    n_observations = 0

    def select(self, arms: Any, mask: Any = None) -> int:
        self.n_observations += 1
        return super().select(arms, mask)


class GlobalRandomness(Honest):
    rng: ClassVar[np.random.Generator] = np.random.default_rng(0)

    def select(self, arms: Any, mask: Any = None) -> int:
        super().select(arms, mask)
        allowed = np.arange(len(arms)) if mask is None else np.flatnonzero(mask)
        return int(self.rng.choice(allowed))


class SharedState(Honest):
    def __deepcopy__(self, memo: Any) -> SharedState:
        return copy.copy(self)


class TakesNaN(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        return super().select(np.nan_to_num(np.array(arms, dtype=float)), mask)


class TakesEmptyMasks(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        return super().select(arms, mask if np.any(mask) else None)


class OtherErrors(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        if len(arms) == 0:
            raise IndexError("no arms")
        return super().select(arms, mask)


class LearnsBeforeItLooks(Honest):
    def update(self, x: Any, reward: Any, *, variance: float | None = None) -> None:
        row = checked(x, (self.dim,))
        self.confidence_set.M += np.outer(row, row)
        self.confidence_set.b += checked(reward, ()) * row


class HalfABatch(Honest):
    def partial_fit(self, X: Any, rewards: Any, *, variances: Any = None) -> None:
        for x, reward in zip(X, rewards, strict=True):
            self.update(x, reward)


class BatchesCountHalf(Honest):
    def partial_fit(self, X: Any, rewards: Any, *, variances: Any = None) -> None:
        super().partial_fit(X, 0.5 * checked(rewards, (len(X),)))


class KeepsWhatItWasGiven(Honest):
    last: Any = None

    def update(self, x: Any, reward: Any, *, variance: float | None = None) -> None:
        checked(x, (self.dim,)), checked(reward, ())
        if self.last is not None:
            super().update(*self.last)
        self.last = x, reward


class ChangesTheArms(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        choice = super().select(arms, mask)
        if isinstance(arms, np.ndarray) and arms.flags.writeable:
            arms *= 0.5
        return choice


class NoLists(Honest):
    def select(self, arms: Any, mask: Any = None) -> int:
        if isinstance(arms, list) and len(arms) == 6:
            raise TypeError("arrays only")
        return super().select(arms, mask)


class ForgetsInFiles(Honest):
    def save(self, path: Any) -> None:
        type(self)(self.dim)._write(path)

    def _write(self, path: Any) -> None:
        super().save(path)


class WritesAnother(OFUL):
    def save(self, path: Any) -> None:
        OFUL(self.dim).save(path)


class WritesNothing(Honest):
    def save(self, path: Any) -> None:
        pass


class Nameless(Honest):
    __repr__ = object.__repr__


class NarrowSupport(Ball):
    def support(self, X: Any) -> FloatArray:
        return 0.8 * super().support(X)


class WideMembership(Ball):
    def contains(self, theta: Any) -> bool:
        checked(theta, (self.dim,))
        return True


class InfiniteSupport(Ball):
    def support(self, X: Any) -> FloatArray:
        return super().support(X) + math.inf


class OtherInterval(Ball):
    def interval(self, X: Any) -> tuple[FloatArray, FloatArray]:
        lower, upper = super().interval(X)
        return lower - 0.1, upper


class SupportOfTheCompany(Ball):
    def support(self, X: Any) -> FloatArray:
        return super().support(X) + 0.01 * len(X)


class AnyTheta(Ball):
    def contains(self, theta: Any) -> bool:
        return np.shape(theta) == (self.dim,) and super().contains(np.nan_to_num(theta))


class WrongDimension(Ball):
    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self.dim = dim + 1


def with_set(Theta: type[Ball]) -> Honest:
    policy = Honest(3)
    policy.confidence_set = Theta(3)
    return policy


class UpsideDown(OFUL):
    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean, lower, upper = super()._index(arms)
        return mean, upper, lower


class OnePrediction(OFUL):
    def _predict(self, X: FloatArray) -> FloatArray:
        return super()._predict(X)[:1]


class HiddenState(OFUL):
    """Something that it learns is in no array, so that no file has it."""

    plays = 0

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        super()._observe(x, reward, variance)
        self.plays += 1

    _observe_many = Policy._observe_many

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean, lower, upper = super()._index(arms)
        return mean, lower, upper + 0.01 * self.plays


class UnfilteredRewards(OFUL):
    def update(self, x: Any, reward: Any, *, variance: float | None = None) -> None:
        super().update(x, 1.0 if reward == 3.0 else reward)


class Forever(VOFUL):
    def partial_fit(self, X: Any, rewards: Any, *, variances: Any = None) -> None:
        left = self.n_rounds - self.n_observations
        super().partial_fit(X[:left], rewards[:left])


class AndOneMore(VOFUL):
    def update(self, x: Any, reward: Any, *, variance: float | None = None) -> None:
        if self.n_observations < self.n_rounds:
            super().update(x, reward)


class Told(OFUL):
    """An honest policy that must be told variances."""

    needs_variance = True

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        ridge_update(self._set.parts[0], x, reward, 1.0 / (0.1 + variance))

    _observe_many = Policy._observe_many


class DrawsWithoutALaw(OFUL):
    def _choose(self, arms: FloatArray, mask: Any) -> int:
        allowed = np.flatnonzero(mask) if len(mask) else np.arange(len(arms))
        return int(self._rng.choice(allowed))


class OtherLaw(OFUL):
    def probabilities(self, arms: Any, *args: Any, **kwargs: Any) -> FloatArray:
        return np.full(len(arms), 1.0 / len(arms))


class NotListening(Told):
    def update(self, x: Any, reward: Any, *, variance: float | None = None) -> None:
        super().update(x, reward, variance=0.1)


def test_a_policy_that_is_told_variances_passes() -> None:
    assert "check_variances" not in check_policy(Told(3))


BROKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "numpy int": (lambda: NumpyInt(3), r"select: returned .* \(int64\), not an int"),
    "one too far": (lambda: OneTooFar(3), "select: returned 6 for 6 arms"),
    "mask": (lambda: IgnoresTheMask(3), "select: played arm .; the mask allows only arm 0"),
    "learns": (lambda: LearnsFromQuestions(3), "select: changed n_observations"),
    "randomness": (lambda: GlobalRandomness(3), "select: two copies .* different choices"),
    "shared": (lambda: SharedState(3), "select: two copies .* different choices"),
    "NaN": (lambda: TakesNaN(3), "select of NaN: accepted"),
    "empty mask": (lambda: TakesEmptyMasks(3), "select with a mask of no arm: accepted"),
    "other errors": (lambda: OtherErrors(3), "select of no arms: raised IndexError"),
    "early": (lambda: LearnsBeforeItLooks(3), "update with a reward of NaN: changed the policy"),
    "half": (lambda: HalfABatch(3), "partial_fit with .* in the last row: changed the policy"),
    "batch": (lambda: BatchesCountHalf(3), "partial_fit: not the same as update one by one"),
    "keeps": (lambda: KeepsWhatItWasGiven(3), "update: a list, .* a reused one is learnt"),
    "changes": (lambda: ChangesTheArms(3), "select: changed the arms"),
    "no lists": (lambda: NoLists(3), "check_input_forms: raised TypeError: arrays only"),
    "forgets": (lambda: ForgetsInFiles(3), "load: not what was saved"),
    "another": (lambda: WritesAnother(3), "holds a OFUL, not a WritesAnother"),
    "no file": (lambda: WritesNothing(3), "save: wrote no file"),
    "nameless": (lambda: Nameless(3), "repr: is <.* object at"),
    "narrow": (lambda: with_set(NarrowSupport), "support: is below"),
    "wide": (lambda: with_set(WideMembership), "support: is below"),
    "infinite": (lambda: with_set(InfiniteSupport), "support: is not finite"),
    "interval": (lambda: with_set(OtherInterval), "interval: its lower end is not"),
    "company": (lambda: with_set(SupportOfTheCompany), "support: depends on other rows"),
    "any theta": (lambda: with_set(AnyTheta), "contains of another dimension: accepted"),
    "dimension": (lambda: with_set(WrongDimension), "confidence_set: has dim 4, the policy 3"),
    "upside down": (lambda: UpsideDown(3), "index: lower is above upper"),
    "one prediction": (lambda: OnePrediction(3), r"index: returned shapes|predict: returned shape"),
    "hidden state": (lambda: HiddenState(3), "load: not what was saved"),
    "range": (
        lambda: UnfilteredRewards(3),
        "update with a reward above the range: accepted",
    ),
    "forever": (lambda: Forever(2, n_rounds=80), "partial_fit: accepted 81 rewards where 80"),
    "one more": (lambda: AndOneMore(2, n_rounds=80), "update: accepted a reward beyond n_rounds"),
    "no law": (lambda: DrawsWithoutALaw(3), "probabilities: it draws or learns; is _law defined"),
    "other law": (lambda: OtherLaw(3), r"choose: says \[.*\], `probabilities` \[0.08"),
    "deaf": (lambda: NotListening(3), "update with the variance None: accepted"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_policy_is_caught(name: str) -> None:
    make, message = BROKEN[name]
    policy = make()
    with pytest.raises(ContractError, match=message):
        check_policy(policy, load=getattr(type(policy), "load", None))


def test_what_is_no_policy_is_told_what_it_lacks() -> None:
    with pytest.raises(ContractError, match="policy: lacks dim, .*, partial_fit, save"):
        check_policy(object())  # type: ignore[arg-type]
