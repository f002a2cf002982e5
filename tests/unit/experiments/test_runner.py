from __future__ import annotations

from voful.experiments.demo import demo_study
from voful.experiments.runner import run_study
from voful.experiments.study import Contender, Problem, Study

TIMES = ["select_time", "update_time"]


def study(*contenders: str, replicates: int = 2) -> Study:
    return Study(
        name="test",
        problems=(Problem("a", {"dim": 2, "sigma": 0.1}), Problem("b", {"dim": 3})),
        contenders=tuple(Contender(id, id) for id in contenders),
        n_rounds=60,
        replicates=replicates,
    )


def test_the_same_numbers_on_one_and_two_workers() -> None:
    finished: list[str] = []
    one = run_study(
        study("oful", "oful-rare"), workers=1, on_finished=lambda r: finished.append(r.problem.name)
    )
    two = run_study(study("oful", "oful-rare"), workers=2)
    assert one.drop(TIMES).equals(two.drop(TIMES))
    assert sorted(finished) == ["a"] * 4 + ["b"] * 4


def test_a_run_does_not_depend_on_the_other_runs() -> None:
    alone = run_study(study("oful"), workers=1)
    together = run_study(study("oful-rare", "oful", replicates=3), workers=1)
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


def test_the_demo_has_every_bandit_on_two_problems() -> None:
    assert len(demo_study(replicates=3).runs()) % 6 == 0
