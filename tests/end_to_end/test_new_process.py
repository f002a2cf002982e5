"""A policy saved in the middle of a run and loaded in a new process makes the same choices."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers import make_policy, teach_one
from voful import registry
from voful.envs import linear_bandit

CONTINUE = """
import json, sys
import voful
from voful.envs import linear_bandit

path, middle, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
policy = voful.load(path)
env = linear_bandit(dim=3, redraw=True, sigma=0.3, seed=7)
for _ in range(middle):
    env.pull(0)
choices = []
for _ in range(last - middle):
    arms = env.arms
    choices.append(policy.select(arms))
    feedback = env.pull(choices[-1])
    told = {"variance": feedback.variance} if policy.needs_variance else {}
    policy.update(arms[choices[-1]], feedback.reward, **told)
print(json.dumps([choices, policy.predict([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).tolist()]))
"""


@pytest.mark.parametrize("id", [entry.id for entry in registry.entries("bandit")])
def test_continues_exactly(id: str, tmp_path: Path) -> None:
    middle, last = 150, 400
    policy = make_policy(id)
    env = linear_bandit(dim=3, redraw=True, sigma=0.3, seed=7)
    choices = []
    for k in range(last):
        if k == middle:
            policy.save(tmp_path / "policy")
        arms = env.arms
        choices.append(policy.select(arms))
        feedback = env.pull(choices[-1])
        teach_one(policy, arms[choices[-1]], feedback.reward, variance=feedback.variance)
    output = subprocess.run(
        [sys.executable, "-c", CONTINUE, str(tmp_path / "policy"), str(middle), str(last)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    continued, center = json.loads(output)
    assert continued == choices[middle:]
    assert center == policy.predict(np.eye(3)).tolist()
