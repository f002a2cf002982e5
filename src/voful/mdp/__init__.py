"""Linear mixture MDPs: the model, optimistic planning, and one file per agent."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful.mdp.agents.bet_vtr import BetVTR as BetVTR
    from voful.mdp.agents.hf_ucrl_vtr_plus import HFUCRLVTRPlus as HFUCRLVTRPlus
    from voful.mdp.agents.likelihood_ucrl import LikelihoodUCRL as LikelihoodUCRL
    from voful.mdp.agents.mvp import MVP as MVP
    from voful.mdp.agents.posterior_mixture import PosteriorMixture as PosteriorMixture
    from voful.mdp.agents.ucbvi import UCBVI as UCBVI
    from voful.mdp.agents.ucrl_vtr import UCRLVTR as UCRLVTR
    from voful.mdp.agents.ucrl_vtr_plus import UCRLVTRPlus as UCRLVTRPlus
    from voful.mdp.agents.varlin import VARLin as VARLin
    from voful.mdp.agents.varlin2 import VARLin2 as VARLin2
    from voful.mdp.model import LinearMixtureModel as LinearMixtureModel
else:
    _HOMES = {
        "BetVTR": "agents.bet_vtr",
        "HFUCRLVTRPlus": "agents.hf_ucrl_vtr_plus",
        "LikelihoodUCRL": "agents.likelihood_ucrl",
        "LinearMixtureModel": "model",
        "MVP": "agents.mvp",
        "PosteriorMixture": "agents.posterior_mixture",
        "UCBVI": "agents.ucbvi",
        "UCRLVTR": "agents.ucrl_vtr",
        "UCRLVTRPlus": "agents.ucrl_vtr_plus",
        "VARLin": "agents.varlin",
        "VARLin2": "agents.varlin2",
    }
    __all__ = [*_HOMES]
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
