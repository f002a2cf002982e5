from __future__ import annotations

import csv
import inspect

import pytest

from derive import derived
from voful import OFUL, registry
from voful.algorithms import KINDS, Entry, _entry


def test_ids_are_unique_and_words() -> None:
    ids = [entry.id for entry in registry.entries()]
    assert len(set(ids)) == len(ids)
    assert all(id == id.lower() and " " not in id for id in ids)


def test_kinds_partition_the_table() -> None:
    everything = list(registry.entries())
    parts = [*registry.entries("bandit"), *registry.entries("episodic")]
    assert sorted(e.id for e in parts) == sorted(e.id for e in everything)


def test_lines_stand_where_one_looks_for_them() -> None:
    for kind in KINDS:
        ids = [entry.id for entry in registry.entries(kind)]
        assert ids == sorted(ids)
    kinds = [entry.kind for entry in registry.entries()]
    assert kinds == sorted(kinds)  # bandits before agents


@pytest.mark.parametrize("text", ["a,b:C,,known,known,p,g", "a,b:C,,known,known,p,g,c,more"])
def test_a_line_with_a_comma_too_few_or_too_many_is_shown(text: str) -> None:
    (line,) = csv.DictReader([",".join(Entry.__annotations__), text])
    with pytest.raises(ValueError, match="algorithms.csv, line 7: got a, b:C, .*expected 8 fields"):
        _entry(line, 7)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("location", "losan:LOSAN"),
        ("arguments", "explore=100"),
        ("variance", "none"),
        ("horizon", "unknown"),
    ],
)
def test_a_field_that_means_nothing_is_named(name: str, said: str) -> None:
    good = {"location": "bandits.a:B", "arguments": "", "variance": "known", "horizon": "anytime"}
    line = dict.fromkeys(Entry.__annotations__, "x") | good
    assert _entry(line, 7).location == "bandits.a:B"
    with pytest.raises(ValueError, match=f"algorithms.csv, line 7, {name}: got '{said}'; expected"):
        _entry(line | {name: said}, 7)


def test_create_uses_the_entry_and_the_callers_arguments() -> None:
    policy = registry.create("oful-rare", 3, n_rounds=100, failure_prob=0.2)
    assert isinstance(policy, OFUL)
    assert policy.det_growth == 1.0
    assert policy.failure_prob == 0.2
    assert registry.create("oful-rare", 3, det_growth=2.0).det_growth == 2.0


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="id: got 'ofull'; expected .* .did you mean 'oful'"):
        registry.lookup("ofull")
    for bad in ("zzz", None, ["oful"]):
        with pytest.raises(ValueError, match="id: got .*; expected one of .*oful"):
            registry.lookup(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", list(registry.entries()), ids=lambda entry: entry.id)
def test_the_table_agrees_with_the_class(entry: registry.Entry) -> None:
    accepted = inspect.signature(entry.cls).parameters
    assert entry.params.keys() <= accepted.keys()
    assert entry.needs_variance == getattr(entry.cls, "needs_variance", False)
    assert entry.variance in ("known", "not needed")
    assert entry.anytime == (not {"n_rounds", "n_episodes"} & accepted.keys())
    assert entry.horizon in ("known", "anytime")


def test_what_follows_from_the_table_is_up_to_date() -> None:
    for path, text in derived():
        assert path.read_text() == text, f"{path.name}: run make derive"
