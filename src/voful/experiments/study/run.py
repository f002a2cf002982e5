"""One run as plain data: what defines it, its seeds, and the key of its results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from voful import registry
from voful.experiments.study.sources import library_digest
from voful.experiments.study.user_code import Code
from voful.registry import Kind

LINEAR_BANDIT = "linear_bandit"
REAL = "real"

KEY_VERSION = 2
"""Of `Run.key`: to be raised when this module or `play.execute` move numbers."""

PLAYED: Mapping[Kind, tuple[str, ...]] = {
    "bandit": ("voful.experiments.play.compiled_loop",),
    "episodic": ("voful.experiments.play.episodes", "voful.envs.mixture.families"),
}
"""Where loop and environment of each kind are."""

FAMILY_MODULES: Mapping[str, tuple[str, ...]] = {REAL: ("voful.envs.real",)}
"""Where families are that those do not import."""


class _Named:
    """A problem or a policy."""

    params: Mapping[str, Any]
    code: Code | None

    def definition(self) -> dict[str, Any]:
        """All that determines its numbers."""
        stated = {name: value for name, value in vars(self).items() if name != "varied"}
        return stated | {"params": dict(self.params), "code": self.code and self.code.digest}


@dataclass(frozen=True)
class Problem(_Named):
    """A named environment.

    Attributes
    ----------
    name
        In results and figures; the seeds of the environment come from it.
    params
        Arguments of the family but the seed.
    length
        Rounds, or episodes, of each run.
    family
        "linear_bandit", "real", a family of linear mixture MDPs, or code of the user's own.
    kind
        "bandit" plays rounds, "episodic" plays episodes.
    code
        The user's own, if `family` names it.
    varied
        Names of the parameters that come from a grid.
    """

    name: str
    params: Mapping[str, Any]
    length: int
    family: str = LINEAR_BANDIT
    kind: Kind = "bandit"
    code: Code | None = None
    varied: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contender(_Named):
    """A named policy: a registry id, or code of the user's own, and constructor arguments."""

    name: str
    id: str
    params: Mapping[str, Any] = field(default_factory=dict)
    code: Code | None = None
    varied: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One policy on one problem with one seed; plain data, so any process can play it.

    Not `compiled`, with the same numbers: the loop in Python, which need not be compiled first.
    """

    problem: Problem
    contender: Contender
    replicate: int
    study_seed: int
    record_at: tuple[int, ...] | None = None
    snapshots: int = 0
    compiled: bool = True

    @property
    def label(self) -> str:
        """problem/policy/replicate, for people and for ``--only``."""
        return f"{self.problem.name}/{self.contender.name}/{self.replicate}"

    @cached_property
    def key(self) -> str:
        """Hash of what the run executes: its place in the study, its seed, and the code."""
        own = self.contender.code is not None
        definition: dict[str, Any] = {
            "problem": self.problem.definition(),
            "policy": self.contender.definition(),
            "replicate": self.replicate,
            "seed": self.study_seed,
            "record_at": self.record_at,
            "library": library_digest(*self._modules()),
            "registered": None if own else dict(registry.lookup(self.contender.id).params),
            "version": KEY_VERSION,
        }
        if self.snapshots:
            definition["snapshots"] = self.snapshots
        text = json.dumps(definition, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def _modules(self) -> tuple[str, ...]:
        """Of the library, that the run starts from."""
        if self.problem.code or self.contender.code:  # may use anything
            return ("voful",)
        policy = registry.lookup(self.contender.id).module
        pictures = ("voful.experiments.play.snapshots",) if self.snapshots else ()
        family = FAMILY_MODULES.get(self.problem.family, ())
        return (policy, *PLAYED[self.problem.kind], *family, *pictures)

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
