from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import voful


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
    "scipy.linalg",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
    "typer",
)


def test_import_is_light() -> None:
    """Importing the package loads nothing to speak of; a policy needs NumPy and Numba only."""
    assert loaded("import voful", (*HEAVY, "numba", "numpy")) == []
    policy = "from voful import BetOFUL; BetOFUL(2).select([[1, 0], [0, 1]])"
    others = (
        "voful.bandits.oful",
        "voful.confidence.peeled.set",
        "voful.mdp.model",
        "voful.registry",
    )
    assert loaded(policy, (*HEAVY, *others, "voful.bandits.betoful")) == ["voful.bandits.betoful"]
    table = "from voful import registry; [(e.params, e.anytime) for e in registry.entries()]"
    algorithms = tuple(entry.module for entry in voful.registry.entries())
    assert loaded(table, (*HEAVY, *algorithms, "numba", "numpy")) == []
    worker = "from voful.experiments.play.execute import attempt"
    assert loaded(worker, HEAVY) == []


@pytest.mark.parametrize("package", [voful, voful.bandits, voful.confidence, voful.mdp])
def test_names_on_demand(package: ModuleType) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'OFULL'"):
        getattr(package, "OFULL")  # noqa: B009


@pytest.mark.parametrize("package", [voful, voful.bandits, voful.confidence, voful.mdp])
def test_type_checkers_see_the_same_names(package: ModuleType) -> None:
    source = ast.parse(Path(str(package.__file__)).with_suffix(".pyi").read_text())
    imports = [node for node in source.body if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names}
    assert sorted(names) == sorted({*package.__all__} - {"__version__"})


def test_modules_are_attributes() -> None:
    assert loaded("import voful; voful.bandits.base.Policy", ("voful.mdp.base",)) == []


def test_every_algorithm_is_a_public_name() -> None:
    for entry in voful.registry.entries():
        assert getattr(voful, entry.cls.__name__) is entry.cls


@pytest.mark.parametrize(
    ("command", "modules"),
    [("--version", ("typer", "numpy")), ("list", ("numpy", "numba", "voful.bandits.oful"))],
)
def test_commands_load_what_they_need(command: str, modules: tuple[str, ...]) -> None:
    code = f"""
import contextlib, io, sys
from voful.__main__ import main
sys.argv[1:] = [{command!r}]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""
    assert loaded(code, modules) == []


def test_names_of_the_package() -> None:
    assert voful.registry.lookup("oful").cls is voful.OFUL


def test_kernels_that_need_scipy_get_it() -> None:
    code = """
import os
os.environ["NUMBA_OPT"] = "0"  # quickly compiled, and run once
import numba, numpy as np
from voful.compiled import kernel
@numba.njit
def both(A): return np.linalg.inv(A) @ A, np.cov(A)
identity, covariance = both(np.eye(3) + 0.25)
assert np.allclose(identity, np.eye(3)) and np.allclose(covariance, np.cov(np.eye(3) + 0.25))
"""
    assert loaded(code, ("scipy.linalg",)) == ["scipy.linalg"]


def test_no_kernel_is_compiled_at_import() -> None:
    code = """
from numba.core.dispatcher import Dispatcher
def refuse(*args): raise AssertionError("compiled at import")
Dispatcher.compile = refuse
from voful import cli, envs, registry
from voful.experiments import runner
"""
    assert loaded(code, ("numba",)) == ["numba"]
