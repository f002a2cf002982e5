from __future__ import annotations

import copy
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.logs.test_evaluate import make_log

import voful
from helpers import sphere
from voful import OFUL, BetOFUL, ConfidenceBall2, EpsilonGreedy, Evaluator, LinTS, LinUCB
from voful.confidence.betting.quadratic import minorant_value
from voful.typing import FloatArray

D = 3
THETA = np.array([0.3, -0.2, 0.1])


def rows(n: int, seed: int = 0, noise: float = 0.1) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, D)
    return X, X @ THETA + noise * rng.choice([-1.0, 1.0], n)


def taught(cls: Any, n: int, seed: int, **params: Any) -> Any:
    policy = cls(D, **params)
    policy.partial_fit(*rows(n, seed))
    return policy


RIDGES = [
    (OFUL, {}),
    (OFUL, {"det_growth": 1.0}),
    (LinTS, {}),
    (LinUCB, {"n_rounds": 1000}),
    (EpsilonGreedy, {"decay": 0.5}),
    (ConfidenceBall2, {"feature_norm": 2.0}),
]


@pytest.mark.parametrize(("cls", "params"), RIDGES)
def test_ridge_policies_merged_are_the_one_that_saw_all_rows(cls: Any, params: Any) -> None:
    X, y = rows(400)
    one = cls(D, **params)
    one.partial_fit(X, y)
    arms = sphere(np.random.default_rng(1), 20, D)
    for m in (2, 3, 9):
        parts = []
        for s in range(m):
            parts.append(cls(D, **params))
            parts[-1].partial_fit(X[s::m], y[s::m])
        for order in (1, -1):
            merged = voful.merge(parts[::order])
            for mine, its in zip(merged.index(arms), one.index(arms), strict=True):
                np.testing.assert_allclose(mine, its, rtol=0.0, atol=1e-10)
            assert merged.n_observations == 400
            assert sum(merged.lineage.values()) == 400
    assert merged.total_failure_prob == one.total_failure_prob


def test_merged_bets_are_a_sum_with_one_price(tmp_path: Path) -> None:
    parts = [taught(BetOFUL, 150, s, failure_prob=0.01, refresh=False) for s in range(3)]
    before = [part.state()["confidence_set/memory"].copy() for part in parts]
    merged = voful.merge(parts)
    views = merged.confidence_set.views()
    for theta in sphere(np.random.default_rng(0), 5, D, 0.7):
        for e, price in enumerate(views.rules.price):
            added = sum(
                minorant_value(part.confidence_set.views().Theta, e, theta) for part in parts
            )
            value = minorant_value(views.Theta, e, theta)
            assert value == pytest.approx(added - 2.0 * price, rel=1e-11)
    assert merged.failure_prob == pytest.approx(0.03)
    assert merged.total_failure_prob == pytest.approx(0.06)
    assert merged.confidence_set.contains(THETA)
    for part, memory in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.state()["confidence_set/memory"], memory)
    merged.save(tmp_path / "m")
    loaded = voful.load(tmp_path / "m")
    assert loaded.lineage == merged.lineage
    assert loaded.total_failure_prob == merged.total_failure_prob
    for policy in (merged, loaded):
        policy.partial_fit(*rows(50, 9))
        assert policy.n_observations == 500
        assert sum(policy.lineage.values()) == 500
    np.testing.assert_array_equal(*(p.confidence_set.memory for p in (merged, loaded)))


def test_kept_rows_are_bent_again() -> None:
    X, y = rows(600)
    arms = sphere(np.random.default_rng(1), 20, D)

    def width(policy: Any) -> float:
        _, lower, upper = policy.index(arms)
        return float((upper - lower).mean())

    found = {}
    for refresh in (True, False):
        parts = [BetOFUL(D, failure_prob=0.05 / 8, refresh=refresh) for _ in range(4)]
        for s, part in enumerate(parts):
            part.partial_fit(X[s::4], y[s::4])
        merged = voful.merge(parts)
        assert merged.refresh is refresh
        found[refresh] = width(merged) / min(map(width, parts))
        merged.partial_fit(*rows(20, 3))
        assert merged.n_observations == 620
    assert found[True] < found[False] < 0.9


