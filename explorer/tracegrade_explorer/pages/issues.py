"""`/issues` and `/issues/KEY`: what goes wrong in the same way over releases, and since when."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, FormRefused, PageMissing
from tracegrade_explorer.issues.known import known_issues
from tracegrade_explorer.pages.cells import MARKS, ListCell
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, Redirect
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.issue_marks import stored_marks, with_merged
from tracegrade_scoring.issues.as_json import issue_rows
from tracegrade_scoring.issues.read import FACTS, Issue
from tracegrade_scoring.issues.states import FIXED, MARKABLE, STATES
from tracegrade_scoring.issues.view import (
    counted,
    marked_state,
    rate,
    release_name,
    releases_seen,
    standing,
)
from tracegrade_scoring.pictures.small import bar, spark
from tracegrade_scoring.rendering import words

OWN: Final = ("state", "agent")
MOST_ISSUES: Final = 200
"""Rows on the page; CSV and JSON have all."""
MOST_RUNS: Final = 50
MOST_DRAWN: Final = 24
"""Releases in the line of an issue."""
MOST_NAME, MOST_NOTE = 60, 4_000
"""Characters of an owner or release, and of a note."""


def issues(request: PageRequest) -> PageResponse:
    """Return all issues, or those of one state or agent; what needs attention comes first."""
    given = _given(request)
    found = known_issues(request)
    chosen = [
        issue
        for issue in found
        if given.get("state") in {None, issue.state.name}
        and given.get("agent") in {None, issue.agent_name}
    ]
    view = {
        "issues": [_row(issue) for issue in chosen[:MOST_ISSUES]],
        "more": len(chosen) - MOST_ISSUES,
        "count": len(chosen),
        "states": [*_states(found, given)],
        "given": given,
        "query": links.with_query("", given.items()),
    }
    rows = [issue.facts() for issue in chosen]
    return PageContent("issues", "Issues", view, {"issues": issue_rows(chosen)}, FACTS, rows)


def _given(request: PageRequest) -> dict[str, str]:
    given = dict(request.pairs)
    unknown = sorted(given.keys() - {*OWN})
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: {', '.join(OWN)}"
        raise BadFilter(msg)
    if given.get("state", FIXED) not in STATES:
        msg = f"state={given['state']} is not known; known: {', '.join(STATES)}"
        raise BadFilter(msg)
    return given


def _states(found: Sequence[Issue], given: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield each state with its number of issues; the chosen one leads to all states."""
    agent = given.get("agent")
    counts = Counter(i.state.name for i in found if agent in {None, i.agent_name})
    others = [("agent", agent)] if agent is not None else []
    for state in STATES:
        if counts[state]:
            chosen = given.get("state") == state
            pairs = others if chosen else [("state", state), *others]
            href = links.with_query("/issues", pairs)
            yield {"name": state, "count": counts[state], "chosen": chosen, "href": href}


def _row(issue: Issue) -> dict[str, Any]:
    return {
        "state": issue.state.name,
        "title": words.line(issue.title),
        "href": links.issue(issue.issue),
        "agent": words.cohort(issue.agent_name, issue.run_mode),
        "counted": counted(issue),
        "rate": rate(issue),
        "drawn": _drawn(issue),
        "runs": issue.runs,
        "failed": issue.failed_runs,
        "seen": releases_seen(issue),
        "standing": standing(issue),
        "owner": words.name(issue.owner, ""),
    }


def _drawn(issue: Issue) -> Markup:
    """Return the rate of the newest releases as a line; as a bar if there is only one."""
    rates = [count.hits / count.runs for count in issue.releases[-MOST_DRAWN:]]
    between = f"{release_name(issue.releases[-len(rates)].release)} to {_last_name(issue)}"
    return spark(rates, f"rate from {between}") or bar(rates[-1])


def _last_name(issue: Issue) -> str:
    return release_name(issue.releases[-1].release)


