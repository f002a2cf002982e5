from __future__ import annotations

import itertools

import numpy as np
import pytest

from voful import registry
from voful.report.figures.style import (
    COLOURS,
    COLUMN,
    PAGE,
    colours,
    ink,
    looks_of,
    style_of,
    styles,
)

MAIN = {
    "bandit": ["oful", "betoful", "voful", "losan", "lofav", "save"],
    "episodic": [
        *("varlin", "varlin-mgf", "likelihood-ucrl", "ucrl-vtr", "ucrl-vtr-plus"),
        *("hf-ucrl-vtr-plus", "bet-vtr", "mvp"),
    ],
}

# Machado, Oliveira, Fernandes 2009, severity 1: what is seen of linear red, green, blue.
VISION = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "all colours": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(colour: str, vision: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0.0, 1.0)
    x, y, z = np.cbrt(np.array(TO_XYZ) @ seen / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", registry.KINDS)
def test_main_contenders_differ_in_colour(kind: str) -> None:
    looks = looks_of(MAIN[kind])
    assert len({look.colour for look in looks.values()}) == len(MAIN[kind])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("kind", registry.KINDS)
def test_main_contenders_differ_for_every_eye(kind: str, vision: str) -> None:
    """Where two colours are near each other, the lines differ."""
    for a, b in itertools.combinations(looks_of(MAIN[kind]).values(), 2):
        distance = np.linalg.norm(lab(COLOURS[a.colour], vision) - lab(COLOURS[b.colour], vision))
        assert distance > 15.0 or a.dash != b.dash


@pytest.mark.parametrize("kind", registry.KINDS)
def test_main_contenders_differ_in_grey(kind: str) -> None:
    for a, b in itertools.combinations(looks_of(MAIN[kind]).values(), 2):
        lightness = [lab(COLOURS[look.colour], "all colours")[0] for look in (a, b)]
        assert abs(lightness[0] - lightness[1]) > 10.0 or a.dash != b.dash


def test_every_policy_of_a_kind_has_its_own_look() -> None:
    for kind in registry.KINDS:  # no figure has both
        ids = [entry.id for entry in registry.entries(kind)]
        assert len(set(looks_of(ids).values())) == len(ids)
        assert looks_of(ids) == looks_of(reversed(ids))


def test_printed_constants_have_the_colour_of_their_algorithm() -> None:
    looks = looks_of(["voful", "voful-paper", "save", "save-paper", "varlin", "varlin-paper"])
    for id in ("voful", "save", "varlin"):
        assert looks[id].colour == looks[f"{id}-paper"].colour
        assert looks[id].dash != looks[f"{id}-paper"].dash


def test_variants_share_a_colour_and_differ_in_line() -> None:
    names = ["oful", "oful width_scale=0.5", "oful width_scale=0.25", "oful, theory"]
    looks = looks_of(names)
    assert {look.colour for look in looks.values()} == {looks["oful"].colour}
    assert len(set(looks.values())) == len(names)
    assert looks["oful"] == looks_of(["oful"])["oful"]


def test_other_names_get_what_no_algorithm_has() -> None:
    looks = looks_of(["mine", "yours", "oful"])
    assert len(set(looks.values())) == 3
    ids = [entry.id for entry in registry.entries()]
    assert looks["mine"] not in looks_of(ids).values()
    assert style_of("mine") == style_of("mine")
    many = looks_of([f"policy {i}" for i in range(200)])  # more than there are looks
    assert len(many) == 200


def test_looks_for_matplotlib_and_for_pages() -> None:
    assert style_of("betoful") == {"color": "#D55E00", "linestyle": "-"}
    assert style_of("voful") == {"color": "#0072B2", "linestyle": (0, (5, 2))}
    table = colours()
    assert set(table) == {entry.id for entry in registry.entries()}
    assert table["betoful"] == {"color": "#D55E00", "dash": "solid"}
    assert table["voful"] == {"color": "#0072B2", "dash": "10px 4px"}


def test_text_is_legible_on_white() -> None:
    assert ink("#000000") == "#000000"
    assert ink("#0072B2") == "#0072B2"
    for colour in COLOURS.values():
        y = ((lab(ink(colour), "all colours")[0] + 16) / 116) ** 3
        assert 1.05 / (y + 0.05) >= 4.4


def test_sizes_of_papers() -> None:
    assert styles("paper") == (COLUMN, PAGE)
    assert COLUMN.size(2, 1)[0] == 3.25
    assert PAGE.size(1, 2)[0] == 6.75
    assert PAGE.parameters()["font.size"] == 8
    with pytest.raises(ValueError, match="style: got 'poster'; expected one of screen, paper"):
        styles("poster")
