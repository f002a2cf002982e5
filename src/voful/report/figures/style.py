"""Colours, lines and sizes: one look for every algorithm and figure of the library.

Colours are told apart with any colour vision; those that share a colour, or a shade of grey, differ
in their line. Labels stand beside the lines, so that no legend has to be matched.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

from voful import registry, validation

# Okabe and Ito's colours without yellow (too faint on white), and three of Paul Tol's between them.
COLOURS = {
    "black": "#000000",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "pink": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "wine": "#882255",
    "olive": "#999933",
    "grey": "#777777",
}

# Lengths of strokes and gaps, in widths of the line.
DASHES: dict[str, tuple[float, ...]] = {
    "solid": (),
    "dashed": (5, 2),
    "dotted": (1, 1.4),
    "dash-dot": (6, 2, 1, 2),
    "long": (10, 2.5),
    "dash-dot-dot": (6, 2, 1, 2, 1, 2),
}

MARKERS = dict(zip(DASHES, "osD^vP", strict=True))


VERBATIM: dict[str, Any] = {"parse_math": False}
"""Of texts with names of the user's own: a dollar is a dollar."""


class Look(NamedTuple):
    """A colour and a line, by name."""

    colour: str
    dash: str


# The main contenders have a colour of their own; of relatives, each has another line.
_CHOSEN = {
    "oful": Look("black", "dotted"),
    "betoful": Look("vermillion", "solid"),
    "certified": Look("wine", "solid"),
    "voful": Look("blue", "dashed"),
    "losan": Look("green", "dash-dot"),
    "lofav": Look("pink", "long"),
    "save": Look("orange", "dash-dot-dot"),
    "weighted-oful": Look("sky", "dotted"),
    "weighted-oful-plus": Look("sky", "solid"),
    "faury": Look("wine", "dashed"),
    "lin-ts": Look("olive", "solid"),
    "linucb": Look("grey", "dash-dot"),
    "d-linucb": Look("grey", "dashed"),
    "suplinucb": Look("grey", "long"),
    "ucb-v": Look("wine", "dotted"),
    "confidence-ball": Look("olive", "dash-dot-dot"),
    "epsilon-greedy": Look("grey", "solid"),
    "varlin": Look("blue", "dashed"),
    "varlin-mgf": Look("sky", "solid"),
    "likelihood-ucrl": Look("vermillion", "solid"),
    "bet-vtr": Look("orange", "dash-dot-dot"),
    "hf-ucrl-vtr-plus": Look("green", "dash-dot"),
    "ucrl-vtr-plus": Look("pink", "long"),
    "ucrl-vtr": Look("black", "dotted"),
    "mvp": Look("wine", "dashed"),
    "ucbvi-bf": Look("olive", "solid"),
    "ucbvi-ch": Look("olive", "dash-dot-dot"),
    "posterior-mixture": Look("grey", "long"),
}


@cache
def _registered() -> dict[str, Look]:
    """id -> look: chosen, or derived from the id that it extends; no two of a kind are alike."""
    looks: dict[str, Look] = {}
    for kind in registry.KINDS:
        ids = [entry.id for entry in registry.entries(kind)]
        own = {id: _CHOSEN[id] for id in ids if id in _CHOSEN}
        for id in ids:
            if id not in own:
                own[id] = _free(id, own.values(), _relative(id, own))
        looks |= own
    return looks


def _relative(name: str, looks: dict[str, Look]) -> str | None:
    """The colour of the longest id that the name begins with."""
    related = [id for id in looks if name.startswith(id)]
    return looks[max(related, key=len)].colour if related else None


def _free(name: str, taken: Iterable[Look], colour: str | None) -> Look:
    """A look that is not taken: of this colour where there is one, else by the name's digest."""
    everything = [Look(c, dash) for dash in DASHES for c in COLOURS]
    start = zlib.crc32(name.encode()) % len(everything)
    order = everything[start:] + everything[:start]
    order.sort(key=lambda look: look.colour != colour)
    used = set(taken)
    return next((look for look in order if look not in used), order[0])


