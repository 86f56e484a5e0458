"""The report of a run in a real browser: nothing fetched, nothing run but its own script, readable when narrow."""

from pathlib import Path
from typing import Any

import pytest

from builder.evaluate.report import report_of
from builder.evaluate.score import score_run
from builder.io.store import write_text
from builder.scoring.gate import Gate, Rule
from builder.scoring.judgement import conclude
from tests.scoring.sample import halyard_items, pasted_run
from tests.scoring.test_report import hostile_judgement

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    items = halyard_items()[:80]
    after, before = (score_run(items, pasted_run(items, turns), draws=50) for turns in (1, 8))
    gate = Gate((Rule("all", "contamination", "ceiling", 0.1),))
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_text(path, report_of(conclude("halyard", after, before, gate), items))
    return path


@pytest.fixture
def said(browser_page: Any) -> list[str]:
    """Addresses the page asks for and lines on its console."""
    heard: list[str] = []
    browser_page.on("request", lambda request: heard.append(request.url))
    browser_page.on("console", lambda message: heard.append(message.text))
    browser_page.on("dialog", lambda dialog: heard.append(f"dialog {dialog.message}"))
    return heard


def test_the_page_asks_for_itself_only_and_the_console_stays_empty(
    browser_page: Any, said: list[str], report: Path
) -> None:
    browser_page.goto(report.as_uri())
    assert said == [report.as_uri()]


def test_hostile_text_is_shown_and_never_run(browser_page: Any, said: list[str], tmp_path: Path) -> None:
    judgement, items = hostile_judgement()
    path = tmp_path / "hostile.html"
    write_text(path, report_of(judgement, items))
    browser_page.goto(path.as_uri())
    browser_page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert "<script>alert('x')</script>" in browser_page.inner_text("main")
    assert browser_page.locator("img").count() == 0
    assert said == [path.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_at_360_pixels_nothing_overflows_and_letters_stay_legible(
    browser_page: Any, report: Path, scheme: str
) -> None:
    browser_page.emulate_media(color_scheme=scheme)
    browser_page.set_viewport_size({"width": 360, "height": 780})
    browser_page.goto(report.as_uri())
    browser_page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 360
    sizes = browser_page.evaluate(
        "[...document.querySelectorAll('main p, main td, main .name, main .text, main .figure')]"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12


def test_filters_leave_the_items_that_fit(browser_page: Any, report: Path) -> None:
    browser_page.goto(report.as_uri())
    total = browser_page.locator(".item").count()
    assert browser_page.inner_text("#count") == f"{total} of {total} items"
    browser_page.select_option("#filter-stratum", "long_range")
    shown = browser_page.locator(".item:visible")
    assert 0 < shown.count() < total
    assert set(shown.evaluate_all("all => all.map(i => i.dataset.stratum)")) == {"long_range"}
    browser_page.fill("#filter-words", "no such words anywhere")
    assert browser_page.inner_text("#count") == f"0 of {total} items"


def test_an_item_opens_by_keyboard(browser_page: Any, report: Path) -> None:
    browser_page.goto(report.as_uri())
    browser_page.locator(".item > summary").first.focus()
    browser_page.keyboard.press("Enter")
    assert browser_page.locator(".item").first.evaluate("item => item.open")


def test_text_stands_out_from_its_ground_in_both_schemes(browser_page: Any, report: Path) -> None:
    # Relative luminance and contrast by WCAG 2.1; 4.5 is its level AA for running text.
    contrast = """selector => {
      const light = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const ink = light(getComputedStyle(document.querySelector(selector)).color);
      const paper = light(getComputedStyle(document.body).backgroundColor);
      return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    }"""
    for scheme in ("light", "dark"):
        browser_page.emulate_media(color_scheme=scheme)
        browser_page.goto(report.as_uri())
        for selector in ("body", ".note", ".better", ".worse"):
            assert browser_page.evaluate(contrast, selector) >= 4.5, (scheme, selector)
