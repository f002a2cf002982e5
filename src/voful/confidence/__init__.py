"""Confidence sets: each is an object with `contains`, `support` and `interval`."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful.confidence.betting import BettingEllipsoid
    from voful.confidence.ellipsoid import Ellipsoid, RidgeEllipsoid
    from voful.confidence.likelihood import LikelihoodSet
    from voful.confidence.moments import MomentSet
    from voful.confidence.peeled import PeeledSet
    from voful.confidence.polytope import PolytopeSet
    from voful.confidence.score import ScoreEllipsoid

__all__ = [
    "BettingEllipsoid",
    "Ellipsoid",
    "LikelihoodSet",
    "MomentSet",
    "PeeledSet",
    "PolytopeSet",
    "RidgeEllipsoid",
    "ScoreEllipsoid",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "BettingEllipsoid": "betting",
            "Ellipsoid": "ellipsoid",
            "LikelihoodSet": "likelihood",
            "MomentSet": "moments",
            "PeeledSet": "peeled",
            "PolytopeSet": "polytope",
            "RidgeEllipsoid": "ellipsoid",
            "ScoreEllipsoid": "score",
        },
    )
