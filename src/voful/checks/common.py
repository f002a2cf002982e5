"""The checks of what policies and agents have alike: a `repr`, copies, files, a set, a limit."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from voful import persistence
from voful.checks.contract import NotApplicable, UnderTest, require, require_equal, violated
from voful.typing import ConfidenceSet, FloatArray


def check_repr(subject: UnderTest) -> None:
    """`repr` says what the object is, not where it lies in memory."""
    thing = subject.copy()
    text, name = repr(thing), type(thing).__name__
    require(name in text and " object at 0x" not in text, "repr", f"is {text}")
    require(len(text) > len(name) + 2, "repr", f"is {text}, which tells only the class")


def check_copies(subject: UnderTest, method: str, differently: str) -> None:
    """Copies act alike, and what one learns the other does not know."""
    one, two = subject.copy(), subject.copy()
    alike = subject.act_alike(one, two, subject.first, 3)
    require(alike, method, f"two copies of the {subject.kind} {differently}")
    subject.require_same(one, two, "update", "two copies learnt the same")
    before = subject.view(one)
    subject.play(copy.deepcopy(one), subject.future, 4)
    require_equal(before, subject.view(one), "deepcopy", "what a copy learnt changed its original")


def check_save_and_load(subject: UnderTest) -> None:
    """What is loaded goes on bit for bit where `save` left off."""
    thing = subject.played()
    if not hasattr(thing, "save"):
        raise NotApplicable("has no save")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, subject.kind)
        before = subject.view(thing)
        thing.save(path)
        require(os.path.isfile(path), "save", "wrote no file")
        require_equal(before, subject.view(thing), "save", f"changed the {subject.kind}")
        loaded = _load(type(thing), path) if subject.load is None else subject.load(path)
    require(type(loaded) is type(thing), "load", f"made a {type(loaded).__name__}")
    require(repr(loaded) == repr(thing), "load", f"made {loaded!r} of {thing!r}")
    subject.require_same(thing, loaded, "load", "not what was saved")


def _load(cls: type[Any], path: str) -> Any:
    if not issubclass(cls, persistence.Persistent):
        raise NotApplicable(f"{cls.__name__} is none of voful's; pass load= to read its files")
    return persistence.load(path, cls)


def check_limit(subject: UnderTest, lesson: str, most_refused: int, most_played: int) -> None:
    """Updates beyond the limit raise RuntimeError, a batch as a whole."""
    left, limit = subject.left, f"n_{subject.units}"
    if left is None:
        raise NotApplicable(f"no limit {limit}")
    if left > most_refused:
        raise NotApplicable(f"{limit} is {left} {subject.units} away")
    thing = subject.copy()
    lessons = subject.play(subject.copy(), subject.first, 1)
    many = [lessons[k % len(lessons)] for k in range(left + 1)]
    before = subject.view(thing)
    what = f"{left + 1} {lesson.split()[1]}s where {left} {subject.units} were left"
    _require_end(subject.batches, what, subject.teach_many, thing, many)
    beyond = f"{subject.batches} beyond {limit}"
    require_equal(before, subject.view(thing), beyond, "learnt something")
    if left <= most_played:
        subject.teach_many(thing, many[:left])  # the last one is accepted
        _require_end("update", f"{lesson} beyond {limit}", subject.teach, thing, *many[0])


def _require_end(method: str, what: str, call: Callable[..., None], *lessons: Any) -> None:
    try:
        call(*lessons)
    except RuntimeError:
        return
    violated(method, f"accepted {what}")


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
    if not isinstance(Theta, ConfidenceSet):
        violated("confidence_set", "is neither None nor a voful.typing.ConfidenceSet")
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


def check_interval(subject: UnderTest) -> None:
    """`interval` is (-support(-X), support(X)); rows do not depend on their company."""
    Theta, X = set_of(subject.played()), subject.questions()
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


def check_bad_questions(subject: UnderTest) -> None:
    """`contains` and `support` refuse what is no parameter and no matrix."""
    thing, d = subject.played(), subject.dim
    Theta = set_of(thing)
    bad = {"another dimension": np.zeros(d + 1), "NaN": np.full(d, np.nan), "None": None}
    for name, theta in bad.items():
        rows = None if theta is None else theta[np.newaxis]
        subject.require_refusal(thing, f"contains of {name}", Theta.contains, theta)
        subject.require_refusal(thing, f"support of {name}", Theta.support, rows)


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
