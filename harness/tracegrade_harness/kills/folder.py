"""Pages of kills in the folder of a report; `layer.py` names them."""

import posixpath
from collections.abc import Iterator, Sequence
from importlib.resources import files

from tracegrade_harness.kills.read import (
    KillRecord,
    kill_named,
    read_kills,
    worst_first,
)
from tracegrade_harness.kills.sentences import kill_lines, sentence
from tracegrade_harness.kills.view import kill_view
from tracegrade_lake import Lake
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.kill_pages import KILLS, KillLine
from tracegrade_scoring.rendering.page import RunPage, page_style, page_template
from tracegrade_scoring.rendering.page_paths import PagePaths

MOST_OF_RELEASE = 3
"""Kills of a release that an index names first."""


class FolderKills:
    """The kills of a lake, of which those that are named get pages."""

    def __init__(self, lake: str, kills: Sequence[KillRecord]) -> None:
        """Take the lake's name for the reader, and its kills, the newest first."""
        self._lake = lake
        self._kills = kills
        self._paths = PagePaths(KILLS)
        self._named: list[KillRecord] = []
        self._written = False

    def address(self, trajectory_id: str, kill_point: str | None) -> str:
        """Return the address of the newest kill at a point that repeats a run."""
        found = kill_named(self._kills, trajectory_id, kill_point or "")
        return self.address_of(found) if found else ""

    def lines(self, trajectory_id: str) -> list[KillLine]:
        """Return the lines of a run's page: its own kill, or the kills that repeat it."""
        return kill_lines(self._kills, trajectory_id, self.address_of)

    def of_release(self, agent_name: str | None, release: str | None) -> list[KillLine]:
        """Return a line for each of the worst kills of a release."""
        names = (agent_name, release)
        own = [each for each in self._kills if (each.agent_name, each.release) == names]
        return [
            KillLine(
                f"{words.name(each.task_id)}, {each.kill_point}: {sentence(each)}",
                self.address_of(each),
                each.status == "done" and not each.leftovers,
            )
            for each in worst_first(own)[:MOST_OF_RELEASE]
        ]

    def pages(self, home: str, run_page: RunPage) -> Iterator[tuple[str, str]]:
        """Yield the pages of the kills that were named, and of those that they name."""
        template = page_template("tracegrade_harness.kills")
        style = page_style(*kill_styles())
        links = _FolderLinks(self, run_page)
        for found in self._named:  # grows with each page
            text = template.render(
                home=home,
                kill=kill_view(found, self._kills, links),
                lake=self._lake,
                style=style,
            )
            yield self._paths.known(_name(found)), text
        self._written = True

    def address_of(self, found: KillRecord) -> str:
        """Return the address of a kill; from now on it has a page."""
        name = _name(found)
        is_new = not self._paths.known(name)
        address = "" if is_new and self._written else self._paths(name)
        if is_new and address:
            self._named.append(found)
        return address


class _FolderLinks:
    """The addresses that a kill's page in a folder leads to, relative to that page."""

    def __init__(self, kills: FolderKills, run_page: RunPage) -> None:
        self._kills = kills
        self._run_page = run_page

    def kill(self, each: KillRecord) -> str:
        """Return the address of a kill."""
        return _from_page(self._kills.address_of(each))

    def run(self, trajectory_id: str) -> str:
        """Return the address of a run."""
        return _from_page(self._run_page(trajectory_id))

    def task(self, task_id: str) -> str:
        """Return that tasks have no pages."""
        return ""


def _from_page(address: str) -> str:
    return address and posixpath.relpath(address, KILLS)


def _name(found: KillRecord) -> str:
    """Return a name that no other kill has."""
    names = (found.run, found.agent_name, found.release or "", found.task_id)
    return "\0".join((*names, str(found.trial), found.kill_point))


def kill_styles() -> list[str]:
    """Return the style sheets of a kill's page, besides that of all pages."""
    return [(files("tracegrade_harness.kills") / "page.css").read_text("utf-8")]


def folder_kills(lake: Lake) -> FolderKills:
    """Return the pages of a lake's kills."""
    return FolderKills(str(lake.location), read_kills(lake))
