"""`check_agent` accepts an honest agent of a user and catches each way to be wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from mdp_helpers import Interval, random_model
from voful import MVP, LikelihoodUCRL
from voful.checks import ContractError, check_agent
from voful.typing import FloatArray, IntArray

MODEL = random_model(2, dim=3, n_states=5, n_actions=2, horizon=7)


@dataclass(frozen=True)
class Table:
    """A plan with one row for all steps."""

    actions: IntArray
    value: Any = 0.5
    episodes: Any = 2

    def action(self, h: int, s: int) -> Any:
        return int(self.actions[-1, s])


class Honest:
    """Only the protocol; nothing of voful's classes. It tries actions in turn."""

    def __init__(self) -> None:
        self.counts = np.zeros((MODEL.n_states, MODEL.n_actions), dtype=np.int64)
        self.learnt = 0
        self.current: Any = None

    confidence_set: Any = None

    def plan(self) -> Any:
        if self.current is None or self.learnt - self.current[0] >= self.current[1].episodes:
            row = self.counts.argmin(axis=1)
            self.current = self.learnt, Table(np.stack([row, row]))
        return self.current[1]

    def update(self, states: Any, actions: Any) -> None:
        path, taken = MODEL.check_trajectory(states, actions)
        self.plan_first()
        np.add.at(self.counts, (path[:-1], taken), 1)
        self.learnt += 1

    def plan_first(self) -> None:
        if self.current is None:
            self.plan()

    def update_many(self, states: Any, actions: Any, lengths: Any) -> None:
        checked = MODEL.check_trajectories(states, actions, lengths)
        for path, taken, n in zip(*checked, strict=True):
            self.update(path[: n + 1], taken[:n])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(learnt={self.learnt})"


def test_an_agent_of_a_user_passes() -> None:
    left_out = check_agent(Honest(), model=MODEL)
    assert left_out == {
        "check_agent_support": "confidence_set is None",
        "check_agent_interval": "confidence_set is None",
        "check_agent_bad_questions": "confidence_set is None",
        "check_agent_save_and_load": "has no save",
        "check_episodes_limit": "no limit n_episodes",
    }


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(TypeError, match="model: got None; expected a LinearMixtureModel"):
        check_agent(Honest())
    with pytest.raises(ValueError, match="agent: got one with 20 episodes left"):
        check_agent(MVP(MODEL, n_episodes=20))
    with pytest.raises(ValueError, match="theta: got"):
        check_agent(Honest(), model=MODEL, theta=[1.0, 1.0, 1.0])
    with pytest.raises(ContractError, match="agent: lacks confidence_set, plan, update"):
        check_agent(object())  # type: ignore[arg-type]


def test_a_derived_class_and_other_weights_pass() -> None:
    class Mine(LikelihoodUCRL):
        pass

    assert check_agent(Mine(MODEL, n_episodes=60), theta=[0.2, 0.2, 0.6]) == {}


# --- each of these breaks one promise ---------------------------------------------------------


def with_plan(**changes: Any) -> Callable[[], Any]:
    class Changed(Honest):
        def plan(self) -> Any:
            return replace(super().plan(), **changes)

    return Changed


class NumpyAction(Honest):
    def plan(self) -> Any:
        class Mine(Table):
            def action(self, h: int, s: int) -> Any:
                return self.actions[-1, s]

        return Mine(super().plan().actions)


class OtherActions(Honest):
    def plan(self) -> Any:
        class Mine(Table):
            def action(self, h: int, s: int) -> Any:
                return 1 - super().action(h, s)

        return Mine(super().plan().actions)


class RestlessPlan(Honest):
    def plan(self) -> Any:
        row = self.counts.argmin(axis=1)
        return Table(np.stack([row, row]), value=1.0 / (1.0 + self.learnt), episodes=3)


class PlanThatChanges(Honest):
    def update(self, states: Any, actions: Any) -> None:
        super().update(states, actions)
        self.current[1].actions[:] = self.counts.argmin(axis=1)


class GlobalRandomness(Honest):
    rng: ClassVar[np.random.Generator] = np.random.default_rng(0)

    def plan(self) -> Any:
        if self.current is None or self.learnt > self.current[0]:
            row = self.rng.integers(0, 2, (2, MODEL.n_states))
            self.current = self.learnt, Table(np.stack([row[0], row[0]]), episodes=1)
        return self.current[1]


class SharedState(Honest):
    def __deepcopy__(self, memo: Any) -> SharedState:
        return copy.copy(self)


class TakesAnything(Honest):
    def update(self, states: Any, actions: Any) -> None:
        try:
            super().update(states, actions)
        except ValueError:
            self.plan_first()


class TakesEarlyStops(Honest):
    def update(self, states: Any, actions: Any) -> None:
        if len(np.shape(states)) == 1 and len(states) == 1 and states[0] == MODEL.initial_state:
            return
        super().update(states, actions)


class LearnsBeforeItLooks(Honest):
    def update(self, states: Any, actions: Any) -> None:
        self.plan_first()
        self.current = self.learnt, Table(1 - self.current[1].actions)
        super().update(states, actions)


