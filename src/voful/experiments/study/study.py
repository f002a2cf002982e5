"""A study is data: which policies meet which problems, how long and how often."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from voful import registry, validation
from voful.experiments.play.execute import FAMILIES
from voful.experiments.play.snapshots import DIM
from voful.experiments.study import user_code
from voful.experiments.study.grid import Cell, expand
from voful.experiments.study.run import LINEAR_BANDIT, Contender, Problem, Run
from voful.experiments.study.user_code import Code
from voful.registry import Kind

STEPS: dict[Kind, str] = {"bandit": "round", "episodic": "episode"}
"""What each kind of problem counts in; the column of that name says how far a run is."""


@dataclass(frozen=True)
class Study:
    """Every contender on every problem, `replicates` times.

    Attributes
    ----------
    name
        In captions.
    problems, contenders
        All of one kind, with distinct names.
    replicates
        Seeds of each cell.
    seed
        Everything random comes from it.
    record_at
        Rounds (or episodes) to record; None: log-spaced.
    snapshots
        Pictures of the first replicate on bandit problems of dimension 2: about so many rounds,
        log-spaced.
    text
        The file that it was read from.
    compiled
        Whether runs may be played by the compiled loop.
    """

    name: str
    problems: tuple[Problem, ...]
    contenders: tuple[Contender, ...]
    replicates: int
    seed: int = 0
    record_at: tuple[int, ...] | None = None
    text: str = ""
    snapshots: int = 0
    compiled: bool = True

    @property
    def step(self) -> str:
        """What the runs are counted in: "round" or "episode"."""
        return STEPS[self.problems[0].kind]

    def runs(self) -> list[Run]:
        """All runs; a run's numbers do not depend on which others there are."""
        return [
            Run(
                problem,
                contender,
                replicate,
                self.seed,
                self.record_at,
                self.snapshots if replicate == 0 and may_be_drawn(problem) else 0,
                self.compiled,
            )
            for replicate in range(self.replicates)
            for problem in self.problems
            for contender in self.contenders
        ]


def may_be_drawn(problem: Problem) -> bool:
    """Whether runs on it can take snapshots, as far as its parameters tell."""
    return problem.kind == "bandit" and problem.params.get("dim", DIM) == DIM


# --- what a file may say ----------------------------------------------------------------------

MOST_STEPS = 10**10  # months of any policy
MOST_RUNS = 10**6
LONGEST_NAME = 200
_COUNT = "a whole number >= 1, at most 10^10"
Count = Annotated[int, Field(ge=1, le=MOST_STEPS, description=_COUNT)]
Name = Annotated[str, Field(min_length=1, max_length=1000, description="a word or two, in quotes")]
Tables = Annotated[list[dict[str, Any]], Field(min_length=1)]


class _StudyFile(BaseModel, strict=True, extra="forbid"):
    """The keys of a study; tables are read cell by cell, once their grids are expanded."""

    name: Name
    rounds: Count | None = Field(None, description=_COUNT)
    episodes: Count | None = Field(None, description=_COUNT)
    replicates: Count = Field(description=_COUNT)
    seed: int = Field(0, ge=0, description="a whole number >= 0")
    record_at: list[Count] | None = Field(
        None, min_length=1, description="a list of rounds (or episodes), each >= 1"
    )
    snapshots: int = Field(0, ge=0, description="a whole number >= 0")
    problem: Tables = Field(description="one or more tables [[problem]]")
    policy: Tables = Field(description="one or more tables [[policy]]")


class _ProblemTable(BaseModel, strict=True, extra="allow"):
    """The keys of a problem besides the family's arguments."""

    family: Name = Field(LINEAR_BANDIT, description="a family, file.py:Name or module:Name")
    rounds: Count | None = Field(None, description=_COUNT)
    episodes: Count | None = Field(None, description=_COUNT)


class _PolicyTable(BaseModel, strict=True, extra="allow"):
    """The keys of a policy besides the constructor's arguments."""

    id: Name = Field(description="an id (voful list), file.py:Class or module:Class")


def read_study(path: str | Path) -> Study:
    """Read a declared study (docs/howto/studies.md has the format).

    Raises
    ------
    ValueError
        Names the file, the key, what came, what is allowed, and the nearest valid name.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        return parse_study(text, path.parent)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def parse_study(text: str, directory: Path = Path()) -> Study:
    """The study of a text; code of the user's own is looked up from `directory`."""
    declared = _checked(_StudyFile, tomllib.loads(text), "")
    kind = _kind(declared)
    length = declared.rounds if kind == "bandit" else declared.episodes
    problems = tuple(
        _problem(cell, kind, length, directory) for cell in _cells("problem", declared.problem)
    )
    contenders = tuple(
        _contender(cell, kind, directory) for cell in _cells("policy", declared.policy)
    )
    n_runs = declared.replicates * len(problems) * len(contenders)
    if n_runs > MOST_RUNS:
        allowed = f"at most {MOST_RUNS} runs in a study, not {n_runs}"
        raise validation.fail("replicates", declared.replicates, allowed)
    names = [*(side.name for side in problems), *(side.name for side in contenders)]
    for name in (declared.name, *names):
        if not name.isprintable() or len(name) > LONGEST_NAME:
            allowed = f"at most {LONGEST_NAME} characters that can be printed"
            raise validation.fail("name", name, allowed)
    for which, sides in (("problem", problems), ("policy", contenders)):
        _check_distinct(which, [side.name for side in sides])
    points = None if declared.record_at is None else tuple(sorted(set(declared.record_at)))
    for problem in problems:
        if points is not None and points[-1] > problem.length:
            allowed = f"at most {problem.length}, the {STEPS[kind]}s of {problem.name}"
            raise validation.fail("record_at", points[-1], allowed)
    if declared.snapshots and not any(may_be_drawn(problem) for problem in problems):
        allowed = "0 in a study without a bandit problem of dim = 2"
        raise validation.fail("snapshots", declared.snapshots, allowed)
    return Study(
        declared.name,
        problems,
        contenders,
        declared.replicates,
        declared.seed,
        points,
        text,
        declared.snapshots,
    )


