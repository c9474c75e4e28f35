"""What readers come for, each walked from the first page on by keys alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import Watched, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import LOOPED, NEVER_REACHED

from tracegrade_explorer.app import Explorer

pytestmark = [needs_chromium, pytest.mark.slow]
FOCUSED = "document.activeElement"
IN_VIEW = f"(({FOCUSED}.getBoundingClientRect().top >= 0) && "
IN_VIEW += f"({FOCUSED}.getBoundingClientRect().bottom <= innerHeight))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all stories."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def base(pages: Explorer) -> Iterator[str]:
    """Where the pages of the sample are served."""
    with serving(pages) as found:
        yield found


@pytest.fixture
def reader(browser: Browser, base: str) -> Iterator[Watched]:
    """A reader at the releases, who may copy; nothing is on the console at the end."""
    permissions = ["clipboard-read", "clipboard-write"]
    with watched(browser, base, permissions=permissions) as found:
        found.open("/releases")
        yield found
        assert (found.said, found.foreign) == ([], [])


def follow(reader: Watched, key: str, where: str) -> None:
    """Press a key that leads to another page."""
    with reader.page.expect_navigation(url=where):
        reader.keys(key)


def walk_to(reader: Watched, text: str, key: str = "j") -> None:
    """Go from row to row until one begins with a text; stay if the row in focus does."""
    for _ in range(60):
        if reader.page.evaluate(f"{FOCUSED}.innerText").startswith(text):
            return
        reader.keys(key)
    pytest.fail(f"no row begins with {text}")


def walk_to_part(reader: Watched, heading: str) -> None:
    """Go from table to table until one stands below a heading."""
    title = f"{FOCUSED}.closest('section')?.querySelector('h2, h3').innerText ?? ''"
    for _ in range(12):
        reader.keys("J")
        if reader.page.evaluate(title).startswith(heading):
            return
    pytest.fail(f"no table stands below {heading}")


def test_who_is_on_call_reads_the_failing_step(reader: Watched) -> None:
    """From the releases in 3 loads: the release, its runs with findings, the oldest, the step."""
    reader.keys("j", "j", "Tab", "Tab", "Tab", "Tab")
    assert reader.page.evaluate(f"{FOCUSED}.closest('tr').innerText").startswith("1.0")
    follow(reader, "Enter", "**/runs?*findings=1..*")
    reader.keys(*"j" * 12)
    follow(reader, "Enter", f"**/runs/{LOOPED}?*findings=1..*")
    reader.keys("e")

    assert reader.page.evaluate(f"{FOCUSED}.hasAttribute('data-finding')")
    assert reader.page.evaluate(IN_VIEW)
    assert "wrong decision" in reader.page.evaluate(f"{FOCUSED}.innerText")
    assert reader.loads == 3
    assert reader.pressed <= 12 + 11


def test_an_agents_developer_walks_what_a_filter_finds(reader: Watched) -> None:
    """Runs of a release with a low score, one after the other; one beside its nearest success."""
    walk_to(reader, "1.0")
    follow(reader, "Enter", "**/runs?*release=1.0*")
    reader.keys("/")
    reader.page.keyboard.type("tsa=..0.5")
    follow(reader, "Enter", "**/runs?*tsa=..0.5*")
    reader.keys("j")
    follow(reader, "Enter", "**/runs/t*?*tsa=..0.5*")
    first = reader.page.url
    follow(reader, "]", "**/runs/t*?*tsa=..0.5*")
    assert reader.page.url != first
    follow(reader, "[", first)
    while not reader.page.url.startswith(f"{reader.base}/runs/t5?"):
        follow(reader, "]", "**/runs/t*?*tsa=..0.5*")
    follow(reader, "c", "**/compare?*")
    assert "b=t5" in reader.page.url


def test_a_releases_owner_gets_from_a_number_to_its_runs(reader: Watched) -> None:
    """Base against candidate, task by task, and the runs that a task's success is of."""
    reader.keys("g")
    follow(reader, "e", "**/releases")
    reader.keys("j")
    follow(reader, "Enter", "**/releases?*candidate=1.1&base=1.0*")
    walk_to_part(reader, "Task by task")
    walk_to(reader, "malformed-header")
    reader.keys("Tab", "Tab")
    told = reader.page.evaluate(f"{FOCUSED}.innerText")
    follow(reader, "Enter", "**/runs?*release=1.0&task=malformed-header*")
    marks = reader.page.locator("td .outcome").all_inner_texts()

    assert told == "33.3%"
    assert sorted(mark[0] for mark in marks) == ["✓", "✗", "✗"]
    reader.keys("j")
    follow(reader, "Enter", "**/runs/t*?*")


def test_a_tasks_author_sees_where_runs_part_from_what_is_expected(reader: Watched) -> None:
    """At which decision, in which run; and which sub-goal no run reaches."""
    reader.keys("g")
    follow(reader, "t", "**/tasks")
    walk_to(reader, "process-uploads")
    follow(reader, "Enter", "**/tasks/process-uploads")
    reader.keys("e")
    assert reader.page.evaluate(f"{FOCUSED}.innerText").startswith("check-empty")
    follow(reader, "Enter", f"**/runs/{LOOPED}#s2")
    reader.page.locator("#s2:focus").wait_for()
    reader.page.go_back()
    walk_to_part(reader, "Sub-goals")
    walk_to(reader, NEVER_REACHED, "e")
    assert "never reached" in reader.page.evaluate(f"{FOCUSED}.innerText")
    follow(reader, "Enter", f"**/runs/{LOOPED}")


def test_an_analyst_goes_on_from_a_saved_query(reader: Watched) -> None:
    """Edits it, copies the address, takes the rows along, and opens the run of a cell."""
    reader.keys("g")
    follow(reader, "s", "**/sql")
    reader.page.get_by_role("link", name="tool_error_rates").click()
    reader.page.wait_for_url("**/sql/tool_error_rates")
    reader.keys("i", "Control+a")
    reader.page.keyboard.type("SELECT trajectory_id FROM steps WHERE status = 'error'")
    follow(reader, "Control+Enter", "**/sql?q=SELECT*")
    reader.keys("y")
    reader.page.get_by_text("link copied").wait_for()
    with reader.page.expect_download() as taken:
        reader.keys("d")

    assert reader.page.evaluate("navigator.clipboard.readText()") == reader.page.url
    assert taken.value.path().read_text() == f'"trajectory_id"\n"{LOOPED}"\n'
    reader.keys("j")
    follow(reader, "Enter", f"**/runs/{LOOPED}")
