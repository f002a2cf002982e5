from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Seeded, so never flaky: the same examples on every machine.
settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=400, deadline=None, derandomize=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="statistical suites at their full counts, not a tenth"
    )


def pytest_configure(config: pytest.Config) -> None:
    full = config.getoption("--full")
    settings.load_profile("full" if full else "quick")
    os.environ["VOFUL_TEST_FULL"] = "1" if full else "0"
