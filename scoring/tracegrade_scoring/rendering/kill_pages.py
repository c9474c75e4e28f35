"""The interface of pages of kills, which a package above this one adds to a folder of pages.

That package names them in its `Layer`, so that nothing here imports it.
"""

from collections.abc import Callable, Iterator, Sequence
from pkgutil import resolve_name
from typing import Final, NamedTuple, Protocol, TypeAlias

from tracegrade_lake import Lake
from tracegrade_queries.engine.layers import higher_layers
from tracegrade_scoring.rendering.page import RunPage, no_page

KILLS: Final = "kills"
"""Folder of the pages."""
KillPage: TypeAlias = Callable[[str, str | None], str]
"""Returns the address of the page of a kill, by the run that it repeats and its kill point; '' if
it has none."""


class KillLine(NamedTuple):
    """A sentence on kills that leads to a page."""

    text: str
    href: str
    """'' without a page."""
    good: bool


class KillPages(Protocol):
    """The pages of the kills of a lake; addresses are relative to the index's folder."""

    def address(self, trajectory_id: str, kill_point: str | None) -> str:
        """Return the address of a kill, as `KillPage` does."""

    def lines(self, trajectory_id: str) -> Sequence[KillLine]:
        """Return the lines of a run's page: its own kill, or the kills that repeat it."""

    def of_release(self, agent_name: str | None, release: str | None) -> Sequence[KillLine]:
        """Return a line for each of the worst kills of a release."""

    def pages(self, home: str, run_page: RunPage) -> Iterator[tuple[str, str]]:
        """Yield path and text of each page that was named; no other page has one afterwards.

        Args:
            home: Address of the index, relative to a page.
            run_page: Returns the address of a run's page, relative to the index's folder.
        """


class NoKillPages:
    """No page of any kill."""

    def address(self, trajectory_id: str, kill_point: str | None) -> str:
        """Return that there is none."""
        return ""

    def lines(self, trajectory_id: str) -> Sequence[KillLine]:
        """Return that there are none."""
        return ()

    def of_release(self, agent_name: str | None, release: str | None) -> Sequence[KillLine]:
        """Return that there are none."""
        return ()

    def pages(self, home: str, run_page: RunPage) -> Iterator[tuple[str, str]]:
        """Yield nothing."""
        yield from ()


class NamedPages(NamedTuple):
    """The pages of the runs and kills that a page names."""

    run: RunPage = no_page
    kills: KillPages = NoKillPages()


NO_PAGES: Final = NamedPages()


def kill_pages_of(lake: Lake) -> KillPages:
    """Return the pages of the kills of a lake, if an installed package makes them."""
    for layer in higher_layers():
        if layer.kill_pages:
            made: KillPages = resolve_name(layer.kill_pages)(lake)
            return made
    return NoKillPages()
