from __future__ import annotations

import gc
import subprocess
import sys

import pytest
from numba.core.dispatcher import Dispatcher
from typer.testing import CliRunner

import voful
from voful import registry
from voful.cli import app
from voful.envs import FAMILIES, linear_bandit
from voful.experiments.play.episodes import play_episodes
from voful.experiments.play.loop import play


def compiled() -> set[tuple[str, str]]:
    """All signatures of the library's kernels that are there in this process."""
    return {
        (found.py_func.__qualname__, str(signature))
        for found in gc.get_objects()
        if isinstance(found, Dispatcher) and found.py_func.__module__.startswith("voful.")
        for signature in found.overloads
    }


@pytest.mark.parametrize("id", ["oful", "losan", "betoful", "voful", "epsilon-greedy", "save"])
def test_a_warm_policy_compiles_nothing_more(id: str) -> None:
    voful.warm(id)
    known = compiled()
    for dim in (1, 3):
        for redraw in (False, True):
            env = linear_bandit(dim=dim, n_arms=7, sigma=0.3, redraw=redraw, seed=1)
            policy = registry.create(id, dim, n_rounds=300)
            list(play(policy, env, 200, pass_variance=policy.needs_variance))
            policy.index(env.arms)
    assert compiled() == known


@pytest.mark.parametrize("id", ["varlin", "likelihood-ucrl", "ucrl-vtr"])
def test_a_warm_agent_compiles_nothing_more(id: str) -> None:
    voful.warm(id)
    known = compiled()
    for family in ("mortal", "ctrandom"):
        env = FAMILIES[family](horizon=12, seed=1)
        list(play_episodes(registry.create(id, env.model, n_episodes=40), env, 40))
    assert compiled() == known


@pytest.mark.parametrize(
    ("id", "kernel"),
    [("betoful", "betoful.watched_respond"), ("certified", "certified.certified_respond")],
)
def test_a_warm_policy_can_answer_an_alarm(id: str, kernel: str) -> None:
    """In a new process, in which nothing has answered one yet."""
    code = f"import voful; voful.warm({id!r}); from voful.bandits import {kernel.split('.')[0]}"
    code += f"; assert {kernel}.overloads"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_command() -> None:
    done = CliRunner().invoke(app, ["warm", "losan", "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "losan is compiled" in done.output
    assert CliRunner().invoke(app, ["warm", "nonsense"]).exit_code == 2
    with pytest.raises(ValueError, match="did you mean 'losan'"):
        voful.warm("lossan")
