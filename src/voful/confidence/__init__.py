"""Confidence sets: each is an object with `contains`, `support` and `interval`."""

from voful.confidence.ellipsoid import Ellipsoid, RidgeEllipsoid

__all__ = ["Ellipsoid", "RidgeEllipsoid"]
