"""voful: variance-aware linear bandits and reinforcement learning in linear mixture MDPs."""

from voful import confidence, envs
from voful.bandits.betoful import BetOFUL
from voful.bandits.losan import LOSAN
from voful.bandits.oful import OFUL
from voful.bandits.voful import VOFUL, VOFUL2
from voful.mdp.likelihood_ucrl import LikelihoodUCRL
from voful.mdp.model import LinearMixtureModel
from voful.mdp.varlin import VARLin
from voful.persistence import FileFormatError
from voful.registry import create, load

__version__ = "0.1.0"

__all__ = [
    "LOSAN",
    "OFUL",
    "VOFUL",
    "VOFUL2",
    "BetOFUL",
    "FileFormatError",
    "LikelihoodUCRL",
    "LinearMixtureModel",
    "VARLin",
    "__version__",
    "confidence",
    "create",
    "envs",
    "load",
]
