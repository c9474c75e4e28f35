"""The pages in a real Chromium: drawn without a word on the console, and walked by keys."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator
from starlette.responses import HTMLResponse
from starlette.routing import Route
from tests.explorer.browser import LOW_CONTRAST, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import LONG, LOOPED, explorer, unscored
from tests.queries.traces import capture, land
from tests.scoring.report.build import Tables, as_lake
from tests.scoring.report.test_hostile import HOSTILE, fill_with
from tests.slow import slow_after

from tracegrade_explorer.app import Explorer
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

pytestmark = needs_chromium
ALL = (
    "/", "/runs", "/issues", "/alerts", "/tasks", "/releases", "/trends", "/search",
    "/search?text=e", "/sql", "/sql/tool_error_rates", "/money?window=all",
    "/money?window=all&by=model", "/kills",
)  # fmt: skip
OF_SAMPLE = (
    *ALL, f"/runs/{LOOPED}", f"/runs/{LOOPED}/spans", f"/compare?a={LOOPED}&b=t13",
    "/tasks/malformed-header", "/releases?base=1.0&candidate=1.1", "/conversations/k",
)  # fmt: skip
MOST_SEEN = (
    "/", "/runs", f"/runs/{LOOPED}", f"/compare?a={LOOPED}&b=t13",
    "/releases?base=1.0&candidate=1.1",
)  # fmt: skip
REST = tuple(path for path in OF_SAMPLE if path not in MOST_SEEN)
OTHERS = (
    "autogen_openinference__toolerror", "claude-code", "crewai_openinference",
    "google-adk_parallel", "langgraph_traceloop__halluc",
)  # fmt: skip
"""Captures of frameworks."""
Base = Callable[[str], str]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def base(
    pages: Explorer, empty_lake: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Base]:
    """Return where each lake's pages are served; a server starts when it is first asked for."""
    folder = tmp_path_factory.mktemp("browsed")
    lakes: dict[str, Callable[[], Lake]] = {
        "empty": lambda: Lake.open(empty_lake),
        "unscored": lambda: unscored(folder / "unscored"),
        "unknown": lambda: unknown_dialect(folder / "unknown"),
        "others": lambda: of_others(folder / "others"),
        "hostile": lambda: hostile(folder / "hostile"),
    }
    with ExitStack() as stack:
        found = {"sample": stack.enter_context(serving(pages))}

        def serve(name: str) -> str:
            if name not in found:
                made = stack.enter_context(closing(explorer(lakes[name]())))
                stack.enter_context(closing(made.latest))
                found[name] = stack.enter_context(serving(made))
            return found[name]

        yield serve


def of_others(root: Path) -> Lake:
    """Return what frameworks sent that know nothing of ours, scored without any task."""
    lake = Lake.create(root)
    for number, name in enumerate(OTHERS, 1):
        land(lake, capture(name), seq=number)
    score(lake, Specification())
    return lake


def unknown_dialect(root: Path) -> Lake:
    """Return a run that was read by guessing."""
    with closing(Tables()) as tables:
        run = tables.run(dialects=["unknown"])
        tables.scored(run, None)
        return as_lake(tables, root)


def hostile(root: Path) -> Lake:
    """Return runs in which every text is hostile, one of them of 5 MB."""
    with closing(Tables()) as tables:
        for text in (*HOSTILE, "<svg onload=alert(1)>" * 250_000):
            run = f"t{tables.runs + 1}"
            if len(text) < 10_000:
                fill_with(tables, text)
            else:
                tables.run()
            tables.insert(
                "steps", trajectory_id=run, step_index=0, kind="tool_call", tool_name=text[:9_999],
                arguments=text, result=text, content=text, error_message=text,
            )  # fmt: skip
        return as_lake(tables, root)


