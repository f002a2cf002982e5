from __future__ import annotations

import subprocess
import sys

import pytest

import voful


def test_public_names_exist() -> None:
    for name in voful.__all__:
        assert getattr(voful, name) is not None


def loaded(code: str, modules: tuple[str, ...]) -> list[str]:
    """Which of the modules are there after the code, in a new process."""
    report = f"import sys; print(*[m for m in {modules!r} if m in sys.modules])"
    output = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return output.stdout.split()


HEAVY = (
    "gymnasium",
    "highspy",
    "matplotlib",
    "plotly",
    "polars",
    "pydantic",
    "ray",
    "rich",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
    "typer",
)


def test_import_is_light() -> None:
    """Importing the package loads nothing to speak of; a policy needs NumPy and Numba only."""
    assert loaded("import voful", (*HEAVY, "numba", "numpy")) == []
    policy = "from voful import OFUL; OFUL(2).select([[1, 0], [0, 1]])"
    assert loaded(policy, HEAVY) == []
    worker = "from voful.experiments.execute import attempt"
    assert loaded(worker, HEAVY) == []


def test_names_on_demand() -> None:
    assert set(voful.__all__) <= set(dir(voful))
    with pytest.raises(AttributeError, match="no attribute 'OFULL'"):
        getattr(voful, "OFULL")  # noqa: B009
    assert voful.registry.lookup("oful").cls is voful.OFUL


def test_no_kernel_is_compiled_at_import() -> None:
    code = """
from numba.core.dispatcher import Dispatcher
def refuse(*args): raise AssertionError("compiled at import")
Dispatcher.compile = refuse
from voful import cli, envs, registry
from voful.experiments import runner
"""
    assert loaded(code, ("numba",)) == ["numba"]
