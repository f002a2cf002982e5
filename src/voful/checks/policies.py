"""Check your own policy: whether it keeps the contract that the loop and users rely on.

`check_policy(policy)` plays a small made-up bandit with copies of the policy and raises a
`ContractError` that says what is violated. It needs only the methods of
`voful.typing.BanditPolicy`; what a policy has beyond them (`index`, `predict`, `n_rounds`,
`reward_range`, `state` ...) is checked too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from voful.checks import common
from voful.checks.contract import Lesson, NotApplicable, UnderTest, frozen, require, run
from voful.typing import BanditPolicy, FloatArray

N_ARMS = 6
MOST_NUMBERS = 2_000_000  # in the batch that goes beyond n_rounds
MOST_ROUNDS = 1000  # that are played to reach n_rounds


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
    return run(CHECKS, Subject(policy, load=load))


# --- what is checked, and on which problem ----------------------------------------------------


class Subject(UnderTest):
    """A policy under test, with arms and rewards that it must accept.

    Rewards follow a linear model in the policy's range where one exists: the first feature acts as
    an intercept, so that a range such as (0, 1) has one.
    """

    kind = "policy"
    required = ("dim", "confidence_set", "select", "update", "partial_fit", "save")
    units, counter, batches = "rounds", "n_observations", "partial_fit"
    first, future = 40, 12

    def __init__(
        self, policy: BanditPolicy, *, load: Callable[[str], BanditPolicy] | None = None
    ) -> None:
        super().__init__(policy, load)
        self.dim = policy.dim
        self.feature_norm = float(getattr(policy, "feature_norm", 1.0))
        self.theta_norm = float(getattr(policy, "theta_norm", None) or 1.0)
        self.needs_variance = bool(getattr(policy, "needs_variance", False))
        bounds = getattr(policy, "reward_range", None)
        self.has_range = bounds is not None
        self.low, self.high = (-1.0, 1.0) if bounds is None else map(float, bounds)

    def arms(self, seed: int, n_arms: int = N_ARMS) -> FloatArray:
        """Different arms inside the ball."""
        rng = np.random.default_rng(seed)
        rest = common.directions(rng, n_arms, self.dim - 1)
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

    def play(self, policy: Any, n: int, seed: int) -> list[Lesson]:
        """Feed a policy its own choices; returns the arms and the rewards."""
        rng = np.random.default_rng([seed, 1])
        lessons = []
        for k in range(n):
            arms = self.arms(1000 * seed + k)
            x = arms[self.choice(policy, arms)]
            lessons.append((x, self.reward(x, rng)))
            self.teach(policy, x.copy(), lessons[-1][1])
        return lessons

    def choice(self, policy: Any, arms: Any, **mask: Any) -> int:
        """What `select` returns, if it is a row of arms."""
        i = policy.select(arms, **mask)
        return self.require_place(i, len(arms), "select", f" for {len(arms)} arms")

    def teach(self, policy: Any, *lesson: Any) -> None:
        """One `update`, with the variance for those that must be told."""
        told = {"variance": self.variance} if self.needs_variance else {}
        policy.update(*lesson, **told)

    def teach_many(self, policy: Any, lessons: Sequence[Lesson]) -> None:
        """One `partial_fit` of all of them."""
        X = [x for x, _ in lessons] or np.empty((0, self.dim))
        self.fit(policy, X, [reward for _, reward in lessons])

    def fit(self, policy: Any, X: Any, rewards: Any) -> None:
        """One `partial_fit`, with the variances for those that must be told."""
        told = {"variances": np.full(len(rewards), self.variance)} if self.needs_variance else {}
        policy.partial_fit(X, rewards, **told)

    def questions(self) -> FloatArray:
        """A dozen arms."""
        return self.arms(9, 12)

    def answers(self, policy: Any) -> dict[str, object]:
        """Of `predict` and `index`."""
        seen: dict[str, object] = {}
        if hasattr(policy, "predict"):
            seen["predict"] = np.asarray(policy.predict(self.questions())).tobytes()
        if hasattr(policy, "index"):
            index = policy.index(self.questions())
            seen["index"] = [np.asarray(part).tobytes() for part in index]
        return seen


# --- the checks -------------------------------------------------------------------------------


def check_protocol(subject: Subject) -> None:
    """The members of the protocol are there and fit together."""
    policy = subject.copy()
    require(isinstance(policy, BanditPolicy), "policy", "is no voful.typing.BanditPolicy")
    dim = policy.dim
    require(isinstance(dim, int) and dim >= 1, "dim", f"is {dim!r}, not an int >= 1")
    common.require_set(policy.confidence_set, dim, "policy")


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
    common.check_copies(subject, "select", "made different choices")


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
    refuse = partial(subject.require_refusal, policy)
    for method in ("select", "index"):
        if hasattr(policy, method):
            for name, arms in bad.items():
                refuse(f"{method} of {name}", getattr(policy, method), arms)
    masks = {"no arm": np.zeros(N_ARMS, dtype=bool), "too few arms": np.ones(2, dtype=bool)}
    for name, mask in masks.items():
        refuse(f"select with a mask of {name}", policy.select, subject.arms(5), mask=mask)


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
    refuse = partial(subject.require_refusal, policy)
    for name, (arm, paid) in bad.items():
        refuse(f"update with {name}", subject.teach, policy, arm, paid)
        where = f"partial_fit with {name} in the last row"
        refuse(where, subject.fit, policy, [x, arm], [reward, paid])
    where = "partial_fit with fewer rewards than arms"
    refuse(where, subject.fit, policy, [x, x], [reward])


def check_variances(subject: Subject) -> None:
    """A policy with `needs_variance` insists on a true variance."""
    if not subject.needs_variance:
        raise NotApplicable("needs_variance is False")
    policy, x, reward = subject.played(), subject.arms(5)[0], 0.5 * (subject.low + subject.high)
    refuse = partial(subject.require_refusal, policy)
    for bad in (None, -1.0, math.nan, "a"):
        refuse(f"update with the variance {bad}", policy.update, x, reward, variance=bad)
        where, many = f"partial_fit with the variance {bad}", None if bad is None else [bad]
        refuse(where, policy.partial_fit, [x], [reward], variances=many)


def check_batches(subject: Subject) -> None:
    """`partial_fit` gives the same result as `update` one by one, however it is cut."""
    lessons = subject.play(subject.copy(), subject.first, 1)
    one, batch = subject.taught(lessons), subject.copy()
    for part in (lessons[:17], [], lessons[17:]):
        subject.teach_many(batch, part)
    subject.require_same(one, batch, "partial_fit", "not the same as update one by one")


def check_input_forms(subject: Subject) -> None:
    """Lists, read-only and Fortran arrays serve as well; input is neither changed nor kept."""
    lessons = subject.play(subject.copy(), subject.first, 2)
    plain, odd = subject.taught(lessons), subject.copy()
    scratch = np.empty(subject.dim)
    for k, (row, reward) in enumerate(lessons):
        scratch[:] = row
        x = (row.tolist(), frozen(row), scratch)[k % 3]
        subject.teach(odd, x, np.float64(reward))
        require(np.array_equal(x, row), "update", "changed the arm that it was given")
        scratch[:] = 0.0
    subject.require_same(
        plain, odd, "update", "a list, a read-only array or a reused one is learnt otherwise"
    )
    arms = subject.arms(5)
    for form in (arms.tolist(), np.asfortranarray(arms), frozen(arms)):
        one, two = copy.deepcopy(plain), copy.deepcopy(plain)
        same = subject.choice(one, arms.copy()) == subject.choice(two, form)
        require(same, "select", f"a {type(form).__name__} in another form changes the choice")
        require(np.array_equal(form, arms), "select", "changed the arms that it was given")


def check_support(subject: Subject) -> None:
    """`support` bounds every member of the set, and is finite."""
    Theta = common.set_of(subject.played())
    X = subject.arms(9, 12)
    X = np.concatenate([X, -X])
    members = common.sampled_members(Theta, np.random.default_rng(1), radius=subject.theta_norm)
    upper = common.require_support(Theta, X, members)
    for x, bound in zip(X, upper, strict=True):
        beyond = (bound + 0.01 * (1.0 + abs(bound))) / (x @ x) * x
        require(not Theta.contains(beyond), "contains", f"a point beyond the support at x = {x}")


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


def check_probabilities(subject: Subject) -> None:
    """`probabilities` is a law that changes nothing, and `choose` draws from it."""
    policy = subject.played()
    if not (hasattr(policy, "probabilities") and hasattr(policy, "choose")):
        raise NotApplicable("has not both probabilities and choose")
    twin, arms = copy.deepcopy(policy), subject.arms(6, 2 * N_ARMS)  # more than ever
    try:
        law = np.asarray(policy.probabilities(arms))
    except TypeError as error:  # of votes, which are drawn
        raise NotApplicable(str(error)) from None
    is_law = law.shape == (2 * N_ARMS,) and (law >= 0.0).all() and abs(law.sum() - 1.0) < 1e-9
    require(is_law, "probabilities", f"returned {law}")
    subject.require_same(policy, twin, "probabilities", "it draws or learns; is _law defined?")
    said = np.asarray(policy.choose(arms).probabilities)
    require(np.array_equal(said, law), "choose", f"says {said}, `probabilities` {law}")


def check_rounds_limit(subject: Subject) -> None:
    """Updates beyond n_rounds raise RuntimeError, a batch as a whole."""
    common.check_limit(subject, "a reward", MOST_NUMBERS // subject.dim - 1, MOST_ROUNDS)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_protocol,
    common.check_repr,
    check_index_and_predict,
    check_probabilities,
    check_support,
    common.check_interval,
    check_determinism,
    check_select,
    check_bad_arms,
    check_bad_updates,
    common.check_bad_questions,
    check_variances,
    check_batches,
    check_input_forms,
    common.check_save_and_load,
    check_rounds_limit,
)
"""All checks, in the order in which `check_policy` runs them."""
