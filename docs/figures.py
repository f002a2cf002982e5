"""Make the figures of the documentation: python docs/figures.py [directory]."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from voful import OFUL, VOFUL, concentration
from voful.confidence.ellipsoids.sets import RidgeEllipsoid
from voful.confidence.peeled.cuts import cut_of_test
from voful.confidence.peeled.dual_simplex import invert, new_basis, optimise, start_at_corner
from voful.confidence.peeled.outer_polytope import new_polytope
from voful.confidence.peeled.set import PeeledSet
from voful.confidence.peeled.tests import unpack
from voful.envs import Feedback, linear_bandit
from voful.report.figures import write
from voful.typing import FloatArray

# Okabe-Ito
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
GREY, PALE, SAND = "#8a8a8a", "#e9e9e9", "#f6dcb8"
ROUNDS = (50, 150, 500, 3000)
SIGMAS = (0.05, 0.5)
DELTA = 0.05


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, not known to pyplot."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


# --- Theta_k at d = 2 -------------------------------------------------------------------------


def margins(flat: FloatArray, points: FloatArray) -> FloatArray:
    """|S| - right side of every test at every point, shape (tests, points)."""
    T = unpack(flat, points.shape[1])
    t = points - T.o
    S = T.a[:, None] - T.b @ t.T
    V = T.e[:, None] - 2.0 * T.f @ t.T + np.array([((t @ G) * t).sum(axis=1) for G in T.G])
    norms = np.linalg.norm(points, axis=1)
    right = np.sqrt(T.kappa[:, None] * np.maximum(V, 0.0)) + T.beta0[:, None]
    excess: FloatArray = np.abs(S) - right - T.beta1[:, None] * norms
    return excess


def running_margin(Theta: PeeledSet, points: FloatArray) -> FloatArray:
    """Largest |S| - right side over all checks so far: <= 0 on the running intersection."""
    largest = np.full(len(points), -np.inf)
    for flat in Theta._history[: Theta._n_remembered]:
        largest = np.maximum(largest, margins(flat, points).max(axis=0))
    return largest


def square_grid(center: FloatArray, half: float, side: int) -> tuple[FloatArray, FloatArray]:
    """Axes (2, side) and points (side^2, 2) of a square."""
    axes = center[:, None] + np.linspace(-half, half, side)
    return axes, np.stack(np.meshgrid(axes[0], axes[1]), axis=-1).reshape(-1, 2)


def ellipse(Theta: RidgeEllipsoid) -> FloatArray:
    """Points of the boundary, shape (2, 400)."""
    angle = np.linspace(0.0, 2.0 * math.pi, 400)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    spectrum, Q = np.linalg.eigh(Theta.precision)
    points: FloatArray = Theta.center[:, None] + Theta.radius * (Q / np.sqrt(spectrum)) @ circle
    return points


def draw_sets(panel: Axes, Theta: PeeledSet, oful: RidgeEllipsoid, side: int) -> None:
    """What is left of the ball, and OFUL's ellipse, inside the panel's limits."""
    (low, high), (bottom, top) = panel.get_xlim(), panel.get_ylim()
    half = min(1.02, (high - low) / 2)
    axes, points = square_grid(np.array([(low + high) / 2, (bottom + top) / 2]), half, side)
    disc = Circle((0, 0), 1.0, transform=panel.transData)
    panel.add_patch(Circle((0, 0), 1.0, facecolor=PALE, edgecolor="none", zorder=0))
    # Where one test of now begins to eliminate: the outlines of convex regions.
    for values in margins(Theta._defining()[-1], points):
        if values.max() > 0.0:
            outline = panel.contour(
                *axes, values.reshape(side, side), [0.0], colors="white", linewidths=0.7, zorder=1
            )
            outline.set_clip_path(disc)
    kept = running_margin(Theta, points).reshape(side, side)
    panel.contourf(*axes, kept, [-1e9, 0.0], colors=[BLUE], alpha=0.85).set_clip_path(disc)
    (edge,) = panel.plot(*ellipse(oful), color=ORANGE, lw=1.3, linestyle=(0, (5, 2)), zorder=4)
    if half > 1.0:  # else clipped by the panel
        edge.set_clip_path(disc)
    panel.add_patch(Circle((0, 0), 1.0, facecolor="none", edgecolor=GREY, linewidth=0.8, zorder=5))


def draw_star(panel: Axes, theta_star: FloatArray) -> None:
    """Mark theta*."""
    panel.plot(*theta_star, marker="*", ms=9, color="white", markeredgecolor=BLACK, zorder=6)


def draw_arms(panel: Axes, arms: FloatArray, played: FloatArray) -> None:
    """A tick per arm, and a bar that grows with how often it was played."""
    for arm, share in zip(arms, played / played.sum(), strict=True):
        panel.plot(*np.outer(arm, (1.0, 1.06)), color=GREY, linewidth=0.8)
        bar = np.outer(arm, (1.06, 1.06 + 0.3 * math.sqrt(share)))
        panel.plot(*bar, color=BLACK, linewidth=2.2, solid_capstyle="butt")


def blank(panel: Axes, center: FloatArray, half: float) -> None:
    """A square view without ticks."""
    panel.set(xticks=[], yticks=[], aspect="equal")
    panel.set_xlim(center[0] - half, center[0] + half)
    panel.set_ylim(center[1] - half, center[1] + half)


def label_sets(panel: Axes) -> None:
    """Name what is seen, in the panel of round 150 and little noise."""
    texts = (
        ("Θ", (-0.56, -0.26), "white"),
        ("θ*", (-0.26, -0.62), "white"),
        ("OFUL's ellipse", (-0.14, 0.28), ORANGE),
        ("eliminated", (-0.36, 0.64), "#555555"),
        ("arms played", (-1.32, -1.2), BLACK),
    )
    for text, at, colour in texts:
        panel.text(*at, text, color=colour, fontsize=8.5, zorder=7)


def sets_figure() -> Figure:
    """Theta_k along one run of VOFUL for each noise, with OFUL's ellipse for the same data."""
    figure = new_figure(9.6, 5.1)
    panels = figure.subplots(len(SIGMAS), len(ROUNDS))
    for row, sigma in zip(panels, SIGMAS, strict=True):
        # Two-point noise of exactly this standard deviation: |mean| <= 1/2 leaves room for it.
        env = linear_bandit(
            dim=2, n_arms=12, theta_norm=0.5, noise="two_point", sigma=sigma, seed=3
        )
        policy, oful = VOFUL(2, n_rounds=ROUNDS[-1]), OFUL(2)
        played = np.zeros(env.n_arms)
        for k in range(1, ROUNDS[-1] + 1):
            arms = env.arms
            choice = policy.select(arms)
            feedback: Feedback = env.pull(choice)
            policy.update(arms[choice], feedback.reward)
            oful.update(arms[choice], feedback.reward)
            played[choice] += 1
            if k not in ROUNDS:
                continue
            panel = row[ROUNDS.index(k)]
            views = [panel]
            blank(panel, np.zeros(2), 1.37)
            panel.axis("off")
            draw_arms(panel, arms, played)
            if k == ROUNDS[-1]:  # a closer look
                views.append(panel.inset_axes((0.56, 0.57, 0.44, 0.43)))
                blank(views[-1], env.theta_star, 0.22)
                panel.indicate_inset_zoom(views[-1], edgecolor=BLACK, linewidth=0.6, alpha=0.6)
            for view in views:
                draw_sets(view, policy.confidence_set, oful.confidence_set, side=320)
                draw_star(view, env.theta_star)
            if sigma == SIGMAS[0]:
                panel.set_title(f"after {k:,} rounds", fontsize=10)
        row[0].text(-1.55, 0.0, f"σ = {sigma:g}", rotation=90, va="center", fontsize=10)
    label_sets(panels[0][1])
    return figure


