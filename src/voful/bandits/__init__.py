"""Linear bandit algorithms, one file each."""

from voful.bandits.betoful import BetOFUL
from voful.bandits.losan import LOSAN
from voful.bandits.oful import OFUL
from voful.bandits.voful import VOFUL, VOFUL2

__all__ = ["LOSAN", "OFUL", "VOFUL", "VOFUL2", "BetOFUL"]
