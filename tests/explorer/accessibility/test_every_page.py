"""Each kind of page of the explorer and of the report in a real Chromium, checked by axe."""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from tests.commands import tracegrade
from tests.explorer.accessibility.lake import CONVERSATION, OWN_QUERY, RunsOfPages, full_lake
from tests.explorer.alerts.test_alerts import FALL
from tests.explorer.browser import Watched, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import explorer

from tracegrade_explorer.app import PAGES, Labeling
from tracegrade_explorer.labels import writer
from tracegrade_explorer.labels.people import everybody_is
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.render import MORE_PAGES
from tracegrade_explorer.render import PAGES as MENU

pytestmark = [needs_chromium, pytest.mark.slow]
STANDARDS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE: Final = """async (rules) => {
  const found = await axe.run({ runOnly: rules, resultTypes: ["violations"] });
  const named = (rule) => (node) => `${rule.id}: ${node.target.join(" ")} ${node.html}`;
  return found.violations.flatMap((rule) => rule.nodes.map(named(rule)));
}"""
OPEN_FOLDS: Final = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
SIDEWAYS: Final = """() => document.documentElement.scrollWidth
  - document.documentElement.clientWidth"""
INLINE: Final = """() => [...document.querySelectorAll("*")].filter((element) =>
  element.matches("[style], script:not([src]), body style, [href^='javascript:']")
  || element.getAttributeNames().some((name) => name.startsWith("on"))
).map((element) => element.outerHTML.slice(0, 200))"""
WIDE: Final[ViewportSize] = {"width": 1440, "height": 900}
LARGE: Final[ViewportSize] = {"width": 1920, "height": 1080}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
COLORS: Final = {"type": "rule", "values": ["color-contrast"]}
LOOKS: Final[tuple[tuple[ViewportSize, Literal["light", "dark"], object], ...]] = (
    (WIDE, "light", STANDARDS), (WIDE, "dark", COLORS),
    (PHONE, "dark", STANDARDS), (PHONE, "light", COLORS),
    (LARGE, "dark", COLORS), (LARGE, "light", COLORS),
)  # fmt: skip
"""Screens and schemes, each with the rules that axe checks; most do not depend on colors."""
NO_PAGES: Final = {
    "/overview", "/state", "/completions", "/queries", "/queries/{id}", "/sql-names", "/metrics",
    "/runs/{id}/steps/{step}/{text}", "/runs/{id}/nearest",
}  # fmt: skip
"""Addresses that redirect, or whose answer is text or JSON."""


