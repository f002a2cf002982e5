# Written by `make derive`.
from voful.bandits.betoful import BetOFUL as BetOFUL
from voful.bandits.certified import CertifiedUCB as CertifiedUCB
from voful.bandits.confidence_ball import ConfidenceBall2 as ConfidenceBall2
from voful.bandits.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from voful.bandits.faury import Faury as Faury
from voful.bandits.lin_ts import LinTS as LinTS
from voful.bandits.linucb import LinUCB as LinUCB
from voful.bandits.lofav import LOFAV as LOFAV
from voful.bandits.losan import LOSAN as LOSAN
from voful.bandits.oful import OFUL as OFUL
from voful.bandits.save import SAVE as SAVE
from voful.bandits.suplinucb import SupLinUCB as SupLinUCB
from voful.bandits.ucb_v import UCBV as UCBV
from voful.bandits.voful import VOFUL as VOFUL
from voful.bandits.voful import VOFUL2 as VOFUL2
from voful.bandits.weighted_oful import WeightedOFUL as WeightedOFUL
from voful.bandits.weighted_oful_plus import WeightedOFULPlus as WeightedOFULPlus
