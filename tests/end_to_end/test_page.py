"""The page in a browser: it works, and asks the network for nothing.

Needs Chromium. Without one the tests are skipped, and say so; where VOFUL_BROWSER is "required", as
in CI, that is a failure.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from inline import inline
from playwright.sync_api import Browser, Locator, Page, expect

import voful
from helpers import full
from voful.experiments.runner.runner import run_study
from voful.experiments.study.demo import demo_study
from voful.experiments.study.study import parse_study
from voful.report.page import write_page

DESKTOP, PHONE = (1280, 900), (390, 844)

FAMILY = """
name = "family </script> & <i>friends</i>"
rounds = 60
replicates = 2
[[policy]]
id = { grid = ["betoful", "oful", "losan", "linucb", "ucb-v", "epsilon-greedy", "oful-rare"] }
[[policy]]
id = "oful"
width_scale = { grid = [0.2, 0.4, 0.6, 0.8] }
[[policy]]
id = "bad.py:Bad"
[[problem]]
name = "d=2 σ={sigma}"
dim = 2
sigma = { grid = [0.0, 0.1, 0.3] }
[[problem]]
name = "d=3 σ={sigma}"
dim = 3
sigma = { grid = [0.0, 0.1, 0.3] }
"""
BAD = """
from voful import OFUL

class Bad(OFUL):
    def select(self, arms, mask=None):
        raise ZeroDivisionError("my own mistake")
"""
FLIP = """
name = "flip"
rounds = 600
replicates = 2
policy = [{ id = "betoful" }, { id = "oful" }]
problem = [{ name = "a", dim = 2, sigma = 0.1, change_at = [300], change = "flip" }]
"""
HORIZON = """
name = "horizons"
episodes = 30
replicates = 2
policy = [{ id = "varlin" }, { id = "likelihood-ucrl" }]
[[problem]]
name = "{family} H={horizon}"
family = { grid = ["ctgoal", "ctqueue"] }
horizon = { grid = [16, 32, 64] }
"""


class Pages:
    """Small studies, each played when its page is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: dict[str, Path] = {}

    def __getitem__(self, name: str) -> Path:
        if name not in self.written:
            (self.root / "bad.py").write_text(BAD)
            study = {
                "demo": lambda: replace(demo_study(120, 3), snapshots=9),
                "family": lambda: parse_study(FAMILY, self.root),
                "flip": lambda: parse_study(FLIP),
                "horizon": lambda: parse_study(HORIZON),
            }[name]()
            with inline(), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of sets that a change empties
                run_study(study, self.root / name, workers=1)
            self.written[name] = write_page(self.root / name)
        return self.written[name]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


class Watched:
    """A page, what it asked for, and what went wrong on it."""

    def __init__(
        self, browser: Browser, path: Path, size: tuple[int, int], scheme: str = "light"
    ) -> None:
        width, height = size
        self.page: Page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        self.page.set_default_timeout(10_000)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                self.errors.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#repeat")

    def close(self) -> None:
        own = [url for url in self.requests if url.startswith(("file:", "data:"))]
        self.page.close()
        assert self.errors == []
        assert self.requests == own
        assert len(own) <= 2  # the file itself, and its icon


def curves(chart: Locator) -> int:
    return chart.locator("path.curve").count()


def overflow(page: Page) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return width


@pytest.mark.parametrize(
    ("name", "size"),
    [
        (name, size)
        for name in ("demo", "family", "horizon")
        for size in ("desktop", "phone")
        if full() or name == "demo" or size == "phone"  # these are whole on a desktop with --full
    ],
)
def test_a_page_is_whole(browser: Browser, pages: Pages, name: str, size: str) -> None:
    watched = Watched(browser, pages[name], PHONE if size == "phone" else DESKTOP)
    page = watched.page
    assert overflow(page) <= 0
    wanted = {"results", "curves", "width", "cell", "coverage", "time", "repeat"} | {
        "demo": {"overview", "theatre"},
        "family": {"overview", "variance", "missing"},
        "horizon": {"overview", "horizon"},
    }[name]
    found = {section.get_attribute("id") for section in page.locator("section").all()}
    assert found == wanted
    for section in wanted & {"curves", "cell", "variance", "horizon"}:
        assert curves(page.locator(f"#{section} .chart").first) >= 2
    shown = page.inner_text("main")
    assert not [word for word in ("[object", "NaN", "undefined") if word in shown]
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert overflow(page) <= 0
    watched.close()


