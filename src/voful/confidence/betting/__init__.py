"""The betting ellipsoid: a confidence set from wealth that theta* cannot win."""

from voful.confidence.betting.ellipsoid import BettingEllipsoid

__all__ = ["BettingEllipsoid"]
