"""voful: variance-aware linear bandits and reinforcement learning in linear mixture MDPs."""

from typing import TYPE_CHECKING

from voful import bandits, mdp
from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful import checks, confidence, envs
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
    from voful.experiments.store import results
    from voful.mdp.bet_vtr import BetVTR
    from voful.mdp.hf_ucrl_vtr import HFUCRLVTRPlus
    from voful.mdp.likelihood_ucrl import LikelihoodUCRL
    from voful.mdp.model import LinearMixtureModel
    from voful.mdp.mvp import MVP
    from voful.mdp.posterior_mixture import PosteriorMixture
    from voful.mdp.ucbvi import UCBVI
    from voful.mdp.ucrl_vtr import UCRLVTR
    from voful.mdp.ucrl_vtr_plus import UCRLVTRPlus
    from voful.mdp.varlin import VARLin
    from voful.mdp.varlin2 import VARLin2
    from voful.persistence import FileFormatError
    from voful.registry import create, load

__version__ = "0.1.0"

__all__ = [
    "LOFAV",
    "LOSAN",
    "MVP",
    "OFUL",
    "SAVE",
    "UCBV",
    "UCBVI",
    "UCRLVTR",
    "VOFUL",
    "VOFUL2",
    "BetOFUL",
    "BetVTR",
    "ConfidenceBall2",
    "EpsilonGreedy",
    "Faury",
    "FileFormatError",
    "HFUCRLVTRPlus",
    "LikelihoodUCRL",
    "LinTS",
    "LinUCB",
    "LinearMixtureModel",
    "PosteriorMixture",
    "SupLinUCB",
    "UCRLVTRPlus",
    "VARLin",
    "VARLin2",
    "WeightedOFUL",
    "WeightedOFULPlus",
    "__version__",
    "checks",
    "confidence",
    "create",
    "envs",
    "load",
    "results",
]

if not TYPE_CHECKING:
    # Importing the package alone loads neither NumPy nor Numba.
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            **dict.fromkeys(bandits.__all__, "bandits"),
            **dict.fromkeys(mdp.__all__, "mdp"),
            "FileFormatError": "persistence",
            "create": "registry",
            "load": "registry",
            "results": "experiments.store",
        },
    )
