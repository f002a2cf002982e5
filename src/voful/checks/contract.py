"""What the checks of policies and of agents share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

from voful import persistence
from voful.typing import ConfidenceSet, FloatArray

Subject = TypeVar("Subject")


class ContractError(AssertionError):
    """The object does something that the contract forbids; the message says what."""


class NotApplicable(Exception):
    """A check asks for something that this object does not have."""


def run(checks: Iterable[Callable[[Subject], None]], subject: Subject) -> dict[str, str]:
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


def require_refusal(
    look: Callable[[], Mapping[str, object]],
    subject: str,
    method: str,
    call: Callable[..., object],
    *bad: Any,
    **named: Any,
) -> None:
    """Bad input raises ValueError or TypeError, and what `look` sees stays as it was."""
    before = look()
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
    require_equal(before, look(), method, f"changed the {subject}")


def arrays_of(thing: Any) -> dict[str, object]:
    """The arrays and the random generator of objects that keep them as voful's do."""
    if not hasattr(thing, "state"):
        return {}
    seen: dict[str, object] = {name: array.tobytes() for name, array in thing.state().items()}
    if hasattr(thing, "_rng"):
        seen["random generator"] = str(thing._rng.bit_generator.state)
    return seen


def saved_and_loaded(
    thing: Any,
    subject: str,
    look: Callable[[], Mapping[str, object]],
    load: Callable[[str], Any] | None,
) -> Any:
    """What comes out of the file that `save` wrote."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, subject)
        before = look()
        thing.save(path)
        require(os.path.isfile(path), "save", "wrote no file")
        require_equal(before, look(), "save", f"changed the {subject}")
        loaded = _load(type(thing), path) if load is None else load(path)
    require(type(loaded) is type(thing), "load", f"made a {type(loaded).__name__}")
    require(repr(loaded) == repr(thing), "load", f"made {loaded!r} of {thing!r}")
    return loaded


def _load(cls: type[Any], path: str) -> Any:
    if not issubclass(cls, persistence.Persistent):
        raise NotApplicable(f"{cls.__name__} is none of voful's; pass load= to read its files")

    def find(name: str) -> type[persistence.Persistent]:
        if name != cls.__name__:
            raise ValueError(f"holds a {name}, not a {cls.__name__}")
        return cls

    return persistence.load(path, find)


def require_repr(thing: Any) -> None:
    """`repr` says what the object is, not where it lies in memory."""
    text, name = repr(thing), type(thing).__name__
    require(name in text and " object at 0x" not in text, "repr", f"is {text}")
    require(len(text) > len(name) + 2, "repr", f"is {text}, which tells only the class")


# --- confidence sets --------------------------------------------------------------------------


def set_of(thing: Any) -> ConfidenceSet:
    """The confidence set of a policy or agent that has one."""
    Theta: ConfidenceSet | None = thing.confidence_set
    if Theta is None:
        raise NotApplicable("confidence_set is None")
    return Theta


def require_set(Theta: object, dim: int, owner: str) -> None:
    """None, or a confidence set of the right dimension."""
    if Theta is None:
        return
    is_set = isinstance(Theta, ConfidenceSet)
    require(is_set, "confidence_set", "is neither None nor a voful.typing.ConfidenceSet")
    assert isinstance(Theta, ConfidenceSet)
    require(Theta.dim == dim, "confidence_set", f"has dim {Theta.dim}, the {owner} {dim}")


def require_support(
    Theta: ConfidenceSet, X: FloatArray, members: Iterable[FloatArray]
) -> FloatArray:
    """`support` is finite and bounds every member; returns it."""
    upper = np.asarray(Theta.support(X))
    expected = (len(X),)
    require(upper.shape == expected, "support", f"returned shape {upper.shape} for {len(X)} rows")
    require(np.isfinite(upper).all(), "support", "is not finite")
    slack = 1e-8 * (1.0 + np.abs(upper))
    for theta in members:
        below = X @ theta <= upper + slack
        require(below.all(), "support", f"is below <x, theta> of the member theta = {theta}")
    return upper


def require_interval(Theta: ConfidenceSet, X: FloatArray) -> None:
    """`interval` is (-support(-X), support(X)); rows do not depend on their company."""
    lower, upper = Theta.interval(X)
    for name, ends, support in (
        ("upper", upper, Theta.support(X)),
        ("lower", lower, -Theta.support(-X)),
    ):
        close = np.allclose(ends, support, rtol=1e-9, atol=1e-12)
        require(close, "interval", f"its {name} end is not that of support")
    require((lower <= upper).all(), "interval", "lower is above upper")
    alone = np.array([Theta.support(x[np.newaxis])[0] for x in X])
    require(np.allclose(alone, upper, rtol=1e-9, atol=1e-12), "support", "depends on other rows")
    center = np.asarray(Theta.center)
    require(center.shape == (Theta.dim,), "center", f"has shape {center.shape}")
    require(np.isfinite(center).all(), "center", "is not finite")


def bad_questions(dim: int) -> dict[str, Any]:
    """What is no parameter, by name."""
    return {
        "another dimension": np.zeros(dim + 1),
        "NaN": np.full(dim, np.nan),
        "None": None,
    }


def directions(rng: np.random.Generator, n: int, dim: int) -> FloatArray:
    """Random points on the unit sphere."""
    points = rng.standard_normal((n, dim))
    unit: FloatArray = points / np.linalg.norm(points, axis=1, keepdims=True) if dim else points
    return unit


def sampled_members(
    Theta: ConfidenceSet, rng: np.random.Generator, n: int = 200, *, radius: float = 1.0
) -> list[FloatArray]:
    """Members of a set: points of a ball and of ever smaller ones about the centre, filtered."""
    scales = radius * np.geomspace(1e-3, 1.0, n)[:, np.newaxis]
    steps = scales * directions(rng, n, Theta.dim)
    return [theta for theta in (*steps, *(Theta.center + steps)) if Theta.contains(theta)]
