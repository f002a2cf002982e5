"""Linear mixture MDPs: the model, optimistic planning, and one file per agent."""

from typing import TYPE_CHECKING

from voful.lazy import on_demand

if TYPE_CHECKING:
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

__all__ = [
    "MVP",
    "UCBVI",
    "UCRLVTR",
    "BetVTR",
    "HFUCRLVTRPlus",
    "LikelihoodUCRL",
    "LinearMixtureModel",
    "PosteriorMixture",
    "UCRLVTRPlus",
    "VARLin",
    "VARLin2",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
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
        },
    )
