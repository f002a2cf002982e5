"""Check your own agent: whether it keeps the contract that the loop and users rely on.

`check_agent(agent)` plays episodes of the agent's model with copies of the agent and raises a
`ContractError` that says what is violated. It needs only the methods of
`voful.typing.EpisodicAgent`; what an agent has beyond them (`save`, `n_episodes`, `state` ...) is
checked too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from voful.checks import common
from voful.checks.contract import Lesson, UnderTest, frozen, require, run
from voful.mdp.model import LinearMixtureModel
from voful.typing import EpisodicAgent, FloatArray

MOST_EPISODES = 2000  # that are played to reach n_episodes
STEPS = 200  # at which actions of a plan are looked up


def check_agent(
    agent: EpisodicAgent,
    *,
    model: LinearMixtureModel | None = None,
    theta: npt.ArrayLike | None = None,
    load: Callable[[str], EpisodicAgent] | None = None,
) -> dict[str, str]:
    """Check that an agent keeps the contract of `voful.typing.EpisodicAgent`.

    Parameters
    ----------
    agent
        The agent, new or trained; only deep copies of it are used. With a limit `n_episodes` it
        must have 44 episodes left.
    model
        The MDP that it plays; default: its attribute `model`.
    theta
        Weights of the base models that it is played under; default: all equal.
    load
        Reads the file that `agent.save(path)` wrote, given its path. Not needed for classes that
        derive from a voful agent.

    Returns
    -------
    dict
        The checks that do not apply to this agent, and why.

    Raises
    ------
    ContractError
        (an AssertionError) at the first violation.
    """
    return run(AGENT_CHECKS, AgentSubject(agent, model=model, theta=theta, load=load))


# --- what is checked, and on which problem ----------------------------------------------------


class AgentSubject(UnderTest):
    """An agent under test, with trajectories of its model that it must accept."""

    kind = "agent"
    required = ("confidence_set", "plan", "update", "update_many")
    units, counter, batches = "episodes", "episodes_learnt", "update_many"
    first, future = 32, 6

    def __init__(
        self,
        agent: EpisodicAgent,
        *,
        model: LinearMixtureModel | None = None,
        theta: npt.ArrayLike | None = None,
        load: Callable[[str], EpisodicAgent] | None = None,
    ) -> None:
        super().__init__(agent, load)
        known: Any = getattr(agent, "model", None) if model is None else model
        if not isinstance(known, LinearMixtureModel):
            raise TypeError(f"model: got {known!r}; expected a LinearMixtureModel")
        self.model, self.dim = known, known.dim
        equal = np.full(known.dim, 1.0 / known.dim)
        weights = known.check_parameter("theta", equal if theta is None else theta)
        P = known.probabilities @ weights
        if P.min() < -1e-9 or np.abs(P.sum(axis=2) - 1.0).max() > 1e-9:
            raise ValueError(f"theta: got {weights}; expected weights that mix to probabilities")
        self._cumulative = np.cumsum(np.maximum(P, 0.0), axis=2)

    def walk(self, rng: np.random.Generator, plan: Any = None) -> Lesson:
        """A trajectory of the plan, else of random actions; half of them stop where they may."""
        model, stops = self.model, rng.random() < 0.5
        path, taken = [model.initial_state], list[int]()
        for h in range(model.horizon):
            s = path[-1]
            if stops and model.absorbing[s]:
                break
            a = int(rng.integers(model.n_actions)) if plan is None else self.action(plan, h, s)
            # A successor of probability 0 has an empty stretch, so it is never drawn.
            drawn = rng.random() * self._cumulative[s, a, -1]
            b = int(np.searchsorted(self._cumulative[s, a], drawn, side="right"))
            taken.append(a)
            path.append(int(model.successors[s, a, b]))
        return np.array(path, dtype=np.int64), np.array(taken, dtype=np.int64)

    def action(self, plan: Any, h: int, s: int) -> int:
        """What a plan does, if it is an action."""
        n = self.model.n_actions
        return self.require_place(plan.action(h, s), n, "plan.action", f"; there are {n} actions")

    def play(self, agent: Any, n: int, seed: int) -> list[Lesson]:
        """Let an agent follow its plans; returns the trajectories."""
        rng = np.random.default_rng([seed, 1])
        walks = []
        for _ in range(n):
            walks.append(self.walk(rng, agent.plan()))
            agent.update(*(part.copy() for part in walks[-1]))
        return walks

    def teach_many(self, agent: Any, lessons: Sequence[Lesson]) -> None:
        """One `update_many`."""
        agent.update_many(*self.batch(lessons))

    def batch(self, walks: Sequence[Lesson], width: int | None = None) -> tuple[Any, Any, Any]:
        """Trajectories as `update_many` wants them, with nonsense behind their ends."""
        lengths = np.array([len(taken) for _, taken in walks], dtype=np.int64)
        width = int(lengths.max(initial=0)) if width is None else width
        states = np.full((len(walks), width + 1), -7, dtype=np.int64)
        actions = np.full((len(walks), width), -7, dtype=np.int64)
        for k, (path, taken) in enumerate(walks):
            states[k, : len(path)], actions[k, : len(taken)] = path, taken
        return states, actions, lengths

    def questions(self, n: int = 12) -> FloatArray:
        """Rows x = (P^i_{s,a} V)_i, as planning asks them."""
        rng = np.random.default_rng(9)
        V = rng.random(self.model.n_states)
        rows = self.model.features(V).reshape(-1, self.model.dim)
        return np.ascontiguousarray(rng.permutation(rows)[:n])

    def answers(self, agent: Any) -> dict[str, object]:
        """Its plan."""
        return {"plan": self.view_of_plan(agent.plan())}

    def view_of_plan(self, plan: Any) -> tuple[object, ...]:
        """All that a plan says."""
        return float(plan.value), int(plan.episodes), np.asarray(plan.actions).tobytes()


# --- the checks -------------------------------------------------------------------------------


def check_agent_protocol(subject: AgentSubject) -> None:
    """The members of the protocol are there and fit together."""
    agent = subject.copy()
    require(isinstance(agent, EpisodicAgent), "agent", "is no voful.typing.EpisodicAgent")
    common.require_set(agent.confidence_set, subject.model.dim, "model")


def check_agent_repr(subject: AgentSubject) -> None:
    """`repr` says what the agent is, not where it lies in memory."""
    common.check_repr(subject)


def check_plan(subject: AgentSubject) -> None:
    """Plans are whole and in range, and stay the same until their episodes were played."""
    agent, learnt = subject.copy(), 0
    rng = np.random.default_rng(2)
    while learnt < subject.first:
        plan = agent.plan()
        _require_whole_plan(subject, plan, learnt)
        said = subject.view_of_plan(plan)
        for _ in range(min(plan.episodes, subject.first - learnt)):
            again = subject.view_of_plan(agent.plan())
            require(again == said, "plan", f"another one before {plan.episodes} updates arrived")
            agent.update(*subject.walk(rng, plan))
            learnt += 1
    require(subject.view_of_plan(plan) == said, "update", "changed a plan that was handed out")


def _require_whole_plan(subject: AgentSubject, plan: Any, learnt: int) -> None:
    model = subject.model
    value, episodes = plan.value, plan.episodes
    require(isinstance(value, float), "plan.value", f"is {value!r}, not a float")
    require(-1e-9 <= value <= 1.0 + 1e-9, "plan.value", f"is {value}, not in [0, 1]")
    require(type(episodes) is int, "plan.episodes", f"is {episodes!r}, not an int")
    left = math.inf if subject.left is None else subject.left - learnt
    require(1 <= episodes <= left, "plan.episodes", f"is {episodes}; {left} episodes are left")
    actions = np.asarray(plan.actions)
    require(actions.dtype == np.int64, "plan.actions", f"has dtype {actions.dtype}, not int64")
    good = actions.ndim == 2 and actions.shape[1] == model.n_states and len(actions) >= 2
    require(good, "plan.actions", f"has shape {actions.shape}, not (N+1, {model.n_states}), N >= 1")
    rows = {int(h) for h in np.linspace(0, model.horizon - 1, min(STEPS, model.horizon))}
    for h in rows:
        for s in range(model.n_states):
            row = actions[min(model.horizon - h, len(actions) - 1)]
            same = subject.action(plan, h, s) == row[s]
            require(same, "plan.action", f"differs from plan.actions at step {h}, state {s}")


def check_agent_determinism(subject: AgentSubject) -> None:
    """Copies act alike, and what one learns the other does not know."""
    common.check_copies(subject, "plan", "acted differently")


def _bad_walks(subject: AgentSubject) -> dict[str, tuple[Any, Any]]:
    """What is no trajectory, by name."""
    model = subject.model
    path, taken = subject.walk(np.random.default_rng(5))
    H, S, A = model.horizon, model.n_states, model.n_actions
    bad: dict[str, tuple[Any, Any]] = {
        "a state that does not exist": ([*path[:-1], S], taken),
        "a negative state": ([*path[:-1], -1], taken),
        "an action that does not exist": (path, [*taken[:-1], A]),
        "a negative action": (path, [*taken[:-1], -1]),
        "as many states as actions": (path[:-1], taken),
        "states that are no whole numbers": (path + 0.5, taken),
        "states of NaN": (np.full(len(path), math.nan), taken),
        "no states": (None, taken),
        "no actions": (path, None),
        "a string": ("path", taken),
        "states in two dimensions": (path[np.newaxis], taken),
        "more steps than the horizon": ([model.initial_state] * (H + 2), [0] * (H + 1)),
        "nothing at all": ([], []),
    }
    if S > 1:
        bad["another initial state"] = ([(model.initial_state + 1) % S, *path[1:]], taken)
    if not model.absorbing[model.initial_state]:
        bad["an early stop in a state that is not absorbing"] = ([model.initial_state], [])
    for h, (s, a) in enumerate(zip(path, taken, strict=False)):
        possible = model.successors[s, a, : model.n_successors[s, a]]
        impossible = np.setdiff1d(np.arange(S), possible)
        if len(impossible):
            t = int(impossible[0])
            bad["an impossible transition"] = ([*path[: h + 1], t, *path[h + 2 :]], taken)
            break
    return bad


def check_bad_trajectories(subject: AgentSubject) -> None:
    """`update` and `update_many` refuse what is no trajectory, a batch as a whole."""
    agent = subject.played()
    refuse = partial(subject.require_refusal, agent)
    good = subject.walk(np.random.default_rng(6))
    for name, (states, actions) in _bad_walks(subject).items():
        refuse(f"update with {name}", agent.update, states, actions)
        path, taken = np.asarray(states), np.asarray(actions)
        whole = path.dtype.kind == taken.dtype.kind == "i" and path.shape == (len(taken) + 1,)
        if whole:
            batch = subject.batch([good, (path, taken)])
            refuse(f"update_many with {name} in the last row", agent.update_many, *batch)
    states, actions, lengths = subject.batch([good, good])
    wide = actions.shape[1] + 1
    for name, batch in {
        "fewer lengths than rows": (states, actions, lengths[:1]),
        "lengths beyond the rows": (states, actions, [int(lengths[0]), wide]),
        "negative lengths": (states, actions, [int(lengths[0]), -1]),
        "fewer actions than rows": (states, actions[:1], lengths),
        "one row as a flat array": (states[0], actions[0], lengths[:1]),
        "None": (None, None, None),
    }.items():
        refuse(f"update_many with {name}", agent.update_many, *batch)


def check_trajectory_batches(subject: AgentSubject) -> None:
    """`update_many` gives the same result as `update` one by one, however it is cut."""
    walks = subject.play(subject.copy(), subject.first, 1)
    one, cut = subject.copy(), subject.copy()
    k = 0
    while k < subject.first:  # in step with the plans
        n = min(one.plan().episodes, subject.first - k)
        cut.plan()
        for walk in walks[k : k + n]:
            one.update(*walk)
        cut.update_many(*subject.batch(walks[k : k + n]))
        k += n
    subject.require_same(one, cut, "update_many", "not the same as update one by one")
    one, whole = subject.taught(walks), subject.copy()  # without asking for plans
    whole.update_many(*subject.batch(walks[:20], subject.model.horizon + 3))
    whole.update_many(*subject.batch([]))
    whole.update_many(*subject.batch(walks[20:]))
    subject.require_same(one, whole, "update_many", "not the same as update beyond a plan")


def check_any_actions(subject: AgentSubject) -> None:
    """Trajectories need not follow the plan."""
    agent, rng = subject.copy(), np.random.default_rng(8)
    for _ in range(subject.first):
        agent.update(*subject.walk(rng))
    _require_whole_plan(subject, agent.plan(), subject.first)


def check_trajectory_forms(subject: AgentSubject) -> None:
    """Lists, read-only and int32 arrays serve as well; input is neither changed nor kept."""
    walks = subject.play(subject.copy(), subject.first, 2)
    plain, odd = subject.taught(walks), subject.copy()
    for k, (path, taken) in enumerate(walks):
        reused = path.astype(np.int32)
        states: Any = (path.tolist(), frozen(path), reused)[k % 3]
        actions: Any = (taken.tolist(), taken.astype(np.int32))[k % 2]
        odd.update(states, actions)
        same = np.array_equal(states, path) and np.array_equal(actions, taken)
        require(same, "update", "changed the trajectory that it was given")
        reused[:] = 0
    subject.require_same(
        plain, odd, "update", "a list, a read-only array or a reused one is learnt otherwise"
    )


def check_agent_save_and_load(subject: AgentSubject) -> None:
    """What is loaded goes on bit for bit where `save` left off."""
    common.check_save_and_load(subject)


def check_agent_support(subject: AgentSubject) -> None:
    """`support` bounds every member of the set, and is finite."""
    Theta = common.set_of(subject.played())
    d, rng = subject.model.dim, np.random.default_rng(1)
    corners = np.eye(d) if subject.model.stochastic else np.concatenate([np.eye(d), -np.eye(d)])
    mixed = rng.dirichlet(np.ones(len(corners)), 200) @ corners
    near = Theta.center + np.geomspace(1e-3, 1.0, 200)[:, np.newaxis] * (mixed - Theta.center)
    members = [theta for theta in (*corners, *mixed, *near) if Theta.contains(theta)]
    X = np.concatenate([subject.questions(), common.directions(rng, 12, d)])
    common.require_support(Theta, np.concatenate([X, -X]), members)


def check_agent_interval(subject: AgentSubject) -> None:
    """`interval` is (-support(-X), support(X)); rows do not depend on their company."""
    common.check_interval(subject)


def check_agent_bad_questions(subject: AgentSubject) -> None:
    """`contains` and `support` refuse what is no parameter and no matrix."""
    common.check_bad_questions(subject)


def check_episodes_limit(subject: AgentSubject) -> None:
    """Updates beyond n_episodes raise RuntimeError, a batch as a whole."""
    common.check_limit(subject, "an episode", MOST_EPISODES, MOST_EPISODES)


AGENT_CHECKS: tuple[Callable[[AgentSubject], None], ...] = (
    check_agent_protocol,
    check_agent_repr,
    check_plan,
    check_agent_support,
    check_agent_interval,
    check_agent_determinism,
    check_bad_trajectories,
    check_agent_bad_questions,
    check_any_actions,
    check_trajectory_batches,
    check_trajectory_forms,
    check_agent_save_and_load,
    check_episodes_limit,
)
"""All checks, in the order in which `check_agent` runs them."""