def _kind(declared: _StudyFile) -> Kind:
    """A study plays rounds or episodes, whichever it (or each of its problems) counts."""
    tables = [declared.model_dump(include={"rounds", "episodes"}), *declared.problem]
    counted = {
        kind for kind, step in STEPS.items() if any(t.get(f"{step}s") is not None for t in tables)
    }
    if len(counted) == 2:
        raise ValueError("rounds, episodes: got both; expected one of them in a study")
    if not counted:
        raise ValueError(f"rounds: missing; expected {_COUNT} (or episodes, for MDPs)")
    return counted.pop()


def _cells(which: str, tables: Iterable[dict[str, Any]]) -> list[Cell]:
    return [
        cell for place, table in enumerate(tables, 1) for cell in expand(table, f"{which} {place}")
    ]


def _problem(cell: Cell, kind: Kind, length: int | None, directory: Path) -> Problem:
    table = _checked(_ProblemTable, cell.table, cell.where)
    params = dict(table.model_extra or {})
    own = _code(table.family, "family", cell, directory)
    families = FAMILIES[kind]
    if own is None and table.family not in families:
        raise _unknown(f"{cell.where}: family", table.family, families)
    factory = families[table.family] if own is None else _load(own, cell)
    _check_arguments(factory, params, cell, reserved=("seed",))
    if cell.name is None:
        raise ValueError(f"{cell.where}: name: missing; expected in every [[problem]]")
    own_length = table.rounds if kind == "bandit" else table.episodes
    length = own_length or length
    if length is None:
        raise ValueError(f"{cell.where}: {STEPS[kind]}s: missing; expected {_COUNT}")
    return Problem(cell.name, params, length, table.family, kind, own, cell.varied)


def _contender(cell: Cell, kind: Kind, directory: Path) -> Contender:
    table = _checked(_PolicyTable, cell.table, cell.where)
    params = dict(table.model_extra or {})
    own = _code(table.id, "id", cell, directory)
    if own is None:
        ids = [entry.id for entry in registry.entries(kind)]
        if table.id not in ids:
            raise _unknown(f"{cell.where}: id", table.id, ids)
        cls: Callable[..., Any] = registry.lookup(table.id).cls
    else:
        cls = _load(own, cell)
        _check_policy(cls, kind, own, cell)
    subject = (registry.keywords(cls) or ())[:1]  # dim, or the model
    _check_arguments(cls, params, cell, reserved=("seed", *subject))
    default = table.id if own is None else own.name
    return Contender(cell.named(default), table.id, params, own, cell.varied)


# --- errors in one voice ----------------------------------------------------------------------


def _checked(model: type[BaseModel], table: dict[str, Any], where: str) -> Any:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
    prefix = f"{where}: " if where else ""
    key = ".".join(str(part) for part in first["loc"] if isinstance(part, (str, int)))
    top = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        raise _unknown(f"{prefix}key", top, model.model_fields)
    allowed = model.model_fields[top].description or _COUNT
    if first["type"] == "missing":
        raise ValueError(f"{prefix}{key}: missing; expected {allowed}")
    raise validation.fail(f"{prefix}{key}", first["input"], allowed)


def _unknown(what: str, got: str, allowed: Iterable[str]) -> ValueError:
    words = list(allowed)
    near = difflib.get_close_matches(got, words, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return validation.fail(what, got, "one of " + ", ".join(words) + hint)


def _code(reference: str, key: str, cell: Cell, directory: Path) -> Code | None:
    if not user_code.is_code(reference):
        return None
    try:
        return user_code.find(reference, directory)
    except ValueError as error:
        raise ValueError(f"{cell.where}: {key}: {error}") from None


def _load(own: Code, cell: Cell) -> Callable[..., Any]:
    try:
        return own.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a file that calls sys.exit must not end the study in silence
        message = f"{type(error).__name__}: {str(error)[:500]}"
        raise ValueError(f"{cell.where}: {own.reference} does not load: {message}") from error


_METHODS: dict[Kind, tuple[str, ...]] = {
    "bandit": ("select", "update"),
    "episodic": ("plan", "update"),
}


def _check_policy(cls: Callable[..., Any], kind: Kind, own: Code, cell: Cell) -> None:
    missing = [name for name in _METHODS[kind] if not callable(getattr(cls, name, None))]
    if isinstance(cls, type) and missing:
        raise ValueError(
            f"{cell.where}: {own.reference} has no {' and no '.join(missing)}; "
            f"expected {', '.join(_METHODS[kind])} and confidence_set (a set or None)"
        )


def _check_arguments(
    factory: Callable[..., Any], params: dict[str, Any], cell: Cell, reserved: tuple[str, ...]
) -> None:
    accepted = registry.keywords(factory)
    if accepted is None:
        return
    allowed = [name for name in accepted if name not in reserved]
    for name in params:
        if name not in allowed:
            raise _unknown(f"{cell.where}: key", name, allowed)


def _check_distinct(which: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{which}: got the name {name!r} twice; expected distinct names")