class HalfABatch(Honest):
    def update_many(self, states: Any, actions: Any, lengths: Any) -> None:
        if len(np.shape(states)) != 2 or len(states) != len(lengths) or len(actions) != len(states):
            raise ValueError("shapes")
        for path, taken, n in zip(states, actions, lengths, strict=True):
            if not 0 <= n <= len(taken):
                raise ValueError("lengths")
            self.update(path[: n + 1], taken[:n])


class BatchesCountOnce(Honest):
    def update_many(self, states: Any, actions: Any, lengths: Any) -> None:
        super().update_many(states, actions, lengths)
        if len(lengths) > 1:
            self.counts[0, 0] += 50


class OtherErrors(Honest):
    def update(self, states: Any, actions: Any) -> None:
        if actions is None:
            raise KeyError("actions")
        super().update(states, actions)


class ChangesTheTrajectory(Honest):
    def update(self, states: Any, actions: Any) -> None:
        super().update(states, actions)
        if isinstance(states, list):
            states[0] = -1


class NoLists(Honest):
    def update(self, states: Any, actions: Any) -> None:
        if isinstance(actions, list) and len(actions) == MODEL.horizon:
            raise TypeError("arrays only")
        super().update(states, actions)


class OnlyItsOwnActions(Honest):
    def update(self, states: Any, actions: Any) -> None:
        path, taken = MODEL.check_trajectory(states, actions)
        self.plan_first()
        if any(self.current[1].action(0, s) != a for s, a in zip(path, taken, strict=False)):
            raise ValueError("not my plan")
        super().update(states, actions)


class Nameless(Honest):
    __repr__ = object.__repr__


class WritesNothing(Honest):
    def save(self, path: Any) -> None:
        pass


class NarrowSupport(Interval):
    def support(self, X: Any) -> FloatArray:
        return super().support(X) - 0.1


def with_set(Theta: Any) -> Callable[[], Any]:
    class WithSet(Honest):
        confidence_set = Theta

    return WithSet


class HiddenState(MVP):
    """Something that it learns is in no array, so that no file has it."""

    lucky = 0

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        super()._learn(states, actions, lengths)
        self.lucky += len(lengths)

    def _make_plan(self) -> Any:
        plan = super()._make_plan()
        plan.actions[:] = self.lucky > 20
        return plan


class Forever(MVP):
    def update_many(self, states: Any, actions: Any, lengths: Any) -> None:
        left = self.n_episodes - self.episodes_learnt
        super().update_many(states[:left], actions[:left], lengths[:left])


class AndOneMore(MVP):
    def update(self, states: Any, actions: Any) -> None:
        if self.episodes_learnt < self.n_episodes:
            super().update(states, actions)


TOO_LARGE = np.full((2, 5), 2)
BROKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "numpy action": (NumpyAction, r"plan.action: returned .* \(int64\), not an int"),
    "no such action": (with_plan(actions=TOO_LARGE), "plan.action: returned 2; there are 2"),
    "other actions": (OtherActions, "plan.action: differs from plan.actions"),
    "shape": (with_plan(actions=np.zeros((2, 4), dtype=np.int64)), "plan.actions: has shape"),
    "value": (with_plan(value=1.5), r"plan.value: is 1.5, not in \[0, 1\]"),
    "NaN value": (with_plan(value=float("nan")), "plan.value: is nan"),
    "no episodes": (with_plan(episodes=0), "plan.episodes: is 0"),
    "half an episode": (with_plan(episodes=1.5), "plan.episodes: is 1.5, not an int"),
    "restless": (RestlessPlan, "plan: another one before 3 updates arrived"),
    "changes plans": (PlanThatChanges, "plan: another one|update: changed a plan"),
    "randomness": (GlobalRandomness, "plan: two copies .* acted differently"),
    "shared": (SharedState, "acted differently|update: two copies|deepcopy: what a copy learnt"),
    "anything": (TakesAnything, "update with a state that does not exist: accepted"),
    "early stop": (TakesEarlyStops, "an early stop in a state that is not absorbing: accepted"),
    "looks late": (LearnsBeforeItLooks, "changed the agent|another one"),
    "half a batch": (HalfABatch, "update_many with .* in the last row: changed the agent"),
    "batches": (BatchesCountOnce, "update_many: not the same as update"),
    "other errors": (OtherErrors, "update with no actions: raised KeyError"),
    "changes input": (ChangesTheTrajectory, "update: changed the trajectory"),
    "no lists": (NoLists, "check_trajectory_forms: raised TypeError: arrays only"),
    "own actions": (OnlyItsOwnActions, "check_any_actions: raised ValueError: not my plan"),
    "nameless": (Nameless, "repr: is <.* object at"),
    "writes nothing": (WritesNothing, "save: wrote no file"),
    "no set": (with_set(3), "confidence_set: is neither None nor"),
    "dimension": (with_set(Interval(np.eye(2))), "confidence_set: has dim 2, the model 3"),
    "narrow": (with_set(NarrowSupport(np.eye(3))), "support: is below"),
    "hidden state": (lambda: HiddenState(MODEL, n_episodes=60), "load: not what was saved"),
    "forever": (lambda: Forever(MODEL, n_episodes=60), "update_many: accepted 61 episodes"),
    "one more": (lambda: AndOneMore(MODEL, n_episodes=60), "update: accepted an episode beyond"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_agent_is_caught(name: str) -> None:
    make, message = BROKEN[name]
    with pytest.raises(ContractError, match=message):
        check_agent(make(), model=MODEL)
