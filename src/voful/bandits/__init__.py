"""Linear bandit algorithms, one file each."""

from voful.bandits.betoful import BetOFUL
from voful.bandits.faury import Faury
from voful.bandits.losan import LOSAN
from voful.bandits.oful import OFUL
from voful.bandits.voful import VOFUL, VOFUL2
from voful.bandits.weighted_oful import WeightedOFUL
from voful.bandits.weighted_oful_plus import WeightedOFULPlus

__all__ = [
    "LOSAN",
    "OFUL",
    "VOFUL",
    "VOFUL2",
    "BetOFUL",
    "Faury",
    "WeightedOFUL",
    "WeightedOFULPlus",
]
