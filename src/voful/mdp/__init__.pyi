# Written by `make derive`.
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
