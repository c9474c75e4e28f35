"""A report's folder has a page for each kill that a page names, and needs no server."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from tests.explorer.kills.test_kill_pages import HOSTILE, SECRET, lake_of_kills, text_of
from tests.explorer.lakes import client, explorer

from tracegrade.cli import main
from tracegrade_harness.kills.folder import folder_kills
from tracegrade_lake import Lake
from tracegrade_scoring.rendering.page_paths import MOST_PAGES


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with kills."""
    return lake_of_kills(tmp_path_factory.mktemp("kills") / "lake", scored=True)


@pytest.fixture(scope="module")
def folder(killed: Lake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its report."""
    out = tmp_path_factory.mktemp("report") / "out"
    with pytest.raises(SystemExit) as exit_:
        main(["report", "--lake", str(killed.root), "--format", "html", "--out", str(out)])
    assert exit_.value.code == 0
    return out


def links(page: Path) -> Iterator[Path]:
    """Yield the file that each link of a page leads to."""
    for address in re.findall(r'href="([^"#]+)', page.read_text("utf-8")):
        yield (page.parent / unescape(address)).resolve()


def page_of(folder: Path, words: str) -> Path:
    """Return the only page of a kill whose title has some words."""
    title = re.compile(f"<title>[^<]*{re.escape(words)}")
    (found,) = [
        page for page in (folder / "kills").iterdir() if title.search(page.read_text("utf-8"))
    ]
    return found


def test_every_link_between_pages_leads_to_a_page(folder: Path) -> None:
    """Runs lead to their kills, kills to their runs and to other kills, all of them back."""
    pages = {*folder.rglob("*.html")}

    assert {path for page in pages for path in links(page)} == pages
    late = {*links(page_of(folder, "after call 12"))}
    assert len(late & {*(folder / "runs").iterdir()}) == 2
    assert len(late & {*(folder / "kills").iterdir()}) == 3


def test_page_shows_the_same_as_that_of_the_explorer(killed: Lake, folder: Path) -> None:
    """The headline, the facts, the objects and the way back are equal, word for word."""
    page = unescape(re.sub(r"<[^>]+>", "", page_of(folder, "after call 12").read_text("utf-8")))
    served = text_of(client(explorer(killed)), "/runs/t4/kill")
    own_lines = {line.strip() for line in page.splitlines()}
    left = "Killed after call 12: 3 objects stay changed"
    for line in (f"{left}, and no record names a way back for 1 of them", "ended with 2"):
        assert line in page
        assert line in served
    table = served.partition("names the way back")[2].partition("Kills of this run")[0]
    assert {line.strip() for line in table.splitlines()} <= own_lines | {""}


def test_hostile_names_and_secrets_of_a_kill_do_not_reach_its_page(folder: Path) -> None:
    """Markup is text, control characters are spelled out, and no page asks for anything."""
    for page in folder.rglob("*.html"):
        text = page.read_text("utf-8")
        assert "<script" not in text
        assert "\x1b" not in text
        assert SECRET not in text
        assert "default-src 'none'" in unescape(text)
        assert not re.search(r'(src|href)="(https?:)?//', text)
    assert HOSTILE.partition("<")[0] in page_of(folder, "after call 12").read_text("utf-8")


def test_kills_that_no_page_names_have_none(killed: Lake) -> None:
    """A page comes with the first link to it, and none comes after the pages were written."""
    kills = folder_kills(killed)
    assert [*kills.pages("../index.html", lambda _: "")] == []
    assert kills.address("t1", "late") == ""

    named = folder_kills(killed)
    address = named.address("t1", "late")
    pages = dict(named.pages("../index.html", lambda _: ""))
    assert address in pages
    assert len(pages) == 4 < MOST_PAGES


def test_written_again_a_folder_has_no_kill_of_before(killed: Lake, tmp_path: Path) -> None:
    """What the lake no longer holds does not live on in pages."""
    out = tmp_path / "out"
    (out / "kills").mkdir(parents=True)
    stale = out / "kills" / f"{'0' * 32}.html"
    stale.write_text("old", "utf-8")
    with pytest.raises(SystemExit):
        main(["report", "--lake", str(killed.root), "--format", "html", "--out", str(out)])
    assert not stale.exists()