PAGES = {
    "empty": ALL,
    "unscored": ("/", "/runs", "/trends"),
    "unknown": ("/", "/runs", "/trends"),
    "hostile": (*ALL, "/runs/t1", "/runs/t3", "/runs/t11", f"/runs/t{2 * len(HOSTILE) + 1}"),
    "sample": OF_SAMPLE,
}
"""Of each lake; the last hostile one is of the text of 5 MB."""


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until that is loaded, styles and all."""
    with link.page.expect_navigation():
        link.click()


@pytest.mark.slow
@pytest.mark.parametrize("lake", PAGES)
def test_pages_are_drawn_and_silent(browser: Browser, base: Base, lake: str) -> None:
    """Nothing on the console, no violation of the policy, no request to anybody else."""
    with watched(browser, base(lake)) as seen:
        for path in PAGES[lake]:
            seen.open(path)
            assert seen.page.locator("h1").count() == 1, path
            assert seen.page.evaluate("document.querySelectorAll('script').length") == 1, path
            assert (seen.said, seen.foreign) == ([], []), path


@pytest.mark.parametrize("paths", slow_after(1, [(MOST_SEEN,), (REST,)]), ids=["most", "rest"])
def test_pages_fit_any_screen_and_can_be_read(
    browser: Browser, base: Base, paths: tuple[str, ...]
) -> None:
    """From 320 px on only tables and charts scroll, each in its frame; in all colors, silent."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with watched(browser, base("sample")) as seen:
        for path in paths:
            seen.page.set_viewport_size({"width": 320, "height": 700})
            seen.open(path)
            for width in (320, 1_280, 1_920):
                seen.page.set_viewport_size({"width": width, "height": 900})
                assert seen.page.evaluate(wide) == 0, (path, width)
            for scheme in ("light", "dark"):
                seen.page.emulate_media(color_scheme=scheme)
                assert seen.page.evaluate(LOW_CONTRAST) == [], (path, scheme)
            assert (seen.said, seen.foreign) == ([], []), path


@pytest.mark.slow
def test_traces_of_others_are_drawn_and_silent(browser: Browser, base: Base) -> None:
    """Of frameworks that name no release, no task and no outcome, and of unknown agents."""
    with watched(browser, base("others")) as seen:
        for path in ALL:
            seen.open(path)
            assert seen.page.locator("h1").count() == 1
        seen.open("/runs")
        runs = seen.page.locator("[data-open]").evaluate_all("links => links.map(a => a.href)")
        assert len(runs) >= len(OTHERS)
        for run in runs:
            seen.page.goto(run)
            assert seen.page.locator("li.step").count() > 0
            assert "Nearest success" not in seen.page.locator("main").inner_text()
        assert (seen.said, seen.foreign) == ([], [])


def test_policy_stops_what_is_not_escaped(browser: Browser, pages: Explorer) -> None:
    """A page that lets a trace's HTML through runs nothing and asks for nothing."""
    app = pages.app()
    acting = "<img src='https://evil.example/x'><script>alerted = 1</script>"
    app.routes.insert(0, _route("/bad", acting + "".join(HOSTILE)))
    careless = type("Careless", (), {"app": lambda self: app})()
    with serving(careless) as base, watched(browser, base) as seen:
        seen.open("/bad")
        assert seen.page.evaluate("typeof window.alerted") == "undefined"
        assert any("policy: " in said for said in seen.said)
        assert all("evil.example" in url for url in seen.foreign)


def _route(path: str, page: str) -> Route:
    return Route(path, lambda request: HTMLResponse(page))


def test_a_link_leads_to_a_step(browser: Browser, base: Base) -> None:
    """It is in view and has the focus; findings are a key away, in folds too."""
    with watched(browser, base("sample")) as seen:
        seen.open(f"/runs/{LOOPED}#s15")
        seen.page.locator("#s15:focus").wait_for()
        box = seen.page.locator("#s15").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 720
        seen.keys("e")
        assert seen.page.evaluate("document.activeElement.hasAttribute('data-finding')")
        seen.open(f"/runs/{LOOPED}#s5")
        seen.page.locator("#s5:focus").wait_for()
        assert seen.page.locator("#s5").is_visible()


def test_runs_of_a_filter_are_walked_and_compared_by_keys(browser: Browser, base: Base) -> None:
    """From the list to a run, to the next in the list, beside its nearest success: 4 loads."""
    with watched(browser, base("sample")) as seen:
        seen.open("/runs?task=malformed-header&release=1.0&tsa=..0.5")
        begun = seen.loads
        seen.keys("j", "j")
        with seen.page.expect_navigation():
            seen.keys("Enter")
        second = seen.page.url
        with seen.page.expect_navigation():
            seen.keys("[")
        assert seen.page.url != second
        assert "tsa=..0.5" in seen.page.url
        with seen.page.expect_navigation(url="**/compare?**"):
            seen.keys("c")
        seen.keys("n")
        assert seen.page.evaluate("document.activeElement.hasAttribute('data-difference')") or (
            seen.page.locator("[data-difference]").count() == 0
        )
        assert seen.loads - begun <= 4
        assert seen.said == []


def test_two_marked_runs_are_compared(browser: Browser, base: Base) -> None:
    """Marks are kept from one page of a list to the next."""
    with watched(browser, base("sample")) as seen:
        seen.open("/runs?agent=files")
        seen.keys("j", "x", "j", "x")
        seen.open("/runs?agent=files&sort=steps")
        with seen.page.expect_navigation(url="**/compare?**"):
            seen.keys("c")
        assert seen.page.locator("h1").inner_text().startswith("Two runs")


