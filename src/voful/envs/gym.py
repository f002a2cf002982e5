"""Any linear mixture MDP as a Gymnasium environment (this module imports Gymnasium)."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from voful import validation
from voful.envs.mixture.linear_mixture import LinearMixtureMDP, draw_successor


class GymnasiumMDP(gymnasium.Env[np.int64, np.int64]):
    """A `LinearMixtureMDP` seen through Gymnasium's interface.

    Observations are states, actions are actions. An episode is truncated after `horizon` steps
    and terminated in a state that is absorbing and pays nothing. ``info["steps_to_go"]`` tells
    the steps that remain, for policies that depend on them. Randomness comes from
    ``reset(seed=...)`` as usual in Gymnasium, not from the MDP's seed.

    Parameters
    ----------
    mdp
        The environment to show.
    """

    def __init__(self, mdp: LinearMixtureMDP) -> None:
        if not isinstance(mdp, LinearMixtureMDP):
            raise validation.fail_type("mdp", mdp, "a LinearMixtureMDP")
        self.mdp = mdp
        self.spec = EnvSpec(
            "voful/LinearMixtureMDP-v0",
            entry_point="voful.envs.gym:GymnasiumMDP",
            kwargs={"mdp": mdp},
        )
        self.observation_space = gymnasium.spaces.Discrete(mdp.model.n_states)
        self.action_space = gymnasium.spaces.Discrete(mdp.model.n_actions)
        self._state = mdp.model.initial_state
        self._steps_to_go = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Start an episode in the initial state."""
        super().reset(seed=seed)
        self._state = self.mdp.model.initial_state
        self._steps_to_go = self.mdp.model.horizon
        return np.int64(self._state), self._info()

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        model = self.mdp.model
        if not self.action_space.contains(action):
            raise validation.fail("action", action, f"an action from 0 to {model.n_actions - 1}")
        if self._steps_to_go == 0:
            raise RuntimeError("the episode is over: call reset first")
        reward = float(model.rewards[self._state, action])
        chance = self.np_random.random()
        self._state = draw_successor(self.mdp.chain, self._state, int(action), chance)
        self._steps_to_go -= 1
        terminated = bool(model.absorbing[self._state])
        truncated = self._steps_to_go == 0
        return np.int64(self._state), reward, terminated, truncated, self._info()

    def _info(self) -> dict[str, Any]:
        return {"steps_to_go": self._steps_to_go}
