"""Linear bandit algorithms, one file each."""

from voful.bandits.betoful import BetOFUL
from voful.bandits.losan import LOSAN
from voful.bandits.oful import OFUL

__all__ = ["LOSAN", "OFUL", "BetOFUL"]
