from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voful
from helpers import sphere
from voful import LOSAN, OFUL, BetOFUL, Log, WeightedOFUL
from voful.logs import barriers, checkpoint, files, readers
from voful.logs.learn import learn
from voful.logs.pool import Pool
from voful.logs.rows import RowReader
from voful.typing import FloatArray

D = 3
THETA = np.array([0.3, -0.2, 0.1])


def rows(n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, D)
    return X, X @ THETA + 0.1 * rng.choice([-1.0, 1.0], n)


def parquet(path: Path, n: int = 100, seed: int = 0) -> Path:
    X, y = rows(n, seed)
    pl.DataFrame({"x": X, "reward": y}).write_parquet(path)
    return path


def same(first: Any, second: Any) -> bool:
    one, two = first.state(), second.state()
    return all(np.array_equal(one[name], two[name]) for name in one)


@pytest.fixture
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of 16 rows, so that files have several; checkpoints after each."""
    for module in (readers, files, learn.__module__):
        name = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{name}.ROWS", 16)
    monkeypatch.setattr(readers.frames_of, "__defaults__", (0, 16))
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)


def test_all_formats_give_the_same_bits(tmp_path: Path, small_frames: None) -> None:
    X, y = rows(50)
    one = OFUL(D)
    one.partial_fit(X, y)
    arms, actions = np.stack([X[::-1], X, -X], axis=1), np.ones(50, dtype=int)
    lists = pl.Series("x", X.tolist())
    frame = pl.DataFrame({"x": lists, "reward": y})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.ndjson")
    texts = ["[" + ", ".join(map(repr, row)) + "]" for row in X.tolist()]
    pl.DataFrame({"reward": y, "x": texts, "more": y}).write_csv(tmp_path / "a.csv")
    chosen = pl.DataFrame({"arms": arms.tolist(), "action": actions, "reward": y})
    chosen.write_parquet(tmp_path / "arms.parquet")
    for name in ("a.parquet", "a.ndjson", "a.csv", "arms.parquet"):
        learnt = voful.learn(tmp_path / name, OFUL(D))
        assert same(learnt, one), name
        assert list(learnt.lineage.values()) == [50]
    log = Log(actions, y, np.full(50, 0.5), arms=arms)
    for logs in (frame, [frame[:20], frame[20:]], log, iter([log])):
        assert same(voful.learn(logs, OFUL(D)), one)


def test_contexts_are_blocks() -> None:
    X, y = rows(40)
    actions = np.arange(40) % 2
    blocks = np.zeros((40, 2, D))
    blocks[np.arange(40), actions] = X
    one = OFUL(2 * D)
    one.partial_fit(blocks.reshape(40, -1), y)
    frame = pl.DataFrame({"context": X, "action": actions, "reward": y})
    assert same(voful.learn(frame, OFUL(2 * D)), one)
    with pytest.raises(ValueError, match=r"action.1.: got 1"):
        voful.learn(frame, OFUL(D))


def test_the_policy_stays_and_variances_are_told() -> None:
    X, y = rows(30)
    policy = WeightedOFUL(D, n_rounds=100)
    frame = pl.DataFrame({"x": X, "reward": y, "variance": np.full(30, 0.01)})
    learnt = voful.learn(frame, policy)
    assert (policy.n_observations, learnt.n_observations) == (0, 30)
    one = WeightedOFUL(D, n_rounds=100)
    one.partial_fit(X, y, variances=np.full(30, 0.01))
    assert same(learnt, one)
    with pytest.raises(ValueError, match="a column 'variance'"):
        voful.learn(frame.drop("variance"), policy)
    with pytest.raises(RuntimeError, match="n_rounds = 20"):
        voful.learn(frame, WeightedOFUL(D, n_rounds=20))


BAD: dict[str, dict[str, Any]] = {
    "reward: expected a number in reward_range": {"reward": 3.0},
    "reward: expected a value": {"reward": None},
    "x: expected 3 numbers": {"x": [1.0, 0.0]},
    "x: expected finite numbers": {"x": [1.0, 1.0, 1.0]},
    "x: expected a value": {"x": None},
}


@pytest.mark.parametrize("kind", ["parquet", "ndjson"])
@pytest.mark.parametrize("reason", BAD)
def test_bad_rows_are_named_or_counted(
    reason: str, kind: str, tmp_path: Path, small_frames: None
) -> None:
    X, y = rows(40)
    table = [{"x": x, "reward": r} for x, r in zip(X.tolist(), y.tolist(), strict=True)]
    table[33] |= BAD[reason]
    path = tmp_path / f"bad.{kind}"
    getattr(pl.DataFrame(table), f"write_{kind}")(path)
    name = reason.partition(":")[0]
    part = tmp_path / "part"
    with pytest.raises(ValueError, match=rf"^bad.{kind}: {name}\[33\]"):
        learn(path, OFUL(D), checkpoint=part)
    assert not part.exists()
    skipped: Counter[str] = Counter()
    learnt = learn(path, OFUL(D), skipped=skipped)
    assert learnt.n_observations == 39
    assert [(text.startswith(reason), n) for text, n in skipped.items()] == [(True, 1)]
    one = OFUL(D)
    one.partial_fit(np.delete(X, 33, axis=0), np.delete(y, 33))
    assert same(learnt, one)
    skipped = Counter()
    learn(path, OFUL(D), shards="files", skipped=skipped)
    assert sum(skipped.values()) == 1


def test_bad_texts_are_named_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('x,reward\n"[1, 0, 0]",0.5\n"[1, 0",0.5\n"[0, 1, 0]",none\n"[0, 0, 1]",0.1\n')
    with pytest.raises(ValueError, match=r"^t.csv: reward\[2\]: got 'none'"):
        voful.learn(path, OFUL(D))
    skipped: Counter[str] = Counter()
    assert voful.learn(path, OFUL(D), skipped=skipped).n_observations == 2
    assert sum(skipped.values()) == 2


def test_refused_before_anything_is_learnt(tmp_path: Path) -> None:
    good = parquet(tmp_path / "good.parquet")
    seen: list[int] = []

    def refused(match: str, logs: Any, policy: Any = None, **how: Any) -> None:
        with pytest.raises((ValueError, TypeError), match=match):
            voful.learn(logs, policy or OFUL(D), on_rows=seen.append, **how)

    other = tmp_path / "other.parquet"
    pl.DataFrame({"x": np.eye(2), "reward": [0.0, 0.1]}).write_parquet(other)
    refused("other.parquet: x: got '2 features'; expected 3", [good, other])
    pl.DataFrame({"x": np.eye(3), "reward": [0.0, 0.1, 1.5]}).write_parquet(other)
    refused(r"other.parquet: reward\[2\]: got 1.5", [good, other])
    pl.DataFrame({"x": np.eye(3)}).write_parquet(other)
    refused("other.parquet: columns", [good, other])
    copied = tmp_path / "copied.parquet"
    copied.write_bytes(good.read_bytes())
    refused("not those of", [good, copied])
    refused("not learnt yet", copied, voful.learn(good, OFUL(D)))
    refused("paths of files", pl.DataFrame({"x": np.eye(3)}), shards=2)
    refused("shards", good, backend="ray")
    refused("shards", good, shards="rows")
    refused("backend", good, shards=2, backend="spark")
    refused("with shards BetOFUL", good, LOSAN(D), shards=2)
    refused("constant risk", good, BetOFUL(D, bet="mixed+cr"), shards=2)
    refused("shards must agree", good, BetOFUL(D, grow_range=True), shards=2)
    refused("refresh: got True", good, BetOFUL(D), shards=2)
    refused("a policy", good, "oful")
    taught = BetOFUL(D, refresh=False)
    taught.partial_fit(*rows(3))
    refused("learnt no rows", good, taught, shards=2)
    assert seen == []


class Killed(BaseException):
    pass


def learn_with_kills(times: list[int], *arguments: Any, **how: Any) -> tuple[Any, int]:
    """Learn with a kill after so many reports; what came of it, and how often it was started."""
    for starts, left in enumerate([*times, 10**9], start=1):
        calls = iter(range(left))

        def on_rows(n: int, calls: Any = calls) -> None:
            if next(calls, None) is None:
                raise Killed

        try:
            return learn(*arguments, on_rows=on_rows, **how), starts
        except Killed:
            assert how["checkpoint"].exists()
    raise AssertionError


@pytest.mark.parametrize("shards", [None, 2])
def test_a_kill_changes_no_bit(tmp_path: Path, small_frames: None, shards: int | None) -> None:
    paths = [parquet(tmp_path / f"{s}.parquet", 70, s) for s in range(2)]
    policy, part = BetOFUL(D, refresh=False), tmp_path / "part"
    one = learn(paths, policy, shards=shards)
    two, starts = learn_with_kills([2, 2, 2], paths, policy, shards=shards, checkpoint=part)
    assert starts == 4
    assert same(one, two)
    assert one.lineage == two.lineage
    one.save(tmp_path / "one")
    two.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with pytest.raises(ValueError, match="checkpoint of other files"):
        learn(paths[:1], policy, shards=shards, checkpoint=part)
    assert part.exists()
    part.write_bytes(b"half")
    with pytest.raises(ValueError, match="damaged"):
        learn(paths, policy, shards=shards, checkpoint=part)


def test_shards_of_ridge_policies_are_sums(tmp_path: Path, small_frames: None) -> None:
    paths = [parquet(tmp_path / f"{s}.parquet", 50 + 30 * s, s) for s in range(3)]
    start = OFUL(D)
    start.partial_fit(*rows(10, 9))
    one = voful.learn(paths, start)
    arms = sphere(np.random.default_rng(1), 20, D)
    for shards in (1, 4, "files"):
        learnt = voful.learn(paths, start, shards=shards)
        for mine, its in zip(learnt.index(arms), one.index(arms), strict=True):
            np.testing.assert_allclose(mine, its, rtol=0.0, atol=1e-10)
        assert learnt.n_observations == 250
        assert learnt.lineage == one.lineage


def test_barriers_lose_little_and_never_the_order(tmp_path: Path, small_frames: None) -> None:
    paths = [parquet(tmp_path / f"{s}.parquet", 120, s) for s in range(4)]
    policy = BetOFUL(D, refresh=False)
    merged = voful.learn(paths, policy, shards="files")
    pooled = voful.learn(paths, BetOFUL(D))
    arms = sphere(np.random.default_rng(1), 20, D)

    def width(policy: Any) -> float:
        _, lower, upper = policy.index(arms)
        return float((upper - lower).mean())

    assert width(merged) < 1.3 * width(pooled)
    assert merged.confidence_set.contains(THETA)
    assert merged.n_observations == merged.confidence_set.n_observations == 480
    assert merged.total_failure_prob == policy.failure_prob
    merged.save(tmp_path / "merged")
    loaded = voful.load(tmp_path / "merged")
    for learner in (merged, loaded):
        learner.partial_fit(*rows(20, 5))
    assert same(merged, loaded)
    assert same(voful.learn(paths, policy, shards=3), voful.learn(paths, policy, shards=3))


def test_the_guard_of_sums_that_bend_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bets on the widest intervals bend down; the set is valid, and where nothing fits, empty."""
    rng = np.random.default_rng(0)
    X = sphere(rng, 64, D)
    frame = pl.DataFrame({"x": X, "reward": rng.choice([-1.0, 1.0], 64)})
    monkeypatch.setattr(barriers, "FIRST_ROWS", 64)
    shards: Any = [(Held("a", frame[:40]),), (Held("b", frame[40:]),)]
    policy = BetOFUL(D, refresh=False)
    reader, kept = RowReader(policy), checkpoint.Checkpoint(None, "")
    pool = Pool()
    merged, learnt = barriers.learn_at_barriers(
        pool, shards, policy, reader, kept, None, lambda n: None
    )
    assert dict(learnt) == {"a": 40, "b": 24}
    assert merged.confidence_set.contains(np.zeros(D))
    assert np.isfinite(merged.confidence_set.rad).all()


