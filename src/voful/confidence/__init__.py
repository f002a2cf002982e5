"""Confidence sets: each is an object with `contains`, `support` and `interval`."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful.confidence.betting import BettingEllipsoid as BettingEllipsoid
    from voful.confidence.ellipsoids.ridge import Ellipsoid as Ellipsoid
    from voful.confidence.ellipsoids.ridge import RidgeEllipsoid as RidgeEllipsoid
    from voful.confidence.ellipsoids.score import ScoreEllipsoid as ScoreEllipsoid
    from voful.confidence.mixture.likelihood import LikelihoodSet as LikelihoodSet
    from voful.confidence.mixture.moments import MomentSet as MomentSet
    from voful.confidence.mixture.polytope import PolytopeSet as PolytopeSet
    from voful.confidence.peeled.set import PeeledSet as PeeledSet
else:
    _HOMES = {
        "BettingEllipsoid": "betting",
        "Ellipsoid": "ellipsoids.ridge",
        "LikelihoodSet": "mixture.likelihood",
        "MomentSet": "mixture.moments",
        "PeeledSet": "peeled.set",
        "PolytopeSet": "mixture.polytope",
        "RidgeEllipsoid": "ellipsoids.ridge",
        "ScoreEllipsoid": "ellipsoids.score",
    }
    __all__ = [*_HOMES]
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
