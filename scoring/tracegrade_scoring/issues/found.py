"""Opens a lake for its issues, and marks them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect, open_lake
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.errors import IssueUnknown
from tracegrade_scoring.issue_marks import put_mark, stored_marks
from tracegrade_scoring.issues.read import Issue, read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.rows import read_rows

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
    """Return all issues of a lake, as its last whole scoring run left it."""
    lake = open_lake(location, note)
    with connect(lake, layers=(SCORES,)) as con:
        return FoundIssues(str(location), read_issues(con, stored_marks(lake)))


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
    return FoundIssues(str(location), issues, runs=runs, marks=marks.get(whole, ()))


def of_key(issues: Sequence[Issue], key: str) -> list[Issue]:
    """Return the issue whose key begins so, in each run mode that has it.

    Raises:
        IssueUnknown: There is none, or there are several.
    """
    found = [issue for issue in issues if issue.issue.startswith(key)] if key else []
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
