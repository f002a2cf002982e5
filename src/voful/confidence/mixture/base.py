"""What the confidence sets for weights of a mixture share: a polytope around them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from voful.confidence.algebra import dots
from voful.confidence.base import ParameterSet
from voful.confidence.mixture.polytope import PolytopeSet
from voful.typing import FloatArray


class MixtureSet(ParameterSet):
    """A set within `polytope`, whose support function is used for it."""

    _parts: ClassVar[tuple[str, ...]] = ("polytope",)

    def __init__(self, polytope: PolytopeSet) -> None:
        super().__init__(polytope.dim)
        self.polytope = polytope

    @property
    @abstractmethod
    def n_observations(self) -> int:
        """How many transitions were learnt."""

    @property
    def vertices(self) -> FloatArray | None:
        """Vertices of the polytope where it is kept by them, shape (n, dim)."""
        return self.polytope.vertices if self.polytope.has_vertices and not self.is_empty else None

    def planning_support(self, X: FloatArray) -> FloatArray:
        """What plans are made with: of an empty set its centre, of a refuted one what is left."""
        if self.is_empty:
            self.warn_empty()
            return dots(X, self.center)
        return self._support(X)

    def _whatever(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.polytope.domain.ends(X)

    def _support(self, X: FloatArray) -> FloatArray:
        return self.polytope._support(X)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in R^{self.dim} after {self.n_observations} transitions>"
