"""Which problems of a study differ in nothing but one parameter."""

from __future__ import annotations

import json
from collections.abc import Sequence

from voful.experiments.manifest import Cell


def series_of(problems: Sequence[Cell], parameter: str = "sigma") -> dict[str, str]:
    """Name of each problem -> label of its series: problems alike in all but `parameter`.

    A label is made of the words that the names of its problems share; where that leaves two series
    alike, they are numbered.
    """
    members: dict[str, list[str]] = {}
    for problem in problems:
        rest = {name: value for name, value in problem["params"].items() if name != parameter}
        alike = [problem["family"], problem["length"], problem["code"], rest]
        members.setdefault(json.dumps(alike, sort_keys=True, default=str), []).append(
            problem["name"]
        )
    labels = [_shared_words(names) for names in members.values()]
    return {
        name: label if labels.count(label) == 1 else f"{label} ({place})".strip()
        for place, (label, names) in enumerate(zip(labels, members.values(), strict=True), 1)
        for name in names
    }


def _shared_words(names: list[str]) -> str:
    others = [set(name.split()) for name in names[1:]]
    return " ".join(w for w in names[0].split() if all(w in words for words in others))
