"""Where the parameter of a linear mixture lives: the simplex, or the L1 ball.

Base models that are probability kernels force sum theta*_i = 1, and with |theta*|_1 <= 1 this
leaves the simplex. Signed base models keep the whole L1 ball of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voful.typing import BoolArray, FloatArray
from voful.validation import TOLERANCE

NOTHING = 1e-13
"""A row whose entries differ by less than this part of its right side says nothing."""


@dataclass(frozen=True)
class Domain:
    """The simplex {theta >= 0, sum theta = 1} or the ball {|theta|_1 <= 1} in R^dim."""

    dim: int
    simplex: bool

    @property
    def n_free(self) -> int:
        """Dimension of the domain itself."""
        return self.dim - 1 if self.simplex else self.dim

    @property
    def corners(self) -> FloatArray:
        """Its vertices, shape (n, dim); in order around it where n_free <= 2."""
        unit = np.eye(self.dim)
        return unit if self.simplex else np.concatenate([unit, -unit])

    @property
    def facets(self) -> tuple[FloatArray, FloatArray]:
        """(A, b) with {A theta <= b} = the domain (within sum theta = 1 for the simplex)."""
        if self.simplex:
            return -np.eye(self.dim), np.zeros(self.dim)
        bits = np.arange(2**self.dim)[:, None] >> np.arange(self.dim) & 1
        signs: FloatArray = 1.0 - 2.0 * bits.astype(np.float64)
        return signs, np.ones(len(signs))

    @property
    def middle(self) -> FloatArray:
        """Its centre of symmetry."""
        return np.full(self.dim, 1.0 / self.dim) if self.simplex else np.zeros(self.dim)

    def contains(self, theta: FloatArray) -> bool:
        """Whether theta is in it, up to 1e-9."""
        if self.simplex:
            total = float(theta.sum())
            return bool(theta.min() >= -TOLERANCE and abs(total - 1.0) <= TOLERANCE)
        return bool(np.abs(theta).sum() <= 1.0 + TOLERANCE)

    def support(self, X: FloatArray) -> FloatArray:
        """sup of <x, theta> over it for the rows x of X."""
        ends: FloatArray = X.max(axis=1) if self.simplex else np.abs(X).max(axis=1)
        return ends

    def ends(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest <x, theta> over it: [min x_i, max x_i] on the simplex."""
        return -self.support(-X), self.support(X)

    def normalise(self, A: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The same halfspaces with entries of size at most 1, and which of them say something.

        On the simplex a constant may be taken from all entries of a row and its right side.
        """
        mean = A.mean(axis=1) if self.simplex else np.zeros(len(A))
        rows, right = A - mean[:, None], b - mean
        size = np.abs(rows).max(axis=1, initial=0.0)
        says = (size > NOTHING * (np.abs(right) + np.abs(mean))) & (size > 0.0)
        scale = np.where(says, size, 1.0)
        return rows / scale[:, None], right / scale, says

    def tangent(self) -> FloatArray:
        """Orthonormal rows that span the directions within it, shape (n_free, dim)."""
        if not self.simplex:
            return np.eye(self.dim)
        k, shape = np.arange(1.0, self.dim)[:, None], (self.dim - 1, self.dim)
        return (np.tri(*shape) - k * np.eye(*shape, 1)) / np.sqrt(k * (k + 1.0))  # Helmert's
