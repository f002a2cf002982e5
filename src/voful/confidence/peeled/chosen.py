"""The tests that a set without given directions chooses."""

from __future__ import annotations

import math

import numpy as np

from voful.confidence.directions import collapse, spread_lines
from voful.confidence.levels import Peeling, n_lines
from voful.confidence.peeled.cuts import LARGEST_CONES
from voful.confidence.peeled.parameters import PeeledParameters
from voful.confidence.peeled.tests import flat_size
from voful.typing import FloatArray

PEEL = (1e-6, 1e-3)  # rho of the predictable directions: |nu| <= rho^(-1/2)


def goes_its_own_way(given: PeeledParameters) -> bool:
    """Whether each theta is tested along its own direction: in many dimensions, by default."""
    chosen = given.directions is None and given.constants == "kt"
    return chosen and given.dim > LARGEST_CONES


def designed(given: PeeledParameters, peeling: Peeling) -> FloatArray:
    """Directions nu before any data."""
    levels = np.array(peeling.levels)
    if given.directions is not None:
        return collapse(given.directions, levels)
    if goes_its_own_way(given):
        return np.zeros((0, given.dim))
    lines = spread_lines(given.dim, n_lines(given.dim))
    if given.constants == "paper":
        return collapse(2.0 * lines, levels)
    return np.concatenate([lines / math.sqrt(rho) for rho in PEEL])


def whitened_lines(mean: FloatArray) -> FloatArray:
    """nu = (mean of xx' + rho I)^(-1/2) u: weights of order one whatever the norms of x."""
    dim = len(mean)
    lines = spread_lines(dim, n_lines(dim))
    spectrum, Q = np.linalg.eigh(mean)
    spectrum = np.maximum(spectrum, 0.0)
    return np.concatenate([lines @ (Q / np.sqrt(spectrum + rho)) @ Q.T for rho in PEEL])


def least_numbers(dim: int, n_given: int) -> int:
    """How many numbers a set has at least, with so many given directions (0: none given)."""
    if n_given == 0 and dim > LARGEST_CONES:
        return dim * dim
    return flat_size(n_given or n_lines(dim), dim)
