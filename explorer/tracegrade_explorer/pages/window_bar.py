"""The bar of windows of time above a page: which is shown, and how to choose another."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.now.windows import (
    ALL,
    BY_NAME,
    TimeWindow,
    ends_with,
    usual_window,
    window_of,
)
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.snapshot import read
from tracegrade_scoring.rendering import words


class WindowBar(NamedTuple):
    """The window of time that a page shows."""

    window: TimeWindow
    newest: datetime | None
    """Start of the newest run of the lake, UTC; None if no start is known."""
    midnight: datetime
    """Start of the last day of the window in the zone of the reader, UTC."""
    tabs: list[dict[str, Any]]
    when: list[str]
    """From when to when it is, and when the newest run began, in words."""
    zone: str
    """The zone of the reader's days."""


def window_bar(request: PageRequest, path: str, known: Sequence[str]) -> WindowBar:
    """Return the window that an address names, else the usual one.

    Args:
        request: Of the page.
        path: Of the page.
        known: The parameters that the page takes; `window` is one of them.

    Raises:
        BadFilter: A parameter is not known, or the window.
    """
    (runs,) = request.snapshot.cached("newest", lambda: read(request.con, "now_newest"))
    now = datetime.now(UTC).replace(tzinfo=None)
    end = ends_with(runs["newest"], now, request.zone)
    window = _window(request, runs["newest"], end, known)
    tabs = [*_tabs(request, path, window, untimed=runs["untimed"])]
    when = _when(request, window, runs["newest"], ends_now=end == now)
    return WindowBar(window, runs["newest"], _midnight(request, end), tabs, when, _zone(request))


def _midnight(request: PageRequest, end: datetime) -> datetime:
    local = end.replace(tzinfo=UTC).astimezone(request.zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.astimezone(UTC).replace(tzinfo=None)


def _window(
    request: PageRequest, newest: datetime | None, end: datetime, known: Sequence[str]
) -> TimeWindow:
    given = dict(request.pairs)
    name = given.get("window", "")
    if {*given} - {*known} or (name and name not in {*BY_NAME, ALL}):
        others = "".join(f" and {key}" for key in known if key != "window") or ", and nothing else"
        msg = f"the page takes window={', '.join((*BY_NAME, ALL))}{others}"
        raise BadFilter(msg)
    if name == ALL:
        return TimeWindow(ALL)
    if name:
        return window_of(BY_NAME[name], end, request.zone)
    return usual_window(newest, end, request.zone)


def _tabs(
    request: PageRequest, path: str, window: TimeWindow, *, untimed: int
) -> Iterator[dict[str, Any]]:
    names = [*BY_NAME, *([ALL] if untimed or window.name == ALL else [])]
    rest = [pair for pair in request.pairs if pair[0] != "window"]
    for place, name in enumerate(names, start=1):
        text = {ALL: "all"}.get(name) or f"{name[:-1]} {name[-1]}"
        href = links.with_query(path, [*rest, ("window", name)])
        yield {"text": text, "href": href, "key": place, "chosen": name == window.name}


def _when(
    request: PageRequest, window: TimeWindow, newest: datetime | None, *, ends_now: bool
) -> list[str]:
    """Return from when to when the window is, and when the newest run began."""
    if window.since is None or window.until is None:
        return ["all runs, including runs whose start is not known"]
    ends = [local_time(request, end) for end in (window.since, window.until)]
    found = [f"{ends[0]} to {ends[1]}, {_zone(request)}"]
    if newest is None:
        return [*found, "no run's start is known"]
    if newest < window.since:
        found.append("no run in this window")
    if not ends_now:
        found.append("ends with the newest run")
    return [*found, f"newest run {local_time(request, newest)}"]


def _zone(request: PageRequest) -> str:
    return words.name(str(request.zone))


def local_time(request: PageRequest, time: datetime) -> str:
    """Return a time, UTC, as it is where the reader is."""
    local = time.replace(tzinfo=UTC).astimezone(request.zone)
    year = "" if local.year == datetime.now(UTC).year else f" {local.year}"
    return f"{local.day} {local:%b}{year} {local:%H:%M}"