def issue(request: PageRequest) -> PageResponse:
    """Return one issue: its state, its releases, its newest runs, and the marks on it.

    The key of a merged issue leads to the one that has its runs.
    """
    key = request.path["id"]
    found = [each for each in known_issues(request) if key in {each.issue, *each.merged}]
    if not found:
        msg = f"no issue has the key '{key}'; /issues lists those that there are"
        raise PageMissing(msg)
    key = found[0].issue
    runs = read(request.cursor_of_lake(), "runs_with_issue", issue=key, rows=MOST_RUNS)
    marks = with_merged(stored_marks(request.snapshot.lake)).get(key, [])
    title = words.line(found[0].title)
    view = {
        "key": key,
        "title": title,
        "modes": [_mode(each) for each in found],
        "runs": [_run(row) for row in runs],
        "marks": [_mark(mark) for mark in marks],
        "note": found[0].note or "",
        "owner": words.name(found[0].owner, ""),
        "merged": [words.name(each) for each in found[0].merged],
        "labeler": request.labeler,
        "page_token": request.page_token,
    }
    data = {"issues": issue_rows(found), "runs": runs, "marks": marks}
    columns = [*runs[0]] if runs else ["trajectory_id"]
    return PageContent("issue", title, view, data, columns, runs)


def _mode(issue: Issue) -> dict[str, Any]:
    return {
        **_row(issue),
        "releases": [
            {
                "name": release_name(count.release),
                "hits": count.hits,
                "runs": count.runs,
                "drawn": bar(count.hits / count.runs),
                "href": links.counted(agent=issue.agent_name, release=count.release),
            }
            for count in issue.releases
        ],
    }


def _run(row: Row) -> dict[str, Any]:
    step_run = row["step_trajectory_id"] or row["trajectory_id"]
    return {
        **row,
        "name": words.run(row["trajectory_id"]),
        "href": links.run(step_run, step=row["step_index"]),
        "nearest": links.of_run(row["trajectory_id"], "nearest"),
        "mark": ListCell(MARKS[row["outcome"]], row["outcome"] or "outcome not known"),
        "outcome_name": row["outcome"] or "unknown",
        "release": release_name(row["release"]),
        "task": words.name(row["task_id"]),
        "sentence": words.line(row["sentence"]),
    }


def _mark(mark: dict[str, Any]) -> dict[str, Any]:
    return {
        "at": mark["marked_at"],
        "by": words.name(mark["marked_by"]),
        "state": marked_state(mark),
        "owner": words.name(mark["owner"], ""),
        "note": words.line(mark["note"] or ""),
    }


def mark_issue(request: PageRequest) -> PageResponse:
    """Store the mark in a form, and show the issue again.

    Raises:
        FormRefused: The caller may not mark, or the form says nothing.
    """
    fields = dict(request.pairs)
    if not request.labeler or request.labels is None:
        msg = "you may not mark here; `tracegrade ui --label-as NAME` lets you on your own machine"
        raise FormRefused(msg)
    key = fields.get("issue", "")
    if all(each.issue != key for each in known_issues(request)):
        msg = "the mark was not saved: its issue is no longer in the lake"
        raise FormRefused(msg)
    request.labels.mark_issue({**_read_form(fields), "issue": key, "marked_by": request.labeler})
    return Redirect(links.issue(key))


def _read_form(fields: dict[str, str]) -> dict[str, str | None]:
    """Return the columns of the mark in a form.

    Raises:
        FormRefused: It says nothing, or a fix has no release.
    """
    state = fields.get("state") or None
    release = " ".join(fields.get("release", "").split())[:MOST_NAME] or None
    owner = " ".join(fields.get("owner", "").split())[:MOST_NAME] or None
    note = fields.get("note", "").strip()[:MOST_NOTE] or None
    if state not in {None, *MARKABLE}:
        msg = f"a mark is {', '.join(MARKABLE)}; choose one"
        raise FormRefused(msg)
    if state == FIXED and release is None:
        msg = "name the release with the fix"
        raise FormRefused(msg)
    if state is None and owner is None and note is None:
        msg = "choose a state, or write an owner or a note"
        raise FormRefused(msg)
    return {
        "state": state, "release": release if state == FIXED else None, "owner": owner,
        "note": note,
    }  # fmt: skip
