"""Confidence sets: each is an object with `contains`, `support` and `interval`."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful.confidence.betting import BettingEllipsoid as BettingEllipsoid
    from voful.confidence.ellipsoid import Ellipsoid as Ellipsoid
    from voful.confidence.ellipsoid import RidgeEllipsoid as RidgeEllipsoid
    from voful.confidence.likelihood import LikelihoodSet as LikelihoodSet
    from voful.confidence.moments import MomentSet as MomentSet
    from voful.confidence.peeled import PeeledSet as PeeledSet
    from voful.confidence.polytope import PolytopeSet as PolytopeSet
    from voful.confidence.score import ScoreEllipsoid as ScoreEllipsoid
else:
    _HOMES = {
        "BettingEllipsoid": "betting",
        "Ellipsoid": "ellipsoid",
        "LikelihoodSet": "likelihood",
        "MomentSet": "moments",
        "PeeledSet": "peeled",
        "PolytopeSet": "polytope",
        "RidgeEllipsoid": "ellipsoid",
        "ScoreEllipsoid": "score",
    }
    __all__ = [*_HOMES]
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
