"""Opens a lake for its issues, and marks them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect, open_lake
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.errors import IssuesApart, IssueUnknown
from tracegrade_scoring.issue_marks import (
    Marks,
    merged_issues,
    put_mark,
    stored_marks,
    with_merged,
)
from tracegrade_scoring.issues.read import Issue, read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.rows import read_rows

MOST_NAMED = 5
"""Keys in one note."""
EXAMPLES = 20
"""Runs of one issue; the page has more."""


@dataclass(frozen=True)
class FoundIssues:
    """Some issues of a lake."""

    lake: str
    """Its name for the reader."""
    issues: Sequence[Issue]
    left_out: int = 0
    """Issues after the last of these."""
    runs: Sequence[ResultRow] = ()
    """The newest runs of the one issue."""
    marks: Sequence[Mapping[str, Any]] = ()
    """Marks of the one issue, the newest last."""


def lake_issues(location: str | Path, note: Callable[[str], object]) -> FoundIssues:
    """Return all issues of a lake, as its last whole scoring run left it.

    `note` gets a line if reading it is slow, and one of marks on issues that no run shows.
    """
    lake = open_lake(location, note)
    marks = stored_marks(lake)
    with connect(lake, layers=(SCORES,)) as con:
        issues = read_issues(con, marks)
    if lost := marked_alone(marks, issues):
        note(
            f"marked, but no run shows them any more: {', '.join(lost[:MOST_NAMED])}"
            f"{' and others' if len(lost) > MOST_NAMED else ''}; if an issue has another key now, "
            "`tracegrade issues merge OLD NEW` lets its marks count for that one"
        )
    return FoundIssues(str(location), issues)


def marked_alone(marks: Marks, issues: Sequence[Issue]) -> list[str]:
    """Return the keys of marked issues that no run shows, and that count for no other issue.

    Their runs are gone, or another version of the templates or definitions gave them other keys.
    """
    known = {key for issue in issues for key in (issue.issue, *issue.merged)}
    return sorted(marks.keys() - known - merged_issues(marks).keys())


def chosen_issues(
    found: FoundIssues, states: Sequence[str], agent: str | None, rows: int
) -> FoundIssues:
    """Return the issues of these states (none: of all) and of an agent, at most so many."""
    chosen = [
        issue
        for issue in found.issues
        if (not states or issue.state.name in states) and agent in {None, issue.agent_name}
    ]
    return replace(found, issues=chosen[:rows], left_out=max(0, len(chosen) - rows))


def issue_of_lake(location: str | Path, note: Callable[[str], object], key: str) -> FoundIssues:
    """Return one issue in each run mode that has it, with its newest runs and its marks.

    Raises:
        IssueUnknown: The lake has none whose key begins so, or several.
    """
    lake = open_lake(location, note)
    marks = stored_marks(lake)
    with connect(lake, layers=(SCORES,)) as con:
        issues = of_key(read_issues(con, marks), key)
        whole = issues[0].issue
        runs = read_rows(con, "runs_of_issue", issue=whole, rows=EXAMPLES)
    return FoundIssues(str(location), issues, runs=runs, marks=with_merged(marks).get(whole, ()))


def of_key(issues: Sequence[Issue], key: str) -> list[Issue]:
    """Return the issue whose key, or that of one merged into it, begins so, in each run mode.

    Raises:
        IssueUnknown: There is none, or there are several.
    """
    whole = [issue for issue in issues if key in {issue.issue, *issue.merged}]
    begun = [
        issue
        for issue in issues
        if key and any(each.startswith(key) for each in (issue.issue, *issue.merged))
    ]
    found = whole or begun
    keys = sorted({issue.issue for issue in found})
    if not keys:
        msg = f"no issue has the key '{key}'; `tracegrade issues list` shows the keys"
        raise IssueUnknown(msg)
    if len(keys) > 1:
        msg = f"{len(keys)} issues have keys that begin with '{key}': {', '.join(keys[:5])}"
        raise IssueUnknown(msg)
    return found


def mark_issue(lake: Lake, key: str, mark: Mapping[str, Any]) -> Issue:
    """Store a mark, and return the issue as it is then.

    Args:
        lake: The lake.
        key: The key of the issue, or its beginning.
        mark: Columns of `issue_marks`, without `issue` and `marked_at`.

    Raises:
        IssueUnknown: The lake has none whose key begins so, or several.
    """
    with connect(lake, layers=(SCORES,)) as con:
        issue = of_key(read_issues(con, stored_marks(lake)), key)[0]
        put_mark(lake, {**mark, "issue": issue.issue})
        return of_key(read_issues(con, stored_marks(lake)), issue.issue)[0]


def merge_issues(lake: Lake, key: str, into: str, by: str) -> Issue:
    """Let the runs and marks of an issue count for another one, and return that as it is then.

    Args:
        lake: The lake.
        key: The key of the issue, or its beginning; one that only marks have counts, too.
        into: The key of the other one, or its beginning.
        by: Name of the person.

    Raises:
        IssueUnknown: The lake has none whose key begins so, or several.
        IssuesApart: It is the same issue, or of another agent.
    """
    with connect(lake, layers=(SCORES,)) as con:
        marks = stored_marks(lake)
        issues = read_issues(con, marks)
        whole = of_key(issues, into)[0]
        alone = [each for each in marked_alone(marks, issues) if key and each.startswith(key)]
        if len(alone) == 1 and not any(each.issue.startswith(key) for each in issues):
            return _merged(lake, con, alone[0], whole, by)
        part = of_key(issues, key)[0]
        if part.issue == whole.issue:
            msg = f"'{key}' and '{into}' are one issue already; name another one"
            raise IssuesApart(msg)
        if part.agent_name != whole.agent_name:
            msg = (
                f"'{part.issue}' is of the agent '{part.agent_name}', '{whole.issue}' of "
                f"'{whole.agent_name}'; only issues of one agent can be merged"
            )
            raise IssuesApart(msg)
        return _merged(lake, con, part.issue, whole, by)


def _merged(lake: Lake, con: DuckDBPyConnection, key: str, whole: Issue, by: str) -> Issue:
    put_mark(lake, {"issue": key, "merged_into": whole.issue, "marked_by": by})
    return of_key(read_issues(con, stored_marks(lake)), whole.issue)[0]


def split_issue(lake: Lake, key: str, by: str) -> str:
    """Let a merged issue count for itself again, and return its key.

    Raises:
        IssueUnknown: No merged issue has a key that begins so, or several have.
    """
    merged = sorted(merged_issues(stored_marks(lake)))
    begun = [each for each in merged if key and each.startswith(key)]
    found = [key] if key in merged else begun
    if len(found) != 1:
        msg = f"{len(found)} merged issues have a key that begins with '{key}'; name one"
        raise IssueUnknown(msg)
    put_mark(lake, {"issue": found[0], "merged_into": found[0], "marked_by": by})
    return found[0]
