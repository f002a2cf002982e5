from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Seeded, so never flaky: the same examples on every machine.
settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=400, deadline=None, derandomize=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="statistical suites at their full counts, not a tenth"
    )
    parser.addoption("--site", type=Path, help="the built site, which tests/site is about")


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts a job in the background lets it ignore Ctrl-C, which tests are about.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    full = config.getoption("--full")
    settings.load_profile("full" if full else "quick")
    os.environ["VOFUL_TEST_FULL"] = "1" if full else "0"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make docs` builds the site and tests it."""
    is_about_site = Path(__file__).with_name("site") in (collection_path, *collection_path.parents)
    return True if is_about_site and config.getoption("--site") is None else None


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = f"tests of pages need a browser, one of {', '.join(BROWSERS)}: none is here"
        if os.environ.get("VOFUL_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(f"{message} (on Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()
