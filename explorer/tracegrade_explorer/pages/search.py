"""`/search`: a text in the texts of all runs, date by date, the newest first."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby
from typing import Any, Final, NamedTuple

from tracegrade.terminal.visible import visible_text
from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.pages.cells import MARKS
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_explorer.sql_process.search import SearchCursor, Searched, search
from tracegrade_scoring.rendering import words

OWN: Final = ("text", "date", "day", "run")
"""`day` is what addresses called `date` before."""
COLUMNS: Final = (
    "date", "trajectory_id", "step_index", "kind", "tool_name", "found_in", "excerpt", "of",
)  # fmt: skip


class Piece(NamedTuple):
    """A part of an excerpt."""

    text: str
    found: bool
    """It is a match."""


def search_page(request: PageRequest) -> PageResponse:
    """Return the steps in whose texts something is found, and how far the search came."""
    given = _given(request)
    text = given.get("text", "")
    dates: list[date] = [row["date"] for row in read(request.con, "received_dates")]
    cursor = _cursor(given)
    before = [each for each in dates if cursor and each > cursor.date]
    rest = dates[len(before) :]
    found = (
        search(request.site.lake, text, rest, cursor) if text and rest else Searched([], 0, None)
    )
    facts = _facts(request, found.hits)
    view = {
        "text": text,
        "runs": [
            _run(run_id, [*rows], facts.get(run_id), text)
            for run_id, rows in groupby(found.hits, key=lambda row: row["trajectory_id"])
        ],
        "hits": len(found.hits),
        "dates": len(dates),
        "searched": len(before) + found.dates,
        "oldest": rest[found.dates - 1] if found.dates else None,
        "following": _address(text, found.following) if found.following else "",
        "first": _address(text, None) if cursor else "",
    }
    data = {
        "text": text, "dates": len(dates), "dates_searched": len(before) + found.dates,
        "hits": found.hits, "following": view["following"] or None,
    }  # fmt: skip
    title = f"Search for {words.clip(text, 60)}" if text else "Search"
    return PageContent("search", title, view, data, COLUMNS, found.hits)


def _given(request: PageRequest) -> dict[str, str]:
    unknown = [key for key, _ in request.pairs if key not in OWN]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: {', '.join(OWN)}"
        raise BadFilter(msg)
    return dict(request.pairs)


def _cursor(given: dict[str, str]) -> SearchCursor | None:
    """Return the position at which an address continues."""
    received = given.get("date", given.get("day"))
    if received is None:
        return None
    try:
        return SearchCursor(date.fromisoformat(received), given.get("run", ""))
    except ValueError:
        msg = f"date={received[:80]} is not a date; write 2026-11-21, or leave it out"
        raise BadFilter(msg) from None


def _address(text: str, cursor: SearchCursor | None) -> str:
    pairs = [("text", text)]
    if cursor:
        pairs += [("date", str(cursor.date))]
        pairs += [("run", cursor.run)] if cursor.run else []
    return links.with_query("/search", pairs)


def _facts(request: PageRequest, hits: Sequence[Row]) -> dict[str, Row]:
    ids = sorted({row["trajectory_id"] for row in hits})
    rows = read(request.con, "runs_by_id", ids=ids) if ids else []
    return {row["trajectory_id"]: row for row in rows}


def _run(run_id: str, rows: Sequence[Row], run: Row | None, text: str) -> dict[str, Any]:
    """Return the hits of one run; one that is not listed has no page."""
    return {
        "href": links.run(run_id) if run else "",
        "mark": MARKS[run["outcome"]] if run else MARKS[None],
        "outcome": (run and run["outcome"]) or "unknown",
        "who": _who(run) if run else words.run(run_id),
        "date": rows[0]["date"],
        "hits": [_hit(row, text, listed=run is not None) for row in rows],
        "more": rows[0]["of"] - len(rows),
        "more_href": links.with_query(links.run(run_id), [("find", text)]) if run else "",
    }


def _hit(row: Row, text: str, *, listed: bool) -> dict[str, Any]:
    step = row["step_index"]
    return {
        "step": step,
        "href": links.run(row["trajectory_id"], step=step) if listed else "",
        "kind": row["kind"].replace("_", " "),
        "tool": words.name(row["tool_name"], ""),
        "found_in": row["found_in"].replace("_", " "),
        "pieces": [*pieces(row["excerpt"], text)],
    }


def _who(run: Row) -> str:
    names = (words.name(run["agent_name"], "(no agent name)"), words.name(run["release"], ""))
    task = words.name(run["task_id"], "")
    return " ".join(filter(None, names)) + (f" · {task}" if task else "")


def pieces(excerpt: str, text: str) -> Iterator[Piece]:
    """Yield the parts of an excerpt: each match of a text in any case, and the text between."""
    for index, part in enumerate(re.split(f"({re.escape(text)})", excerpt, flags=re.IGNORECASE)):
        if part:
            yield Piece(visible_text(part), bool(index % 2))
