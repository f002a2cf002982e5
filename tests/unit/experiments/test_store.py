from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline import inline

import voful
from helpers import count, full
from voful.experiments.runner.runner import run_study
from voful.experiments.store import checked_files
from voful.experiments.store.manifest import Manifest
from voful.experiments.store.merge import merge_results
from voful.experiments.store.store import Store
from voful.experiments.study.run import Contender, Problem, Run
from voful.experiments.study.study import Study, read_study
from voful.persistence import FileFormatError

QUICK = Path(__file__).parents[3] / "studies" / "quick.toml"


def study(replicates: int = 6, sigma: float = 0.1, names: tuple[str, ...] = ("x", "y")) -> Study:
    return Study(
        name="test",
        problems=(Problem("b", {"dim": 2, "sigma": sigma}, 10, varied=("sigma",)),),
        contenders=tuple(Contender(name, "oful") for name in names),
        replicates=replicates,
    )


def columns(run: Run, covered: bool | None = True) -> dict[str, list[Any]]:
    return {
        "round": [1, 10],
        "regret": [0.5, 1.0 + run.replicate],
        "covered": [covered, covered],
        "select_time": [0.1, 0.2],
    }


@pytest.fixture(autouse=True, scope="module")
def in_this_process() -> Iterator[None]:
    with inline():
        yield


def filled(directory: Path, declared: Study, runs: list[Run] | None = None) -> Store:
    store = Store(directory)
    with store.locked():
        store.write_manifest(Manifest.of(declared))
        for run in declared.runs() if runs is None else runs:
            store.add(run, columns(run, None if run.contender.name == "y" else True))
    return store


def test_results_are_in_the_order_of_the_study(tmp_path: Path) -> None:
    filled(tmp_path, study(names=("y", "x")))
    frame = voful.results(tmp_path)
    assert frame.columns == [
        "problem",
        "policy",
        "replicate",
        "round",
        "regret",
        "covered",
        "select_time",
        "problem_sigma",
    ]
    assert frame["policy"].cast(pl.String).to_list() == ["y"] * 12 + ["x"] * 12
    assert frame["replicate"].to_list() == [k for _ in range(2) for k in range(6) for _ in (1, 2)]
    assert frame["regret"].to_list()[:4] == [0.5, 1.0, 0.5, 2.0]
    assert frame["covered"].null_count() == 12


def test_widths_that_are_all_missing_are_numbers_all_the_same(tmp_path: Path) -> None:
    declared = study(replicates=1)
    store = Store(tmp_path)
    with store.locked():
        store.write_manifest(Manifest.of(declared))
        missing: list[Any] = [None, None]
        for run, widths in zip(declared.runs(), ([2.0, 1.0], missing), strict=True):
            store.add(run, {**columns(run), "width": widths})
    frame = voful.results(tmp_path)
    assert frame["width"].dtype == pl.Float64
    assert frame["width"].to_list() == [2.0, 1.0, None, None]


def test_packing_changes_nothing_that_a_reader_sees(tmp_path: Path) -> None:
    store = filled(tmp_path, study())
    before, keys = voful.results(tmp_path), store.keys()
    with store.locked():
        assert store.pack(at_least=100) == 12
        assert store.pack(at_least=12) == 0
    assert len(list(store.runs.iterdir())) == 1
    assert voful.results(tmp_path).equals(before)
    assert store.keys() == keys
    with store.locked():
        extra = study(replicates=7).runs()[-1]
        store.write_manifest(Manifest.of(study(replicates=7)))
        store.add(extra, columns(extra))
    assert len(voful.results(tmp_path)) == len(before) + 2


def test_a_kill_in_the_middle_of_packing_is_harmless(tmp_path: Path) -> None:
    store = filled(tmp_path, study())
    before = voful.results(tmp_path)
    loose = {path: path.read_bytes() for path in store.runs.iterdir()}
    with store.locked():
        store.pack(at_least=1)
    for path, content in list(loose.items())[3:]:  # as if some were not yet deleted
        path.write_bytes(content)
    assert voful.results(tmp_path).equals(before)
    with store.locked():
        store.pack(at_least=1)
    assert voful.results(tmp_path).equals(before)
    assert len(list(store.runs.iterdir())) == 1


