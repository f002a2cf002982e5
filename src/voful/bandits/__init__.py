"""Linear bandit algorithms, one file each."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful.bandits.betoful import BetOFUL
    from voful.bandits.confidence_ball import ConfidenceBall2
    from voful.bandits.epsilon_greedy import EpsilonGreedy
    from voful.bandits.faury import Faury
    from voful.bandits.lin_ts import LinTS
    from voful.bandits.linucb import LinUCB
    from voful.bandits.lofav import LOFAV
    from voful.bandits.losan import LOSAN
    from voful.bandits.oful import OFUL
    from voful.bandits.save import SAVE
    from voful.bandits.suplinucb import SupLinUCB
    from voful.bandits.ucb_v import UCBV
    from voful.bandits.voful import VOFUL, VOFUL2
    from voful.bandits.weighted_oful import WeightedOFUL
    from voful.bandits.weighted_oful_plus import WeightedOFULPlus

__all__ = [
    "LOFAV",
    "LOSAN",
    "OFUL",
    "SAVE",
    "UCBV",
    "VOFUL",
    "VOFUL2",
    "BetOFUL",
    "ConfidenceBall2",
    "EpsilonGreedy",
    "Faury",
    "LinTS",
    "LinUCB",
    "SupLinUCB",
    "WeightedOFUL",
    "WeightedOFULPlus",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "BetOFUL": "betoful",
            "ConfidenceBall2": "confidence_ball",
            "EpsilonGreedy": "epsilon_greedy",
            "Faury": "faury",
            "LOFAV": "lofav",
            "LOSAN": "losan",
            "LinTS": "lin_ts",
            "LinUCB": "linucb",
            "OFUL": "oful",
            "SAVE": "save",
            "SupLinUCB": "suplinucb",
            "UCBV": "ucb_v",
            "VOFUL": "voful",
            "VOFUL2": "voful",
            "WeightedOFUL": "weighted_oful",
            "WeightedOFULPlus": "weighted_oful_plus",
        },
    )
