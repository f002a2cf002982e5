"""Confidence sets: each is an object with `contains`, `support` and `interval`."""

from voful.lazy import on_demand

__all__, __getattr__, __dir__ = on_demand(
    __name__,
    {
        "BettingEllipsoid": "betting",
        "ConstantRiskSet": "betting.constant_risk",
        "Ellipsoid": "ellipsoids.sets",
        "LikelihoodSet": "mixture.likelihood",
        "MomentSet": "mixture.moments",
        "PeeledSet": "peeled.set",
        "PolytopeSet": "mixture.polytope",
        "RidgeEllipsoid": "ellipsoids.sets",
        "ScoreEllipsoid": "ellipsoids.score",
    },
)
