"""A number for each decision, and late rewards matched by it."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import make_policy, sphere

POLICIES = ("betoful", "certified", "lin-ts", "oful")


def serve(desk: voful.Tickets, n: int, seed: int, late: int = 15) -> list[int]:
    """Decisions whose rewards come late and out of order, some never; the arms chosen."""
    rng = np.random.default_rng(seed)
    waiting: deque[tuple[int, Any]] = deque()
    chosen = []
    for _ in range(n):
        arms = sphere(rng, 5, 3)
        ticket = desk.select(arms)
        chosen.append(ticket.index)
        waiting.append((ticket.id, arms[ticket.index]))
        if len(waiting) > late:
            waiting.rotate(-int(rng.integers(0, late)))
            id, x = waiting.popleft()
            if rng.random() < 0.9:
                desk.update(id, 0.5 * x[0] + 0.1 * rng.choice([-1.0, 1.0]))
            else:
                desk.drop(id)
    return chosen


@pytest.mark.parametrize("id", POLICIES)
def test_saved_and_loaded_it_goes_on_exactly(id: str, tmp_path: Path) -> None:
    desk = voful.Tickets(make_policy(id))
    serve(desk, 90, 1)
    desk.save(tmp_path / "desk")
    twin = voful.load(tmp_path / "desk")
    assert (twin.ids == desk.ids).all()
    assert (twin.arms == desk.arms).all()
    assert len(twin) == len(desk) > 5
    assert serve(twin, 60, 2) == serve(desk, 60, 2)
    for number in desk.ids:
        twin.update(int(number), 0.25)
        desk.update(int(number), 0.25)
    a, b = desk.state(), twin.state()
    assert a.keys() == b.keys()
    assert all((a[name] == b[name]).all() for name in a)


def test_the_policy_is_told_what_waits() -> None:
    desk, plain = voful.Tickets(voful.BetOFUL(3)), voful.BetOFUL(3)
    arms = sphere(np.random.default_rng(0), 6, 3)
    chosen = [desk.select(arms).index for _ in range(40)]
    assert len(set(chosen)) > 1  # elsewhere, while nothing comes back
    assert {plain.select(arms) for _ in range(40)} == {chosen[0]}


def test_a_ticket_is_closed_once() -> None:
    desk = voful.Tickets(voful.BetOFUL(3))
    arms = np.eye(3)
    first, second = desk.select(arms), desk.choose(arms, floor=0.1)
    assert (first.id, second.id, len(desk)) == (0, 1, 2)
    assert first.probability == 1.0
    assert 0.1 <= second.probability <= 0.8
    with pytest.raises(ValueError, match="reward: got 3.0"):
        desk.update(first.id, 3.0)
    assert first.id in desk
    assert desk.policy.n_observations == 0
    desk.update(first.id, 0.5)
    for again in (first.id, 7):
        with pytest.raises(ValueError, match="id: got .; expected the number of one of the 1 open"):
            desk.update(again, 0.5)
    with pytest.raises(TypeError, match="id: got str"):
        desk.update("first", 0.5)  # type: ignore[arg-type]
    desk.drop(second.id)
    assert len(desk) == 0
    assert desk.policy.n_observations == 1
    assert desk.select(arms).id == 2  # numbers are not used again


def test_the_oldest_are_dropped() -> None:
    desk = voful.Tickets(voful.BetOFUL(3), most=70)
    for _ in range(200):
        desk.select(np.eye(3))
    assert sorted(desk.ids.tolist()) == list(range(130, 200))


def test_an_alarm_closes_its_ticket() -> None:
    desk = voful.Tickets(voful.BetOFUL(3, on_change="raise"))
    x = np.array([[1.0, 0.0, 0.0]])

    def turn() -> None:
        for t in range(400):
            desk.update(desk.select(x).id, 1.0 if t < 200 else -1.0)

    with pytest.raises(voful.monitor.ModelAlarm):
        turn()
    assert len(desk) == 0


def test_only_policies() -> None:
    with pytest.raises(TypeError, match="policy: got str 'betoful'; expected a policy"):
        voful.Tickets("betoful")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ids", np.array([0, 0])),
        ("ids", np.array([0, 5])),
        ("arms", np.full((2, 3), 2.0)),
        ("arms", np.zeros((1, 3))),
        ("given", np.array([-1])),
    ],
)
def test_crafted_tickets_are_refused(name: str, value: Any) -> None:
    desk = voful.Tickets(voful.BetOFUL(3))
    desk.select(np.eye(3))
    desk.select(np.eye(3))
    with pytest.raises(ValueError, match="Tickets does not satisfy"):
        desk.restore(desk.state() | {name: value})


def test_a_small_file_cannot_ask_for_a_large_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = voful.Tickets(voful.BetOFUL(3))
    crafted = desk.policy.config() | {"dim": 50_000}
    with monkeypatch.context() as patch:
        patch.setattr(voful.BetOFUL, "config", lambda self: crafted)
        desk.save(tmp_path / "desk")
    with pytest.raises(voful.FileFormatError, match="more than the file holds"):
        voful.load(tmp_path / "desk")
