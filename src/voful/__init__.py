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
    from voful.experiments.store.store import results
    from voful.mdp.agents.bet_vtr import BetVTR
    from voful.mdp.agents.hf_ucrl_vtr_plus import HFUCRLVTRPlus
    from voful.mdp.agents.likelihood_ucrl import LikelihoodUCRL
    from voful.mdp.agents.mvp import MVP
    from voful.mdp.agents.posterior_mixture import PosteriorMixture
    from voful.mdp.agents.ucbvi import UCBVI
    from voful.mdp.agents.ucrl_vtr import UCRLVTR
    from voful.mdp.agents.ucrl_vtr_plus import UCRLVTRPlus
    from voful.mdp.agents.varlin import VARLin
    from voful.mdp.agents.varlin2 import VARLin2
    from voful.mdp.model import LinearMixtureModel
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
            "results": "experiments.store.store",
        },
    )
