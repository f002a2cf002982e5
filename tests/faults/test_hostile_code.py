"""Code of the user's own that misbehaves: it costs its own runs, and says why."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from inline import Inline, inline

import voful
from voful.experiments.play.columns import TYPES, typed
from voful.experiments.play.execute import LONGEST_ERROR, Outcome
from voful.experiments.runner import runner
from voful.experiments.runner.interrupts import listening
from voful.experiments.runner.runner import run_study
from voful.experiments.store.store import Store
from voful.experiments.study.run import Run
from voful.experiments.study.study import parse_study

CODE = """
import sys
import numpy as np
from voful import OFUL, envs

class Set:
    def __init__(self, answer):
        self.contains = lambda theta: answer

class WithSet(OFUL):
    answer = True
    @property
    def confidence_set(self):
        return Set(self.answer)
    def _index(self, arms):
        raise NotImplementedError
    def select(self, arms, mask=None):
        return 0
    def update(self, x, reward):
        pass

class OnlyContains(WithSet):
    pass

class ZeroDim(WithSet):
    answer = np.array(True)

class NaN(WithSet):
    answer = float("nan")

class Nothing(WithSet):
    answer = None

class OneElement(WithSet):
    answer = np.array([True])

class Talks(WithSet):
    def select(self, arms, mask=None):
        raise ValueError("x" * 50_000_000)

class Exits(WithSet):
    def select(self, arms, mask=None):
        sys.exit(0)

class bandit:
    def __init__(self, seed, convert):
        self.env = envs.linear_bandit(dim=2, seed=seed)
        self.convert = {
            "whole": int, "zero": np.array, "one": lambda v: np.ones(1), "nan": lambda v: np.nan
        }[convert]

    def __getattr__(self, name):
        return getattr(self.env, name)

    def pull(self, *args):
        new = {"mean": self.convert(0.0), "variance": self.convert(1.0)}
        return self.env.pull(*args)._replace(**new)
