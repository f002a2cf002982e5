"""A policy saved in the middle of a run and loaded in a new process makes the same choices."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from helpers import make_policy, teach_one
from voful import registry
from voful.envs import linear_bandit

MIDDLE, LAST = 150, 400

CONTINUE = """
import json, sys
import voful
from voful.envs import linear_bandit

folder, middle, last, *ids = sys.argv[1:]
answers = {}
for id in ids:
    policy = voful.load(f"{folder}/{id}")
    env = linear_bandit(dim=3, redraw=True, sigma=0.3, seed=7)
    for _ in range(int(middle)):
        env.pull(0)
    choices = []
    for _ in range(int(last) - int(middle)):
        arms = env.arms
        choices.append(policy.select(arms))
        feedback = env.pull(choices[-1])
        told = {"variance": feedback.variance} if policy.needs_variance else {}
        policy.update(arms[choices[-1]], feedback.reward, **told)
    answers[id] = [choices, policy.predict([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).tolist()]
print(json.dumps(answers))
"""


def test_continues_exactly(tmp_path: Path) -> None:
    """All policies in one new process: most of a process is its start."""
    expected = {}
    for entry in registry.entries("bandit"):
        policy = make_policy(entry.id)
        env = linear_bandit(dim=3, redraw=True, sigma=0.3, seed=7)
        choices = []
        for k in range(LAST):
            if k == MIDDLE:
                policy.save(tmp_path / entry.id)
            arms = env.arms
            choices.append(policy.select(arms))
            feedback = env.pull(choices[-1])
            teach_one(policy, arms[choices[-1]], feedback.reward, variance=feedback.variance)
        expected[entry.id] = [choices[MIDDLE:], policy.predict(np.eye(3)).tolist()]
    arguments = [str(tmp_path), str(MIDDLE), str(LAST), *expected]
    output = subprocess.run(
        [sys.executable, "-c", CONTINUE, *arguments], capture_output=True, text=True, check=True
    ).stdout
    continued = json.loads(output)
    assert continued.keys() == expected.keys()
    for id, answers in expected.items():
        assert continued[id] == answers, id
