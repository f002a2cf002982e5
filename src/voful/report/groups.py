"""Problems that belong together in a figure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

NOISE = ("sigma", "sigma_low", "sigma_high", "direction", "noise")

REFERENCES = ("oful", "ucrl-vtr")


def reference_of(policies: Sequence[str]) -> str:
    """The policy that others are compared with: the classic one if it is there, or the first."""
    return next((policy for policy in REFERENCES if policy in policies), policies[0])


def differing_in_noise(problems: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Names of problems that differ in nothing but their noise, by groups of three or more.

    Regret against the variance means something within such a group only.
    """
    groups: dict[str, list[str]] = {}
    for problem in problems:
        rest = {k: v for k, v in problem["params"].items() if k not in NOISE}
        key = {k: problem.get(k) for k in ("family", "kind", "length", "code")} | {"params": rest}
        text = json.dumps(key, sort_keys=True, default=str)
        groups.setdefault(text, []).append(problem["name"])
    return [names for names in groups.values() if len(names) > 2]
