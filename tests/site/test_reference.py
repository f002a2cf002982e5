"""Every public name has its place in the reference."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from sphinx.util.inventory import InventoryFile

import voful

PACKAGES = [
    voful,
    *(
        getattr(voful, name)
        for name in ("bandits", "checks", "confidence", "envs", "mdp", "monitor")
    ),
]
FIGURES = import_module("voful.report.figures")


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest) -> Path:
    found: Path = request.config.getoption("--site")
    return found


def described(site: Path) -> dict[str, str]:
    """Name -> page, from what the site tells other sites."""
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, ".", lambda base, page: page)
    return {
        name: item.uri
        for role, items in inventory.items()
        if role.startswith("py:")
        for name, item in items.items()
    }


@pytest.mark.parametrize("package", [*PACKAGES, FIGURES], ids=lambda package: package.__name__)
def test_every_public_name_is_described(package: ModuleType, site: Path) -> None:
    known = described(site)
    listing = (site / "reference" / "api" / f"{package.__name__}.html").read_text()
    for name in package.__all__:
        value = getattr(package, name)
        path = f"{package.__name__}.{name}"
        if path not in known:  # shown under a shorter name
            assert getattr(voful, name, None) is value, path
            path = f"voful.{name}"
        page = known[path].partition("#")[0]
        assert (site / page).exists()
        assert page.rpartition("/")[2] in listing, f"{package.__name__} does not list {name}"


def test_parameters_methods_and_source_are_shown(site: Path) -> None:
    page = (site / "reference" / "api" / "voful.BetOFUL.html").read_text()
    for text in (
        "theta_norm",
        "Probability that theta* ever leaves the set",
        "partial_fit",
        "[source]",
    ):
        assert text in page
    assert (site / "_modules" / "voful" / "bandits" / "betoful.html").exists()
