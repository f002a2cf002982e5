"""Linear bandit algorithms, one file each."""

from voful.bandits.betoful import BetOFUL
from voful.bandits.confidence_ball import ConfidenceBall2
from voful.bandits.epsilon_greedy import EpsilonGreedy
from voful.bandits.lin_ts import LinTS
from voful.bandits.losan import LOSAN
from voful.bandits.oful import OFUL
from voful.bandits.ucb_v import UCBV
from voful.bandits.voful import VOFUL, VOFUL2

__all__ = [
    "LOSAN",
    "OFUL",
    "UCBV",
    "VOFUL",
    "VOFUL2",
    "BetOFUL",
    "ConfidenceBall2",
    "EpsilonGreedy",
    "LinTS",
]
