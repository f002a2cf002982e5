"""Linear mixture MDPs: the model, optimistic planning, and one file per agent."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
    from voful.mdp.bet_vtr import BetVTR as BetVTR
    from voful.mdp.hf_ucrl_vtr import HFUCRLVTRPlus as HFUCRLVTRPlus
    from voful.mdp.likelihood_ucrl import LikelihoodUCRL as LikelihoodUCRL
    from voful.mdp.model import LinearMixtureModel as LinearMixtureModel
    from voful.mdp.mvp import MVP as MVP
    from voful.mdp.posterior_mixture import PosteriorMixture as PosteriorMixture
    from voful.mdp.ucbvi import UCBVI as UCBVI
    from voful.mdp.ucrl_vtr import UCRLVTR as UCRLVTR
    from voful.mdp.ucrl_vtr_plus import UCRLVTRPlus as UCRLVTRPlus
    from voful.mdp.varlin import VARLin as VARLin
    from voful.mdp.varlin2 import VARLin2 as VARLin2
else:
    _HOMES = {
        "BetVTR": "bet_vtr",
        "HFUCRLVTRPlus": "hf_ucrl_vtr",
        "LikelihoodUCRL": "likelihood_ucrl",
        "LinearMixtureModel": "model",
        "MVP": "mvp",
        "PosteriorMixture": "posterior_mixture",
        "UCBVI": "ucbvi",
        "UCRLVTR": "ucrl_vtr",
        "UCRLVTRPlus": "ucrl_vtr_plus",
        "VARLin": "varlin",
        "VARLin2": "varlin2",
    }
    __all__ = [*_HOMES]
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