def test_a_reader_survives_packing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path, study())
    before = store.frame()
    list_files = Store._files
    calls = 0

    def pack_after_listing(self: Store) -> list[Path]:
        nonlocal calls
        calls += 1
        files = list_files(self)
        if calls == 1:
            with Store(tmp_path).locked():
                Store(tmp_path).pack(at_least=1)
        return files

    monkeypatch.setattr(Store, "_files", pack_after_listing)
    assert store.frame().equals(before)
    assert calls > 1


def test_leftovers_of_a_kill_are_removed(tmp_path: Path) -> None:
    store = filled(tmp_path, study())
    leftover = store.runs / "abc.parquet.0123.tmp"
    leftover.write_bytes(b"half a fi")
    assert len(voful.results(tmp_path)) == 24
    with store.locked():
        assert not leftover.exists()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    store = filled(tmp_path, study())
    victim = sorted(store.runs.iterdir())[3]
    victim.write_bytes(victim.read_bytes()[:100])
    with pytest.raises(FileFormatError, match=victim.name):
        voful.results(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(FileFormatError, match="manifest.json"):
        voful.results(tmp_path)


def test_a_newer_manifest_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, study())
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))
    with pytest.raises(FileFormatError, match="newer"):
        voful.results(tmp_path)


def test_no_results_here(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected a directory that voful run wrote"):
        voful.results(tmp_path)
    filled(tmp_path, study(), runs=[])
    assert voful.results(tmp_path).is_empty()


def test_parts_of_a_study_merge(tmp_path: Path) -> None:
    declared = study()
    runs = declared.runs()
    whole = filled(tmp_path / "whole", declared)
    filled(tmp_path / "left", declared, runs[:8])
    right = filled(tmp_path / "right", declared, runs[5:])
    with right.locked():
        right.pack(at_least=1)
        right.add_failure(runs[0].key, {"run": "stored elsewhere", "traceback": ""})
    assert merge_results(tmp_path / "left", tmp_path / "right") == 4
    assert voful.results(tmp_path / "left").equals(whole.frame())
    assert Store(tmp_path / "left").failures() == {}
    assert merge_results(tmp_path / "left", tmp_path / "right") == 0
    assert merge_results(tmp_path / "new", tmp_path / "left") == 12
    assert voful.results(tmp_path / "new").equals(whole.frame())


def test_failures_merge_until_the_run_succeeds(tmp_path: Path) -> None:
    declared = study()
    runs = declared.runs()
    left, right = filled(tmp_path / "l", declared, runs[1:]), filled(tmp_path / "r", declared, [])
    with right.locked():
        right.add_failure(runs[0].key, {"run": "first", "traceback": "why"})
    merge_results(tmp_path / "l", tmp_path / "r")
    assert left.failures() == {runs[0].key: {"run": "first", "traceback": "why"}}
    with right.locked():
        right.add(runs[0], columns(runs[0]))
    assert right.failures() == {}
    merge_results(tmp_path / "l", tmp_path / "r")
    assert left.failures() == {}


def test_studies_that_differ_merge_only_where_they_agree(tmp_path: Path) -> None:
    filled(tmp_path / "a", study(names=("x",)))
    filled(tmp_path / "b", study(names=("y",)))
    filled(tmp_path / "c", study(names=("x",), sigma=0.2))
    assert merge_results(tmp_path / "a", tmp_path / "b") == 6
    assert voful.results(tmp_path / "a")["policy"].unique().sort().to_list() == ["x", "y"]
    before = voful.results(tmp_path / "a")
    with pytest.raises(ValueError, match="b/x/0 is defined in two ways"):
        merge_results(tmp_path / "a", tmp_path / "c")
    assert voful.results(tmp_path / "a").equals(before)


def test_columns_of_grids_of_all_kinds(tmp_path: Path) -> None:
    def cell(name: str, value: Any) -> Problem:
        return Problem(name, {"p": value}, 10, varied=("p",))

    for values, expected in (
        ([1, 0.5], [1.0, 0.5]),
        (["a", "b"], ["a", "b"]),
        ([True, False], [True, False]),
        ([1, "a"], ["1", "a"]),
        ([[1, 2], 0.5], ["[1, 2]", "0.5"]),
    ):
        problems = tuple(cell(f"{i}", value) for i, value in enumerate(values))
        declared = Study("test", problems, (Contender("x", "oful"),), 1)
        directory = tmp_path / str(values)
        filled(directory, declared)
        assert voful.results(directory)["problem_p"].to_list()[::2] == expected


def test_what_a_power_cut_tore_is_played_again(tmp_path: Path) -> None:
    store = filled(tmp_path, study())
    torn, empty, *_ = sorted(store.runs.iterdir())
    torn.write_bytes(torn.read_bytes()[:-9])
    empty.write_bytes(b"")
    with store.locked():
        assert len(store.keys()) == 10
    assert len(voful.results(tmp_path)) == 20


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """All bits with --full, of a run that was played; else each tenth of one that is made up."""
    if full():
        run_study(read_study(QUICK), tmp_path)
        store = Store(tmp_path)
    else:
        store = filled(tmp_path, study(replicates=1))
    path = min(store.runs.iterdir(), key=lambda file: file.stat().st_size)
    content, columns = path.read_bytes(), checked_files.read(path)
    step = 8 * len(content) // count(8 * len(content))
    for bit in range(0, 8 * len(content), step):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(FileFormatError, match="damaged"):
            checked_files.read(path)
    path.write_bytes(content)
    assert checked_files.read(path).equals(columns)  # the control: undamaged, it is read
    other = path.with_name(path.name.replace(path.name[:4], "0000", 1))  # the name counts too
    path.rename(other)
    with pytest.raises(FileFormatError, match="damaged"):
        checked_files.read(other)


def test_damaged_runs_are_set_aside_named_and_played_again(tmp_path: Path) -> None:
    declared = study(replicates=2)
    whole = run_study(declared, tmp_path, workers=1)
    before = voful.results(tmp_path)
    path = sorted((tmp_path / "runs").iterdir())[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"damaged; run the study again"):
        voful.results(tmp_path)
    again = run_study(declared, tmp_path, workers=1)
    assert (whole.played, whole.damaged) == (len(declared.runs()), ())
    assert again.played == 1
    assert again.damaged == (str(tmp_path / "damaged" / path.name),)
    measured = [name for name in before.columns if "time" in name]
    assert voful.results(tmp_path).drop(measured).equals(before.drop(measured))


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        "3",
        "{}",
        '{"format": 1}',
        '{"format": "x"}',
        "\x00",
        '{"format": 1, "runs": 3}',
    ],
)
def test_junk_for_a_manifest(tmp_path: Path, text: str) -> None:
    store = filled(tmp_path, study(replicates=1))
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"manifest\.json"):
        store.manifest()


