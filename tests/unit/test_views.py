"""Named parts of a block: the same for Python and for kernels, alive as long as they are used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import voful
from voful.compiled import kernel
from voful.typing import FloatArray
from voful.views import borrowed, lent, view


@kernel
def viewed(block: FloatArray, start: int, rows: int, columns: int) -> float:
    part = view(block, start, (rows, columns))
    part[rows - 1, columns - 1] += 1.0
    return float(part.sum())


@kernel
def from_borrowed(block: FloatArray, start: int, rows: int, columns: int) -> float:
    part = borrowed(block, start, (rows, columns))
    part[rows - 1, columns - 1] += 1.0
    return float(part.sum())


@kernel
def from_lent(block: FloatArray, start: int, rows: int, columns: int) -> float:
    block = lent(block)
    part = view(block, start, (rows, columns))
    part[rows - 1, columns - 1] += 1.0
    return float(part.sum())


@pytest.mark.parametrize("function", [viewed, from_borrowed, from_lent])
@pytest.mark.parametrize(("start", "rows", "columns"), [(0, 1, 1), (2, 3, 4), (5, 5, 3)])
def test_kernels_see_what_python_sees(
    function: Callable[..., float], start: int, rows: int, columns: int
) -> None:
    block, expected = np.arange(20.0), np.arange(20.0)
    plain = getattr(function, "py_func", function)
    assert function(block, start, rows, columns) == plain(expected, start, rows, columns)
    np.testing.assert_array_equal(block, expected)
    assert np.shares_memory(view(block, start, (rows, columns)), block)


@kernel
def total_by_strides(rows: FloatArray) -> float:
    total, rows = 0.0, lent(rows)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            total += rows[i, j] * (i + 1) * (j + 2)
    return total


@pytest.mark.parametrize("order", ["C", "F", "every second"])
def test_what_is_lent_keeps_its_strides(order: str) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 8))
    rows = {"C": rows, "F": np.asfortranarray(rows), "every second": rows[::2, ::2]}[order]
    weights = np.outer(np.arange(1, 1 + rows.shape[0]), np.arange(2, 2 + rows.shape[1]))
    assert total_by_strides(rows) == pytest.approx(float((rows * weights).sum()))


@kernel
def last_of_lent(array: FloatArray) -> float:
    array = lent(array)
    rest = array[1:]
    return float(rest[-1])


def test_what_is_lent_still_belongs_to_who_lends_it() -> None:
    array = np.arange(5.0)
    before = sys.getrefcount(array)
    assert [last_of_lent(array) for _ in range(100)] == [4.0] * 100
    assert sys.getrefcount(array) == before
    np.testing.assert_array_equal(array, np.arange(5.0))


def borrowers() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of the library that call `lent`."""
    for path in sorted(Path(voful.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(calls(node, "lent")):
                yield f"{path.stem}.{node.name}", node


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def names(nodes: list[ast.expr]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def unsafe(function: ast.FunctionDef, written_into: set[str]) -> str | None:
    """Why `lent` may not be called in it."""
    own = {argument.arg for argument in function.args.args} - made_anew(function)
    if not names(function.decorator_list) & {"part", "kernel"} or function.name in written_into:
        return "nobody holds what a function that is written into others calls its arguments"
    if not all(names(call.args) and names(call.args) <= own for call in calls(function, "lent")):
        return "only an argument is sure to live on"
    if function.returns is None or not names_in(function.returns) <= NUMBERS:
        return "what is returned would outlive the call"
    return None


NUMBERS = {"float", "int", "bool", "tuple"}  # hold no array; nor does None


def names_in(tree: ast.AST) -> set[str]:
    return names([node for node in ast.walk(tree) if isinstance(node, ast.expr)])


def made_anew(function: ast.FunctionDef) -> set[str]:
    """Names that a statement sets without lending what they stood for."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            found |= stored(node.target)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            lends = {name for call in calls(node, "lent") for name in names(call.args)}
            found |= stored(node) - lends
    return found


def stored(tree: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_only_arguments_are_lent_and_nothing_of_them_is_returned() -> None:
    sources = Path(voful.__file__).parent.rglob("*.py")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources]
    inserted = {
        name for tree in trees for call in calls(tree, "written_into") for name in names(call.args)
    }
    assert inserted  # the name of what does it is still right
    found = dict(borrowers())
    assert len(found) >= 8
    assert {name: why for name, node in found.items() if (why := unsafe(node, inserted))} == {}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("@inlined\ndef f(x: FloatArray) -> float:\n    return lent(x)[0]", "written into"),
        ("@kernel\ndef g(x: FloatArray) -> float:\n    return lent(x)[0]", "written into"),
        ("@part\ndef f(x: FloatArray) -> float:\n    return lent(x.copy())[0]", "argument"),
        (
            "@part\ndef f(x: FloatArray) -> float:\n    y = x.copy()\n    return lent(y)[0]",
            "argument",
        ),
        ("@part\ndef f(x: FloatArray) -> FloatArray:\n    return lent(x)[1:]", "outlive"),
        ("@part\ndef f(x: FloatArray) -> Scratch:\n    return parts_of(lent(x))", "outlive"),
        (
            "@part\ndef f(x: FloatArray) -> float:\n    x = x.copy()\n    return lent(x)[0]",
            "argument",
        ),
        (
            "@part\ndef f(x: FloatArray) -> float:\n    n, x = 1, x[1:]\n    return lent(x)[0]",
            "argument",
        ),
        (
            "@part\ndef f(x: FloatArray) -> float:\n    for x in x:\n        y = lent(x)[0]\n"
            "    return y",
            "argument",
        ),
        ("@part\ndef f(x: FloatArray) -> float:\n    return lent(x)[0]", None),
        ("@part\ndef f(x: FloatArray) -> float:\n    n, x = 1, lent(x)\n    return x[n]", None),
    ],
)
def test_the_rule_of_lent_sees_what_breaks_it(source: str, why: str | None) -> None:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = unsafe(function, {"g"})
    assert found is None if why is None else why in str(found)


PLAY = """
import hashlib
import numba, numpy as np
import voful
from voful.views import borrowed, lent

rng, digest = np.random.default_rng(0), hashlib.sha256()
arms = rng.normal(size=(6, 3)) / 4
many = rng.normal(size=(40, 3)) / 4
for policy in (voful.BetOFUL(3), voful.BetOFUL(3, on_change="restart"), voful.CertifiedUCB(3)):
    for _ in range(600):  # with refreshes
        x = arms[policy.select(arms)]
        policy.update(x, float(x @ [0.5, -0.3, 0.2]) + rng.uniform(-0.1, 0.1))
    for _ in range(300):
        x = many[policy.select(many, pending=arms, mask=rng.random(40) < 0.8)]
        policy.update(x, float(x @ [0.5, -0.3, 0.2]) + rng.uniform(-0.1, 0.1))
    for _ in range(300):  # a world that contradicts the set
        policy.update(arms[0], rng.choice([-0.9, 0.9]))
    for array in policy._state[:1]:
        digest.update(array.tobytes())
first, other = voful.BetOFUL(3), voful.BetOFUL(3)
for policy in (first, other):
    policy.partial_fit(np.tile(arms, (80, 1)), rng.uniform(-1, 1, 480))
digest.update(voful.merge([first, other])._state[0].tobytes())


@numba.njit
def last(rows):
    rows = lent(rows)
    return rows[-1]


@numba.njit
def lending(n):
    made = np.arange(float(n))  # nothing names it after the last call
    return last(np.ones(n)) + last(made[: n - 1]) + last(made)


assert lending(300) == 598.0
print(digest.hexdigest())


@numba.njit
def dangling(n):
    part = borrowed(np.ones(n), 0, (n,))  # nothing holds the block
    other, total = np.empty(n), 0.0  # most likely in its place
    for i in range(n):
        total += part[i]
    return total, other[0]


print(dangling(300)[0])
"""


def play(perturb: int) -> list[str]:
    """What is printed where the allocator fills what it hands out and takes back with a pattern."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAY],
        env={**os.environ, "MALLOC_PERTURB_": str(perturb)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_nothing_is_read_from_memory_that_was_freed() -> None:
    """The control borrows from a block that nothing holds: it reads the pattern."""
    (played, control), (played_again, other_control) = play(85), play(204)
    assert played == played_again
    assert control != other_control
