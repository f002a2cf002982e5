"""A study is data: which policies meet which problems, how long and how often."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voful import registry, validation


@dataclass(frozen=True)
class Problem:
    """A named environment: the arguments of `voful.envs.linear_bandit` but the seed."""

    name: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """A named policy: a registry id and constructor arguments beside dim and reward_range."""

    name: str
    id: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One policy on one problem with one seed; plain data, so any process can play it."""

    problem: Problem
    contender: Contender
    n_rounds: int
    replicate: int
    study_seed: int
    record_at: tuple[int, ...] | None = None

    def environment_seed(self) -> np.random.SeedSequence:
        """Shared by all policies on this problem and replicate, so that they are paired."""
        return self._seed("environment", self.problem.name)

    def policy_seed(self) -> np.random.SeedSequence:
        """One stream per (environment, policy, replicate)."""
        return self._seed("policy", self.problem.name, self.contender.name)

    def _seed(self, *labels: str) -> np.random.SeedSequence:
        digest = hashlib.sha256("\0".join(labels).encode()).digest()
        words = np.frombuffer(digest[:16], dtype="<u4").tolist()
        return np.random.SeedSequence([self.study_seed, self.replicate, *words])


@dataclass(frozen=True)
class Study:
    """Every contender on every problem, `replicates` times."""

    name: str
    problems: tuple[Problem, ...]
    contenders: tuple[Contender, ...]
    n_rounds: int
    replicates: int
    seed: int = 0
    record_at: tuple[int, ...] | None = None

    def runs(self) -> list[Run]:
        """All runs; a run's numbers do not depend on which others there are."""
        return [
            Run(problem, contender, self.n_rounds, replicate, self.seed, self.record_at)
            for replicate in range(self.replicates)
            for problem in self.problems
            for contender in self.contenders
        ]


def read_study(path: str | Path) -> Study:
    """Read a declared study.

    Keys: ``name``, ``rounds``, ``replicates``, and optionally ``seed`` and ``record_at``; tables
    ``[[problem]]`` (a name and arguments of `voful.envs.linear_bandit`) and ``[[policy]]`` (a
    registry id, optionally a name, and constructor arguments).
    """
    path = Path(path)
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None
    try:
        return _study(declared)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def _study(declared: dict[str, Any]) -> Study:
    known = ("name", "rounds", "replicates", "seed", "record_at", "problem", "policy")
    for key in declared:
        validation.choice("key", key, known)
    for key in ("name", "rounds", "replicates", "problem", "policy"):
        if key not in declared:
            raise ValueError(f"{key}: missing; expected in every study")
    for key in ("problem", "policy"):
        tables = declared[key]
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise validation.fail(key, tables, f"one or more tables [[{key}]]")
    problems = tuple(
        Problem(str(_take(table, "name", "problem")), table)
        for table in map(dict, declared["problem"])
    )
    contenders = []
    for table in map(dict, declared["policy"]):
        id = registry.lookup(_take(table, "id", "policy")).id
        contenders.append(Contender(str(table.pop("name", id)), id, table))
    for kind, names in (("problem", problems), ("policy", contenders)):
        if len({item.name for item in names}) < len(names):
            raise ValueError(f"{kind}: two have the same name; expected distinct names")
    points = declared.get("record_at")
    return Study(
        name=str(declared["name"]),
        problems=problems,
        contenders=tuple(contenders),
        n_rounds=validation.positive_int("rounds", declared["rounds"]),
        replicates=validation.positive_int("replicates", declared["replicates"]),
        seed=validation.nonnegative_int("seed", declared.get("seed", 0)),
        record_at=None
        if points is None
        else tuple(validation.positive_int("record_at", point) for point in points),
    )


def _take(table: dict[str, Any], key: str, where: str) -> Any:
    if key not in table:
        raise ValueError(f"{where}.{key}: missing; expected in every [[{where}]]")
    return table.pop(key)
