from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest
from inline import inline

import voful
from voful.experiments.play.execute import Outcome
from voful.experiments.runner.runner import run_study
from voful.experiments.store.lock import LockedError
from voful.experiments.store.store import Store
from voful.experiments.store.store import _put as put
from voful.experiments.study.demo import demo_study
from voful.experiments.study.run import Contender, Problem, Run
from voful.experiments.study.study import Study, parse_study

TIMES = ["select_time", "update_time"]

FAULTY = """
import os
from voful import OFUL

class Raises(OFUL):
    def update(self, x, reward, *, variance=None):
        raise ZeroDivisionError("the user's own mistake")

class Dies(OFUL):
    def select(self, arms, mask=None):
        os.kill(os.getpid(), 9)

class Leaves(OFUL):
    def select(self, arms, mask=None):
        raise SystemExit("bye")

class FailsOnce(OFUL):
    def __init__(self, dim, marker, seed=0):
        super().__init__(dim)
        self.marker = marker

    def select(self, arms, mask=None):
        if not os.path.exists(self.marker):
            open(self.marker, "w").close()
            raise RuntimeError("only the first time")
        return super().select(arms, mask)
"""


class Witness:
    """Remembers what the runner says."""

    def __init__(self) -> None:
        self.pending: list[str] = []
        self.is_ready = False
        self.done: list[str] = []
        self.errors: list[tuple[str, str, bool]] = []

    def started(self, pending: Sequence[Run], stored: int) -> None:
        self.pending = [run.label for run in pending]

    def ready(self) -> None:
        self.is_ready = True

    def finished(self, run: Run, outcome: Outcome) -> None:
        self.done.append(run.label)

    def failed(self, run: Run, error: str, *, again: bool) -> None:
        self.errors.append((run.label, error, again))


@pytest.fixture
def in_this_process() -> Iterator[None]:
    with inline():
        yield


IN_THIS_PROCESS = pytest.mark.usefixtures("in_this_process")


def study(*contenders: str, replicates: int = 2) -> Study:
    return Study(
        name="test",
        problems=(Problem("a", {"dim": 2, "sigma": 0.1}, 60), Problem("b", {"dim": 3}, 60)),
        contenders=tuple(Contender(id, id) for id in contenders),
        replicates=replicates,
    )


def faulty_study(directory: Path, *classes: str, extra: str = "") -> Study:
    (directory / "faulty.py").write_text(FAULTY)
    policies = "".join(f'[[policy]]\nid = "faulty.py:{name}"\n{extra}\n' for name in classes)
    return parse_study(
        f'name = "faulty"\nrounds = 30\nreplicates = 2\n[[policy]]\nid = "oful"\n{policies}'
        '[[problem]]\nname = "a"\ndim = 2\n',
        directory,
    )


def test_the_same_numbers_on_one_and_two_workers(tmp_path: Path) -> None:
    witness = Witness()
    run_study(study("oful", "oful-rare"), tmp_path / "one", workers=1, observer=witness)
    run_study(study("oful", "oful-rare"), tmp_path / "two", workers=2)
    one, two = voful.results(tmp_path / "one"), voful.results(tmp_path / "two")
    assert one.drop(TIMES).equals(two.drop(TIMES))
    assert sorted(witness.done) == sorted(witness.pending)
    assert len(witness.done) == 8
    assert witness.is_ready


@IN_THIS_PROCESS
def test_a_run_does_not_depend_on_the_other_runs(tmp_path: Path) -> None:
    run_study(study("oful"), tmp_path / "alone", workers=1)
    run_study(study("oful-rare", "oful", replicates=3), tmp_path / "together", workers=1)
    alone, together = voful.results(tmp_path / "alone"), voful.results(tmp_path / "together")
    same = together.filter((together["policy"] == "oful") & (together["replicate"] < 2))
    columns = ["problem", "replicate", "round", "regret", "sum_variance"]
    assert alone.select(columns).rows() == same.select(columns).rows()


def test_policies_are_paired_and_replicates_differ() -> None:
    runs = study("oful", "oful-rare").runs()
    seeds = {
        (r.problem.name, r.replicate): r.environment_seed().generate_state(2).tolist() for r in runs
    }
    assert all(
        seeds[r.problem.name, r.replicate] == r.environment_seed().generate_state(2).tolist()
        for r in runs
    )
    assert len({tuple(state) for state in seeds.values()}) == 4
    policy_seeds = {tuple(r.policy_seed().generate_state(2).tolist()) for r in runs}
    assert len(policy_seeds) == len(runs)


@IN_THIS_PROCESS
def test_only_what_is_missing_is_played(tmp_path: Path) -> None:
    part = run_study(study("oful", "oful-rare"), tmp_path, workers=1, only="*/oful/*")
    assert (part.played, part.stored) == (4, 0)
    rest = run_study(study("oful", "oful-rare"), tmp_path, workers=1)
    assert (rest.played, rest.stored) == (4, 4)
    nothing = run_study(study("oful", "oful-rare"), tmp_path, workers=1)
    assert (nothing.played, nothing.stored) == (0, 8)
    more = run_study(study("oful", "oful-rare", replicates=3), tmp_path, workers=1)
    assert (more.played, more.stored) == (4, 8)
    assert len(Store(tmp_path).manifest().sessions) == 3


@IN_THIS_PROCESS
def test_a_changed_study_does_not_pass_for_the_old_one(tmp_path: Path) -> None:
    run_study(study("oful"), tmp_path, workers=1)
    changed = Study(
        "test", (Problem("a", {"dim": 2, "sigma": 0.2}, 60),), (Contender("oful", "oful"),), 2
    )
    summary = run_study(changed, tmp_path, workers=1)
    assert (summary.played, summary.foreign) == (2, 4)
    frame = voful.results(tmp_path)
    assert frame["problem"].unique().to_list() == ["a"]
    assert (frame.filter(pl.col("round") == 60)["sum_variance"] > 60 * 0.1**2).all()


