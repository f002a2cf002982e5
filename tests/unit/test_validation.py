from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from voful import validation
from voful.validation import ObservationSpace

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("check", "good", "expected"),
    [
        (validation.positive_int, np.int32(3), 3),
        (validation.nonnegative_int, 0, 0),
        (validation.finite_float, np.float32(0.5), 0.5),
        (validation.finite_float, np.array(0.25), 0.25),
        (validation.positive_float, 2, 2.0),
        (validation.nonnegative_float, 0, 0.0),
        (validation.probability, 0.5, 0.5),
        (validation.boolean, np.True_, True),
    ],
)
def test_good_scalars(
    check: Callable[[str, object], object], good: object, expected: object
) -> None:
    assert check("argument", good) == expected


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (validation.positive_int, 0),
        (validation.positive_int, 1.0),
        (validation.positive_int, True),
        (validation.positive_int, "3"),
        (validation.nonnegative_int, -1),
        (validation.finite_float, NAN),
        (validation.finite_float, INF),
        (validation.finite_float, 10**400),
        (validation.finite_float, True),
        (validation.finite_float, 1j),
        (validation.finite_float, None),
        (validation.positive_float, 0.0),
        (validation.nonnegative_float, -1e-300),
        (validation.probability, 0.0),
        (validation.probability, 1.0),
        (validation.probability, NAN),
        (validation.boolean, 1),
    ],
)
def test_bad_scalars_are_named(check: Callable[[str, object], object], bad: object) -> None:
    with pytest.raises((ValueError, TypeError), match=r"argument: got .*; expected "):
        check("argument", bad)


def test_choice() -> None:
    assert validation.choice("constants", "kt", ("kt", "paper")) == "kt"
    with pytest.raises(ValueError, match="constants: got 'best'; expected one of 'kt', 'paper'"):
        validation.choice("constants", "best", ("kt", "paper"))


@pytest.mark.parametrize("good", [(-1, 1), [0.0, 2.5], np.array([-3.0, -2.0])])
def test_reward_range(good: Any) -> None:
    low, high = validation.reward_range("reward_range", good)
    assert isinstance(low, float)
    assert low < high


@pytest.mark.parametrize(
    "bad",
    [None, 1.0, "ab", (1.0,), (0.0, 0.0), (1.0, -1.0), (0.0, INF), (NAN, 1.0), (1, 2, 3),
     (-1e308, 1e308), (1e12, 1e12 + 1e-4), (0.0, 1e-9)],
)  # fmt: skip
def test_bad_reward_range(bad: object) -> None:
    with pytest.raises((ValueError, TypeError), match="reward_range: got"):
        validation.reward_range("reward_range", bad)


def test_seed() -> None:
    sequence = np.random.SeedSequence(4)
    assert validation.seed(sequence) is sequence
    assert validation.seed(7).entropy == 7
    for bad in (-1, 1.5, None, "x"):
        with pytest.raises((ValueError, TypeError), match="seed: got"):
            validation.seed(bad)


def test_vector_is_a_copy() -> None:
    original = np.array([1.0, 2.0])
    checked = validation.vector("theta", original, 2)
    checked[0] = 5.0
    assert original[0] == 1.0


@pytest.mark.parametrize(
    "bad",
    [[1.0], [[1.0, 2.0]], [NAN, 0.0], [INF, 0.0], ["a", "b"], [1j, 0], [[1.0], [1.0, 2.0]], None],
)
def test_bad_vectors(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="theta: got"):
        validation.vector("theta", bad, 2)


def test_matrix_takes_any_layout_without_recompiling_types() -> None:
    base = np.arange(12.0).reshape(3, 4)
    frozen = base.copy()
    frozen.flags.writeable = False
    for view in (base, np.asfortranarray(base), base[:, :].T.T, frozen, base.astype(np.float32)):
        checked = validation.matrix("X", view, 4)
        assert checked.flags.carray
        assert checked.dtype == np.float64
        np.testing.assert_array_equal(checked, base)
    assert validation.matrix("X", base, 4) is base
    assert validation.matrix("X", np.empty((0, 4)), 4).shape == (0, 4)


@pytest.mark.parametrize("bad", [np.zeros(4), np.zeros((2, 3)), np.full((2, 4), NAN)])
def test_bad_matrices(bad: Any) -> None:
    with pytest.raises(ValueError, match="X"):
        validation.matrix("X", bad, 4)