# --- the radii --------------------------------------------------------------------------------


def radii(V: FloatArray, n: FloatArray) -> dict[str, tuple[list[float], str, Any]]:
    """Name -> (radius, colour, line), for sum X^2 = V after n steps and failure DELTA."""
    steps = list(zip(V.tolist(), n.tolist(), strict=True))
    return {
        "the paper's, at one n": (
            [
                concentration.paper_empirical_bernstein(v, 1.0, DELTA / (6.0 * math.log2(k)))
                for v, k in steps
            ],
            ORANGE,
            (0, (5, 2)),
        ),
        "grid of lines, all n": (
            [concentration.lines_radius(v, 1.0, DELTA, predictable=False) for v, _ in steps],
            GREEN,
            (0, (1, 1.2)),
        ),
        "KT, all n": (
            [concentration.kt_radius(v, int(k), 1.0, DELTA) for v, k in steps],
            BLUE,
            "-",
        ),
    }


def radii_figure() -> Figure:
    """Radii of the inequalities at failure 5 %, for two kinds of noise."""
    figure = new_figure(8.6, 3.6)
    panels = figure.subplots(1, 2, sharey=True)
    n = np.unique(np.geomspace(2, 100_000, 120).round())
    laws = (("±1 noise, $V = n$", 1.0), ("rare noise, p = 0.01, $V = n p/(1-p)$", 0.01 / 0.99))
    for panel, (title, variance) in zip(panels, laws, strict=True):
        V = variance * n
        for radius, colour, line in radii(V, n).values():
            panel.plot(n, radius, color=colour, linestyle=line, linewidth=1.8)
        panel.plot(n, n, color=GREY, linewidth=0.8)
        panel.plot(n, 1.96 * np.sqrt(V), color=GREY, linewidth=0.8)
        panel.set(xscale="log", yscale="log", xlim=(2, 1e5), ylim=(2, 2e4), xlabel="n")
        panel.set_title(title, loc="left", fontsize=10.5)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", linewidth=0.4, alpha=0.5)
    panels[0].set_ylabel("radius of $|\\sum X_i|$")
    labels = (
        (1, "the paper's, at one n", (2.6, 165), ORANGE),
        (1, "grid of lines, all n", (2.6, 13.8), GREEN),
        (1, "KT, all n", (45, 5.2), BLUE),
        (0, "no information above n", (38, 4000), "#555555"),
        (0, "$1.96\\sqrt{V}$", (9000, 108), "#555555"),
    )
    for panel, text, at, colour in labels:
        panels[panel].text(*at, text, color=colour, fontsize=9, zorder=1)
    return figure


