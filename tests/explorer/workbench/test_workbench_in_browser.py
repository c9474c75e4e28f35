"""SQL and conversations in a real Chromium: by keys, in light, dark and at 390 pixels."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import (
    LOW_CONTRAST,
    Watched,
    chromium,
    needs_chromium,
    serving,
    watched,
)
from tests.explorer.lakes import explorer
from tests.explorer.test_labels import rows
from tests.explorer.workbench.test_conversations import long_conversation
from tests.scoring.report.build import Tables, as_lake

from tracegrade_explorer.app import Labeling
from tracegrade_explorer.labels import writer
from tracegrade_explorer.labels.people import everybody_is
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.own_queries import own_queries
from tracegrade_lake import Lake

pytestmark = needs_chromium
WIDTHS = ({"width": 1440, "height": 900}, {"width": 390, "height": 844})


class Served(NamedTuple):
    """A lake with one long conversation, and where its pages are served to ann."""

    lake: Lake
    run: str
    base: str
    browser: Browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The pages, and a browser."""
    root = tmp_path_factory.mktemp("talk") / "lake"
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(writer, "SCORE_AFTER_SECS", 3600.0)
        tables = stack.enter_context(closing(Tables()))
        run = long_conversation(tables, 45)
        lake = as_lake(tables, root)
        made = stack.enter_context(closing(explorer(lake)))
        stack.enter_context(closing(made.latest))
        made.labeling = Labeling(everybody_is("ann"), LabelWriter(str(root)))
        base = stack.enter_context(serving(made))
        yield Served(lake, run, base, stack.enter_context(chromium()))


def check_drawn(seen: Watched) -> None:
    """Fail if the page scrolls sideways, is hard to read, or said or loaded anything foreign."""
    width = seen.page.viewport_size
    assert width is not None
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width["width"]
    assert seen.page.evaluate(LOW_CONTRAST) == []
    assert seen.foreign == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS, ids=["1440", "390"])
def test_pages_are_drawn(served: Served, scheme: str, size: dict[str, int]) -> None:
    """A result in each view, a mistake, the list of conversations, and one of them."""
    with watched(served.browser, served.base, viewport=size, color_scheme=scheme) as seen:
        seen.open("/sql")
        seen.page.fill("#q", "SELECT kind, count(*) AS n FROM steps GROUP BY ALL ORDER BY n")
        seen.page.get_by_role("button", name="Run").click()
        for view in ("line", "table", "table + bars"):
            seen.page.get_by_role("radio", name=view, exact=True).check(force=True)
            assert seen.page.locator(".as-line").is_visible() == (view == "line")
            assert seen.page.locator("td.bars").first.is_visible() == (view == "table + bars")
            check_drawn(seen)
        for path in ("/conversations", f"/conversations/{served.run}"):
            seen.open(path)
            check_drawn(seen)
        assert seen.said == []
        seen.open("/sql")
        seen.page.fill("#q", "SELECT kinds FROM steps")
        seen.page.get_by_role("button", name="Run").click()
        seen.page.wait_for_selector(".mistake")
        check_drawn(seen)


def test_a_query_is_written_corrected_and_saved_by_keys(served: Served) -> None:
    """After a mistake two actions lead to the rows; a name of the list goes into the editor."""
    with watched(served.browser, served.base) as seen:
        seen.open("/sql")
        seen.keys("i", "Control+a")
        seen.page.keyboard.type("SELECT kinds FROM ")
        seen.page.locator(".tree code", has_text="steps").first.click()
        seen.keys("Control+Enter")
        seen.page.wait_for_selector(".mistake")
        text = seen.page.input_value("#q")
        seen.page.fill("#q", text.replace("kinds", "kind"))
        seen.keys("Control+Enter")
        seen.page.wait_for_selector(".result")
        with seen.page.expect_download() as taken:
            seen.keys("Escape", "d")
        seen.page.get_by_text("Save as").click()
        seen.page.fill("#save-as", "kinds")
        seen.keys("Enter")
        seen.page.wait_for_url("**/sql/kinds")

        assert taken.value.path().read_text().count("\n") == 1 + 3 * 45
        assert own_queries(str(served.lake.root))["kinds"].text.strip() == text.replace(
            "kinds", "kind"
        )


def test_names_are_completed_by_keys(served: Served) -> None:
    """Tables and columns go into the query; a saved query opens from an editor without another."""
    with watched(served.browser, served.base) as seen:
        editor, choices = seen.page.locator("#q"), seen.page.locator("#choices li:visible")
        seen.open("/sql")
        seen.keys("i", "Control+a")
        seen.page.keyboard.type("SELECT tool_na")
        choices.first.wait_for()
        assert "column of " in choices.first.inner_text()
        seen.keys("ArrowDown", "Enter")
        seen.page.keyboard.type(" FROM decis")
        seen.page.locator("#choices li", has_text="table, ").first.wait_for()
        seen.keys("ArrowDown", "Tab")
        assert editor.input_value() == "SELECT tool_name FROM decisions"
        seen.keys("Enter", "ArrowUp")
        seen.page.keyboard.type("s")
        choices.first.wait_for()
        seen.keys("Escape")
        assert choices.count() == 0
        assert editor.input_value() == "sSELECT tool_name FROM decisions\n"
        seen.keys("Control+a")
        seen.page.keyboard.type("tool_error_r")
        seen.page.locator("#choices li", has_text="saved query").wait_for()
        with seen.page.expect_navigation(url="**/sql/tool_error_rates"):
            seen.keys("ArrowDown", "Enter")
        assert (seen.said, seen.foreign) == ([], [])


def test_a_turn_is_labeled_by_keys(served: Served) -> None:
    """`e` leads to the turn with a finding, `f` names its step; `s` shows the run as steps."""
    with watched(served.browser, served.base) as seen:
        seen.open(f"/conversations/{served.run}")
        seen.keys("e", "f", "0", "m")
        seen.page.keyboard.type("wrong file")
        with seen.page.expect_navigation():
            seen.keys("Escape", "n")
        assert seen.page.url.endswith(f"/conversations/{served.run}")
        seen.keys("s")
        seen.page.wait_for_url(f"**/runs/{served.run}")
        seen.keys("s")
        seen.page.wait_for_url(f"**/conversations/{served.run}")

    named = [(row[0], row[2], row[5]) for row in rows(served.lake)]
    assert named == [("success", "bad", None), ("step", None, 3 * 39 + 1)]
