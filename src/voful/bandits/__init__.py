"""Linear bandit algorithms, one file each."""

from voful.bandits.oful import OFUL

__all__ = ["OFUL"]