class Served(NamedTuple):
    """Where the pages of a full lake are served to ann, and the folder of its report."""

    base: str
    report: Path
    runs: RunsOfPages
    browser: Browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One lake, one server and one browser; no label is scored."""
    folder = tmp_path_factory.mktemp("every_page")
    lake, runs = full_lake(folder)
    for words in (
        ("report", "--out", folder / "report"),
        ("report", "--out", folder / "report" / "one-file.html"),
        ("compare", "1.0", "1.1", "--out", folder / "report" / "compared.html"),
    ):
        ended = tracegrade(*words, "--lake", lake.root, "--format", "html")
        assert ended.returncode == 0, ended.stderr
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(
            writer, "SCORE_AFTER_SECS", 3_600.0
        )
        pages = stack.enter_context(closing(explorer(lake)))
        stack.enter_context(closing(pages.latest))
        pages.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        base = stack.enter_context(serving(pages))
        yield Served(base, folder / "report", runs, stack.enter_context(chromium()))


def addresses(runs: RunsOfPages) -> list[str]:
    """Return an address of each kind of page, and of each that looks different in a state."""
    return [
        "/", "/?window=1", "/now", "/runs", "/runs?outcome=failed", "/runs?agent=absent",
        f"/runs/{runs.failed}", f"/runs/{runs.solved}", f"/runs/{runs.team}",
        f"/runs/{runs.failed}/steps/1/prompt",
        f"/runs/{runs.failed}/spans", f"/runs/{runs.killed}/kill", f"/runs/{runs.failed}/kill",
        f"/compare?a={runs.failed}&b={runs.solved}", "/queue?order=newest", "/queue?agent=absent",
        "/issues", f"/issues/{runs.issue}", "/alerts",
        f"/alerts/{FALL.alert_id}", "/releases",
        "/releases?agent=order-desk&base=1.0&candidate=1.1", "/kills", "/money",
        "/money?window=all&by=model", "/tasks", "/tasks/cancel-shipped", "/trends",
        "/conversations", f"/conversations/{quote(CONVERSATION, safe='')}",
        f"/conversations/{runs.failed}", "/search", "/search?text=order", "/search?text=absent",
        "/sql", "/sql/tool_error_rates", f"/sql/{OWN_QUERY}", "/missing", "/runs?outcome=maybe",
    ]  # fmt: skip


def faults(page: Page) -> list[str]:
    """Return what axe finds, inline code, and what is wider than the screen, folds open."""
    page.evaluate(OPEN_FOLDS)
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = [f"inline {each}" for each in page.evaluate(INLINE)]
    for size, scheme, rules in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wide = page.evaluate(SIDEWAYS)
        found += [f"{wide} px wider than {size['width']}"] * (wide > 0)
        found += [f"{size['width']} {scheme}: {each}" for each in page.evaluate(RUN_AXE, rules)]
    return found


def check(seen: Watched, paths: Iterable[str]) -> None:
    """Fail with all faults of some pages."""
    found = []
    for path in paths:
        seen.open(path)
        found += [f"{path} {each}" for each in faults(seen.page)]
    if found:
        pytest.fail("\n".join(found))
    assert [*seen.foreign, *(each for each in seen.said if "policy: " in each)] == []


@pytest.mark.parametrize("part", range(3))
def test_pages_of_the_explorer(served: Served, part: int) -> None:
    """Nothing on any page, in light and dark, on a phone and a wide screen, folds open."""
    with watched(served.browser, served.base) as seen:
        check(seen, addresses(served.runs)[part::3])


def test_forms_of_the_workbench(served: Served) -> None:
    """A result as a table and as a line, a mistake, and a name that is taken."""
    with watched(served.browser, served.base) as seen:
        for query in ("FROM steps", "SELECT kinds FROM steps"):
            seen.open("/sql")
            seen.page.fill("#q", query)
            with seen.page.expect_navigation():
                seen.keys("Control+Enter")
            assert faults(seen.page) == [], query
        seen.open("/sql")
        seen.page.get_by_text("Save as").click()
        seen.page.fill("#save-as", OWN_QUERY)
        with seen.page.expect_navigation():
            seen.page.locator(".save-as button").click()
        assert faults(seen.page) == []
        seen.open("/")
        seen.keys("?")
        assert faults(seen.page) == []


def test_keys_lead_where_pages_say(served: Served) -> None:
    """Each entry of the menu, a run's plan, its kill and back, and the next run to label."""
    runs = served.runs
    with watched(served.browser, served.base) as seen:
        for path, _, keys in (*MENU, *MORE_PAGES):
            seen.open("/kills")
            with seen.page.expect_navigation(url=f"{served.base}{path}"):
                seen.keys(*keys.split())
        seen.open(f"/runs/{runs.failed}")
        seen.keys("p")
        assert seen.page.evaluate("document.activeElement.id") == "plan"
        with seen.page.expect_navigation(url="**/kill"):
            seen.keys("t")
        with seen.page.expect_navigation(url=f"**/runs/{runs.solved}"):
            seen.keys("t")
        seen.keys("l")
        seen.page.wait_for_url("**/runs/*queue=random")
        seen.page.locator("form[data-label]").wait_for()
        assert (seen.said, seen.foreign) == ([], [])


def test_top_bar_is_two_lines_on_a_phone(served: Served) -> None:
    """It is one on a wide screen; a menu has the rest of the names, and closes by itself."""
    with watched(served.browser, served.base) as seen:
        for size, most in ((PHONE, 100), (WIDE, 60)):
            seen.page.set_viewport_size(size)
            seen.open("/issues")
            bar, menu = seen.page.locator("header.site"), seen.page.locator(".more")
            assert bar.evaluate("bar => bar.offsetHeight") <= most
            menu.locator("summary").click()
            for path, _, _ in (*MENU, *MORE_PAGES):
                assert bar.locator(f'a[href="{path}"]:visible').count() >= 1, path
            current = bar.locator("[aria-current]").evaluate_all("all => all.map(a => a.text)")
            assert current == ["Issues"]
            seen.keys("Escape")
            menu.locator("summary").click()
            seen.page.locator("h1").click()
            assert menu.get_attribute("open") is None


def test_pages_fill_to_1680_pixels(served: Served) -> None:
    """A larger screen has margins; a smaller one is filled, and so is the bar at the top."""
    width = (
        "main => { const style = getComputedStyle(main);"
        " return main.clientWidth - parseFloat(style.paddingLeft) * 2; }"
    )
    with watched(served.browser, served.base) as seen:
        for size, wide in ((LARGE, 1680), (WIDE, 1400)):
            seen.page.set_viewport_size(size)
            seen.open("/")
            for name in ("main", "header.site"):
                assert seen.page.locator(name).evaluate(width) == wide, (name, size)


def test_each_page_has_an_address_here(served: Served) -> None:
    """A new page of the explorer is in the list, or its answer is no page."""
    paths = {address.partition("?")[0] for address in addresses(served.runs)}
    missing = [
        page.path
        for page in PAGES
        if "GET" in page.methods
        and page.path not in NO_PAGES
        and not any(re.fullmatch(re.sub(r"{.+?}", "[^/]+", page.path), path) for path in paths)
    ]
    assert missing == []


def test_pages_of_the_report(served: Served) -> None:
    """The report, some of its runs, a report in one file, and a comparison."""
    runs = sorted(served.report.glob("runs/*.html"))[::8]
    with watched(served.browser, "file://") as seen:
        check(seen, map(str, (*served.report.glob("*.html"), *runs)))