def test_a_failed_run_stops_nobody(tmp_path: Path) -> None:
    witness = Witness()
    declared = faulty_study(tmp_path, "Raises", "Dies", "Leaves")
    summary = run_study(declared, tmp_path / "out", workers=2, observer=witness)
    assert summary.played == 2
    assert sorted(summary.failed) == sorted(
        f"a/{name}/{k}" for name in ("Raises", "Dies", "Leaves") for k in (0, 1)
    )
    for label in summary.failed:
        assert [again for name, _, again in witness.errors if name == label] == [True, False]
    failures = {f["run"]: f["traceback"] for f in Store(tmp_path / "out").failures().values()}
    assert "the user's own mistake" in failures["a/Raises/0"]
    assert "faulty.py" in failures["a/Raises/0"]
    assert "process died" in failures["a/Dies/1"]
    assert "SystemExit: bye" in failures["a/Leaves/0"]
    assert voful.results(tmp_path / "out")["policy"].unique().to_list() == ["oful"]


@IN_THIS_PROCESS
def test_a_run_that_fails_once_is_played_again(tmp_path: Path) -> None:
    extra = f"marker = '{tmp_path / 'marker'}'"
    declared = faulty_study(tmp_path, "FailsOnce", extra=extra)
    summary = run_study(declared, tmp_path / "out", workers=1)
    assert summary.failed == ()
    assert summary.played == 4
    assert Store(tmp_path / "out").failures() == {}


@IN_THIS_PROCESS
def test_failed_runs_are_tried_by_the_next_call(tmp_path: Path) -> None:
    extra = f"marker = '{tmp_path / 'no' / 'marker'}'"  # cannot be created
    declared = faulty_study(tmp_path, "FailsOnce", extra=extra)
    assert len(run_study(declared, tmp_path / "out", workers=1).failed) == 2
    assert len(Store(tmp_path / "out").failures()) == 2
    (tmp_path / "no").mkdir()
    summary = run_study(declared, tmp_path / "out", workers=1)
    assert (summary.failed, summary.played, summary.stored) == ((), 2, 2)
    assert Store(tmp_path / "out").failures() == {}


@IN_THIS_PROCESS
def test_wrong_arguments_end_the_study_before_it_begins(tmp_path: Path) -> None:
    declared = Study(
        "test",
        (Problem("a", {"dim": 2, "sigma": -1.0}, 60),),
        (Contender("oful", "oful"),),
        1,
    )
    with pytest.raises(ValueError, match="a/oful: sigma: got -1.0; expected a finite number >= 0"):
        run_study(declared, tmp_path, workers=1)
    assert Store(tmp_path).keys() == set()


def test_a_pattern_that_matches_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only: got 'ofull'; expected a pattern"):
        run_study(study("oful"), tmp_path, only="ofull")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "threads"}, "backend: got 'threads'"),
        ({"workers": 0}, "workers: got 0"),
        ({"address": "auto"}, "address: got 'auto'"),
    ],
)
def test_bad_backends(tmp_path: Path, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_study(study("oful"), tmp_path, **arguments)  # type: ignore[arg-type]


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with Store(tmp_path).locked(), pytest.raises(LockedError, match="another voful is writing"):
        run_study(study("oful"), tmp_path)


@IN_THIS_PROCESS
@pytest.mark.parametrize("stage", ["first", "later"])
def test_a_full_disk_leaves_earlier_results_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    run_study(study("oful"), tmp_path, workers=1, only="a/*")
    before = voful.results(tmp_path)
    written = 0

    def full(path: Path, content: bytes) -> None:
        nonlocal written
        if stage == "first" or written == 1:
            raise OSError(28, "No space left on device")
        written += 1
        put(path, content)

    monkeypatch.setattr("voful.experiments.store.store._put", full)
    with pytest.raises(OSError, match="No space left"):
        run_study(study("oful"), tmp_path, workers=2)
    monkeypatch.undo()
    after = voful.results(tmp_path)
    assert after.filter(pl.col("problem") == "a").equals(before)
    assert len(Store(tmp_path).keys()) == (2 if stage == "first" else 3)
    assert run_study(study("oful"), tmp_path, workers=1).failed == ()
    assert len(Store(tmp_path).keys()) == 4


@IN_THIS_PROCESS
def test_files_are_packed_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voful.experiments.runner.runner.PACK_AT", 3)
    run_study(study("oful", "oful-rare", replicates=4), tmp_path, workers=2)
    names = [path.name for path in (tmp_path / "runs").iterdir()]
    assert len(names) <= 16 // 3 + 2
    assert len(Store(tmp_path).keys()) == 16
    assert run_study(study("oful", "oful-rare", replicates=4), tmp_path).played == 0


@IN_THIS_PROCESS
def test_code_that_reads_its_own_file_finds_it(tmp_path: Path) -> None:
    """Also where the file has changed or gone: tracebacks and kernels need one."""
    declared = faulty_study(tmp_path, "Raises")
    (tmp_path / "faulty.py").write_text("# something else by now\n")
    run_study(declared, tmp_path / "out", workers=1, only="a/Raises/0")
    (failure,) = Store(tmp_path / "out").failures().values()
    assert "raise ZeroDivisionError" in failure["traceback"]


def test_the_demo_has_every_bandit_on_two_problems() -> None:
    assert len(demo_study(replicates=3).runs()) % 6 == 0
