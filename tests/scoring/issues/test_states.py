"""States of issues: by counts of runs and marks, whatever order they are read in."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.scoring.issues.simulated_states import clean_runs, false_fixes
from tests.scoring.report.build import START, Tables

from tracegrade_scoring.issues.read import Issue, read_issues
from tracegrade_scoring.issues.states import (
    BY_MARK,
    BY_RUNS,
    FIXED,
    MUTED,
    NEW,
    OPEN,
    REOPENED,
    IssueState,
    ReleaseCount,
    StateMark,
    issue_state,
    needed_runs,
)


def state(*counts: tuple[int, int], mark: StateMark | None = None, newest: int = 0) -> IssueState:
    """Return the state after releases 1, 2, … with so many hits of so many runs."""
    given = [ReleaseCount(p, str(p), hits, runs) for p, (hits, runs) in enumerate(counts, 1)]
    return issue_state(given, newest or len(counts), mark)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([(3, 10)], (OPEN, None, None)),
        ([(0, 10), (3, 10)], (NEW, None, None)),
        ([(3, 10), (2, 10)], (OPEN, None, None)),
        ([(3, 10), (0, 10)], (OPEN, None, None)),
        ([(9, 10), (0, 5)], (FIXED, BY_RUNS, "2")),
        ([(9, 10), (0, 2), (0, 2)], (FIXED, BY_RUNS, "3")),
        ([(9, 10), (0, 5), (1, 9)], (REOPENED, BY_RUNS, "3")),
        ([(9, 10), (0, 5), (1, 9), (4, 9)], (REOPENED, BY_RUNS, "3")),
        ([(9, 10), (0, 5), (4, 9), (0, 30)], (FIXED, BY_RUNS, "4")),
        ([(9, 10), (0, 5), (4, 9), (0, 30), (1, 9)], (REOPENED, BY_RUNS, "5")),
        ([(10, 10), (0, 4)], (FIXED, BY_RUNS, "2")),
    ],
)
def test_state_by_runs(counts: list[tuple[int, int]], expected: tuple[str, Any, Any]) -> None:
    """Fixed takes enough runs without it, however many releases they are of."""
    assert state(*counts)[:3] == expected


@pytest.mark.parametrize(
    ("counts", "mark", "expected"),
    [
        ([(3, 10), (0, 1)], StateMark(FIXED, 2, "2"), (FIXED, BY_MARK, "2")),
        ([(3, 10)], StateMark(FIXED, 2, "next"), (FIXED, BY_MARK, "next")),
        ([(3, 10), (1, 1)], StateMark(FIXED, 2, "2"), (REOPENED, BY_MARK, "2")),
        ([(3, 10), (0, 1), (2, 2)], StateMark(FIXED, 2, "2"), (REOPENED, BY_MARK, "3")),
        ([(3, 10), (1, 10)], StateMark(FIXED, 3, "3"), (FIXED, BY_MARK, "3")),
        ([(3, 10), (3, 10)], StateMark(MUTED, 1), (MUTED, BY_MARK, None)),
        ([(0, 10), (3, 10)], StateMark(OPEN, 2), (OPEN, None, None)),
        ([(9, 10), (0, 5), (1, 9)], StateMark(OPEN, 3), (OPEN, None, None)),
        ([(9, 10), (0, 5), (1, 9)], StateMark(OPEN, 2), (REOPENED, BY_RUNS, "3")),
        ([(9, 10), (0, 5), (4, 9), (0, 30), (1, 9)], StateMark(OPEN, 3), (REOPENED, BY_RUNS, "5")),
    ],
)
def test_state_by_mark(
    counts: list[tuple[int, int]], mark: StateMark, expected: tuple[str, Any, Any]
) -> None:
    """A mark holds until a later release says otherwise; muted is muted."""
    assert state(*counts, mark=mark)[:3] == expected


def test_issue_of_tasks_that_the_newest_release_lacks_is_not_new() -> None:
    """Release 2 showed it first, and release 3 ran other tasks."""
    assert state((0, 4), (2, 4), newest=3).name == OPEN


def test_needed_runs_are_those_after_which_it_is_fixed() -> None:
    """One run fewer leaves it open."""
    for hits, runs in ((1, 40), (2, 40), (10, 40), (40, 40)):
        needed = state((hits, runs)).needed_runs
        assert state((hits, runs), (0, needed)).name == FIXED
        assert state((hits, runs), (0, needed - 1))[::3] == (OPEN, 1)
        assert needed_runs(hits, runs, needed + 7) == 0


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("runs", [10, 40])
def test_living_issue_is_seldom_called_fixed(rate: float, runs: int) -> None:
    """In ten releases at most 8 of 100; absence from one release says so of up to 99."""
    found = false_fixes(rate, runs, 500)
    assert found.rule <= 0.08
    assert found.rule <= found.absent_once


def test_gone_issue_takes_fewer_runs_the_more_often_it_was_seen() -> None:
    """Of 40 or 200 runs."""
    assert [clean_runs(rate, 40, 500) for rate in (0.05, 0.2, 0.5)] == [179, 25, 7]
    assert [clean_runs(rate, 200, 500) for rate in (0.05, 0.2, 0.5)] == [98, 18, 6]


def add_runs(tables: Tables, release: str, failures: int, runs: int, **columns: Any) -> list[str]:
    """Insert runs of a task, of which the first ones failed in one way, and return their ids."""
    task = columns.setdefault("task_id", "t")
    found = [tables.run(release, **columns) for _ in range(runs)]
    for place, run in enumerate(found):
        tables.scored(run, task)
        if place < failures:
            tables.insert(
                "run_reasons", trajectory_id=run, rank_in_run=1, kind="never_called",
                object="pay", key="k", sentence="never called pay", success=False,
                task_id=task, release=release, agent_name="files",
            )  # fmt: skip
    return found


def only_issue(tables: Tables, *marks: dict[str, Any]) -> Issue:
    """Return the issue of the tables, with these marks on it."""
    absent = dict.fromkeys(("state", "release", "owner", "note"))
    rows = [{**absent, "issue": "k", "marked_by": "ann", **mark} for mark in marks]
    (found,) = read_issues(tables.con, {"k": rows})
    return found


def test_counts_are_of_runs_of_the_tasks_that_showed_it(tables: Tables) -> None:
    """Neither runs of other tasks count, nor killed runs and those of sub-agents."""
    first = add_runs(tables, "1.0", 2, 8)
    newest = add_runs(tables, "1.1", 1, 4)
    add_runs(tables, "1.2", 0, 3, task_id="other")
    tables.score(first[-1], "success", None, reason="killed_run")
    add_runs(tables, "1.1", 0, 5, parent_trajectory_id=newest[0])

    found = only_issue(tables)
    assert found.releases == (ReleaseCount(1, "1.0", 2, 7), ReleaseCount(2, "1.1", 1, 4))
    assert (found.runs, found.failed_runs, found.tasks) == (3, 3, 1)
    assert (found.first_release, found.last_release) == ("1.0", "1.1")
    assert found.trajectory_id == newest[0]
    assert found.state.name == OPEN


def test_older_release_that_still_runs_reopens_nothing(tables: Tables) -> None:
    """A late run of 1.0 shows it, and 1.1 has the fix."""
    add_runs(tables, "1.0", 9, 10)
    add_runs(tables, "1.1", 0, 6)
    add_runs(tables, "1.0", 1, 1)

    assert only_issue(tables).state[:3] == (FIXED, BY_RUNS, "1.1")


def test_each_run_mode_has_its_own_state(tables: Tables) -> None:
    """Mocked runs without it do not fix it in production."""
    add_runs(tables, "1.0", 9, 10, run_mode="production")
    add_runs(tables, "1.0", 9, 10, run_mode="mocked")
    add_runs(tables, "1.1", 0, 6, run_mode="mocked")

    found = {issue.run_mode: issue.state.name for issue in read_issues(tables.con, {})}
    assert found == {"production": OPEN, "mocked": FIXED}


def test_marks_count_by_their_time(tables: Tables) -> None:
    """The last state, owner and note; a fix in an unknown release begins with the next one."""
    add_runs(tables, "1.0", 2, 8)
    before = START + timedelta(minutes=tables.runs)
    add_runs(tables, "1.1", 1, 4)
    fixed = {"state": FIXED, "release": "main", "marked_at": before, "owner": "ann"}

    assert only_issue(tables, fixed).state[:3] == (REOPENED, BY_MARK, "1.1")
    assert only_issue(tables, {**fixed, "release": "1.2"}).state.name == REOPENED
    later = {"state": None, "note": "see #4", "marked_at": datetime.now(UTC).replace(tzinfo=None)}
    known = {"state": OPEN, "marked_at": before + timedelta(hours=1)}
    found = only_issue(tables, fixed, known, later)
    assert (found.state.name, found.owner, found.note) == (OPEN, "ann", "see #4")
    after = {**fixed, "marked_at": before + timedelta(hours=1)}
    assert only_issue(tables, after).state[:3] == (FIXED, BY_MARK, "main")


def test_list_has_what_needs_attention_first(tables: Tables) -> None:
    """Reopened, new, open, then fixed; among equals the issue of most failed runs."""
    for release, by_agent in (
        ("1", {"a": 9, "b": 0, "c": 1, "d": 9, "e": 2}),
        ("2", {"a": 0, "b": 0, "c": 1, "d": 0, "e": 2}),
        ("3", {"a": 2, "b": 1, "c": 1, "d": 0, "e": 2}),
    ):
        for agent, hits in by_agent.items():
            for place in range(10):
                run = tables.run(release, agent, task_id="t")
                tables.scored(run, "t")
                if place < hits:
                    tables.insert("run_reasons", trajectory_id=run, rank_in_run=1, kind="drift",
                                  key=agent, sentence="drifted", success=False, task_id="t",
                                  release=release, agent_name=agent)  # fmt: skip

    found = [(issue.agent_name, issue.state.name) for issue in read_issues(tables.con, {})]
    assert found == [("a", REOPENED), ("b", NEW), ("e", OPEN), ("c", OPEN), ("d", FIXED)]
