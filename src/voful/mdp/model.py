"""The linear mixture model: P = sum_i theta*_i P_i with known base models P_i and known rewards."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voful import persistence, validation
from voful.compiled import kernel
from voful.mdp import trajectories
from voful.mdp.model_checks import check_distinct, check_rows, largest_total
from voful.mdp.trajectories import Transitions, Walks, first_fault
from voful.typing import BoolArray, FloatArray, IntArray, Path
from voful.validation import TOLERANCE

MAX_HORIZON = 10**12
"""Far below what the kernels can count."""


@kernel
def expected_next(
    successors: IntArray, probabilities: FloatArray, V: FloatArray, out: FloatArray
) -> None:
    """out[s, a, i] = sum_b probabilities[s, a, b, i] V[successors[s, a, b]] = P^i_{s,a} V."""
    S, A, B, d = probabilities.shape
    for s in range(S):
        for a in range(A):
            for i in range(d):
                out[s, a, i] = 0.0
            for b in range(B):
                v = V[successors[s, a, b]]
                if v != 0.0:
                    for i in range(d):
                        out[s, a, i] += probabilities[s, a, b, i] * v


class LinearMixtureModel(persistence.Persistent):
    """What is known of a linear mixture MDP: everything but theta*.

    Transitions are P(s'|s,a) = sum_i theta*_i P_i(s'|s,a) (Section 3 of [1]) with d known base
    models P_i; the rewards r(s,a) >= 0 are known, and no episode of `horizon` steps from
    `initial_state` can pay more than 1 in all, whatever its actions and whichever base models
    its transitions come from.

    Inside, transitions are lists of successors, so that a model with few successors per state and
    action costs little whatever the number of states. The arrays are the model's own: read only.

    Parameters
    ----------
    base_models
        (d, S, A, S) array: base_models[i, s, a, t] = P_i(t|s,a).
    rewards
        (S, A) array of rewards >= 0.
    horizon
        H, steps per episode.
    initial_state
        Where every episode starts.
    signed
        Allow base models that are not probability kernels (differences of kernels, say; the
        positive and the negative part of a row may each sum up to at most 1). theta* is then in
        the L1 ball, as in the paper, and in the simplex otherwise: stochastic base models force
        sum theta* = 1.

    Attributes
    ----------
    dim, n_states, n_actions
        d, S and A.
    rewards
        (S, A).
    successors
        (S, A, B): the states that some base model can reach from (s, a), then padding.
    n_successors
        (S, A): how many entries of `successors` are not padding.
    probabilities
        (S, A, B, d): probabilities[s, a, b, i] = P_i(successors[s, a, b] | s, a), 0 at padding.
    stochastic
        Whether every base model is a probability kernel (parameter set: the simplex).
    absorbing
        (S,): states that are never left and pay nothing, whatever the parameter.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021.
    """

    def __init__(
        self,
        base_models: npt.ArrayLike,
        rewards: npt.ArrayLike,
        horizon: int,
        initial_state: int = 0,
        *,
        signed: bool = False,
    ) -> None:
        allowed = "a finite array of shape (d, S, A, S)"
        P = validation.finite_array("base_models", base_models, 4, allowed)
        if 0 in P.shape or P.shape[1] != P.shape[3]:
            raise validation.fail_shape("base_models", P.shape, allowed)
        self._build("base_models", None, P, rewards, horizon, initial_state, signed)

    @classmethod
    def from_successors(
        cls,
        successors: npt.ArrayLike,
        probabilities: npt.ArrayLike,
        rewards: npt.ArrayLike,
        horizon: int,
        initial_state: int = 0,
        *,
        signed: bool = False,
    ) -> LinearMixtureModel:
        """Build a model from lists of successors instead of dense rows.

        Parameters
        ----------
        successors
            (S, A, B) whole numbers: the states that can follow s under a, distinct where their
            probability is not 0 under all base models (other entries are padding).
        probabilities
            (d, S, A, B): probabilities[i, s, a, b] = P_i(successors[s, a, b] | s, a).
        rewards, horizon, initial_state, signed
            As for the constructor.
        """
        shape = "whole numbers of shape (S, A, B)"
        lists = np.array(validation.integer_array("successors", successors, 3, shape))
        S, A, B = lists.shape
        if 0 in lists.shape:
            raise validation.fail_shape("successors", lists.shape, shape)
        if lists.min() < 0 or lists.max() >= S:
            bad = int(lists.min() if lists.min() < 0 else lists.max())
            raise validation.fail("successors", bad, f"states from 0 to {S - 1}")
        allowed = f"a finite array of shape (d, {S}, {A}, {B})"
        P = validation.finite_array("probabilities", probabilities, 4, allowed)
        if P.shape[0] == 0 or P.shape[1:] != lists.shape:
            raise validation.fail_shape("probabilities", P.shape, allowed)
        model = cls.__new__(cls)
        model._build("probabilities", lists, P, rewards, horizon, initial_state, signed)
        return model

    def _build(
        self,
        name: str,
        lists: IntArray | None,
        P: FloatArray,
        rewards: npt.ArrayLike,
        horizon: int,
        initial_state: int,
        signed: bool,
    ) -> None:
        """Check and keep everything; `lists` are the successors, None: all states in order."""
        _, S, A, _ = P.shape
        self.signed = validation.boolean("signed", signed)
        self.horizon = validation.positive_int("horizon", horizon)
        if self.horizon > MAX_HORIZON:
            raise validation.fail("horizon", self.horizon, f"at most {MAX_HORIZON:.0e} steps")
        self.initial_state = validation.nonnegative_int("initial_state", initial_state)
        if self.initial_state >= S:
            raise validation.fail("initial_state", self.initial_state, f"a state from 0 to {S - 1}")
        allowed = f"a finite array of shape ({S}, {A}) with numbers >= 0"
        self.rewards = validation.finite_array("rewards", rewards, 2, allowed)
        if self.rewards.shape != (S, A):
            raise validation.fail_shape("rewards", self.rewards.shape, allowed)
        if self.rewards.min() < 0.0:
            raise validation.fail("rewards", float(self.rewards.min()), allowed)
        self.stochastic = check_rows(name, P, self.signed)
        possible = (P != 0.0).any(axis=0)
        if lists is not None:
            check_distinct(lists, possible)
        self.n_successors: IntArray = possible.sum(axis=2).astype(np.int64)
        if self.n_successors.min() == 0:
            s, a = np.argwhere(self.n_successors == 0)[0]
            allowed = "some next state with a probability that is not 0"
            raise validation.fail(f"{name}[:, {s}, {a}]", 0.0, allowed)
        # The successors proper first, in the given order; padding that no row needs goes.
        B = int(self.n_successors.max())
        order = np.argsort(~possible, axis=2, kind="stable")[:, :, :B].astype(np.int64)
        chosen = order if lists is None else np.take_along_axis(lists, order, axis=2)
        self.successors: IntArray = np.ascontiguousarray(chosen)
        P = np.take_along_axis(P, order[np.newaxis], axis=3)
        self.probabilities: FloatArray = np.ascontiguousarray(np.moveaxis(P, 0, -1))
        stays = (self.n_successors == 1) & (self.successors[:, :, 0] == np.arange(S)[:, np.newaxis])
        self.absorbing: BoolArray = (stays & (self.rewards == 0.0)).all(axis=1)
        self._check_total()

    def _check_total(self) -> None:
        if self.horizon * float(self.rewards.max()) <= 1.0:
            return
        total = largest_total(
            self.transitions, self.rewards, self.initial_state, self.horizon, 1.0 + TOLERANCE
        )
        if total > 1.0 + TOLERANCE:
            raise validation.fail(
                "rewards (largest sum along a trajectory)",
                total,
                f"a sum of at most 1 over the {self.horizon} steps of every possible episode",
            )

    @property
    def dim(self) -> int:
        """Number d of base models."""
        return int(self.probabilities.shape[3])

    @property
    def n_states(self) -> int:
        """Number S of states."""
        return int(self.successors.shape[0])

    @property
    def n_actions(self) -> int:
        """Number A of actions."""
        return int(self.successors.shape[1])

    @property
    def transitions(self) -> Transitions:
        """What kernels read of them."""
        return Transitions(self.successors, self.n_successors, self.probabilities)

    def features(self, V: npt.ArrayLike) -> FloatArray:
        """(S, A, d) array of x(s, a) = (P^i_{s,a} V)_i, so that P_{s,a} V = <x(s, a), theta*>."""
        out = np.empty((self.n_states, self.n_actions, self.dim))
        checked = validation.vector("V", V, self.n_states)
        expected_next(self.successors, self.probabilities, checked, out)
        return out

    @property
    def base_models(self) -> FloatArray:
        """The base models as a dense (d, S, A, S) array."""
        S, A, B, d = self.probabilities.shape
        P = np.zeros((d, S, A, S))
        s, a, b = np.nonzero(np.arange(B) < self.n_successors[:, :, np.newaxis])
        P[:, s, a, self.successors[s, a, b]] = self.probabilities[s, a, b].T
        return P

    def check_parameter(self, name: str, theta: npt.ArrayLike) -> FloatArray:
        """A theta in the parameter set (up to 1e-9): the simplex, or the L1 ball if signed.

        Under a theta that is a true parameter, every row of sum_i theta_i P_i is a probability.
        """
        parameter = validation.vector(name, theta, self.dim)
        large = np.abs(parameter).max() > 1.0 + TOLERANCE  # before sums, which may overflow
        if self.stochastic:
            if large or parameter.min() < -TOLERANCE or abs(parameter.sum() - 1.0) > TOLERANCE:
                raise validation.fail(name, parameter, "numbers >= 0 with sum 1")
            return np.maximum(parameter, 0.0)
        if large or np.abs(parameter).sum() > 1.0 + TOLERANCE:
            raise validation.fail(name, parameter, "numbers whose sizes sum up to at most 1")
        return parameter

    def check_trajectory(
        self, states: npt.ArrayLike, actions: npt.ArrayLike
    ) -> tuple[IntArray, IntArray]:
        """One trajectory: states (T+1,) and actions (T,), T = horizon or fewer where it may stop.

        It must start in the initial state, take only steps that some base model allows, and may
        stop before the horizon only in an absorbing state.
        """
        path = validation.integer_array("states", states, 1, "whole numbers of shape (T+1,)")
        taken = validation.integer_array("actions", actions, 1, "whole numbers of shape (T,)")
        if len(path) != len(taken) + 1:
            allowed = f"shape ({len(taken) + 1},), one more than the actions"
            raise validation.fail_shape("states", path.shape, allowed)
        length = np.array([len(taken)], dtype=np.int64)
        self.check_trajectories(path[np.newaxis], taken[np.newaxis], length)
        return path, taken

    def check_trajectories(
        self, states: npt.ArrayLike, actions: npt.ArrayLike, lengths: npt.ArrayLike
    ) -> Walks:
        """Many trajectories: states (n, W+1), actions (n, W), lengths (n,).

        Trajectory i is states[i, :lengths[i]+1] and actions[i, :lengths[i]]; what stands behind
        is not read.
        """
        paths = validation.integer_array("states", states, 2, "whole numbers of shape (n, W+1)")
        taken = validation.integer_array("actions", actions, 2, "whole numbers of shape (n, W)")
        counts = validation.integer_array("lengths", lengths, 1, "whole numbers of shape (n,)")
        n, width = taken.shape
        if paths.shape != (n, width + 1):
            raise validation.fail_shape("states", paths.shape, f"shape ({n}, {width + 1})")
        if counts.shape != (n,):
            raise validation.fail_shape("lengths", counts.shape, f"shape ({n},)")
        longest = min(width, self.horizon)
        if n and (counts.min() < 0 or counts.max() > longest):
            bad = int(counts.min() if counts.min() < 0 else counts.max())
            raise validation.fail("actions", f"{bad} steps", f"0 to {longest} steps")
        walks = Walks(paths, taken, counts)
        start, horizon = self.initial_state, self.horizon
        fault, i, h = first_fault(self.transitions, self.absorbing, start, horizon, walks)
        if fault != trajectories.FINE:
            raise self._fault(fault, paths[i], taken[i], h, int(counts[i]))
        return walks

    def _fault(
        self, fault: int, path: IntArray, taken: IntArray, h: int, length: int
    ) -> ValueError:
        if fault == trajectories.WRONG_START:
            return validation.fail("states[0]", int(path[0]), f"initial_state {self.initial_state}")
        if fault == trajectories.WRONG_STATE:
            states = f"a state from 0 to {self.n_states - 1}"
            return validation.fail(f"states[{h}]", int(path[h]), states)
        if fault == trajectories.WRONG_ACTION:
            actions = f"an action from 0 to {self.n_actions - 1}"
            return validation.fail(f"actions[{h}]", int(taken[h]), actions)
        if fault == trajectories.WRONG_END:
            return validation.fail(
                "states",
                f"an end in state {path[length]} after {length} steps",
                f"{self.horizon} steps, or an end in an absorbing state that pays nothing",
            )
        return validation.fail(
            f"states[{h + 1}]",
            int(path[h + 1]),
            f"a state that some base model reaches from state {path[h]} by action {taken[h]}",
        )

    def config(self) -> dict[str, Any]:
        """The arguments of `from_successors` that make this model anew."""
        return {
            "successors": self.successors,
            "probabilities": np.moveaxis(self.probabilities, -1, 0),
            "rewards": self.rewards,
            "horizon": self.horizon,
            "initial_state": self.initial_state,
            "signed": self.signed,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LinearMixtureModel:
        """The model that `config` describes."""
        return cls.from_successors(**config)

    def save(self, path: Path) -> None:
        """Write the model to one file (arrays and JSON); `voful.load` reads it."""
        persistence.save(self, path)

    def __deepcopy__(self, memo: dict[int, Any]) -> LinearMixtureModel:
        return self  # it never changes

    def __repr__(self) -> str:
        return (
            f"LinearMixtureModel(dim={self.dim}, n_states={self.n_states}, "
            f"n_actions={self.n_actions}, horizon={self.horizon}, "
            f"initial_state={self.initial_state})"
        )