def test_whole_text_comes_on_demand(browser: Browser, base: Base) -> None:
    """In place, as text; keys are off while one types, and `?` shows them."""
    with watched(browser, base("sample")) as seen:
        seen.open(f"/runs/{LOOPED}")
        seen.page.locator("#s2 summary").click()
        seen.page.locator("#s2 [data-fetch]").click()
        seen.page.locator("#s2 [data-fetch]").wait_for(state="detached")
        assert LONG.strip() in seen.page.locator("#s2").inner_text()
        seen.keys("/", "j", "?")
        assert seen.page.locator("#find").input_value() == "j?"
        seen.keys("Escape", "?")
        assert seen.page.locator("#keys").is_visible()
        seen.keys("Escape", "g", "t")
        seen.page.wait_for_url("**/tasks")
        assert seen.said == []


def test_a_filter_is_typed_by_keys(browser: Browser, base: Base) -> None:
    """Keys and names are offered, taken by arrows and Enter, and put away by Escape."""
    with watched(browser, base("sample")) as seen:
        seen.open("/runs?agent=files")
        field, choices = seen.page.locator("#typed"), seen.page.locator("#choices li")
        seen.keys("/", *"rel")
        choices.first.wait_for()
        seen.keys("ArrowDown", "Enter")
        seen.page.get_by_role("option", name="release=1.1").wait_for()
        assert field.input_value() == "release="
        seen.keys("ArrowUp")
        assert field.get_attribute("aria-activedescendant") == choices.last.get_attribute("id")
        seen.keys("ArrowDown", "ArrowDown", "Enter")
        assert field.input_value() == "release=1.1 "
        choices.first.wait_for()
        seen.keys("Escape")
        assert field.get_attribute("aria-expanded") == "false"
        with seen.page.expect_navigation(url="**/runs?agent=files&release=1.1"):
            seen.keys("Enter")
        assert (seen.said, seen.foreign) == ([], [])


def test_pages_work_without_javascript(browser: Browser, base: Base) -> None:
    """Folds open, whole texts are links, a filter is typed, a form compares two marked runs."""
    with watched(browser, base("sample"), java_script_enabled=False) as seen:
        seen.open("/runs?agent=files")
        seen.page.locator("#typed").fill("release=1.0 tsa=..0.5")
        follow(seen.page.get_by_role("button", name="Add"))
        assert seen.page.url.endswith("/runs?agent=files&release=1.0&tsa=..0.5")
        seen.open("/runs?agent=files")
        for place in (0, 1):
            seen.page.locator("[data-mark]").nth(place).check()
        follow(seen.page.get_by_role("button", name="Compare the 2 marked"))
        assert "/compare?id=" in seen.page.url
        seen.open(f"/runs/{LOOPED}")
        seen.page.locator("li.fold summary").first.click()
        assert seen.page.locator("#s3").is_visible()
        seen.page.locator("#s2 summary").click()
        follow(seen.page.locator("#s2 a.whole"))
        assert LONG.strip() in seen.page.locator("body").inner_text()


@pytest.mark.slow
def test_a_reader_chooses_the_colors_without_javascript(browser: Browser, base: Base) -> None:
    """They are kept from page to page, until the user chooses the system's."""
    ground = "getComputedStyle(document.body).backgroundColor"
    with watched(browser, base("sample"), java_script_enabled=False, color_scheme="light") as seen:
        seen.open("/runs?agent=files&sort=-tsa")
        light = seen.page.evaluate(ground)
        seen.page.locator(".more > summary").click()
        follow(seen.page.get_by_role("button", name="dark"))
        assert seen.page.url.endswith("/runs?agent=files&sort=-tsa")
        seen.open(f"/runs/{LOOPED}")
        dark = seen.page.evaluate(ground)
        seen.page.emulate_media(color_scheme="dark")
        seen.page.locator(".more > summary").click()
        follow(seen.page.get_by_role("button", name="light"))
        assert seen.page.evaluate(ground) == light != dark
        seen.page.locator(".more > summary").click()
        follow(seen.page.get_by_role("button", name="match the system"))
        assert seen.page.evaluate(ground) == dark


@pytest.mark.slow
def test_pages_have_two_schemes_and_can_be_printed(browser: Browser, base: Base) -> None:
    """What is folded is printed, too."""
    with watched(browser, base("sample")) as seen:
        colors = []
        for scheme in ("light", "dark"):
            seen.page.emulate_media(color_scheme=scheme)
            seen.open(f"/runs/{LOOPED}")
            colors.append(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len({*colors}) == 2
        assert seen.page.pdf().startswith(b"%PDF-")
