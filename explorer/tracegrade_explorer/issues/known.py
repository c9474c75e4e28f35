"""The issues of a snapshot, made for the first reader who needs them.

Makes:
    issue_places (from issue_attempts, run_index): `issue_places`, as a table that all cursors see
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_explorer import links
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.snapshot import read
from tracegrade_explorer.sql import QUERIES
from tracegrade_scoring.issue_marks import ISSUE_MARKS, Marks, merged_issues, stored_marks
from tracegrade_scoring.issues.read import Issue, IssueRows, read_issue_rows, with_marks
from tracegrade_scoring.issues.states import NEW, REOPENED

NEWS: Final = (REOPENED, NEW)
"""States that a list of runs shows."""


class IssueChip(NamedTuple):
    """An issue that a run shows."""

    text: str
    state: str
    href: str


def known_issues(request: PageRequest) -> list[Issue]:
    """Return the issues of the lake with the newest marks; the first reader waits for them."""
    marks = _marks(request)
    rows: IssueRows = request.snapshot.cached(
        _rows_key(marks), lambda: _made(request, merged_issues(marks))
    )
    key = ("issues", request.snapshot.lake.version(ISSUE_MARKS.name))
    found: list[Issue] = request.snapshot.cached(key, lambda: with_marks(rows, marks))
    return found


def _marks(request: PageRequest) -> Marks:
    lake = request.snapshot.lake
    key = ("issue marks", lake.version(ISSUE_MARKS.name))
    found: Marks = request.snapshot.cached(key, lambda: stored_marks(lake))
    return found


def _rows_key(marks: Marks) -> tuple[str, int]:
    """Return the key of what scores say, in the cache of a snapshot: other merges, another key."""
    merges = sum(bool(row["merged_into"]) for rows in marks.values() for row in rows)
    return ("issue rows", merges)


def news_of_runs(request: PageRequest, seqs: Iterable[int]) -> Mapping[int, IssueChip]:
    """Return by its place in the index the issue of a run's first reason, if it is news.

    There are none until the issues of the snapshot are worked out, which this starts.
    """
    return {
        seq: _chip(issue, f"{issue.state.name} issue")
        for seq, rank, issue in _issues_of(request, seqs)
        if rank == 1 and issue.state.name in NEWS
    }


def chips_of_run(request: PageRequest, seq: int) -> list[IssueChip]:
    """Return the issues of one run, in the order of its reasons; none as above."""
    return [_chip(issue, issue.title) for _, _, issue in _issues_of(request, [seq])]


def _issues_of(request: PageRequest, seqs: Iterable[int]) -> Iterable[tuple[int, int, Issue]]:
    """Yield places of runs, ranks of reasons, and their issues."""
    key = _rows_key(_marks(request))
    if request.snapshot.made_before(key) is None:
        request.ahead(key, known_issues)
        return
    by_key = {issue.issue: issue for issue in reversed(known_issues(request))}
    for row in read(request.cursor_of_lake(), "issues_of_runs", seqs=[*seqs]):
        if row["issue"] in by_key:
            yield row["seq"], row["rank_in_run"], by_key[row["issue"]]


def _chip(issue: Issue, text: str) -> IssueChip:
    return IssueChip(text, issue.state.name, links.issue(issue.issue))


def _made(request: PageRequest, merged: Mapping[str, str]) -> IssueRows:
    with request.cursor_of_lake() as con:
        return fill_places(con, merged)


def fill_places(con: DuckDBPyConnection, merged: Mapping[str, str]) -> IssueRows:
    """Return what scores say of issues, and create `issue_places`.

    Args:
        con: Holds the tables of a lake and `run_index`.
        merged: Merged issues, as `merged_issues` returns them.
    """
    rows = read_issue_rows(con, merged)
    con.execute(f"CREATE OR REPLACE TABLE issue_places AS {QUERIES.text('issue_places')}")
    return rows
