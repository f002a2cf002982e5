"""What the table of algorithms claims: a rate stands behind the theorem that proves it."""

from __future__ import annotations

import re

import pytest

from voful import registry

RATE = re.compile(r"sqrt\(|K\^\(|\^(?:\d|\()|\b[dH] (?:R|max)\b|sum over arms")
"""How a rate of regret looks."""

CLAIM = re.compile(
    r"[Tt]heorems? .*?(?P<when>\b(?:with|for|default arguments|any)\b[^:]*): (?P<rate>.+)"
)
"""'Theorem 3 of the paper with width_scale=1: d sqrt(K)': which one, with which arguments, what."""

ENTRIES = list(registry.entries())


def unproved(guarantee: str) -> str:
    """What is left of a guarantee without the rates that a theorem is named for."""
    claim = CLAIM.search(guarantee)
    return guarantee[: claim.start()] if claim else guarantee


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_rate_names_its_theorem_and_the_arguments(entry: registry.Entry) -> None:
    assert not RATE.search(unproved(entry.guarantee)), entry.guarantee
    claim = CLAIM.search(entry.guarantee)
    if claim:
        assert RATE.search(claim["rate"]), entry.guarantee
        assert len(claim["when"].split()) >= 2, entry.guarantee
    else:  # then it says what is proved at all, and what was seen
        words = ("coverage proved", "optimism proved", "none proved", "none without", "measured")
        assert any(word in entry.guarantee for word in words), entry.guarantee


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_arguments_that_a_claim_names_are_those_of_the_entry(entry: registry.Entry) -> None:
    """constants='paper' in a claim: the entry has it, unless the claim is said to be another's."""
    named = re.search(r"constants='(\w+)'", entry.guarantee)
    if named and "here a smaller one" not in entry.guarantee:
        assert entry.params.get("constants") == named[1]


@pytest.mark.parametrize(
    "boast",
    [
        "d sqrt(K)",
        "coverage proved; d^4.5 sqrt(K) + d^9",
        "Theorem 3 of the paper: d sqrt(K)",
        "the paper's theorem: sqrt(S A K) + S^2 A",
    ],
)
def test_a_bare_rate_would_be_noticed(boast: str) -> None:
    assert RATE.search(unproved(boast))


@pytest.mark.parametrize("id", ["varlin-paper", "varlin2", "ucbvi-bf", "ucbvi-ch", "ucrl-vtr"])
def test_plans_that_last_claim_no_theorem(id: str) -> None:
    """Their theorems are about a plan for each episode."""
    assert not RATE.search(registry.lookup(id).guarantee)
    assert "a plan for each episode" in registry.lookup(id).guarantee
