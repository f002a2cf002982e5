"""Optimistic backward induction as it is written in Algorithm 2: three plain loops."""

from __future__ import annotations

from collections.abc import Sequence

from voful.typing import FloatArray


def literal_plan(
    base_models: FloatArray, rewards: FloatArray, horizon: int, Theta: Sequence[Sequence[float]]
) -> tuple[list[list[float]], list[list[list[float]]]]:
    """(V, Q) by step h = 0..H (V) and h = 0..H-1 (Q); Theta is a finite list of parameters."""
    d, S, A, _ = base_models.shape
    P = base_models.tolist()
    V = [[0.0] * S for _ in range(horizon + 1)]
    Q = [[[0.0] * A for _ in range(S)] for _ in range(horizon)]
    for h in reversed(range(horizon)):
        for s in range(S):
            for a in range(A):
                x = [sum(P[i][s][a][t] * V[h + 1][t] for t in range(S)) for i in range(d)]
                best = max(sum(theta[i] * x[i] for i in range(d)) for theta in Theta)
                Q[h][s][a] = min(1.0, float(rewards[s, a]) + best)
            V[h][s] = max(0.0, *Q[h][s])
    return V, Q
