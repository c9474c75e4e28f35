"""Reads the issues of a lake: what its scores and the marks of people say now."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.relations import make_table
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.issue_marks import Marks, merged_issues, with_merged
from tracegrade_scoring.issues.states import (
    FIXED,
    STATES,
    IssueState,
    ReleaseCount,
    StateMark,
    issue_state,
)
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.rendering.why_failed import reason_title
from tracegrade_scoring.sql import RELATIONS, query
from tracegrade_scoring.statistics.intervals import wilson

AgentMode: TypeAlias = tuple[str | None, str | None]
"""Agent and run mode."""


class ReleaseIssue(NamedTuple):
    """An issue that a release shows."""

    issue: str
    """Its key."""
    title: str
    state: str
    """As of this release."""
    hits: int
    """Runs of the release that showed it."""
    runs: int
    """Runs of the release, of the tasks that showed it in any release."""


@dataclass(frozen=True)
class Issue:
    """One issue of an agent in one run mode."""

    issue: str
    """Its key."""
    agent_name: str | None
    run_mode: str | None
    kind: str
    """Kind of the reason, as in `run_reasons`."""
    object: str | None
    detail: str | None
    """Class and template of the error of a failed call; None for other kinds."""
    runs: int
    """Runs that showed it."""
    failed_runs: int
    tasks: int
    first_date: date
    last_date: date
    first_started: datetime | None
    last_started: datetime | None
    trajectory_id: str
    """The newest run that showed it."""
    sentence: str
    step_trajectory_id: str | None
    step_index: int | None
    state: IssueState
    releases: tuple[ReleaseCount, ...]
    """Releases that ran its tasks, in their order."""
    newest: int
    """Place of the newest release of the agent and run mode."""
    mark: StateMark | None = None
    """The state that a person set last."""
    owner: str | None = None
    note: str | None = None
    merged: tuple[str, ...] = ()
    """Keys of the issues that were merged into it."""

    @property
    def title(self) -> str:
        """What went wrong, on one line."""
        title = reason_title(self.kind, self.object)
        return f"{title}: {self.detail}" if self.detail else title

    def in_release(self, release: str) -> ReleaseIssue | None:
        """Return the issue as of a release, without later ones; None if it does not show it."""
        counts = [*_until(self.releases, release)]
        if not counts or counts[-1].release != release or not counts[-1].hits:
            return None
        last = counts[-1]
        state = issue_state(counts, last.position, self.mark).name
        return ReleaseIssue(self.issue, self.title, state, last.hits, last.runs)

    @property
    def first_release(self) -> str | None:
        """The first release that showed it."""
        return next(count.release for count in self.releases if count.hits)

    @property
    def last_release(self) -> str | None:
        """The last release that showed it."""
        return next(count.release for count in reversed(self.releases) if count.hits)

    def facts(self) -> dict[str, Any]:
        """Return the issue as a flat row of names, numbers and texts, without its releases."""
        last = self.releases[-1]
        own = {name: getattr(self, name) for name in _OWN_FACTS}
        return own | {
            "state": self.state.name,
            "fix_source": self.state.source,
            "state_release": self.state.release,
            "needed_runs": self.state.needed_runs,
            "counted_release": last.release,
            "hits": last.hits,
            "of_runs": last.runs,
            **_rate(last),
        }


def _until(counts: Sequence[ReleaseCount], release: str) -> Iterator[ReleaseCount]:
    """Yield the counts up to a release."""
    for count in counts:
        yield count
        if count.release == release:
            return


_OWN_FACTS: Final = (
    *("issue", "agent_name", "run_mode", "kind", "object", "detail", "title", "runs"),
    *("failed_runs", "tasks", "first_release", "last_release", "first_date", "last_date"),
    *("owner", "note", "trajectory_id", "sentence", "step_trajectory_id", "step_index"),
)
FACTS: Final = (
    *_OWN_FACTS,
    *("state", "fix_source", "state_release", "needed_runs"),
    *("counted_release", "hits", "of_runs", "rate", "low", "high"),
)
"""Names of `Issue.facts`."""


def _rate(count: ReleaseCount) -> dict[str, float]:
    interval = wilson(count.hits, count.runs)
    return {"rate": count.hits / count.runs, "low": interval.low, "high": interval.high}


class IssueRows(NamedTuple):
    """What scores say of the issues of a lake, without marks."""

    summaries: Sequence[ResultRow]
    counts: Mapping[tuple[str, str | None], Sequence[ReleaseCount]]
    """By issue and run mode."""
    releases: Mapping[AgentMode, Sequence[ResultRow]]
    """Releases of each agent and run mode, in their order."""


def read_issues(con: DuckDBPyConnection, marks: Marks) -> list[Issue]:
    """Return all issues: those of states that need attention first, then those of most runs.

    Args:
        con: Holds the tables of a scored lake; it gets the relations that `runs_of_issue` reads.
        marks: The marks of people.
    """
    return with_marks(read_issue_rows(con, merged_issues(marks)), marks)


def read_issue_rows(con: DuckDBPyConnection, merged: Mapping[str, str]) -> IssueRows:
    """Return what scores say; the connection gets `issue_attempts` and `task_releases`.

    Args:
        con: As for `read_issues`.
        merged: As `merged_issues` returns it.
    """
    take_issue_attempts(con, merged)
    make_table(con, "task_releases", query("task_releases"))
    counts: dict[tuple[str, str | None], list[ReleaseCount]] = defaultdict(list)
    for row in read_rows(con, "issue_releases"):
        counts[row["issue"], row["run_mode"]].append(
            ReleaseCount(row["position"], row["release"], row["hits"], row["runs"])
        )
    releases: dict[AgentMode, list[ResultRow]] = defaultdict(list)
    for row in read_rows(con, "agent_releases"):
        releases[row["agent_name"], row["run_mode"]].append(row)
    return IssueRows(read_rows(con, "issue_summaries"), counts, releases)


def with_marks(rows: IssueRows, marks: Marks) -> list[Issue]:
    """Return the issues with their states, in the order of `read_issues`.

    Args:
        rows: Read with what these marks merge.
        marks: The marks of people.
    """
    merged = merged_issues(marks)
    keys: dict[str, list[str]] = defaultdict(list)
    for key, whole in sorted(merged.items()):
        keys[whole].append(key)
    marks = with_merged(marks)
    found = [
        _issue(
            row,
            rows.counts[row["issue"], row["run_mode"]],
            rows.releases[row["agent_name"], row["run_mode"]],
            marks.get(row["issue"], ()),
            tuple(keys[row["issue"]]),
        )
        for row in rows.summaries
    ]
    return sorted(found, key=_order)


def take_issue_attempts(con: DuckDBPyConnection, merged: Mapping[str, str]) -> None:
    """Create `issue_attempts`: the attempts of each issue.

    Args:
        con: Holds the tables of a scored lake.
        merged: As `merged_issues` returns it.
    """
    RELATIONS.make(con, "superseded_runs")
    keys = {"issues": [*merged], "merged_into": [*merged.values()]}
    make_table(con, "merged_issues", query("merged_issues"), keys)
    make_table(con, "issue_attempts", query("issue_attempts"))


def _issue(
    row: ResultRow,
    counts: Sequence[ReleaseCount],
    releases: Sequence[ResultRow],
    marks: Sequence[Mapping[str, Any]],
    merged: tuple[str, ...],
) -> Issue:
    newest = len(releases)
    mark = _state_mark(marks, releases)
    state = issue_state(counts, newest, mark)
    decided = {name: _newest(marks, name) for name in ("owner", "note")}
    return Issue(
        **row,
        state=state,
        releases=tuple(counts),
        newest=newest,
        mark=mark,
        merged=merged,
        **decided,
    )


def _newest(marks: Sequence[Mapping[str, Any]], name: str) -> Any:
    """Return the newest value that is not NULL."""
    return next((mark[name] for mark in reversed(marks) if mark[name] is not None), None)


def _state_mark(
    marks: Sequence[Mapping[str, Any]], releases: Sequence[ResultRow]
) -> StateMark | None:
    """Return the last mark that sets a state, with the place of its release.

    A fix in a release that is not known begins with the next release after the mark.
    """
    mark = next((mark for mark in reversed(marks) if mark["state"] is not None), None)
    if mark is None:
        return None
    before = [
        row["position"]
        for row in releases
        if row["first_start"] is None or row["first_start"] <= mark["marked_at"]
    ]
    position = max(before, default=0)
    if mark["state"] == FIXED:
        places = {row["release"]: row["position"] for row in releases}
        position = places.get(mark["release"], position + 1)
    return StateMark(mark["state"], position, mark["release"])


def _order(issue: Issue) -> tuple[object, ...]:
    return (
        STATES.index(issue.state.name),
        issue.kind == "unexplained",
        -issue.failed_runs,
        -issue.runs,
        issue.issue,
        issue.run_mode or "",
    )
