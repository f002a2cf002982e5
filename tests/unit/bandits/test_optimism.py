from __future__ import annotations

import numpy as np

from voful.bandits.optimism import best_for, most_optimistic, most_optimistic_in_ellipsoid
from voful.validation import NO_MASK


def choose(upper: list[float], uncertainty: list[float], mask: list[bool] | None = None) -> int:
    allowed = NO_MASK if mask is None else np.array(mask)
    return most_optimistic(np.array(upper), np.array(uncertainty), allowed)


def test_largest_upper_bound_wins() -> None:
    assert choose([0.1, 0.3, 0.2], [9.0, 0.0, 9.0]) == 1


def test_ties_go_to_the_larger_uncertainty_then_to_the_lowest_index() -> None:
    assert choose([0.3, 0.3 + 1e-10, 0.3], [0.1, 0.1, 0.2]) == 2
    assert choose([0.3, 0.3 + 1e-10, 0.3], [0.1, 0.1, 0.1]) == 0
    assert choose([0.3, 0.3 + 1e-8], [0.9, 0.1]) == 1


def test_the_mask_is_obeyed() -> None:
    assert choose([0.9, 0.3, 0.5], [1.0, 1.0, 1.0], [False, True, True]) == 2
    assert choose([-5.0, -6.0], [1.0, 1.0], [False, True]) == 1


def test_ellipsoid_form() -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    center, whitener = np.array([0.5, 0.0]), np.diag([0.1, 1.0])
    upper = arms @ center + 0.7 * np.sqrt(np.square(arms @ whitener).sum(axis=1))
    choice = most_optimistic_in_ellipsoid(arms, NO_MASK, center, whitener, 0.7)
    assert choice == int(np.argmax(upper))


def test_one_parameter() -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert best_for(arms, NO_MASK, np.array([0.1, 0.2])) == 1
    assert best_for(arms, np.array([True, False, True]), np.array([0.1, 0.2])) == 2
    assert best_for(arms, NO_MASK, np.array([-0.1, -0.2])) == 0
