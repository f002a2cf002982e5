from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from inline import inline

from voful.experiments.runner.runner import run_study
from voful.experiments.store.store import Store
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study
from voful.report.figures import write
from voful.report.figures.theatre import theatre_strip


@pytest.fixture(autouse=True, scope="module")
def in_this_process() -> Iterator[None]:
    with inline():
        yield


def test_the_strip_shows_policies_rounds_and_problems(tmp_path: Path) -> None:
    study = Study(
        "plane",
        tuple(Problem(f"σ={s}", {"dim": 2, "sigma": s}, 80) for s in (0.05, 0.5)),
        tuple(Contender(id, id) for id in ("losan", "betoful", "oful", "epsilon-greedy")),
        replicates=1,
        snapshots=20,
    )
    run_study(study, tmp_path / "out", workers=1)
    snapshots = Store(tmp_path / "out").snapshots()
    path, *_ = write(theatre_strip(snapshots), tmp_path / "strip", ("svg",))
    drawn = Path(path).read_text()
    for text in ("σ=0.05", "σ=0.5", "oful", "betoful", "round 80"):
        assert f"<!-- {text} -->" in drawn
    assert "<!-- losan -->" not in drawn
    chosen = theatre_strip(snapshots, policies=["epsilon-greedy"], problems=["σ=0.5"], moments=2)
    (block,) = chosen.subfigs
    assert len(block.axes) == 2
    with pytest.raises(ValueError, match="at least one snapshot"):
        theatre_strip(snapshots.clear())
