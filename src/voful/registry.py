"""id -> class: the one table from which the CLI, the tests and the docs enumerate."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args

from voful import persistence, validation
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
from voful.persistence import FileFormatError, Persistent
from voful.typing import Path

Kind = Literal["bandit", "episodic"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Entry:
    """One algorithm (or one named setting of it).

    Parameters
    ----------
    id
        Name on the command line, in studies and in results.
    cls
        The class.
    kind
        "bandit" or "episodic".
    paper
        Where it was published.
    guarantee
        Regret, up to logarithms (K rounds or episodes, dimension d, variances sigma_k^2).
    cost
        Per round, with A arms; of episodic agents per plan, with n_rows distinct rows of values
        and, for tabular ones, B successors of a state and action.
    params
        Constructor arguments that make this entry different from its class's defaults.
    """

    id: str
    cls: type[Persistent]
    kind: Kind
    paper: str
    guarantee: str
    cost: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs_variance(self) -> bool:
        """Whether `update` wants the true variance of the noise (the class says so)."""
        return bool(getattr(self.cls, "needs_variance", False))

    @property
    def anytime(self) -> bool:
        """Whether it runs without knowing the number of rounds or episodes."""
        return not {"n_rounds", "n_episodes"} & set(inspect.signature(self.cls).parameters)


_ENTRIES = (
    Entry(
        id="betoful",
        cls=BetOFUL,
        kind="bandit",
        paper="this library",
        guarantee="coverage proved; measured: adapts to unknown variances",
        cost="A d^2",
    ),
    Entry(
        id="confidence-ball",
        cls=ConfidenceBall2,
        kind="bandit",
        paper="Dani, Hayes, Kakade 2008; printed constants",
        guarantee="d sqrt(K)",
        cost="A d^2",
    ),
    Entry(
        id="epsilon-greedy",
        cls=EpsilonGreedy,
        kind="bandit",
        paper="the naive baseline",
        guarantee="epsilon K",
        cost="d^2 + A d",
    ),
    Entry(
        id="faury",
        cls=Faury,
        kind="bandit",
        paper="Faury, Abeille, Calauzenes, Fercoq 2020, Theorem 1; tight constants",
        guarantee="coverage proved; measured: falls with the variance",
        cost="A d^2",
    ),
    Entry(
        id="faury-paper",
        cls=Faury,
        kind="bandit",
        paper="Faury, Abeille, Calauzenes, Fercoq 2020, Theorem 1; printed constants",
        guarantee="coverage proved; measured: falls with the variance",
        cost="A d^2",
        params={"constants": "paper"},
    ),
    Entry(
        id="lin-ts",
        cls=LinTS,
        kind="bandit",
        paper="Thompson sampling with the posterior scale of practice",
        guarantee="none without a prior; coverage proved",
        cost="d^2 + A d",
    ),
    Entry(
        id="lin-ts-paper",
        cls=LinTS,
        kind="bandit",
        paper="Agrawal, Goyal 2013; printed constants",
        guarantee="d^1.5 sqrt(K)",
        cost="d^2 + A d",
        params={"constants": "paper"},
    ),
    Entry(
        id="linucb",
        cls=LinUCB,
        kind="bandit",
        paper="Chu, Li, Reyzin, Schapire 2011, Algorithm 1",
        guarantee="none proved",
        cost="A d^2",
    ),
    Entry(
        id="lofav",
        cls=LOFAV,
        kind="bandit",
        paper="Jun, Kim 2024; safe range",
        guarantee="d sqrt(sum sigma_k^2) + lower order",
        cost="A L d^2, L = log2(K / d) / 2",
    ),
    Entry(
        id="lofav-paper",
        cls=LOFAV,
        kind="bandit",
        paper="Jun, Kim 2024; constants of the authors' code",
        guarantee="d sqrt(sum sigma_k^2) + lower order",
        cost="A L d^2, L = log2(K / d) / 2",
        params={"constants": "paper"},
    ),
    Entry(
        id="losan",
        cls=LOSAN,
        kind="bandit",
        paper="Jun, Kim 2024",
        guarantee="sigma d sqrt(K) + R sqrt(d K)",
        cost="A d^2",
    ),
    Entry(
        id="oful",
        cls=OFUL,
        kind="bandit",
        paper="Abbasi-Yadkori, Pal, Szepesvari 2011",
        guarantee="d sqrt(K)",
        cost="A d^2",
    ),
    Entry(
        id="oful-rare",
        cls=OFUL,
        kind="bandit",
        paper="Abbasi-Yadkori, Pal, Szepesvari 2011, Section 5.1",
        guarantee="d sqrt(K), O(d log K) switches",
        cost="A d^2",
        params={"det_growth": 1.0},
    ),
    Entry(
        id="save",
        cls=SAVE,
        kind="bandit",
        paper="Zhao, He, Zhou, Zhang, Gu 2023; tight constants",
        guarantee="d sqrt(sum sigma_k^2) + d R",
        cost="A L d^2, L = 1.5 log2(K)",
    ),
    Entry(
        id="save-paper",
        cls=SAVE,
        kind="bandit",
        paper="Zhao, He, Zhou, Zhang, Gu 2023; printed constants",
        guarantee="d sqrt(sum sigma_k^2) + d R",
        cost="A L d^2, L = 1.5 log2(K)",
        params={"constants": "paper"},
    ),
    Entry(
        id="suplinucb",
        cls=SupLinUCB,
        kind="bandit",
        paper="Chu, Li, Reyzin, Schapire 2011, Algorithm 3",
        guarantee="sqrt(d K log A)",
        cost="A L d^2, L = ln(K)",
    ),
    Entry(
        id="ucb-v",
        cls=UCBV,
        kind="bandit",
        paper="Audibert, Munos, Szepesvari 2009",
        guarantee="fixed arms: sum over arms of sigma_i^2 / gap_i + range",
        cost="A d",
    ),
    Entry(
        id="voful",
        cls=VOFUL,
        kind="bandit",
        paper="Zhang, Yang, Ji, Du 2021, Algorithm 1; tight constants",
        guarantee="measured: below OFUL, falls with the variance",
        cost="N d^2 + LPs, N = 10 d tests",
    ),
    Entry(
        id="voful-paper",
        cls=VOFUL,
        kind="bandit",
        paper="Zhang, Yang, Ji, Du 2021, Algorithm 1; printed constants",
        guarantee="d^4.5 sqrt(sum sigma_k^2) + d^5",
        cost="N d^2 + LPs, N = 5 d log K tests",
        params={"constants": "paper"},
    ),
    Entry(
        id="voful2",
        cls=VOFUL2,
        kind="bandit",
        paper="Kim, Yang, Jun 2022; printed constants",
        guarantee="d^1.5 sqrt(sum sigma_k^2) + d^2",
        cost="N d^2 + LPs, N = 5 d log K tests",
        params={"constants": "paper"},
    ),
    Entry(
        id="weighted-oful",
        cls=WeightedOFUL,
        kind="bandit",
        paper="Zhou, Gu, Szepesvari 2021; tight constants",
        guarantee="d sqrt(sum sigma_k^2) + R sqrt(d K)",
        cost="A d^2",
    ),
    Entry(
        id="weighted-oful-paper",
        cls=WeightedOFUL,
        kind="bandit",
        paper="Zhou, Gu, Szepesvari 2021; printed constants",
        guarantee="d sqrt(sum sigma_k^2) + R sqrt(d K)",
        cost="A d^2",
        params={"constants": "paper"},
    ),
    Entry(
        id="weighted-oful-plus",
        cls=WeightedOFULPlus,
        kind="bandit",
        paper="Zhou, Gu 2022; tight constants",
        guarantee="d sqrt(sum sigma_k^2) + d R",
        cost="A d^2",
    ),
    Entry(
        id="weighted-oful-plus-oful",
        cls=WeightedOFULPlus,
        kind="bandit",
        paper="Zhou, Gu 2022, cut with OFUL's set; tight constants",
        guarantee="min(d sqrt(sum sigma_k^2) + d R, R d sqrt(K))",
        cost="A d^2",
        params={"with_oful": True},
    ),
    Entry(
        id="weighted-oful-plus-paper",
        cls=WeightedOFULPlus,
        kind="bandit",
        paper="Zhou, Gu 2022; printed constants",
        guarantee="d sqrt(sum sigma_k^2) + d R",
        cost="A d^2",
        params={"constants": "paper"},
    ),
    Entry(
        id="bet-vtr",
        cls=BetVTR,
        kind="episodic",
        paper="this library; betting ellipsoid on values",
        guarantee="coverage proved; measured: free of the horizon",
        cost="n_rows S A d^2 + bets",
    ),
    Entry(
        id="hf-ucrl-vtr-plus",
        cls=HFUCRLVTRPlus,
        kind="episodic",
        paper="Zhou, Gu 2022; tight constants",
        guarantee="d sqrt(K) + d^2",
        cost="n_rows S A d^2; H d^2 log(H K) an episode",
    ),
    Entry(
        id="hf-ucrl-vtr-plus-paper",
        cls=HFUCRLVTRPlus,
        kind="episodic",
        paper="Zhou, Gu 2022; printed constants",
        guarantee="d sqrt(K) + d^2",
        cost="n_rows S A d^2; H d^2 log(H K) an episode",
        params={"constants": "paper"},
    ),
    Entry(
        id="likelihood-ucrl",
        cls=LikelihoodUCRL,
        kind="episodic",
        paper="this library; likelihood-ratio set",
        guarantee="coverage proved; measured: free of the horizon",
        cost="n_rows S A d + maximum likelihood",
    ),
    Entry(
        id="mvp",
        cls=MVP,
        kind="episodic",
        paper="Zhang, Ji, Du 2021; tight constants; tabular",
        guarantee="optimism proved; measured: hardly grows with the horizon",
        cost="n_rows S A B",
    ),
    Entry(
        id="mvp-paper",
        cls=MVP,
        kind="episodic",
        paper="Zhang, Ji, Du 2021; printed constants; tabular",
        guarantee="sqrt(S A K) + S^2 A",
        cost="n_rows S A B",
        params={"constants": "paper"},
    ),
    Entry(
        id="mvp-sharp",
        cls=MVP,
        kind="episodic",
        paper="Zhang, Ji, Du 2021; least constants that Bernstein allows; tabular",
        guarantee="optimism proved; measured: hardly grows with the horizon",
        cost="n_rows S A B",
        params={"constants": "sharp"},
    ),
    Entry(
        id="posterior-mixture",
        cls=PosteriorMixture,
        kind="episodic",
        paper="posterior sampling, uniform prior",
        guarantee="none without a prior; no set",
        cost="n_rows S A d + chain",
    ),
    Entry(
        id="ucbvi-bf",
        cls=UCBVI,
        kind="episodic",
        paper="Azar, Osband, Munos 2017; Bernstein-Freedman bonus; tabular",
        guarantee="sqrt(S A K) + sqrt(H K) + H S^2 A",
        cost="H S A B",
    ),
    Entry(
        id="ucbvi-ch",
        cls=UCBVI,
        kind="episodic",
        paper="Azar, Osband, Munos 2017; Chernoff-Hoeffding bonus; tabular",
        guarantee="sqrt(H S A K) + H S^2 A",
        cost="H S A B",
        params={"bonus": "hoeffding"},
    ),
    Entry(
        id="ucrl-vtr",
        cls=UCRLVTR,
        kind="episodic",
        paper="Ayoub, Jia, Szepesvari, Wang, Yang 2020",
        guarantee="d H sqrt(K)",
        cost="n_rows S A d^2; H d^2 an episode",
    ),
    Entry(
        id="ucrl-vtr-plus",
        cls=UCRLVTRPlus,
        kind="episodic",
        paper="Zhou, Gu, Szepesvari 2021; tight constants",
        guarantee="sqrt(d^2 H + d H^2) sqrt(K) + d^2 H^2 + d^3 H",
        cost="n_rows S A d^2; H d^2 an episode",
    ),
    Entry(
        id="ucrl-vtr-plus-paper",
        cls=UCRLVTRPlus,
        kind="episodic",
        paper="Zhou, Gu, Szepesvari 2021; printed constants",
        guarantee="sqrt(d^2 H + d H^2) sqrt(K) + d^2 H^2 + d^3 H",
        cost="n_rows S A d^2; H d^2 an episode",
        params={"constants": "paper"},
    ),
    Entry(
        id="varlin",
        cls=VARLin,
        kind="episodic",
        paper="Zhang, Yang, Ji, Du 2021, Algorithm 2; Bernstein tests",
        guarantee="coverage proved; measured: free of the horizon",
        cost="n_rows S A d + tests",
    ),
    Entry(
        id="varlin-mgf",
        cls=VARLin,
        kind="episodic",
        paper="Zhang, Yang, Ji, Du 2021, Algorithm 2; exact generating functions",
        guarantee="coverage proved; measured: free of the horizon",
        cost="n_rows S A d + tests",
        params={"constants": "mgf"},
    ),
    Entry(
        id="varlin-paper",
        cls=VARLin,
        kind="episodic",
        paper="Zhang, Yang, Ji, Du 2021, Algorithm 2; printed constants",
        guarantee="d^4.5 sqrt(K) + d^9",
        cost="n_rows S A d + tests of log(H K) moments",
        params={"constants": "paper"},
    ),
    Entry(
        id="varlin2",
        cls=VARLin2,
        kind="episodic",
        paper="Kim, Yang, Jun 2022; this library's iota",
        guarantee="d sqrt(K) + d^2",
        cost="n_rows S A d + tests of log(H K) moments",
    ),
)

_TABLE: dict[str, Entry] = {entry.id: entry for entry in _ENTRIES}


def entries(kind: Kind | None = None) -> Iterator[Entry]:
    """All entries in the order of the table, or those of one kind."""
    return (entry for entry in _ENTRIES if kind is None or entry.kind == kind)


def lookup(id: str) -> Entry:
    """The entry of an id; the error for an unknown id names the nearest one."""
    if isinstance(id, str) and id in _TABLE:
        return _TABLE[id]
    near = difflib.get_close_matches(str(id), _TABLE, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise validation.fail("id", id, "one of " + ", ".join(_TABLE) + hint)


def create(
    id: str, *args: Any, n_rounds: int | None = None, n_episodes: int | None = None, **params: Any
) -> Any:
    """Make the algorithm of an id.

    `n_rounds` and `n_episodes` reach only those algorithms that want to know them.
    """
    entry = lookup(id)
    offered = {"n_rounds": n_rounds, "n_episodes": n_episodes}
    known = {name: n for name, n in offered.items() if n is not None}
    return build(entry.cls, *args, offered=known, **{**entry.params, **params})


def build(
    factory: Callable[..., Any], *args: Any, offered: Mapping[str, Any], **params: Any
) -> Any:
    """Call `factory` with those of the `offered` arguments that it accepts; `params` win."""
    accepted = keywords(factory)
    wanted = {name: x for name, x in offered.items() if accepted is None or name in accepted}
    return factory(*args, **{**wanted, **params})


@cache
def keywords(factory: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names of the arguments of a class or function; None where it takes any."""
    parameters = inspect.signature(factory).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    return tuple(parameters)


def load(path: Path, cls: type[Persistent] | None = None) -> Any:
    """Load what `save` wrote; it continues bit for bit.

    Parameters
    ----------
    path
        The file.
    cls
        The class to make, for classes that are not in the registry.
    """

    def find(name: str) -> type[Persistent]:
        known = {cls.__name__: cls for cls in (*(e.cls for e in _ENTRIES), LinearMixtureModel)}
        if cls is not None and cls.__name__ != name:
            raise FileFormatError(f"{path}: holds a {name}, not a {cls.__name__}")
        if cls is None and name not in known:
            raise FileFormatError(f"{path}: holds a {name}, unknown here; pass its class as cls=")
        return cls or known[name]

    return persistence.load(path, find)
