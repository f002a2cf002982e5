"""What a run in the plane looks like on the way: set, arms and choice at a few rounds."""

from __future__ import annotations

from collections import defaultdict

from voful.confidence.outline import outline
from voful.experiments.play.loop import Columns, log_spaced
from voful.typing import BanditPolicy, FloatArray

DIM = 2  # of what can be drawn


class Album:
    """Pictures of a policy in dimension 2, as columns of plain numbers.

    A picture of round k shows what the policy knew when it chose: the set after k - 1 rewards, the
    arms of round k and the chosen one, and the regret of the k - 1 rounds before.

    Parameters
    ----------
    policy, theta_star
        Who is watched, and the truth.
    n_rounds, n_pictures
        Of the run: about so many pictures, evenly spaced in the logarithm of the round.
    """

    def __init__(
        self, policy: BanditPolicy, theta_star: FloatArray, n_rounds: int, n_pictures: int
    ) -> None:
        self.rounds = frozenset(log_spaced(n_rounds, n_pictures))
        self.columns: Columns = defaultdict(list)
        self._policy = policy
        self._theta_star = theta_star

    def take(self, round: int, arms: FloatArray, choice: int, regret: float) -> None:
        """Add a picture; asks the set, and changes nothing."""
        Theta = self._policy.confidence_set
        picture = {
            "round": round,
            "regret": float(regret),
            "theta_star": self._theta_star.tolist(),
            "center": None if Theta is None else Theta.center.tolist(),
            "in_set": None if Theta is None else bool(Theta.contains(self._theta_star)),
            "polygons": [] if Theta is None else [p.ravel().tolist() for p in outline(Theta)],
            "arms": arms.ravel().tolist(),
            "choice": int(choice),
        }
        for name, value in picture.items():
            self.columns[name].append(value)