def test_junk_in_the_manifest(tmp_path: Path) -> None:
    """Each part replaced by each of several things: an error of ours, or a manifest."""
    store = filled(tmp_path, study(replicates=1))
    stored = json.loads((tmp_path / "manifest.json").read_text())
    for key in stored:
        for junk in (None, 3, "x", [], [1], {}, {"a": 1}, {"a": [9, 9, 9]}, [{"name": "\x1b[31m"}]):
            (tmp_path / "manifest.json").write_text(json.dumps(stored | {key: junk}))
            with contextlib.suppress(FileFormatError):
                store.frame()


def test_junk_among_the_failures(tmp_path: Path) -> None:
    store = filled(tmp_path, study(replicates=1))
    for name, content in (("a", b"null"), ("b", b"\xff"), ("c", b"{}"), ("d", b"[1]")):
        (store.failed / f"{name}.json").write_bytes(content)
    assert {failure["run"] for failure in store.failures().values()} == {"a", "b", "c", "d"}


def test_types_do_not_depend_on_the_values(tmp_path: Path) -> None:
    declared = study(replicates=1)
    store = Store(tmp_path)
    with store.locked():
        store.write_manifest(Manifest.of(declared))
        regrets: list[list[Any]] = [[0, 1], [0, 0.5]]
        for run, regret in zip(declared.runs(), regrets, strict=True):
            store.add(run, {**columns(run, None), "regret": regret})
    frame = voful.results(tmp_path)
    assert frame.schema["regret"] == pl.Float64
    assert frame.schema["covered"] == pl.Boolean
    assert frame["regret"].to_list() == [0.0, 1.0, 0.0, 0.5]
