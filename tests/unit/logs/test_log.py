from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voful import Log

H = np.array([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])


def test_rows_of_all_kinds() -> None:
    log = Log([0, 1, 0], [1, 0, 1], H)
    assert log.propensities.tolist() == [0.5, 0.8, 0.9]
    assert len(log) == 3
    assert log[1:].first_row == 1
    assert log[1:].propensities.tolist() == [0.8, 0.9]
    assert "propensities of all arms" in repr(log)
    ragged = Log([0, 2, 0], [1.0, 0.0, 1.0], [[1.0], [0.2, 0.3, 0.5], [0.5, 0.5]])
    assert ragged.law is not None
    assert ragged.law.tolist() == [[1, 0, 0], [0.2, 0.3, 0.5], [0.5, 0.5, 0]]


def test_features_of_the_arms_played() -> None:
    arms = np.arange(12.0).reshape(3, 2, 2)
    log = Log([0, 1, 0], [1, 0, 1], H, arms=arms)
    assert log.x.tolist() == [[0, 1], [6, 7], [8, 9]]
    assert log[1:].x.tolist() == [[6, 7], [8, 9]]
    shared = Log([0, 1, 0], [1, 0, 1], H, arms=arms[0])
    assert shared.x.tolist() == [[0, 1], [2, 3], [0, 1]]
    assert shared[2:].x.tolist() == [[0, 1]]
    ragged = Log([0, 1, 0], [1, 0, 1], [1, 0.5, 1], arms=[arms[0][:1], arms[1], arms[2][:1]])
    assert ragged.x.tolist() == [[0, 1], [6, 7], [8, 9]]
    assert ragged.arms_of(2, 2).shape == (1, 2)
    blocks = Log([0, 1, 0], [1, 0, 1], H, contexts=[[1, 2], [3, 4], [5, 6]])
    assert blocks.x.tolist() == [[1, 2, 0, 0], [0, 0, 3, 4], [5, 6, 0, 0]]
    assert blocks.arms_of(1, 4).tolist() == [[3, 4, 0, 0], [0, 0, 3, 4]]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"actions": [0, 2, 0]}, r"actions\[1\]: got 2; expected a whole number >= 0, less than"),
    ({"actions": [0, 1, -1]}, r"actions\[2\]: got -1"),
    ({"actions": [0.0, 1.0, 0.5]}, "actions"),
    ({"rewards": [0, np.nan, 0]}, r"rewards\[1\]: got nan; expected a finite number"),
    ({"rewards": [0, 1]}, "rewards: got an array of shape"),
    ({"propensities": [0.5, 0.0, 1.0]}, r"propensities\[1\]: got 0.0; expected .* in \(0, 1\]"),
    ({"propensities": [0.5, 0.1, 1.2]}, r"propensities\[2\]: got 1.2"),
    ({"propensities": [0.5, np.nan, 1.0]}, r"propensities\[1\]: got nan"),
    ({"propensities": [[0.5, 0.5], [0.2, 0.7], [0.9, 0.1]]}, r"propensities\[1\]: .* add up to 1"),
    ({"propensities": [[0.5, 0.5], [0.2, 0.8], [1.1, -0.1]]}, r"propensities\[2\]"),
    ({"propensities": "abc"}, "propensities"),
    ({"arms": np.ones((2, 2, 2))}, "arms: got an array of shape"),
    ({"arms": np.full((3, 2, 2), np.inf)}, r"arms\[0\]"),
    ({"arms": np.ones((3, 3, 2))}, "propensities: got an array of shape"),
    ({"contexts": np.ones((3, 2)), "arms": np.ones((3, 2, 2))}, "contexts: got both"),
    ({"contexts": [[1.0], [np.nan], [2.0]]}, r"contexts\[1\]"),
    ({"rewards": np.ma.masked_array([1.0, 2.0, 3.0])}, "mask of its own"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD, ids=lambda case: str(case)[:40])
def test_bad_rows_are_named(change: dict[str, Any], message: str) -> None:
    given = {"actions": [0, 1, 0], "rewards": [1, 0, 1], "propensities": H, **change}
    with pytest.raises((ValueError, TypeError), match=message):
        Log(**given)


def test_open_bandit_pipeline() -> None:
    feedback = {
        "action": np.array([0, 1, 1, 0]),
        "reward": np.array([1, 0, 0, 1]),
        "pscore": np.array([0.5, 0.25, 0.5, 0.5]),
        "position": np.array([0, 1, 0, 1]),
        "context": np.ones((4, 2)),
    }
    log = Log.from_obp(feedback, position=1)
    assert log.actions.tolist() == [1, 0]
    assert log.propensities.tolist() == [0.25, 0.5]
    assert log.contexts is not None
    with pytest.raises(ValueError, match=r"position: got None; expected one of \[0, 1\]"):
        Log.from_obp(feedback)
    with pytest.raises(ValueError, match="'pscore'"):
        Log.from_obp({"action": [1], "reward": [1]})
    assert len(Log.from_obp({**feedback, "position": None})) == 4


def decision(**change: Any) -> str:
    told = {
        "_label_cost": -1.0,
        "_labelIndex": 2,
        "a": [3, 1, 2],
        "p": [0.5, 0.3, 0.2],
        "c": {"_multi": [{"x": 1}, {"x": 2}, {"x": 3}]},
        **change,
    }
    return json.dumps(told) + "\n"


def test_decision_service_json(tmp_path: Path) -> None:
    path = tmp_path / "log.dsjson"
    path.write_text(decision() + decision(a=[1, 2], p=[0.9, 0.1], _labelIndex=0, _label_cost=0))
    log = Log.from_dsjson(path)
    assert log.law is not None
    assert log.law.tolist() == [[0.3, 0.2, 0.5], [0.9, 0.1, 0.0]]
    assert log.actions.tolist() == [2, 0]
    assert log.rewards.tolist() == [1.0, 0.0]
    path.write_text(decision())
    seen = Log.from_dsjson(path, features=lambda c: [[arm["x"]] for arm in c["_multi"]])
    assert seen.x.tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (decision(pdrop=0.5), "line 1: got 'pdrop 0.5'; expected a log without dropped lines"),
        (decision(_outcomes=[]), "slots are not supported"),
        (decision(c={"_slots": []}), "slots are not supported"),
        (decision(_labelIndex=0), "_labelIndex: got 0; expected 2"),
        (decision(a=[1, 1, 2]), "line 1: a: got"),
        ("{", "JSON"),
        ("[1]\n", "an object"),
        ("\n", "at least one decision"),
        ("{}\n", "'_label_cost'"),
    ],
)
def test_decisions_that_are_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "log.dsjson"
    path.write_text(line)
    with pytest.raises(ValueError, match=message):
        Log.from_dsjson(path)
