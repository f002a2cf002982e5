"""Check your own policy: whether it keeps the contract that the loop and users rely on.

`check_policy(policy)` plays a small made-up bandit with copies of the policy and raises a
`ContractError` that says what is violated. It needs only the methods of
`voful.typing.BanditPolicy`; what a policy has beyond them (`index`, `predict`, `n_rounds`,
`reward_range`, `state` ...) is checked too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from voful.checks.contract import (
    NotApplicable,
    arrays_of,
    bad_questions,
    directions,
    require,
    require_equal,
    require_interval,
    require_refusal,
    require_repr,
    require_set,
    require_support,
    run,
    sampled_members,
    saved_and_loaded,
    set_of,
    violated,
)
from voful.typing import BanditPolicy, FloatArray

ROUNDS = 40  # that a copy has played before it is looked at
FUTURE = 12  # that two copies are played on to see whether they act alike
N_ARMS = 6
MOST_NUMBERS = 2_000_000  # in the batch that goes beyond n_rounds
MOST_ROUNDS = 1000  # that are played to reach n_rounds

REQUIRED = ("dim", "confidence_set", "select", "update", "partial_fit", "save")


def check_policy(
    policy: BanditPolicy, *, load: Callable[[str], BanditPolicy] | None = None
) -> dict[str, str]:
    """Check that a policy keeps the contract of `voful.typing.BanditPolicy`.

    Parameters
    ----------
    policy
        The policy, new or trained; only deep copies of it are used. With a limit `n_rounds` it must
        have 64 rounds left.
    load
        Reads the file that `policy.save(path)` wrote, given its path. Not needed for classes that
        derive from a voful policy.

    Returns
    -------
    dict
        The checks that do not apply to this policy, and why.

    Raises
    ------
    ContractError
        (an AssertionError) at the first violation.

    Examples
    --------
    >>> import voful
    >>> sorted(voful.checks.check_policy(voful.OFUL(2)))
    ['check_rounds_limit', 'check_variances']
    """
    subject = Subject(policy, load=load)
    return run(CHECKS, subject)


# --- what is checked, and on which problem ----------------------------------------------------


class Subject:
    """A policy under test, with arms and rewards that it must accept.

    Rewards follow a linear model in the policy's range where one exists: the first feature acts as
    an intercept, so that a range such as (0, 1) has one.
    """

    def __init__(
        self, policy: BanditPolicy, *, load: Callable[[str], BanditPolicy] | None = None
    ) -> None:
        lacking = [name for name in REQUIRED if not hasattr(policy, name)]
        require(not lacking, "policy", f"lacks {', '.join(lacking)}")
        self._original: Any = policy
        self.load = load
        self.dim = policy.dim
        self.feature_norm = float(getattr(policy, "feature_norm", 1.0))
        self.theta_norm = float(getattr(policy, "theta_norm", 1.0))
        self.needs_variance = bool(getattr(policy, "needs_variance", False))
        bounds = getattr(policy, "reward_range", None)
        self.has_range = bounds is not None
        self.low, self.high = (-1.0, 1.0) if bounds is None else map(float, bounds)
        limit = getattr(policy, "n_rounds", None)
        learnt = getattr(policy, "n_observations", 0)
        self.rounds_left = None if limit is None else int(limit) - int(learnt)
        if self.rounds_left is not None and self.rounds_left < ROUNDS + 2 * FUTURE:
            raise ValueError(
                f"policy: got one with {self.rounds_left} rounds left; expected at least "
                f"{ROUNDS + 2 * FUTURE}"
            )

    def copy(self) -> Any:
        """A deep copy."""
        return copy.deepcopy(self._original)

    def played(self, seed: int = 0) -> Any:
        """A deep copy that has played ROUNDS rounds."""
        policy = self.copy()
        self.play(policy, ROUNDS, seed)
        return policy

    def arms(self, seed: int, n_arms: int = N_ARMS) -> FloatArray:
        """Different arms inside the ball."""
        rng = np.random.default_rng(seed)
        rest = directions(rng, n_arms, self.dim - 1)
        rows = np.column_stack([np.full(n_arms, 0.8), 0.6 * rest])
        scaled: FloatArray = self.feature_norm * rng.uniform(0.6, 1.0, (n_arms, 1)) * rows
        return scaled

    def reward(self, x: FloatArray, rng: np.random.Generator) -> float:
        """Mean of a linear model plus a tenth of the range up or down, inside the range."""
        span = self.high - self.low
        reach = 0.7 * self.theta_norm * self.feature_norm  # that a mean can have
        intercept = min(max(0.5 * (self.low + self.high), -reach), reach)
        theta = np.full(self.dim, min(0.3 * self.theta_norm, 0.2 * span / self.feature_norm))
        theta /= math.sqrt(self.dim)
        theta[0] = intercept / self.feature_norm
        noise = math.sqrt(self.variance) * rng.choice([-1.0, 1.0])
        return float(np.clip(x @ theta + noise, self.low, self.high))

    @property
    def variance(self) -> float:
        """Of `reward`."""
        return (0.1 * (self.high - self.low)) ** 2

    def play(self, policy: Any, rounds: int, seed: int) -> tuple[FloatArray, FloatArray]:
        """Feed a policy its own choices; returns the arms and the rewards."""
        rng = np.random.default_rng([seed, 1])
        X, y = np.empty((rounds, self.dim)), np.empty(rounds)
        for k in range(rounds):
            arms = self.arms(1000 * seed + k)
            X[k] = arms[self.choice(policy, arms)]
            y[k] = self.reward(X[k], rng)
            self.teach_one(policy, X[k].copy(), float(y[k]))
        return X, y

    def choice(self, policy: Any, arms: Any, **mask: Any) -> int:
        """What `select` returns, if it is a row of arms."""
        i = policy.select(arms, **mask)
        require(type(i) is int, "select", f"returned {i!r} ({type(i).__name__}), not an int")
        require(0 <= i < len(arms), "select", f"returned {i} for {len(arms)} arms")
        return int(i)

    def teach_one(self, policy: Any, x: Any, reward: Any) -> None:
        """One `update`, with the variance for those that must be told."""
        told = {"variance": self.variance} if self.needs_variance else {}
        policy.update(x, reward, **told)

    def teach(self, policy: Any, X: Any, rewards: Any) -> None:
        """One `partial_fit`, with the variances for those that must be told."""
        told = {"variances": np.full(len(rewards), self.variance)} if self.needs_variance else {}
        policy.partial_fit(X, rewards, **told)

    # --- comparing policies

    def view(self, policy: Any) -> dict[str, object]:
        """What can be seen of a policy: its state, and its answers to a few questions."""
        policy = copy.deepcopy(policy)
        seen = arrays_of(policy)
        probes = self.arms(77)
        if hasattr(policy, "n_observations"):
            seen["n_observations"] = policy.n_observations
        if hasattr(policy, "predict"):
            seen["predict"] = np.asarray(policy.predict(probes)).tobytes()
        if hasattr(policy, "index"):
            seen["index"] = [np.asarray(part).tobytes() for part in policy.index(probes)]
        if policy.confidence_set is not None:
            seen["confidence_set.support"] = policy.confidence_set.support(probes).tobytes()
        return seen

    def require_same(self, one: Any, two: Any, method: str, what: str) -> None:
        """Two policies that show the same and go on to make the same choices."""
        require_equal(self.view(one), self.view(two), method, what)
        way, other = (self.play(copy.deepcopy(policy), FUTURE, 7)[0] for policy in (one, two))
        require(np.array_equal(way, other), method, f"{what}: different choices afterwards")

    def require_refusal(
        self, policy: Any, method: str, call: Callable[..., object], *bad: Any, **named: Any
    ) -> None:
        """Bad input raises ValueError or TypeError and leaves the policy as it was."""
        look = arrays_of if arrays_of(policy) else self.view
        require_refusal(lambda: look(policy), "policy", method, call, *bad, **named)


# --- the checks -------------------------------------------------------------------------------


def check_protocol(subject: Subject) -> None:
    """The members of the protocol are there and fit together."""
    policy = subject.copy()
    require(isinstance(policy, BanditPolicy), "policy", "is no voful.typing.BanditPolicy")
    dim = policy.dim
    require(isinstance(dim, int) and dim >= 1, "dim", f"is {dim!r}, not an int >= 1")
    require_set(policy.confidence_set, dim, "policy")


def check_select(subject: Subject) -> None:
    """`select` returns an int in range, respects the mask and does not learn."""
    policy = subject.played()
    arms = subject.arms(5)
    before = getattr(policy, "n_observations", None)
    subject.choice(policy, arms)
    require(getattr(policy, "n_observations", None) == before, "select", "changed n_observations")
    subject.choice(policy, arms[:1])
    for allowed in range(N_ARMS):
        i = subject.choice(policy, arms, mask=np.arange(N_ARMS) == allowed)
        require(i == allowed, "select", f"played arm {i}; the mask allows only arm {allowed}")
    twin = copy.deepcopy(policy)
    free = subject.choice(policy, arms, mask=np.ones(N_ARMS, dtype=bool))
    require(
        free == subject.choice(twin, arms), "select", "a mask that allows all changes the choice"
    )


def check_determinism(subject: Subject) -> None:
    """Copies act alike, and what one learns the other does not know."""
    one, two = subject.copy(), subject.copy()
    way, other = (subject.play(policy, ROUNDS, 3)[0] for policy in (one, two))
    require(np.array_equal(way, other), "select", "two copies of the policy made different choices")
    subject.require_same(one, two, "update", "two copies learnt the same")
    before = subject.view(one)
    subject.play(copy.deepcopy(one), FUTURE, 4)
    require_equal(before, subject.view(one), "deepcopy", "what a copy learnt changed its original")


def check_bad_arms(subject: Subject) -> None:
    """`select` (and `index`) refuse arms that are none, and masks that allow none."""
    policy, d = subject.played(), subject.dim
    bad: dict[str, Any] = {
        "no arms": np.empty((0, d)),
        "arms of another dimension": np.zeros((2, d + 1)),
        "arms in a flat array": np.zeros(d),
        "NaN": np.full((2, d), math.nan),
        "infinite arms": np.full((2, d), math.inf),
        "None": None,
        "a string": "arms",
        "a ragged list": [[0.0] * d, [0.0] * (d + 1)],
    }
    if hasattr(policy, "feature_norm"):
        bad["arms beyond feature_norm"] = 2.0 * subject.feature_norm * np.eye(d)
    for method in ("select", "index"):
        if hasattr(policy, method):
            for name, arms in bad.items():
                subject.require_refusal(
                    policy, f"{method} of {name}", getattr(policy, method), arms
                )
    masks = {"no arm": np.zeros(N_ARMS, dtype=bool), "too few arms": np.ones(2, dtype=bool)}
    for name, mask in masks.items():
        subject.require_refusal(
            policy, f"select with a mask of {name}", policy.select, subject.arms(5), mask=mask
        )


def check_bad_updates(subject: Subject) -> None:
    """`update` and `partial_fit` refuse what is no observation, a batch as a whole."""
    policy, d = subject.played(), subject.dim
    x, reward = subject.arms(5)[0], 0.5 * (subject.low + subject.high)
    bad: dict[str, tuple[Any, Any]] = {
        "a reward of NaN": (x, math.nan),
        "an infinite reward": (x, math.inf),
        "a reward that is a string": (x, "a"),
        "no reward": (x, None),
        "an arm of another dimension": (np.zeros(d + 1), reward),
        "an arm with NaN": (np.full(d, math.nan), reward),
        "no arm": (None, reward),
    }
    if subject.has_range:
        bad["a reward above the range"] = (x, subject.high + (subject.high - subject.low))
        bad["a reward below the range"] = (x, subject.low - (subject.high - subject.low))
    if hasattr(policy, "feature_norm"):
        bad["an arm beyond feature_norm"] = (np.full(d, 2.0 * subject.feature_norm), reward)
    for name, (arm, paid) in bad.items():
        subject.require_refusal(policy, f"update with {name}", subject.teach_one, policy, arm, paid)
        subject.require_refusal(
            policy,
            f"partial_fit with {name} in the last row",
            subject.teach,
            policy,
            [x, arm],
            [reward, paid],
        )
    subject.require_refusal(
        policy,
        "partial_fit with fewer rewards than arms",
        subject.teach,
        policy,
        [x, x],
        [reward],
    )


def check_variances(subject: Subject) -> None:
    """A policy with `needs_variance` insists on a true variance."""
    if not subject.needs_variance:
        raise NotApplicable("needs_variance is False")
    policy, x, reward = subject.played(), subject.arms(5)[0], 0.5 * (subject.low + subject.high)
    for bad in (None, -1.0, math.nan, "a"):
        subject.require_refusal(
            policy, f"update with the variance {bad}", policy.update, x, reward, variance=bad
        )
        subject.require_refusal(
            policy,
            f"partial_fit with the variance {bad}",
            policy.partial_fit,
            [x],
            [reward],
            variances=None if bad is None else [bad],
        )


def check_batches(subject: Subject) -> None:
    """`partial_fit` gives the same result as `update` one by one, however it is cut."""
    X, y = subject.play(subject.copy(), ROUNDS, 1)
    one, batch = subject.copy(), subject.copy()
    for x, reward in zip(X, y, strict=True):
        subject.teach_one(one, x, float(reward))
    subject.teach(batch, X[:17], y[:17])
    subject.teach(batch, np.empty((0, subject.dim)), [])
    subject.teach(batch, X[17:], y[17:])
    subject.require_same(one, batch, "partial_fit", "not the same as update one by one")


def check_input_forms(subject: Subject) -> None:
    """Lists, read-only and Fortran arrays serve as well; input is neither changed nor kept."""
    X, y = subject.play(subject.copy(), ROUNDS, 2)
    plain, odd = subject.copy(), subject.copy()
    scratch = np.empty(subject.dim)
    for k in range(ROUNDS):
        subject.teach_one(plain, X[k].copy(), float(y[k]))
        scratch[:] = X[k]
        x = (X[k].tolist(), _frozen(X[k]), scratch)[k % 3]
        subject.teach_one(odd, x, np.float64(y[k]))
        require(np.array_equal(x, X[k]), "update", "changed the arm that it was given")
        scratch[:] = 0.0
    subject.require_same(
        plain, odd, "update", "a list, a read-only array or a reused one is learnt otherwise"
    )
    arms = subject.arms(5)
    for form in (arms.tolist(), np.asfortranarray(arms), _frozen(arms)):
        one, two = copy.deepcopy(plain), copy.deepcopy(plain)
        same = subject.choice(one, arms.copy()) == subject.choice(two, form)
        require(same, "select", f"a {type(form).__name__} in another form changes the choice")
        require(np.array_equal(form, arms), "select", "changed the arms that it was given")


def _frozen(array: FloatArray) -> FloatArray:
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


def check_save_and_load(subject: Subject) -> None:
    """What is loaded goes on bit for bit where `save` left off."""
    policy = subject.played()
    loaded = saved_and_loaded(policy, "policy", lambda: subject.view(policy), subject.load)
    subject.require_same(policy, loaded, "load", "not what was saved")


def check_support(subject: Subject) -> None:
    """`support` bounds every member of the set, and is finite."""
    Theta = set_of(subject.played())
    X = subject.arms(9, 12)
    X = np.concatenate([X, -X])
    members = sampled_members(Theta, np.random.default_rng(1), radius=subject.theta_norm)
    upper = require_support(Theta, X, members)
    for x, bound in zip(X, upper, strict=True):
        beyond = (bound + 0.01 * (1.0 + abs(bound))) / (x @ x) * x
        require(not Theta.contains(beyond), "contains", f"a point beyond the support at x = {x}")


def check_interval(subject: Subject) -> None:
    """`interval` is (-support(-X), support(X)); rows do not depend on their company."""
    require_interval(set_of(subject.played()), subject.arms(9, 12))


def check_bad_questions(subject: Subject) -> None:
    """`contains` and `support` refuse what is no parameter and no matrix."""
    policy = subject.played()
    Theta = set_of(policy)
    for name, bad in bad_questions(subject.dim).items():
        rows = None if bad is None else bad[np.newaxis]
        subject.require_refusal(policy, f"contains of {name}", Theta.contains, bad)
        subject.require_refusal(policy, f"support of {name}", Theta.support, rows)


def check_index_and_predict(subject: Subject) -> None:
    """`index` and `predict` give finite numbers, one for each arm, in order."""
    policy = subject.played()
    if not (hasattr(policy, "index") or hasattr(policy, "predict")):
        raise NotApplicable("has neither index nor predict")
    arms = subject.arms(5)
    if hasattr(policy, "index"):
        bounds = [np.asarray(part) for part in policy.index(arms)]
        shapes = [part.shape for part in bounds]
        require(shapes == [(N_ARMS,)] * 3, "index", f"returned shapes {shapes}")
        require(np.isfinite(bounds).all(), "index", "is not finite")
        require((bounds[1] <= bounds[2]).all(), "index", "lower is above upper")
    if hasattr(policy, "predict"):
        means = np.asarray(policy.predict(arms))
        require(means.shape == (N_ARMS,), "predict", f"returned shape {means.shape}")
        require(np.isfinite(means).all(), "predict", "is not finite")


def check_repr(subject: Subject) -> None:
    """`repr` says what the policy is, not where it lies in memory."""
    require_repr(subject.copy())


def check_rounds_limit(subject: Subject) -> None:
    """Updates beyond n_rounds raise RuntimeError, a batch as a whole."""
    left = subject.rounds_left
    if left is None:
        raise NotApplicable("no limit n_rounds")
    if (left + 1) * subject.dim > MOST_NUMBERS:
        raise NotApplicable(f"n_rounds is {left} rounds away")
    policy = subject.copy()
    X, y = subject.play(subject.copy(), ROUNDS, 1)
    rows, rewards = np.resize(X, (left + 1, subject.dim)), np.resize(y, left + 1)
    before = subject.view(policy)
    try:
        subject.teach(policy, rows, rewards)
    except RuntimeError:
        pass
    else:
        violated("partial_fit", f"accepted {left + 1} rewards where {left} rounds were left")
    require_equal(before, subject.view(policy), "partial_fit beyond n_rounds", "learnt something")
    if left > MOST_ROUNDS:
        return
    subject.teach(policy, rows[:left], rewards[:left])  # the last round is accepted
    try:
        subject.teach_one(policy, X[0], float(y[0]))
    except RuntimeError:
        return
    violated("update", "accepted a reward beyond n_rounds")


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_protocol,
    check_repr,
    check_index_and_predict,
    check_support,
    check_interval,
    check_determinism,
    check_select,
    check_bad_arms,
    check_bad_updates,
    check_bad_questions,
    check_variances,
    check_batches,
    check_input_forms,
    check_save_and_load,
    check_rounds_limit,
)
"""All checks, in the order in which `check_policy` runs them."""
