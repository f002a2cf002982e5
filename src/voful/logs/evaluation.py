"""What an evaluation found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from voful import notice
from voful.logs.evaluator import SUSPICIOUS, Evaluator
from voful.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Trajectory:
    """Estimate and interval after so many rows, arrays of one length."""

    n: IntArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Evaluation:
    """A policy's value from logs, or the difference of two.

    Attributes
    ----------
    estimate, lower, upper
        With probability at least 1 - failure_prob the interval is true at all times at once, those
        in `trajectory` among them: look, and stop, whenever you like.
    n
        Rows.
    effective_n
        (sum w)^2 / sum w^2, w being the target's weights pi(a)/h(a); of a comparison of two
        policies the mean of both weights.
    max_weight
        The largest of them.
    weight_evalue
        Evidence that the propensities are wrong; right ones reach 100 once in a hundred logs.
    trajectory
        The same after earlier rows.
    estimator, versus, failure_prob
        How it was made.
    """

    estimate: float
    lower: float
    upper: float
    n: int
    effective_n: float
    max_weight: float
    weight_evalue: float
    estimator: str
    versus: str | None
    failure_prob: float
    trajectory: Trajectory = field(repr=False)

    @property
    def suspicion(self) -> str | None:
        """What says that the propensities are wrong, in words; None where nothing does."""
        if self.weight_evalue >= SUSPICIOUS:
            return (
                f"the weights average more than 1: with right propensities an e-value of "
                f"{self.weight_evalue:.3g} has probability at most {1.0 / self.weight_evalue:.2g}"
            )
        if self.lower > self.upper:
            return "the interval is empty, which has probability at most failure_prob"
        return None

    def __repr__(self) -> str:
        what = {None: "value", "baseline": "target - baseline"}.get(self.versus, "target - logged")
        lines = [
            f"{what}: {self.estimate:.4g} in [{self.lower:.4g}, {self.upper:.4g}], at all times "
            f"with probability {1.0 - self.failure_prob:.4g}",
            f"  {self.n} rows, worth {self.effective_n:.4g} of equal weight; largest weight "
            f"{self.max_weight:.4g}; {self.estimator}",
        ]
        if self.suspicion:
            lines.append(f"  propensities are wrong: {self.suspicion}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Everything as numbers, words and lists, for JSON."""
        found = asdict(self)
        found["trajectory"] = {name: v.tolist() for name, v in found["trajectory"].items()}
        return found

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw estimate and interval over rows, into `ax` or a figure of its own."""
        from matplotlib.figure import Figure

        if ax is None:
            ax = Figure(figsize=(7.0, 3.6), layout="constrained").subplots()
        path = self.trajectory
        (line,) = ax.plot(path.n, path.estimate, label=label or self.estimator)
        ax.fill_between(path.n, path.lower, path.upper, alpha=0.2, color=line.get_color(), lw=0)
        if self.versus is not None:
            ax.axhline(0.0, color="0.4", lw=0.8, zorder=0)
        ax.set_xscale("log")
        ax.set_xlabel("rows")
        ax.set_ylabel("value" if self.versus is None else f"target - {self.versus}")
        ax.margins(x=0)
        return ax


class Recorder:
    """An evaluator's answers at checkpoints."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._seen: list[tuple[int, float, float, float]] = []

    def look(self) -> None:
        """Note estimate and interval after the rows so far, once."""
        n = self.evaluator.n
        if not self._seen or self._seen[-1][0] < n:
            self._seen.append((n, *self.evaluator.look()))

    def evaluation(self) -> Evaluation:
        """What was found; warns where the propensities must be wrong."""
        self.look()
        evaluator = self.evaluator
        columns = list(zip(*self._seen, strict=True))
        ends = [np.array(column) for column in columns[1:]]
        found = Evaluation(
            *self._seen[-1][1:],
            evaluator.n,
            evaluator.effective_n,
            evaluator.max_weight,
            evaluator.weight_evalue,
            evaluator.estimator,
            evaluator.versus,
            evaluator.failure_prob,
            Trajectory(np.array(columns[0]), *ends),
        )
        if found.suspicion:
            notice.warn(f"propensities are wrong: {found.suspicion}", UserWarning)
        return found
