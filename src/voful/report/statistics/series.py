"""Which problems of a study differ in nothing but their noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

NOISE = ("sigma", "sigma_low", "sigma_high", "direction", "noise")


def series_of(problems: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name of each problem -> label of its series: those that differ in nothing but their noise.

    A label is made of the words that the names of its problems share; where that leaves two series
    alike, they are numbered.
    """
    groups = _alike_but_for_noise(problems)
    labels = [_shared_words(names) for names in groups]
    return {
        name: label if labels.count(label) == 1 else f"{label} ({place})".strip()
        for place, (label, names) in enumerate(zip(labels, groups, strict=True), 1)
        for name in names
    }


def _alike_but_for_noise(problems: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for problem in problems:
        rest = {k: v for k, v in problem["params"].items() if k not in NOISE}
        key = {k: problem.get(k) for k in ("family", "kind", "length", "code")} | {"params": rest}
        text = json.dumps(key, sort_keys=True, default=str)
        groups.setdefault(text, []).append(problem["name"])
    return list(groups.values())


def _shared_words(names: list[str]) -> str:
    others = [set(name.split()) for name in names[1:]]
    return " ".join(w for w in names[0].split() if all(w in words for words in others))