# --- one intersection cut ---------------------------------------------------------------------


def cut_figure() -> Figure:
    """The region of one test, a vertex of the box in it, and the cut."""
    Theta = PeeledSet(2, n_rounds=3000)
    env = linear_bandit(dim=2, n_arms=12, theta_norm=0.5, noise="two_point", sigma=0.3, seed=3)
    for k in range(120):
        arms = env.arms
        Theta.update(arms[k % 12], env.pull(k % 12).reward)
    flat = Theta._defining()[-1]
    T = unpack(flat, 2)
    P, B, x = new_polytope(2), new_basis(2), np.array([1.0, 1.0])
    start_at_corner(x, B)
    optimise(P, x, B, -np.inf)
    invert(P, B)
    v, found = B.vertex.copy(), []
    for i in range(Theta.n_tests):
        w, steps = np.empty(2), np.empty(2)
        right = cut_of_test(T, i, P, B, w, steps)
        if right < math.inf:
            found.append(((w @ v - right) / math.hypot(*w), i, w, right, steps))
    _, i, w, right, steps = max(found, key=lambda cut: cut[0])
    exits = v[:, None] - B.inverse * steps
    figure = new_figure(4.4, 4.2)
    panel = figure.subplots()
    blank(panel, np.array([0.05, 0.05]), 1.25)
    panel.axis("off")
    axes, points = square_grid(np.zeros(2), 1.6, 500)
    region = margins(flat, points)[i].reshape(500, 500)
    box = Rectangle((-1, -1), 2, 2, transform=panel.transData)
    side = points @ T.b[i] - T.b[i] @ T.o - T.a[i]  # -S: only the side of the vertex
    same = (np.sign(side) == np.sign(v @ T.b[i] - T.b[i] @ T.o - T.a[i])).reshape(500, 500)
    panel.contourf(*axes, np.where(same, region, -1.0), [0.0, 1e9], colors=[SAND]).set_clip_path(
        box
    )
    kept = running_margin(Theta, points).reshape(500, 500)
    disc = Circle((0, 0), 1.0, transform=panel.transData)
    panel.contourf(*axes, kept, [-1e9, 0.0], colors=[BLUE], alpha=0.85).set_clip_path(disc)
    panel.add_patch(Circle((0, 0), 1.0, facecolor="none", edgecolor=GREY, linewidth=0.8))
    panel.add_patch(Rectangle((-1, -1), 2, 2, facecolor="none", edgecolor=BLACK, linewidth=1.0))
    for point in exits.T:
        panel.annotate(
            "", tuple(point), tuple(v), arrowprops={"arrowstyle": "-|>", "color": BLACK, "lw": 1.4}
        )
        panel.plot(*point, marker="o", ms=5, color=BLACK, zorder=6)
    way = exits[:, 1] - exits[:, 0]
    line = exits[:, :1] + np.outer(way, (-0.6, 1.6))
    panel.plot(*line, color=ORANGE, linewidth=1.6, zorder=5)
    panel.plot(*v, marker="s", ms=6, color=BLACK, zorder=6)
    panel.text(0.93, 1.06, "vertex v", fontsize=9)
    panel.text(0.96, 0.62, "K: eliminated by one test", fontsize=8.5, ha="right")
    panel.text(-0.52, 1.22, "cut", color=ORANGE, fontsize=9)
    panel.text(-0.6, -0.6, "Θ", color="white", fontsize=10)
    panel.text(-0.47, 1.06, "exit", fontsize=9, ha="right")
    panel.text(1.05, -0.93, "exit", fontsize=9)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "voful_sets": sets_figure,
    "radii": radii_figure,
    "voful_cut": cut_figure,
}


def main(directory: Path) -> None:
    """Make all of them."""
    mpl.rcParams["svg.hashsalt"] = "voful"  # the same bytes each time
    directory.mkdir(parents=True, exist_ok=True)
    for name, make in FIGURES.items():
        print(*write(make(), directory / name), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures")
