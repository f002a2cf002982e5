"""The columns of a run's results and their types, checked where the run is played."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from voful import validation
from voful.experiments.play.loop import Columns

Type = Literal["number", "whole", "truth"]

TYPES: Mapping[str, Type] = {
    "round": "whole",
    "episode": "whole",
    "regret": "number",
    "sum_variance": "number",
    "plan_value": "number",
    "optimistic_value": "number",
    "plans": "whole",
    "in_set": "truth",
    "covered": "truth",
    "width": "number",
    "alarms": "whole",
    "optimistic": "truth",
    "select_time": "number",
    "plan_time": "number",
    "update_time": "number",
    "simulate_time": "number",
}
"""Every column that a loop records; None stands for what a run does not have."""

MAY_BE_MISSING = {"in_set", "covered", "width"}


def typed(columns: Columns) -> Columns:
    """The same columns with plain values of their types; an error that names the column if not.

    What a user's environment or set returns ends up here. A value of another type would make the
    results of the whole study unreadable; so it is this run that fails.
    """
    return {name: list(_values(name, column)) for name, column in columns.items()}


def _values(name: str, column: Iterable[Any]) -> Iterable[Any]:
    for value in column:
        if value is None and name in MAY_BE_MISSING:
            yield None
        elif TYPES[name] == "truth":
            yield validation.boolean(name, value)
        elif TYPES[name] == "whole":
            yield validation.nonnegative_int(name, value)
        else:
            yield validation.finite_float(name, value)