def test_the_headline_is_that_of_the_results(browser: Browser, pages: Pages) -> None:
    watched = Watched(browser, pages["demo"], DESKTOP)
    page = watched.page
    last = voful.results(pages["demo"].parent).filter(pl.col("round") == 120)
    means = last.group_by("problem", "policy").agg(pl.col("regret").mean()).rows()
    expected = {(problem, policy): regret for problem, policy, regret in means}
    rows = page.locator("#headline-table tbody tr")
    assert rows.count() == len(expected) == 16
    for row in rows.all():
        problem = row.locator('[data-key="problem"]').inner_text()
        policy = row.locator('[data-key="policy"]').inner_text().split()[0]
        shown = float(row.locator('[data-key="regret"]').inner_text().replace(",", ""))
        assert shown == pytest.approx(expected[problem, policy], rel=6e-3)
        ratio = row.locator('[data-key="ratio"]').inner_text().rstrip("×")
        assert float(ratio) == pytest.approx(
            expected[problem, policy] / expected[problem, "oful"], abs=6e-3
        )
    assert page.locator("#headline-table .badge").count() == 4
    watched.close()


def test_alarms_are_counted_and_marked(browser: Browser, pages: Pages) -> None:
    watched = Watched(browser, pages["flip"], DESKTOP)
    page = watched.page
    last = voful.results(pages["flip"].parent).filter(pl.col("round") == 600, policy="betoful")
    row = page.locator("#headline-table tbody tr", has_text="betoful")
    shown = float(row.locator('[data-key="alarms"]').inner_text())
    assert shown == np.mean(last["alarms"].to_numpy())
    assert shown >= 1.0
    assert page.locator("#curves path.alarm").count() >= 1
    watched.close()
    without = Watched(browser, pages["demo"], DESKTOP)
    assert without.page.locator('[data-key="alarms"], path.alarm').count() == 0
    without.close()


def test_sorting_and_looking_into_a_cell(browser: Browser, pages: Pages) -> None:
    watched = Watched(browser, pages["demo"], DESKTOP)
    page = watched.page
    head = page.locator('#headline-table th[data-key="regret"]')
    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")

    def regrets() -> list[float]:
        texts = page.locator('#headline-table td[data-key="regret"]').all_inner_texts()
        return [float(text.replace(",", "")) for text in texts]

    assert regrets() == sorted(regrets())
    head.locator("button").click()
    assert regrets() == sorted(regrets(), reverse=True)
    page.select_option("#results select", label="d=2 low noise σ=0.05")
    expect(page.locator("#headline-table tbody tr")).to_have_count(4)
    page.locator("#headline-table tbody tr", has_text="voful").click()
    title = page.locator("#cell h3").first
    expect(title).to_have_text("voful on d=2 low noise σ=0.05")
    assert curves(page.locator("#cell .chart")) == 4  # three seeds and their mean
    page.select_option("#cell select >> nth=1", label="oful")
    expect(title).to_have_text("oful on d=2 low noise σ=0.05")
    watched.close()


