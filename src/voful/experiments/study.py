"""A study is data: which policies meet which problems, how long and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


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

    def runs(self) -> list[Run]:
        """All runs; a run's numbers do not depend on which others there are."""
        return [
            Run(problem, contender, self.n_rounds, replicate, self.seed)
            for replicate in range(self.replicates)
            for problem in self.problems
            for contender in self.contenders
        ]
