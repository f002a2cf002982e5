# Written by `make derive`.
from voful.confidence.betting.constant_risk import ConstantRiskSet as ConstantRiskSet
from voful.confidence.betting.ellipsoid import BettingEllipsoid as BettingEllipsoid
from voful.confidence.ellipsoids.score import ScoreEllipsoid as ScoreEllipsoid
from voful.confidence.ellipsoids.sets import Ellipsoid as Ellipsoid
from voful.confidence.ellipsoids.sets import RidgeEllipsoid as RidgeEllipsoid
from voful.confidence.mixture.likelihood import LikelihoodSet as LikelihoodSet
from voful.confidence.mixture.moments import MomentSet as MomentSet
from voful.confidence.mixture.polytope import PolytopeSet as PolytopeSet
from voful.confidence.peeled.set import PeeledSet as PeeledSet