def test_charts_answer(browser: Browser, pages: Pages) -> None:
    watched = Watched(browser, pages["demo"], DESKTOP)
    page = watched.page
    chart = page.locator("#curves .chart").first
    assert curves(chart) == 4
    chip = page.locator('#curves .legend button[data-policy="oful"]')
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    assert curves(chart) == 3
    assert chart.locator('path.curve[data-name="oful"]').count() == 0
    chip.click()
    assert curves(chart) == 4

    def path_of(name: str) -> str:
        return chart.locator(f'path.curve[data-name="{name}"]').get_attribute("d") or ""

    for axis in ("log x", "log y"):
        before = path_of("oful")
        button = chart.get_by_role("button", name=axis)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        assert path_of("oful") != before
        button.click()
        assert path_of("oful") == before
    assert chart.locator("path.band").count() == 4
    page.get_by_role("button", name="intervals").click()
    assert chart.locator("path.band").count() == 0
    page.get_by_role("button", name="intervals").click()

    plot = chart.locator("svg.plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    tip = chart.locator(".tip")
    expect(tip).to_be_visible()
    for policy in ("oful", "losan", "voful", "betoful"):
        expect(tip).to_contain_text(policy)
    expect(tip).not_to_contain_text("null")
    beside = tip.bounding_box()
    assert beside is not None
    assert box["x"] + 0.5 * box["width"] < beside["x"] < box["x"] + box["width"]
    assert box["y"] < beside["y"] < box["y"] + box["height"]
    before = path_of("oful")
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.7 * box["height"], steps=4)
    page.mouse.up()
    reset = chart.get_by_role("button", name="reset zoom")
    expect(reset).to_be_visible()
    assert path_of("oful") != before
    page.mouse.dblclick(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    expect(reset).to_be_hidden()
    assert path_of("oful") == before
    watched.close()


def test_light_and_dark(browser: Browser, pages: Pages) -> None:
    backgrounds = {}
    for scheme in ("light", "dark"):
        watched = Watched(browser, pages["horizon"], DESKTOP, scheme)
        page = watched.page
        colour = "getComputedStyle(document.body).backgroundColor"
        backgrounds[scheme] = page.evaluate(colour)
        page.click("#theme")
        assert page.evaluate(colour) != backgrounds[scheme]
        page.click("#theme")
        assert page.evaluate(colour) == backgrounds[scheme]
        watched.close()
    assert backgrounds["light"] != backgrounds["dark"]


def test_the_theatre_plays(browser: Browser, pages: Pages) -> None:
    watched = Watched(browser, pages["demo"], DESKTOP)
    page = watched.page
    theatre = page.locator("#theatre")
    scenes = theatre.locator(".scene")
    assert scenes.count() == 8
    assert all(path.get_attribute("d") for path in theatre.locator("path.set").all())
    where, slider = theatre.locator("output"), theatre.locator("input[type=range]")
    last = int(slider.get_attribute("max") or 0)

    def place() -> int:
        return int(slider.input_value())

    slider.fill("3")
    expect(where).to_have_text("round 6")
    theatre.get_by_role("button", name="One picture on").click()
    assert place() == 4
    theatre.get_by_role("button", name="One picture back").click()
    assert place() == 3
    before = theatre.locator("path.set").last.get_attribute("d")
    slider.fill(str(last - 3))
    assert theatre.locator("path.set").last.get_attribute("d") != before
    theatre.get_by_role("button", name="Play").click()
    expect(theatre.get_by_role("button", name="Pause")).to_be_visible()
    expect(where).to_have_text("round 120")
    expect(theatre.get_by_role("button", name="Play")).to_be_visible()
    far = theatre.locator("path.set").last.get_attribute("d")
    theatre.get_by_role("button", name="close-up").click()
    assert theatre.locator("path.set").last.get_attribute("d") != far
    page.select_option("#theatre select", label="d=2 high noise σ=0.5")
    assert theatre.locator(".act:visible").count() == 1
    watched.close()


def test_a_study_with_failures_and_many_policies(browser: Browser, pages: Pages) -> None:
    watched = Watched(browser, pages["family"], DESKTOP)
    page = watched.page
    assert page.inner_text("h1") == "family </script> & <i>friends</i>"
    expect(page.locator(".state")).to_contain_text("132 of 144 runs stored: 12 missing, 12 of them")
    assert page.locator("#missing tbody tr").count() == 6
    page.locator("#missing summary").first.click()
    expect(page.locator("#missing pre").first).to_contain_text("my own mistake")
    assert page.locator("#variance .chart").count() == 2
    assert curves(page.locator("#curves .chart").first) < 11  # the best and the reference
    page.get_by_role("button", name="all", exact=True).first.click()
    assert curves(page.locator("#curves .chart").first) == 11
    page.select_option("#curves select", label="d=3 σ=0.3")
    expect(page.locator("#curves h3")).to_have_text("d=3 σ=0.3")
    cell = page.locator("#overview td:not(.typical)").first
    cell.click()
    expect(page.locator("#cell h3").first).to_contain_text("on d=2 σ=0")
    watched.close()
