"""Issues on a terminal: a list of them, or one with its releases, marks and runs."""

from collections.abc import Iterator

from tracegrade_scoring.issues.found import FoundIssues
from tracegrade_scoring.issues.read import Issue
from tracegrade_scoring.issues.view import (
    counted,
    marked_state,
    rate,
    release_name,
    releases_seen,
    standing,
)
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import (
    Brief,
    Briefs,
    Grid,
    GridColumn,
    Sentence,
    TextBlock,
    Title,
    columns,
)
from tracegrade_scoring.rendering.terminal import write_terminal

LEAST_WIDTH = 76
NO_ISSUES = "No issue: no run of this lake that was asked for has a reason."


def render_terminal(found: FoundIssues, *, width: int, color: bool) -> str:
    """Return issues as text, with colors or plain; one issue with all that is known of it."""
    blocks = _one(found) if found.runs else _list(found)
    return write_terminal(blocks, width=max(width, LEAST_WIDTH), color=color)


def _list(found: FoundIssues) -> Iterator[TextBlock]:
    if not found.issues:
        yield Sentence(NO_ISSUES)
        return
    rest = f"and {words.count(found.left_out, 'more issue')}" if found.left_out else ""
    rows = [
        Brief(
            (issue.state.name, issue.issue),
            words.line(issue.title),
            f"{words.cohort(issue.agent_name, issue.run_mode)}: {counted(issue)}",
            f"{releases_seen(issue)}; {standing(issue)}",
        )
        for issue in found.issues
    ]
    yield Briefs("Issues", rows, rest)


def _one(found: FoundIssues) -> Iterator[TextBlock]:
    for issue in found.issues:
        yield Title([words.line(issue.title)])
        yield Sentence(f"{issue.state.name}: {standing(issue)}", "strong")
        yield Sentence(
            f"{words.cohort(issue.agent_name, issue.run_mode)}; "
            f"{words.count(issue.runs, 'run')}, {issue.failed_runs:,} of them failed; "
            f"{releases_seen(issue)}; {rate(issue)} in {release_name(issue.releases[-1].release)}"
        )
        if issue.merged:
            yield Sentence(f"merged into it: {', '.join(map(words.name, issue.merged))}")
        yield _releases(issue)
    yield _runs(found)
    yield _marks(found)


def _releases(issue: Issue) -> Grid:
    headings = [
        GridColumn("Release", name=True),
        GridColumn("Runs with it", number=True),
        GridColumn("Runs of its tasks", number=True),
    ]
    rows = [
        (release_name(count.release), f"{count.hits:,}", f"{count.runs:,}")
        for count in issue.releases
    ]
    return Grid("", headings, rows)


def _runs(found: FoundIssues) -> Grid:
    headings = [
        GridColumn("Run", run=True),
        *columns("Release", "Task", "What happened", names=2),
    ]
    rows = [
        (
            row["trajectory_id"],
            release_name(row["release"]),
            words.name(row["task_id"]),
            words.line(row["sentence"]),
        )
        for row in found.runs
    ]
    return Grid("Newest runs", headings, rows)


def _marks(found: FoundIssues) -> Grid:
    rows = [
        (
            f"{mark['marked_at']:%Y-%m-%d %H:%M}",
            words.name(mark["marked_by"]),
            marked_state(mark),
            words.name(mark["owner"], ""),
            words.line(mark["note"] or ""),
        )
        for mark in found.marks
    ]
    return Grid("Marks", columns("Time, UTC", "By", "State", "Owner", "Note", names=0), rows)
