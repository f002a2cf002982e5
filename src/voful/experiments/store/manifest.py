"""What a results directory says about itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from voful.persistence import FileFormatError

if TYPE_CHECKING:
    from voful.experiments.study.study import Study

FORMAT = 1

Cell = dict[str, Any]


@dataclass
class Manifest:
    """The study as it was last declared, and the sessions that played it.

    Attributes
    ----------
    name, text
        Of the study; the text is the file's.
    step
        "round" or "episode".
    problems, policies
        Their definitions, in the order of the study; ``varied`` names parameters with a grid.
    runs
        Key -> (place of the problem, place of the policy, replicate).
    sessions
        One entry for each time that runs were played: versions, machine, commit, backend.
    """

    name: str
    text: str
    step: str
    problems: list[Cell]
    policies: list[Cell]
    runs: dict[str, tuple[int, int, int]]
    sessions: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, study: Study) -> Manifest:
        """The manifest of a study that nobody played yet."""
        problems = {problem.name: place for place, problem in enumerate(study.problems)}
        policies = {policy.name: place for place, policy in enumerate(study.contenders)}
        return cls(
            name=study.name,
            text=study.text,
            step=study.step,
            problems=[p.definition() | {"varied": list(p.varied)} for p in study.problems],
            policies=[p.definition() | {"varied": list(p.varied)} for p in study.contenders],
            runs={
                run.key: (problems[run.problem.name], policies[run.contender.name], run.replicate)
                for run in study.runs()
            },
        )

    def to_json(self) -> str:
        """As stored."""
        return json.dumps({"format": FORMAT, **vars(self)}, indent=1, default=str)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """As read."""
        stored = json.loads(text)
        if not isinstance(stored, dict):
            raise TypeError("no table")
        if stored.pop("format") > FORMAT:
            raise FileFormatError("manifest.json: written by a newer voful")
        stored["runs"] = {key: tuple(places) for key, places in stored["runs"].items()}
        manifest = cls(**stored)
        manifest._check()
        return manifest

    def _check(self) -> None:
        """TypeError or ValueError where something is of another kind than it should be."""
        if self.step not in ("round", "episode"):
            raise ValueError(f"step {self.step!r:.50}")
        for word in (self.name, self.text):
            if not isinstance(word, str):
                raise TypeError("a name or a text that is none")
        for side in (self.problems, self.policies):
            for cell in side:
                if not (isinstance(cell["name"], str) and cell["name"].isprintable()):
                    raise ValueError(f"the name {cell['name']!r:.50}")
                if not isinstance(cell["params"], dict) or not isinstance(cell["varied"], list):
                    raise TypeError("params or varied")
        sizes = len(self.problems), len(self.policies)
        for problem, policy, replicate in self.runs.values():
            places = [type(n) is int and n >= 0 for n in (problem, policy, replicate)]
            if not (all(places) and problem < sizes[0] and policy < sizes[1]):
                raise ValueError(f"the run {(problem, policy, replicate)!r:.50}")
        if not all(isinstance(session, dict) for session in self.sessions):
            raise TypeError("sessions")

    def label(self, key: str) -> tuple[str, str, int]:
        """(problem, policy, replicate) of a run."""
        problem, policy, replicate = self.runs[key]
        return self.problems[problem]["name"], self.policies[policy]["name"], replicate

    def varied(self, side: list[Cell]) -> dict[str, list[Any]]:
        """Parameter with a grid -> its value in each cell, None where a cell has none."""
        names = dict.fromkeys(name for cell in side for name in cell["varied"])
        return {name: _column([_parameter(cell, name) for cell in side]) for name in names}

    def merged(self, other: Manifest) -> Manifest:
        """The union of two; ValueError where they declare one run in two ways."""
        if self.step != other.step:
            raise ValueError(f"one study counts in {self.step}s, the other in {other.step}s")
        problems = _union(self.problems, other.problems)
        policies = _union(self.policies, other.policies)
        places = [{c["name"]: i for i, c in enumerate(side)} for side in (problems, policies)]
        runs: dict[str, tuple[int, int, int]] = {}
        known: dict[tuple[str, str, int], str] = {}
        for manifest in (self, other):
            for key in manifest.runs:
                problem, policy, replicate = label = manifest.label(key)
                if known.setdefault(label, key) != key:
                    raise ValueError(
                        f"run {problem}/{policy}/{replicate} is defined in two ways "
                        "(parameters, seed, code or version of the library differ)"
                    )
                runs[key] = (places[0][problem], places[1][policy], replicate)
        sessions = self.sessions + [s for s in other.sessions if s not in self.sessions]
        return Manifest(self.name, self.text, self.step, problems, policies, runs, sessions)


def _union(ours: list[Cell], theirs: list[Cell]) -> list[Cell]:
    names = {cell["name"] for cell in ours}
    return ours + [cell for cell in theirs if cell["name"] not in names]


def _parameter(cell: Cell, name: str) -> Any:
    if name in ("rounds", "episodes"):
        return cell.get("length")
    return cell["params"].get(name, cell.get(name))


def _column(values: list[Any]) -> list[Any]:
    """Values as they are where all are of one kind (numbers, words, truths), else as text."""
    kinds = {float if type(v) is int else type(v) for v in values if v is not None}
    if len(kinds) <= 1 and kinds <= {float, str, bool}:
        return values
    return [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
