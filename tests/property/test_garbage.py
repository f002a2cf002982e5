"""Garbage in: an error that names the argument, or a right answer; never a changed object."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import voful
from helpers import make_policy, play_some
from voful import registry

IDS = [entry.id for entry in registry.entries("bandit")]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(width=64),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
)
arrays: st.SearchStrategy[Any] = hnp.arrays(
    dtype=st.sampled_from([np.float64, np.float32, np.int64, np.bool_, np.complex128, "U1"]),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
garbage = st.one_of(
    scalars,
    arrays,
    st.lists(scalars, max_size=4),
    st.lists(st.lists(st.floats(-2, 2), max_size=4), max_size=4),
    st.dictionaries(st.text(max_size=1), scalars, max_size=2),
)


def state_of(policy: Any) -> list[bytes]:
    return [array.tobytes() for array in policy.state().values()]


def finite(answer: Any) -> bool:
    parts = answer if isinstance(answer, tuple) else (answer,)
    return all(np.isfinite(np.asarray(part, dtype=float)).all() for part in parts)


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("method", ["select", "index", "predict"])
@given(value=garbage)
def test_questions(id: str, method: str, value: Any) -> None:
    policy = make_policy(id)
    play_some(policy, 3)
    before = state_of(policy)
    try:
        answer = getattr(policy, method)(value)
    except (ValueError, TypeError) as error:
        assert "got" in str(error), error
        assert state_of(policy) == before
    else:
        assert finite(answer)
    assert policy.n_observations == 3


@pytest.mark.parametrize("id", IDS)
@given(mask=garbage)
def test_masks(id: str, mask: Any) -> None:
    policy = make_policy(id)
    try:
        choice = policy.select(np.eye(3), mask=mask)
    except (ValueError, TypeError) as error:
        assert "mask: got" in str(error), error
    else:
        assert mask is None or mask[choice]


@pytest.mark.parametrize("id", IDS)
@given(x=garbage, reward=garbage)
def test_updates(id: str, x: Any, reward: Any) -> None:
    policy = make_policy(id)
    play_some(policy, 3)
    before = state_of(policy)
    known = {"variance": 0.1} if policy.needs_variance else {}
    for method in (functools.partial(policy.update, **known), policy.partial_fit):
        try:
            method(x, reward)
        except (ValueError, TypeError) as error:
            assert "got" in str(error), error
            assert state_of(policy) == before
        else:
            before = state_of(policy)
            assert all(np.isfinite(array).all() for array in policy.state().values())


@pytest.mark.parametrize("id", IDS)
@given(value=garbage)
def test_sets(id: str, value: Any) -> None:
    policy = make_policy(id)
    play_some(policy, 3)
    Theta = policy.confidence_set
    for question in () if Theta is None else (Theta.contains, Theta.support, Theta.interval):
        try:
            assert finite(question(value))
        except (ValueError, TypeError) as error:
            assert "got" in str(error), error


@pytest.mark.parametrize(
    "cls",
    [voful.BetOFUL, voful.CertifiedUCB, voful.ConfidenceBall2, voful.EpsilonGreedy, voful.Faury,
     voful.Guarded, voful.LinTS, voful.LinUCB, voful.LOFAV, voful.LOSAN, voful.OFUL, voful.SAVE,
     voful.SupLinUCB, voful.UCBV, voful.WeightedOFUL, voful.WeightedOFULPlus],
)  # fmt: skip
@given(
    arguments=st.dictionaries(
        st.sampled_from(
            ["dim", "failure_prob", "reward_range", "noise_scale", "theta_norm", "feature_norm",
             "theta_center", "bet", "refresh", "ridge", "det_growth", "width_scale", "seed",
             "constants", "epsilon", "decay", "exploration", "range_weight", "n_rounds",
             "noise_bound", "variation_ridge", "deviation_floor", "leverage_scale", "with_oful"]
        ),
        garbage,
        max_size=3,
    )
)  # fmt: skip
def test_constructors(cls: Any, arguments: dict[str, Any]) -> None:
    accepted = inspect.signature(cls).parameters
    arguments = {name: value for name, value in arguments.items() if name in accepted}
    arguments.setdefault("dim", 2)
    if "n_rounds" in accepted:
        arguments.setdefault("n_rounds", 100)
    if isinstance(arguments["dim"], (int, np.integer)) and arguments["dim"] > 50:
        arguments["dim"] = 2
    try:
        policy = cls(**arguments)
    except (ValueError, TypeError) as error:
        assert any(name in str(error) for name in arguments), error
    else:
        assert np.isfinite(policy.index(np.zeros((1, policy.dim)))).all()
        if policy.confidence_set is not None:
            assert np.isfinite(policy.confidence_set.support(np.eye(policy.dim))).all()
        assert policy.select(np.zeros((1, policy.dim))) == 0