def looks_of(policies: Iterable[str]) -> dict[str, Look]:
    """The looks of the policies of one figure: registered ids have their own in every figure.

    A name that begins with an id ("oful width_scale=0.5", "oful, theory") has its colour with
    another line; other names get what is free, the same whenever the same policies are shown.
    """
    names = [str(policy) for policy in policies]
    registered = _registered()
    looks = {name: registered[name] for name in names if name in registered}
    for name in names:
        if name not in looks:
            id = name.split()[0].rstrip(",:;") if name.split() else name
            colour = registered[id].colour if id in registered else None
            taken = {*registered.values(), *looks.values()} if colour is None else looks.values()
            looks[name] = _free(name, taken, colour)
    return looks


def style_of(policy: str) -> dict[str, Any]:
    """Matplotlib's color and linestyle of a policy, alike in every figure."""
    return drawn(looks_of([policy])[policy])


def drawn(look: Look) -> dict[str, Any]:
    """Matplotlib's color and linestyle of a look."""
    dashes = DASHES[look.dash]
    return {"color": COLOURS[look.colour], "linestyle": (0, dashes) if dashes else "-"}


def colours() -> dict[str, dict[str, str]]:
    """Id -> {"color": hex, "dash": "solid" or lengths as in "5px 2px"}, for pages in HTML."""
    # As SVG, CSS and Plotly write them, at two pixels a width.
    dashes = {dash: " ".join(f"{2 * n:g}px" for n in DASHES[dash]) or "solid" for dash in DASHES}
    looks = _registered().items()
    return {id: {"color": COLOURS[colour], "dash": dashes[dash]} for id, (colour, dash) in looks}


def ink(colour: str) -> str:
    """The colour, darkened until text in it is legible on white (contrast 4.5, as WCAG asks)."""
    channels = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    for shade in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5):
        darker = [shade * channel for channel in channels]
        if 1.05 / (_luminance(darker) + 0.05) >= 4.5:
            break
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in darker)


def _luminance(channels: Iterable[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@dataclass(frozen=True)
class Style:
    """Sizes of a figure.

    Attributes
    ----------
    name
        What is added to the names of files.
    panel
        (width, height) of a panel in inches; where `width` is given, only the ratio counts.
    width
        Of the whole figure in inches; None: as wide as its panels.
    columns
        Panels side by side, at most.
    font
        Of labels, in points.
    line
        Width in points.
    formats
        Files that are written.
    titled
        Whether the caption is in the figure; papers print their own.
    """

    name: str
    panel: tuple[float, float]
    width: float | None
    columns: int
    font: float
    line: float
    formats: tuple[str, ...]
    titled: bool

    def size(self, rows: int, columns: int) -> tuple[float, float]:
        """Width and height of a figure of so many panels."""
        width, height = self.panel
        if self.width is None:
            return width * columns, height * rows
        each = self.width / columns
        return self.width, rows * min(max(each * height / width, 1.7), 2.8)

    def settings(self) -> AbstractContextManager[None]:
        """Matplotlib's settings of this style, while a figure is drawn."""
        import matplotlib as mpl

        return mpl.rc_context(cast(Any, self.parameters()))

    def parameters(self) -> dict[str, Any]:
        """Matplotlib's settings while a figure is drawn and written."""
        return {
            "font.size": self.font,
            "axes.titlesize": self.font + (1 if self.titled else 0),
            "axes.labelsize": self.font,
            "xtick.labelsize": self.font - 1,
            "ytick.labelsize": self.font - 1,
            **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
            **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
            "pdf.fonttype": 42,  # TrueType: what publishers accept
            "svg.hashsalt": "voful",  # else ids in the file are random
        }


SCREEN = Style("", (4.6, 3.5), None, 3, 10, 1.7, ("png", "svg", "pdf"), True)
COLUMN = Style("_column", (3.25, 2.3), 3.25, 1, 8, 1.2, ("pdf",), False)
PAGE = Style("_page", (3.25, 2.3), 6.75, 2, 8, 1.2, ("pdf",), False)

STYLES = {"screen": (SCREEN,), "paper": (COLUMN, PAGE)}
"""Name on the command line -> the sizes that are written."""


def styles(name: str) -> tuple[Style, ...]:
    """The sizes of a style."""
    if name not in STYLES:
        raise validation.fail("style", name, "one of " + ", ".join(STYLES))
    return STYLES[name]
