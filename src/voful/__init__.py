"""voful: variance-aware linear bandits and reinforcement learning in linear mixture MDPs."""

from voful import checks, confidence, envs
from voful.bandits.betoful import BetOFUL
from voful.bandits.confidence_ball import ConfidenceBall2
from voful.bandits.epsilon_greedy import EpsilonGreedy
from voful.bandits.faury import Faury
from voful.bandits.lin_ts import LinTS
from voful.bandits.losan import LOSAN
from voful.bandits.oful import OFUL
from voful.bandits.ucb_v import UCBV
from voful.bandits.voful import VOFUL, VOFUL2
from voful.bandits.weighted_oful import WeightedOFUL
from voful.bandits.weighted_oful_plus import WeightedOFULPlus
from voful.mdp.likelihood_ucrl import LikelihoodUCRL
from voful.mdp.model import LinearMixtureModel
from voful.mdp.varlin import VARLin
from voful.persistence import FileFormatError
from voful.registry import create, load

__version__ = "0.1.0"

__all__ = [
    "LOSAN",
    "OFUL",
    "UCBV",
    "VOFUL",
    "VOFUL2",
    "BetOFUL",
    "ConfidenceBall2",
    "EpsilonGreedy",
    "Faury",
    "FileFormatError",
    "LikelihoodUCRL",
    "LinTS",
    "LinearMixtureModel",
    "VARLin",
    "WeightedOFUL",
    "WeightedOFULPlus",
    "__version__",
    "checks",
    "confidence",
    "create",
    "envs",
    "load",
]
