"""What is checked and how it is said: the words of a violation, and the object under test."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from voful.typing import FloatArray

T = TypeVar("T")

Lesson = tuple[Any, Any]
"""(arm, reward), or (states, actions)."""


class ContractError(AssertionError):
    """The object does something that the contract forbids; the message says what."""


class NotApplicable(Exception):
    """A check asks for something that this object does not have."""


def run(checks: Iterable[Callable[[T], None]], subject: T) -> dict[str, str]:
    """Run all checks; returns those that do not apply, and why."""
    left_out = {}
    for check in checks:
        try:
            check(subject)
        except NotApplicable as reason:
            left_out[check.__name__] = str(reason)
        except ContractError:
            raise
        except Exception as error:  # good input, and yet
            kind = type(error).__name__
            raise ContractError(f"{check.__name__}: raised {kind}: {error}") from error
    return left_out


def violated(method: str, what: str) -> NoReturn:
    """Raise a ContractError."""
    raise ContractError(f"{method}: {what}")


def require(condition: object, method: str, what: str) -> None:
    """Raise a ContractError unless the condition holds."""
    if not condition:
        violated(method, what)


def require_equal(
    one: Mapping[str, object], two: Mapping[str, object], method: str, what: str
) -> None:
    """Two views that are the same."""
    different = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    require(not different, method, f"{what}: different {', '.join(different)}")


class UnderTest(ABC):
    """A policy or agent under test, with experience that it must accept; only copies are used."""

    kind: ClassVar[str]
    """What it is, in messages."""
    required: ClassVar[tuple[str, ...]]
    """Members without which nothing can be checked."""
    units: ClassVar[str]
    """What n_<units> limits."""
    counter: ClassVar[str]
    """Attribute that counts what was learnt."""
    batches: ClassVar[str]
    """Method that learns many at once."""
    first: ClassVar[int]
    """Lessons that a copy has had before it is looked at."""
    future: ClassVar[int]
    """Lessons that two copies are given to see whether they act alike."""
    dim: int

    def __init__(self, thing: Any, load: Callable[[str], Any] | None) -> None:
        lacking = [name for name in self.required if not hasattr(thing, name)]
        require(not lacking, self.kind, f"lacks {', '.join(lacking)}")
        self._original = thing
        self.load = load
        limit = getattr(thing, f"n_{self.units}", None)
        self.left = None if limit is None else int(limit) - int(getattr(thing, self.counter, 0))
        needed = self.first + 2 * self.future
        if self.left is not None and self.left < needed:
            raise ValueError(
                f"{self.kind}: got one with {self.left} {self.units} left; expected at least "
                f"{needed}"
            )

    @abstractmethod
    def play(self, thing: Any, n: int, seed: int) -> list[Lesson]:
        """Let it decide and learn n times; returns what it learnt."""

    def teach(self, thing: Any, *lesson: Any) -> None:
        """One `update`."""
        thing.update(*lesson)

    @abstractmethod
    def teach_many(self, thing: Any, lessons: Sequence[Lesson]) -> None:
        """All at once."""

    @abstractmethod
    def questions(self) -> FloatArray:
        """Rows x to ask the set about."""

    @abstractmethod
    def answers(self, thing: Any) -> dict[str, object]:
        """What is to be seen of this kind beyond its state and its set."""

    def copy(self) -> Any:
        """A deep copy."""
        return copy.deepcopy(self._original)

    def played(self) -> Any:
        """A deep copy that has had its `first` lessons."""
        self.play(thing := self.copy(), self.first, 0)
        return thing

    def taught(self, lessons: Iterable[Lesson]) -> Any:
        """A deep copy that has had these lessons, one by one."""
        thing = self.copy()
        for lesson in lessons:
            self.teach(thing, *lesson)
        return thing

    def view(self, thing: Any) -> dict[str, object]:
        """What can be seen: state, counter, and answers to a few questions."""
        thing = copy.deepcopy(thing)
        seen = arrays_of(thing)
        if hasattr(thing, self.counter):
            seen[self.counter] = getattr(thing, self.counter)
        if thing.confidence_set is not None:
            support = np.asarray(thing.confidence_set.support(self.questions()))
            seen["confidence_set.support"] = support.tobytes()
        return seen | self.answers(thing)

    def act_alike(self, one: Any, two: Any, n: int, seed: int) -> bool:
        """Whether both decide the same, n times."""
        ways = zip(self.play(one, n, seed), self.play(two, n, seed), strict=True)
        return all(np.array_equal(a, b) for pair in ways for a, b in zip(*pair, strict=True))

    def require_same(self, one: Any, two: Any, method: str, what: str) -> None:
        """Two that show the same and go on to do the same."""
        require_equal(self.view(one), self.view(two), method, what)
        left, right = copy.deepcopy(one), copy.deepcopy(two)
        alike = self.act_alike(left, right, self.future, 7)
        require(alike, method, f"{what}: different choices afterwards")
        require_equal(self.view(left), self.view(right), method, f"{what}: later on")

    def require_place(self, value: Any, n: int, method: str, things: str) -> int:
        """A plain int that is the place of one of n things."""
        is_int = type(value) is int
        require(is_int, method, f"returned {value!r} ({type(value).__name__}), not an int")
        require(0 <= value < n, method, f"returned {value}{things}")
        return int(value)

    def require_refusal(
        self, thing: Any, method: str, call: Callable[..., object], *bad: Any, **named: Any
    ) -> None:
        """Bad input raises ValueError or TypeError and leaves the object as it was."""
        look = arrays_of if arrays_of(thing) else self.view
        before = look(thing)
        try:
            call(*bad, **named)
        except (ValueError, TypeError):
            pass
        except Exception as error:
            kind = type(error).__name__
            raise ContractError(
                f"{method}: raised {kind} ({error}); expected ValueError or TypeError"
            ) from error
        else:
            violated(method, "accepted; expected ValueError or TypeError")
        require_equal(before, look(thing), method, f"changed the {self.kind}")


def arrays_of(thing: Any) -> dict[str, object]:
    """The arrays and the random generator of objects that keep them as voful's do."""
    if not hasattr(thing, "state"):
        return {}
    seen: dict[str, object] = {name: array.tobytes() for name, array in thing.state().items()}
    if hasattr(thing, "_rng"):
        seen["random generator"] = str(thing._rng.bit_generator.state)
    return seen


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A read-only copy."""
    twin = array.copy()
    twin.flags.writeable = False
    return twin
