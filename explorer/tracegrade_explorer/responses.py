"""The requests that pages get, and the kinds of responses that they return."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, tzinfo
from typing import IO, Any, Final, TypeAlias

from duckdb import DuckDBPyConnection

from tracegrade_explorer.filters.grammar import Filter, parse_filter
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.snapshots.latest import Freshness
from tracegrade_explorer.snapshots.snapshot import LakeSnapshot, Row
from tracegrade_explorer.upkeep.upkeep import NO_UPKEEP, UpkeepState

HTML: Final = "html"


@dataclass(frozen=True)
class Site:
    """The state that all pages of one explorer share."""

    lake: str
    """The lake's name as the user gave it."""
    sql: bool
    """Whether readers may ask in SQL."""
    comparison_secs: float = 0.6
    """How long a page of two releases waits for their comparison before it comes without it."""


@dataclass(frozen=True)
class PageRequest:
    """One request, with the scoring run that it reads."""

    con: DuckDBPyConnection
    """A cursor of its own."""
    snapshot: LakeSnapshot
    site: Site
    freshness: Freshness
    path: Mapping[str, str]
    """The parts of the path that are names."""
    pairs: Sequence[tuple[str, str]] = ()
    """The parameters of the address or form."""
    form: str = HTML
    """html | json | csv | parquet."""
    scheme: str = ""
    """light | dark; '' as the reader's system has it."""
    zone: tzinfo = UTC
    """The reader's time zone."""
    posted: bool = False
    """The pairs came in a form of one of our pages, not in an address that anybody can write."""
    page_token: str = ""
    """The token for forms of this page."""
    labeler: str = ""
    """Name with which the caller may label; '' if none."""
    is_live: bool = False
    """The page reloads itself every few seconds."""
    labels: LabelWriter | None = None
    """Writes labels; None if labeling is off."""
    cursors: list[DuckDBPyConnection] = field(default_factory=list)
    """The cursors in use, so that they can be interrupted."""

    ahead: Callable[[object, Callable[["PageRequest"], object]], None] = lambda _key, _make: None
    """Has something made for a later request, of a key, which is not asked for twice at a time."""
    upkeep: UpkeepState = NO_UPKEEP
    """What this explorer does for its lake."""

    def cursor_of(self, received: date) -> DuckDBPyConnection:
        """Return a cursor over the built tables and scores of one date."""
        con = self.snapshot.dates.cursor(received)
        self.cursors.append(con)
        return con

    def cursor_of_lake(self) -> DuckDBPyConnection:
        """Return another cursor over the whole lake."""
        con = self.con.cursor()
        self.cursors.append(con)
        return con

    def split(self, *own: str) -> tuple[dict[str, str], Filter]:
        """Return the page's own parameters, the last of each, and the filter of all others.

        Raises:
            BadFilter: One of the others is not understood.
        """
        mine = {key: value for key, value in self.pairs if key in own}
        return mine, self.filter_of(pair for pair in self.pairs if pair[0] not in own)

    def filter_of(self, pairs: Iterable[tuple[str, str]]) -> Filter:
        """Return the filter in the parameters, including users' own metrics and dimensions.

        Raises:
            BadFilter: One of them is not understood.
        """
        snapshot = self.snapshot
        return parse_filter(pairs, snapshot.own_metrics, self.zone, snapshot.dimensions)


class WrittenJson(str):
    """JSON that is written already."""

    __slots__ = ()


@dataclass(frozen=True)
class PageContent:
    """A page: the content of its template, and the same for programs."""

    template: str
    title: str
    view: Mapping[str, Any]
    data: object
    """The content as JSON, every number unrounded."""
    columns: Sequence[str] = ()
    """Columns of the CSV; empty if the page is not a table."""
    rows: Sequence[Row] = field(default_factory=list)
    status: int = 200


@dataclass(frozen=True)
class Download:
    """A file that is sent piece by piece, and closed at its end."""

    file: IO[bytes]
    media_type: str
    name: str


@dataclass(frozen=True)
class Redirect:
    """The requested page is at another address of the explorer."""

    to: str


@dataclass(frozen=True)
class PlainText:
    """A text out of a trace, as it is but for characters that act."""

    text: str


PageResponse: TypeAlias = PageContent | Download | Redirect | PlainText
