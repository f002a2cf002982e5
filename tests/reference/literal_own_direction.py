"""Tests along each theta's own direction, transcribed: no running sums about a moving origin."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


def literal_own_direction(
    X: FloatArray, y: FloatArray, delta: float, low: float, high: float
) -> tuple[FloatArray, FloatArray, float, list[tuple[float, float, FloatArray]]]:
    """(A, centre, radius) of the ellipsoid after the rewards y, and (a, b, interval) of each round.

    The ellipsoid is taken anew whenever ln det(I + sum xx') has grown by 0.1, and at checks.
    """
    slopes, ridges, stake = np.array([0.75, 4.0, 30.0, 1000.0]), (0.3, 3.0), 0.5
    d, half = X.shape[1], 0.5 * (high - low)
    G, f, e = np.zeros((4, d, d)), np.zeros((4, d)), np.zeros(4)
    price = np.log(4 / (0.95 * delta))

    def smallest() -> tuple[FloatArray, FloatArray, float]:
        found = []
        for j in range(4):
            for ridge in ridges:
                A = G[j] + ridge * np.eye(d)
                c = np.linalg.solve(A, f[j])
                squared = price + ridge - e[j] + f[j] @ c
                found.append((d * np.log(squared) - np.linalg.slogdet(A)[1], j, A, c, squared))
        _, _, A, c, squared = min(found, key=lambda one: one[0])
        return A, c, float(np.sqrt(squared))

    A, c, radius = smallest()
    V, response, grown, check = np.eye(d), np.zeros(d), 0.0, 1
    rounds = []
    for x, reward in zip(X, y, strict=True):
        mean, width = x @ c, radius * np.sqrt(x @ np.linalg.solve(A, x))
        norm = np.linalg.norm(x)
        lo, up = max(mean - width, -norm, low), min(mean + width, norm, high)
        a = min(max(x @ np.linalg.solve(V, response), lo), up)
        z = np.linspace(lo, up, 5_001)
        b = max(np.max((z - a) * (high - z)), np.max((a - z) * (z - low)))
        loss = max(np.max((z - a) * (reward - z)), 0.0)
        squared = np.max((reward - z) ** 2)
        rounds.append((a, b, np.array([lo, up])))
        for j, slope in enumerate(slopes):
            S = min(slope / half**2, stake / b, 1 / np.max((z - a) ** 2))
            u = S * loss
            k = 0.5 if u < 1e-6 else (-u - np.log1p(-u)) / u**2
            m = k * S**2 * squared
            if m <= S:
                G[j] += (S - m) * np.outer(x, x)
                f[j] += (S * (a + reward) / 2 - m * a) * x
                e[j] += S * a * reward - m * a**2
            else:
                f[j] -= S * (a - reward) / 2 * x
                e[j] += (S - m) * np.max((z - a) ** 2) - S * (a - reward) * a
        V += np.outer(x, x)
        response += reward * x
        n = len(rounds)
        if np.linalg.slogdet(V)[1] >= grown or n >= check:
            A, c, radius = smallest()
        if np.linalg.slogdet(V)[1] >= grown:
            grown = np.linalg.slogdet(V)[1] + 0.1
        if n >= check:
            check = max(n + 1, math.ceil(1.05 * n))
    return A, c, radius, rounds
