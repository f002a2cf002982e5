"""Linear bandit algorithms, one file each."""

from voful.bandits.oful import OFUL
from voful.bandits.voful import VOFUL, VOFUL2

__all__ = ["OFUL", "VOFUL", "VOFUL2"]
