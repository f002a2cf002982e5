"""Replay: a policy that learns, run on a log as if it were online."""

from __future__ import annotations

import copy

import numpy as np

from voful import validation
from voful.bandits.base import Policy
from voful.logs.evaluate import Checkpoints, look_along, looks
from voful.logs.evaluation import Evaluation, Recorder
from voful.logs.evaluator import Evaluator
from voful.logs.faults import floor_faults, raise_first, range_faults
from voful.logs.log import Log


def replay(
    log: Log,
    policy: Policy,
    *,
    min_propensity: float,
    seed: int = 0,
    failure_prob: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    horizon: int | None = None,
    checkpoints: Checkpoints = None,
) -> Evaluation:
    """The mean reward of a policy that learns, by rejection: an exact online run.

    Row t is accepted with probability min_propensity pi(a)/h(a), by a copy of the policy, which
    learns accepted rows only. What it is shown is then distributed as online, if contexts come
    independently from one distribution. About n min_propensity rows are accepted.

    Parameters
    ----------
    log
        With arms or contexts.
    policy
        Where it starts; it stays as it is.
    min_propensity
        What the propensities of the log are at least.
    seed
        Of the acceptances.
    failure_prob, reward_range, horizon, checkpoints
        As for `evaluate`, over accepted rows.

    References
    ----------
    Li, Chu, Langford, Wang. Unbiased offline evaluation of contextual-bandit-based news article
    recommendation algorithms. WSDM 2011 (uniform logs).
    """
    evaluator = Evaluator(
        estimator="ips",
        failure_prob=failure_prob,
        reward_range=reward_range,
        horizon=horizon,
        min_propensity=min_propensity,
    )
    raise_first(range_faults(log.rewards, *evaluator.reward_range), log.first_row)
    raise_first(floor_faults(log.propensities, min_propensity), log.first_row)
    learner = copy.deepcopy(policy)
    uniforms = np.random.default_rng(validation.seed(seed)).random(len(log))
    kept = []
    for row in range(len(log)):
        arms, action = log.arms_of(row, learner.dim), int(log.actions[row])
        probability = learner.choose(arms).probabilities[action]
        if uniforms[row] * log.propensities[row] < min_propensity * probability:
            learner.update(arms[action], float(log.rewards[row]))
            kept.append(row)
    if not kept:
        raise validation.fail("log", log, "rows of which at least one is accepted")
    ones = np.ones(len(kept))
    accepted = Log(np.zeros(len(kept), dtype=np.int64), log.rewards[kept], ones)
    recorder = Recorder(evaluator)
    look_along(recorder, accepted, [ones], looks(checkpoints, len(kept)))
    return recorder.evaluation()
