"""Logs of other libraries: Open Bandit Pipeline's dictionary, Vowpal Wabbit's decision service."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from voful.logs.log import Log
from voful.typing import Path
from voful.validation import fail


def from_obp(feedback: dict[str, Any], position: int | None) -> Log:
    """action, reward, pscore; of several positions one."""
    missing = [name for name in ("action", "reward", "pscore") if feedback.get(name) is None]
    if missing:
        raise fail("feedback", sorted(feedback), f"a dictionary with {missing[0]!r}")
    actions, rewards = np.asarray(feedback["action"]), np.asarray(feedback["reward"])
    pscore = np.asarray(feedback["pscore"])
    kept: Any = slice(None)
    shown = feedback.get("position")
    if shown is not None and len(found := np.unique(shown)) > 1:
        if position is None:
            raise fail("position", None, f"one of {found.tolist()}: each is a decision of its own")
        kept = np.asarray(shown) == position
        if not kept.any():
            raise fail("position", position, f"one of {found.tolist()}")
    context = feedback.get("context")
    contexts = None if context is None else np.asarray(context)[kept]
    return Log(actions[kept], rewards[kept], pscore[kept], contexts=contexts)


def from_dsjson(path: Path, features: Callable[[Any], Any] | None) -> Log:
    """Cost, chosen action and propensities of each line, reordered to the order of the actions.

    ``a`` lists actions from 1 in the order of their probabilities ``p``, the chosen one first.
    """
    actions: list[int] = []
    rewards: list[float] = []
    laws: list[list[float]] = []
    arms: list[Any] = []
    with open(path, encoding="utf-8") as lines:
        for row, line in enumerate(lines):
            if line.strip():
                told = _decision(line, row)
                a, p = told["a"], told["p"]
                law = [0.0] * len(p)
                for action, probability in zip(a, p, strict=True):
                    law[action - 1] = float(probability)
                actions.append(told["_labelIndex"])
                rewards.append(-float(told["_label_cost"]))
                laws.append(law)
                if features is not None:
                    arms.append(np.asarray(features(told["c"]), dtype=np.float64))
    if not actions:
        raise fail("log", str(path), "at least one decision")
    return Log(actions, rewards, laws, arms=arms if features is not None else None)


def _decision(line: str, row: int) -> dict[str, Any]:
    place = f"line {row + 1}"
    try:
        told = json.loads(line)
    except ValueError:
        raise fail(place, line, "JSON") from None
    if not isinstance(told, dict):
        raise fail(place, told, "an object")
    if "_outcomes" in told or (isinstance(told.get("c"), dict) and "_slots" in told["c"]):
        raise fail(place, "slots", "one decision a line: slots are not supported")
    if told.get("pdrop"):
        raise fail(place, f"pdrop {told['pdrop']}", "a log without dropped lines")
    for name in ("_label_cost", "_labelIndex", "a", "p"):
        if name not in told:
            raise fail(place, sorted(told), f"{name!r}")
    a, p = told["a"], told["p"]
    if sorted(a) != list(range(1, len(p) + 1)):
        raise fail(f"{place}: a", a, f"the numbers 1 to {len(p)}, one for each p")
    if a[0] - 1 != told["_labelIndex"]:
        raise fail(f"{place}: _labelIndex", told["_labelIndex"], f"{a[0] - 1}, as a says")
    return told