def test_refusals(tmp_path: Path) -> None:
    one, two = (taught(BetOFUL, 60, s, failure_prob=0.01) for s in range(2))
    one.save(tmp_path / "one")

    def refused(match: str, *policies: Any, **how: Any) -> None:
        with pytest.raises((ValueError, TypeError), match=match):
            voful.merge(policies, **how)

    refused("at least two", one)
    refused("same rows in .0, 1.", one, one)
    refused("same rows", one, copy.deepcopy(one))
    later = voful.load(tmp_path / "one")
    later.partial_fit(*rows(10, 5))
    refused("same rows in .1, 2.", two, one, later)  # an ancestor and its successor
    merged = voful.merge([one, two])
    refused("same rows", merged, two)
    refused("dim: got 2", one, BetOFUL(2))
    refused("reward_range: got", one, taught(BetOFUL, 5, 3, reward_range=(-2, 2)))
    refused("theta_norm", one, taught(BetOFUL, 5, 3, theta_norm=0.5))
    refused("bet: got 'ratio'", one, taught(BetOFUL, 5, 3, bet="ratio"))
    refused("constant risk", *(taught(BetOFUL, 5, s, bet="mixed+cr") for s in range(2)))
    refused("all OFUL", OFUL(D), one)
    refused("BetOFUL, OFUL", voful.CertifiedUCB(D), voful.CertifiedUCB(D))
    refused("n_observations", one, BetOFUL(D))
    refused("failure_prob: got 0.1", OFUL(D), OFUL(D), failure_prob=0.1)
    refused("failure_prob", one, two, failure_prob=1.5)
    refused("failure_prob: got 0.2", OFUL(D, failure_prob=0.1), OFUL(D, failure_prob=0.2))
    refused("add up to", *(taught(BetOFUL, 5, s, failure_prob=0.6) for s in range(2)))
    assert voful.merge([one, taught(BetOFUL, 9, 3, width_scale=0.5)])
    early = copy.deepcopy(two)
    two.partial_fit(*rows(10, 7))
    newer = voful.merge([one, two], after=merged)
    refused("at least the 70", one, early, after=newer)
    refused("at least the 60", two, taught(BetOFUL, 80, 11, failure_prob=0.01), after=newer)
    refused("what `merge` returned", one, two, after="yesterday")


def test_sets_that_failed_are_refused() -> None:
    good = taught(BetOFUL, 60, 0)
    for mode in (None, "warn", "restart"):
        policy = BetOFUL(D, on_change=mode)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            policy.partial_fit(*rows(800, 1, 0.0))
            X, y = rows(800, 2, 0.0)
            policy.partial_fit(X, -y)
            with pytest.raises(ValueError, match="policies.1."):
                voful.merge([good, policy])


def test_evaluators_add(tmp_path: Path) -> None:
    log, pi = make_log()
    one = Evaluator(estimator="ips")
    one.update(log, pi)
    for estimator in ("ips", "snips", "dr"):
        dim = 2 if estimator == "dr" else None
        parts = [Evaluator(estimator=estimator, dim=dim) for _ in range(3)]
        for part, cut in zip(parts, ((0, 100), (100, 133), (133, 400)), strict=True):
            rows = slice(*cut)
            part.update(log[rows], pi[rows])
        merged = voful.merge(parts)
        assert merged.n == 400
        assert merged.effective_n == pytest.approx(one.effective_n)
        assert merged.max_weight == one.max_weight
        assert merged.weight_evalue <= one.weight_evalue * (1 + 1e-9)
        if estimator == "ips":
            assert merged.interval() == pytest.approx(one.interval(), abs=1e-12)
            assert merged.estimate == pytest.approx(one.estimate, abs=1e-12)
        merged.save(tmp_path / "e")
        assert voful.load(tmp_path / "e").interval() == merged.interval()
        merged.update(log[:5], pi[:5])
    with pytest.raises(ValueError, match="same rows"):
        voful.merge([one, copy.deepcopy(one)])


def crafted(path: Path, **changes: Any) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"]) | changes
    members["header.json"] = json.dumps({k: v for k, v in header.items() if v != "gone"}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_files_without_a_lineage_load_and_know_their_copies(tmp_path: Path) -> None:
    """Those of before; a policy that has learnt nothing has no ancestor."""
    taught(BetOFUL, 30, 0).save(tmp_path / "old")
    crafted(tmp_path / "old", lineage="gone")
    first, second = (voful.load(tmp_path / "old") for _ in range(2))
    assert first.lineage == second.lineage
    assert sum(first.lineage.values()) == 30
    second.partial_fit(*rows(10))
    with pytest.raises(ValueError, match="same rows"):
        voful.merge([first, second])
    BetOFUL(D).save(tmp_path / "new")
    servers = [voful.load(tmp_path / "new") for _ in range(2)]
    for s, server in enumerate(servers):
        assert server.lineage == {}
        server.partial_fit(*rows(30, s))
    assert voful.merge(servers).n_observations == 60


@pytest.mark.parametrize(
    "lineage",
    [
        3,
        {},
        {"sources": {}, "own": "x", "spent": 0.0},
        {"sources": {"a" * 32: -1}, "own": "", "spent": 0.0},
        {"sources": {"a" * 32: 1.5}, "own": "", "spent": 0.0},
        {"sources": {"a" * 32: 1}, "own": "a" * 32, "spent": 0.0},
        {"sources": {f"{i:032x}": 1 for i in range(10_001)}, "own": "", "spent": 0.0},
        {"sources": {}, "own": "", "spent": -1.0},
        {"sources": {}, "own": "", "spent": float("nan")},
        {"sources": {}, "own": "", "spent": "0"},
    ],
)
def test_crafted_lineages_are_refused(tmp_path: Path, lineage: Any) -> None:
    taught(OFUL, 3, 0).save(tmp_path / "p")
    crafted(tmp_path / "p", lineage=lineage)
    with pytest.raises(voful.FileFormatError, match="lineage"):
        voful.load(tmp_path / "p")
