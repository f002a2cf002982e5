"""The betting ellipsoid: a confidence set from wealth that theta* cannot win (H2, H2b)."""

from voful.confidence.betting.ellipsoid import BettingEllipsoid

__all__ = ["BettingEllipsoid"]