class Held:
    """A piece of a shard that is in memory."""

    def __init__(self, path: str, frame: pl.DataFrame) -> None:
        self.path, self._frame = path, frame

    def frames(self) -> Any:
        yield 0, self._frame


def test_data_that_fit_no_parameter_leave_an_empty_set(tmp_path: Path) -> None:
    X, _ = rows(300)
    pl.DataFrame({"x": X, "reward": X @ THETA}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": X, "reward": -X @ THETA}).write_parquet(tmp_path / "b.parquet")
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.warns(RuntimeWarning, match="empty"):
        learnt = voful.learn(paths, BetOFUL(D, refresh=False, on_change=None), shards="files")
    assert learnt.status == "empty"
    assert not learnt.confidence_set.contains(THETA)


def test_sharding_depends_on_the_files_alone(tmp_path: Path, small_frames: None) -> None:
    paths = [parquet(tmp_path / f"{s}.parquet", 100, s) for s in range(3)]
    opened = files.open_files(paths)
    whole = files.deal(opened, "files")
    assert [shard[0].path for shard in whole] == [str(path) for path in paths]
    for n in (1, 2, 5, 21, 40):
        dealt = files.deal(opened, n)
        assert len(dealt) <= n
        counted = [sum(len(f) for p in shard for _, f in p.frames()) for shard in dealt]
        assert sum(counted) == 300
        assert max(counted) <= 300 / len(dealt) + 32
    assert copy.copy(opened) == files.open_files(paths)
