"""The site in a browser, from the disk: it searches, fits a phone, and asks no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

PAGES = (
    "index.html",
    "reference/api/voful.BetOFUL.html",
    "algorithms/voful.html",
    "tutorials/plot_1_clicks.html",
)
DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest) -> Path:
    found: Path = request.config.getoption("--site")
    return found.resolve()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_stay_inside(
    browser: Browser, site: Path, size: tuple[int, int], scheme: str
) -> None:
    """No request leaves, no script fails, nothing is wider than the screen."""
    how = {"color_scheme": scheme, "viewport": {"width": size[0], "height": size[1]}}
    context = browser.new_context(**how)  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in PAGES:
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], name
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_search_works_offline(browser: Browser, site: Path) -> None:
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + "?q=theta_norm")
    results = page.locator("#search-results li a")
    expect(results.filter(has_text="BetOFUL").first).to_be_visible()
    page.close()


def test_formulas_are_drawn(browser: Browser, site: Path) -> None:
    page = browser.new_page()
    page.goto((site / "algorithms/voful.html").as_uri())
    box = page.locator("math").first.bounding_box()
    assert box is not None
    assert box["height"] > 5
    page.close()
