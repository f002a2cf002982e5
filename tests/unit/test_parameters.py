"""Arguments are declared, or refused as what looks like one."""

from __future__ import annotations

from typing import ClassVar

import pytest

from voful.parameters import Declared, parameter
from voful.validation import positive_float


class Ball(Declared):
    radius: float = parameter(positive_float, "R.", default=1.0)


def test_a_plain_default_is_no_argument() -> None:
    with pytest.raises(
        TypeError, match=r"Box.side: got 2.0; expected parameter\(check, meaning, de"
    ):

        class Box(Declared):
            side: float = 2.0


def test_attributes_of_a_class_are_left_alone() -> None:
    class Sphere(Ball):
        radius: float = 2.0  # no argument any more
        dim: ClassVar[int] = 3
        _kept: float = 0.0
        plain = 1.0

    class Small(Sphere):
        radius: float = 0.5

    assert Sphere().radius == 2.0
    assert Small().radius == 0.5
    with pytest.raises(TypeError, match="Small"):
        Small(radius=1.0)


def test_a_constructor_of_its_own_speaks_for_itself() -> None:
    class Cube(Declared):
        side: float = 2.0

        def __init__(self, side: float) -> None:
            self.side = side

    assert Cube(3.0).side == 3.0