class TestObservationSpace:
    space = ObservationSpace(2, 1.0, (-1.0, 1.0))

    def test_tolerances(self) -> None:
        third = np.full(2, math.sqrt(0.5)) * (1.0 + 5e-10)
        assert self.space.arm(third).shape == (2,)
        assert self.space.arms([third]).shape == (1, 2)
        assert self.space.reward(1.0 + 5e-10) == 1.0
        assert self.space.reward(np.float64(-1.0 - 5e-10)) == -1.0
        np.testing.assert_array_equal(self.space.batch([[0, 1]], [1 + 5e-10])[1], [1.0])
        large = ObservationSpace(2, 1e6, (0.0, 1e9))
        assert large.arm([1e6 * (1 + 3e-16), 0.0]).shape == (2,)
        assert large.reward(1e9 * (1 + 3e-16)) == 1e9

    def test_a_click_is_a_reward(self) -> None:
        assert self.space.reward(True) == 1.0
        assert self.space.reward(np.False_) == 0.0  # type: ignore[arg-type]
        assert self.space.batch([[0, 1]], [True])[1].tolist() == [1.0]

    def test_variances(self) -> None:
        assert self.space.variance(0.25) == 0.25
        assert self.space.variances([0.0, 1.0], 2).tolist() == [0.0, 1.0]
        for bad in (None, -0.1, NAN):
            with pytest.raises((ValueError, TypeError), match="variance"):
                self.space.variance(bad)
        for bad_many in ([0.1], [0.1, -0.1], [NAN, 0.1]):
            with pytest.raises(ValueError, match="variances"):
                self.space.variances(bad_many, 2)

    @pytest.mark.parametrize(
        "bad",
        [np.empty((0, 2)), np.zeros((3, 1)), np.zeros(2), [[0.0, NAN]], [[INF, 0.0]], [[1.1, 0.0]],
         [[1e200, 0.0]], "ab", None, [[1.0], [1.0, 2.0]]],
    )  # fmt: skip
    def test_bad_arms(self, bad: Any) -> None:
        with pytest.raises((ValueError, TypeError), match="arms"):
            self.space.arms(bad)

    def test_bad_arm_is_named(self) -> None:
        with pytest.raises(ValueError, match=r"arms\[1\]: got .*; expected finite with norm <= 1"):
            self.space.arms([[0.0, 1.0], [0.0, 2.0]])

    @pytest.mark.parametrize(
        "bad", [[0.0], [[0.0, 0.0]], [NAN, 0.0], [0.0, -INF], [0.8, 0.8], "x", None]
    )
    def test_bad_arm(self, bad: Any) -> None:
        with pytest.raises((ValueError, TypeError), match="x: got"):
            self.space.arm(bad)

    def test_infinite_arms_are_refused_whatever_the_norm(self) -> None:
        huge = ObservationSpace(2, 1e160, None)
        for call in (huge.arm, lambda x: huge.arms([x])):
            with pytest.raises(ValueError, match="x|arms"):
                call([INF, 0.0])

    @pytest.mark.parametrize("bad", [1.1, -1.0 - 1e-8, NAN, INF, -INF, "1", None, [0.5]])
    def test_bad_reward(self, bad: Any) -> None:
        with pytest.raises((ValueError, TypeError), match="reward: got"):
            self.space.reward(bad)

    @pytest.mark.parametrize(
        ("X", "rewards"),
        [
            ([[0.0, 1.0]], [1.0, 1.0]),
            ([[0.0, 1.0]], 1.0),
            ([[0.0, 1.0]], [NAN]),
            ([[0.0, 1.0]], [2.0]),
            ([[0.0, 2.0]], [0.0]),
            ([0.0, 1.0], [0.0]),
        ],
    )
    def test_bad_batch(self, X: Any, rewards: Any) -> None:
        with pytest.raises((ValueError, TypeError), match="X|rewards"):
            self.space.batch(X, rewards)

    def test_empty_batch(self) -> None:
        X, y = self.space.batch(np.empty((0, 2)), [])
        assert X.shape == (0, 2)
        assert y.shape == (0,)

    def test_mask(self) -> None:
        assert self.space.mask(None, 3).size == 0
        assert self.space.mask([True, False, False], 3).tolist() == [True, False, False]
        for bad in ([False] * 3, [True], [1, 0, 0], "abc", [[True, True, True]]):
            with pytest.raises((ValueError, TypeError), match="mask: got"):
                self.space.mask(bad, 3)

    def test_unbounded_rewards(self) -> None:
        space = ObservationSpace(2, 1.0, None)
        assert space.reward(1e6) == 1e6
        for bad in (NAN, INF):
            with pytest.raises(ValueError, match="a finite number"):
                space.reward(bad)
            with pytest.raises(ValueError, match="a finite number"):
                space.batch([[0.0, 0.0]], [bad])


@pytest.mark.parametrize("kind", [complex, str, object, "M8[s]"])
def test_empty_is_whole_numbers_only_as_a_list(kind: Any) -> None:
    assert validation.integer_array("states", [], 1, "whole numbers").dtype == np.int64
    with pytest.raises(TypeError, match="states"):
        validation.integer_array("states", np.array([], dtype=kind), 1, "whole numbers")