"""

STUDY = """
name = "hostile"
rounds = 10
replicates = 1
problem = [{problems}]
policy = [{policies}]
"""


@pytest.fixture(autouse=True)
def in_this_process(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "mine.py").write_text(CODE)
    with inline():
        yield


def study(tmp_path: Path, policies: str, problems: str = '{ name = "p", dim = 2 }') -> Any:
    return parse_study(STUDY.format(policies=policies, problems=problems), tmp_path)


def test_sets_of_the_users_own(tmp_path: Path) -> None:
    names = ["OnlyContains", "ZeroDim", "NaN", "Nothing", "OneElement", "Talks", "Exits"]
    policies = ", ".join(f'{{ id = "mine.py:{name}" }}' for name in names)
    summary = run_study(study(tmp_path, policies + ', { id = "oful" }'), tmp_path / "out")
    assert sorted(summary.failed) == sorted(f"p/{name}/0" for name in names[2:])
    told = {f["run"]: f["traceback"] for f in Store(tmp_path / "out").failures().values()}
    for name in ("NaN", "Nothing", "OneElement"):
        assert "confidence_set.contains: got" in told[f"p/{name}/0"]
    assert len(told["p/Talks/0"]) <= LONGEST_ERROR + 100
    assert "SystemExit" in told["p/Exits/0"]
    frame = voful.results(tmp_path / "out")
    assert sorted(frame["policy"].unique().to_list()) == ["OnlyContains", "ZeroDim", "oful"]
    assert frame.filter(frame["policy"] == "OnlyContains")["covered"].all()


def test_environments_that_store_other_types(tmp_path: Path) -> None:
    """Whole numbers and 0-d arrays are numbers; others fail, and only their own runs."""
    problems = ", ".join(
        f'{{ name = "{kind}", family = "mine.py:bandit", convert = "{kind}" }}'
        for kind in ("whole", "zero", "one", "nan")
    )
    declared = study(tmp_path, '{ id = "oful" }, { id = "ucb-v" }', problems)
    summary = run_study(declared, tmp_path / "out")
    assert {label.split("/")[0] for label in summary.failed} == {"one", "nan"}
    told = [failure["traceback"] for failure in Store(tmp_path / "out").failures().values()]
    assert all("regret: got" in text for text in told)
    assert voful.results(tmp_path / "out")["regret"].dtype == pl.Float64
    assert run_study(declared, tmp_path / "out").stored == 4


@pytest.mark.parametrize(
    "value",
    [
        np.nan,
        np.inf,
        None,
        "1",
        [1.0],
        np.array([1.0]),
        np.array([[1.0]]),
        1j,
        np.ma.masked,
        object(),
    ],
)
def test_a_matrix_of_odd_values(value: Any) -> None:
    for name in TYPES:
        if value is None and name in ("in_set", "covered", "width"):
            continue
        with pytest.raises((ValueError, TypeError), match=name):
            typed({name: [value]})


def test_values_that_are_fine() -> None:
    assert typed({"regret": [1, np.float32(2.0), np.array(3.0)]}) == {"regret": [1.0, 2.0, 3.0]}
    assert typed({"in_set": [np.bool_(True), None]}) == {"in_set": [True, None]}
    assert typed({"plans": [np.int32(4)]}) == {"plans": [4]}


@pytest.mark.parametrize("how", ["sys.exit(0)", "raise SystemExit", "raise GeneratorExit"])
def test_a_file_that_exits_is_an_error(tmp_path: Path, how: str) -> None:
    (tmp_path / "mine.py").write_text(f"import sys\n{how}\n")
    with pytest.raises(ValueError, match=r"mine\.py:A does not load"):
        study(tmp_path, '{ id = "mine.py:A" }')


def test_runs_lost_with_a_node_are_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = 0

    class Unlucky(Inline):
        def next_finished(self) -> tuple[Run, Outcome]:
            nonlocal lost
            lost += 1
            if lost <= 4:
                return self.queue.pop(), Outcome(None, "the node died", lost=True)
            return super().next_finished()

    monkeypatch.setattr(runner, "make_backend", lambda *arguments: Unlucky())
    summary = run_study(study(tmp_path, '{ id = "oful" }'), tmp_path / "out")
    assert (summary.played, summary.failed) == (1, ())
    lost = -(10**9)  # a run that kills every node is a failure in the end
    summary = run_study(study(tmp_path, '{ id = "ucb-v" }'), tmp_path / "never")
    assert summary.failed == ("p/ucb-v/0",)


def test_ctrl_c_that_python_swallowed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Swallows(Inline):
        def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
            with contextlib.suppress(KeyboardInterrupt):  # as in a destructor
                signal.raise_signal(signal.SIGINT)
            return super().open(rehearsal)

    monkeypatch.setattr(runner, "make_backend", lambda *arguments: Swallows())
    with pytest.raises(KeyboardInterrupt):
        run_study(study(tmp_path, '{ id = "oful" }'), tmp_path / "out")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with listening() as stop:  # the control: nobody asked
        stop.if_asked()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("rounds = 10", f"rounds = {10**18}", "rounds"),
        ("replicates = 1", f"replicates = {10**9}", "replicates"),
        ('name = "hostile"', 'name = "red \\u001b[31m"', "name"),
        ('name = "p"', f'name = "{"long" * 100}"', "name"),
        ('name = "p"', 'name = "a\\u0000b"', "name"),
        ("dim = 2", f"dim = {{ grid = {list(range(2, 20_003))} }}", "grids"),
    ],
)
def test_limits(tmp_path: Path, old: str, new: str, named: str) -> None:
    text = STUDY.format(problems='{ name = "p", dim = 2 }', policies='{ id = "oful" }')
    started = time.process_time()
    with pytest.raises(ValueError, match=named) as refused:
        parse_study(text.replace(old, new, 1), tmp_path)
    assert str(refused.value).isprintable()
    assert time.process_time() - started < 5.0
