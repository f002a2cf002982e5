"""Load crafted files and play what they hold: ``play_crafted.py DIRECTORY FIRST LAST SEED``.

Says ``<number> <what became of it>`` for each, before the next; a signal or a hang ends it all.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from faults import crafted

import voful
from helpers import sphere, teach_one
from mdp_helpers import random_walk
from voful import FileFormatError
from voful.persistence import Stateful

PLAY_CPU = 60.0  # seconds for one file and all that is done with it
LOAD_CPU = 1.0
LOAD_MEMORY = 200 * 2**20


def memory() -> tuple[int, int]:
    """(now, at most so far) in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    now = pages * resource.getpagesize()
    return now, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def load(path: Path, cls: Any) -> Any:
    """The object; AssertionError where that took too long or too much."""
    now, most = memory()
    started = time.process_time()
    try:
        return voful.load(path, cls)
    finally:
        spent = time.process_time() - started
        peak = memory()[1]
        assert spent <= LOAD_CPU, f"load took {spent:.2f} s"
        taken = peak - now if peak > most else 0
        assert taken <= LOAD_MEMORY, f"load took {taken / 2**20:.0f} MB"


def play_policy(policy: Any, rounds: int = 20) -> None:
    """Rounds with finite answers."""
    rng = np.random.default_rng(0)
    low, high = policy._space.reward_limits
    low, high = max(low, -1e50), min(high, 1e50)
    norm = min(policy._space.feature_norm, 1e50)
    for _ in range(rounds):
        arms = sphere(rng, 5, policy.dim, norm)
        choice = policy.select(arms)
        assert 0 <= choice < len(arms), f"choice {choice}"
        with contextlib.suppress(RuntimeError):  # n_rounds are over
            teach_one(policy, arms[choice], rng.uniform(low, high))
        answers = policy.index(arms[:2])
        assert np.isfinite(answers).all(), f"index {answers}"
        assert np.isfinite(policy.predict(arms)).all(), "predict"


def play_per_action(policy: Any, rounds: int = 20) -> None:
    """Rounds of contexts with finite answers."""
    rng, (low, high) = np.random.default_rng(0), policy.reward_range
    for context in sphere(rng, rounds, policy.dim, min(policy.feature_norm, 1e50)):
        action = policy.select(context)
        assert 0 <= action < policy.n_actions, f"action {action}"
        policy.update(context, action, rng.uniform(max(low, -1e50), min(high, 1e50)))
        answers = policy.index(context)
        assert np.isfinite(answers).all(), f"index {answers}"


def play_agent(agent: Any, plans: int = 3) -> None:
    """Plans with finite answers."""
    rng = np.random.default_rng(0)
    model = agent.model
    for _ in range(plans):
        plan = agent.plan()
        assert np.isfinite(plan.value), f"value {plan.value}"
        assert np.isfinite(plan.values).all(), "values"
        assert 0 <= plan.action(0, 0) < model.n_actions, f"action {plan.action(0, 0)}"
        for _ in range(min(plan.episodes, 30)):
            states, actions = random_walk(model, rng, most=1000)
            if len(actions) == model.horizon or model.absorbing[states[-1]]:
                with contextlib.suppress(RuntimeError):  # n_episodes are over
                    agent.update(states, actions)


def play_evaluator(evaluator: Any) -> None:
    """More rows, and finite answers."""
    rng = np.random.default_rng(0)
    low, high = evaluator.reward_range
    n, dim = 40, evaluator.dim or 1
    arms, rewards = rng.standard_normal((n, 3, dim)), rng.uniform(low, high, n)
    least = max(evaluator.min_propensity or 0.0, 0.1)
    if least > 1 / 3 or evaluator.n_models not in (1, 3):
        return
    laws = rng.dirichlet(np.ones(3), (3, n)) * (1.0 - 3.0 * least) + least
    log = voful.Log(rng.integers(0, 3, n), rewards, laws[0], arms=arms)
    for _ in range(3):
        with contextlib.suppress(ValueError):  # a model for each action needs contexts
            evaluator.update(log, laws[1], laws[2] if evaluator.versus == "baseline" else None)
        lower, upper = evaluator.interval()
        answers = lower, upper, evaluator.estimate, evaluator.effective_n, evaluator.weight_evalue
        assert np.isfinite(answers).all(), f"answers {answers}"


def outcome(content: bytes, path: Path, name: str) -> str:
    """What becomes of one file."""
    path.write_bytes(content)
    try:
        thing = load(path, voful.Guarded if name.startswith("guarded") else None)
    except FileFormatError:
        return "refused"
    if hasattr(thing, "plan"):
        play_agent(thing)
    elif isinstance(thing, voful.PerAction):
        play_per_action(thing)
    elif hasattr(thing, "select"):
        play_policy(thing)
    elif hasattr(thing, "weight_evalue"):
        play_evaluator(thing)
    return "played"


def harm(what: str) -> None:
    """For the control: switch a guard off."""
    if what == "invariants":
        Stateful._check = lambda self, arrays: None  # type: ignore[method-assign]


def main(directory: Path, first: int, last: int, seed: int) -> None:
    """Files first..last, each of a valid file in turn."""
    warnings.simplefilter("ignore")
    harm(os.environ.get("VOFUL_HARM", ""))
    sources = sorted(directory.glob("*.voful"))
    valid = [crafted.read(source.read_bytes()) for source in sources]
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, also inside compiled code
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "crafted"
        compiled = set[int]()
        for number in range(first, last):
            rng = np.random.default_rng([seed, number])
            which = number % len(sources)
            if which not in compiled:  # else a load would be blamed for the compiler's time
                with contextlib.suppress(Exception):  # of what is harmed
                    outcome(sources[which].read_bytes(), path, sources[which].name)
                compiled.add(which)
            content = crafted.write(crafted.craft(valid[which], rng))
            signal.setitimer(signal.ITIMER_PROF, PLAY_CPU)
            print(number, end=" ", flush=True)
            try:
                print(outcome(content, path, sources[which].name), flush=True)
            except Exception as error:
                text = f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
                print(f"wrong: {sources[which].name} {text}", flush=True)
            signal.setitimer(signal.ITIMER_PROF, 0.0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(argument) for argument in sys.argv[2:]))
