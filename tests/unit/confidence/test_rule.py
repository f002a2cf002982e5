"""What is wrong with a rule is said where it is declared, not where it is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from voful.compiled import kernel
from voful.confidence.rule import observe_by, rule
from voful.typing import BoolArray, FloatArray


class State(NamedTuple):
    block: FloatArray


class OtherState(NamedTuple):
    block: FloatArray


@kernel
def choose(block: FloatArray, arms: FloatArray, mask: BoolArray) -> int:
    return 0


@kernel
def observe(block: FloatArray, x: FloatArray, reward: float, variance: float) -> None:
    block[0] += reward


@kernel
def swapped(block: FloatArray, x: FloatArray, variance: float, reward: float) -> None:
    block[0] += reward


@kernel
def without_variance(block: FloatArray, x: FloatArray, reward: float) -> None:
    block[0] += reward


@kernel
def of_two_arrays(block: FloatArray, more: FloatArray, theta: FloatArray) -> bool:
    return True


def in_python(block: FloatArray, arms: FloatArray, mask: BoolArray) -> int:
    return 0


@pytest.mark.parametrize(
    ("functions", "what"),
    [
        ((in_python, observe, None), r"choose of State: got in_python\(block, arms, mask\)"),
        ((choose, swapped, None), r"observe of State: got swapped\(.*\); expected a @kernel of"),
        ((choose, without_variance, None), "1 arrays, then x, reward, variance"),
        ((choose, observe, of_two_arrays), "holds of State: got of_two_arrays"),
    ],
)
def test_functions_that_could_not_be_played(functions: Any, what: str) -> None:
    with pytest.raises(TypeError, match=what):
        rule(State, *functions)


def test_a_state_has_one_rule_and_needs_it() -> None:
    state = OtherState(np.zeros(1))
    with pytest.raises(
        TypeError, match=r"OtherState has no rule: .* _rule = rule\(OtherState, choos"
    ):
        observe_by(state, np.ones(1), 0.5, 0.0)
    rule(OtherState, choose, observe, None)
    observe_by(state, np.ones(1), 0.5, 0.0)
    assert state.block[0] == 0.5
    with pytest.raises(TypeError, match="OtherState has a rule already"):
        rule(OtherState, choose, observe, None)


def test_a_response_needs_a_refresh() -> None:
    respond: Callable[..., bool] = of_two_arrays
    with pytest.raises(TypeError, match="State: compiled loops ask what is due"):
        rule(State, choose, observe, None, respond=respond)
