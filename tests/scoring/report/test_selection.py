"""A report of one agent, of some releases, or of a time is as if the lake held nothing else."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.scoring.report.build import START, Tables, as_lake, as_text

from tracegrade_queries.engine.connection import connect_whole
from tracegrade_scoring.errors import NothingToReport
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.model import AS_TIERS, DEFAULT_OPTIONS, Report, Selection
from tracegrade_scoring.report.read import read_report

DAY = timedelta(days=1)
EARLY = Selection(until=START + DAY)


def fill(tables: Tables, days: int) -> None:
    """Insert so many days: on each a run that failed, its repetition, and a sub-agent's."""
    for day in range(days):
        for minute, success in enumerate((0.0, 1.0)):
            start = START + day * DAY + timedelta(minutes=minute)
            run = tables.run(
                "1.0", task_id="a", trial=day, start_time=start, tool_call_count=2, step_count=2
            )
            tables.scored(run, "a")
            tables.score(run, "success", success, numerator=success, denominator=1.0)
            tables.score(run, "tsa", success, numerator=success, denominator=1.0)
        child = tables.run(
            "1.0", "helper", parent_trajectory_id=run, start_time=START + 9 * DAY,
            tool_call_count=3,
        )  # fmt: skip
        tables.scored(child, None)


def selected(tables: Tables, selection: Selection) -> Report:
    """Return the report of these runs."""
    return read_report(tables.con, "lake", AS_TIERS, DEFAULT_OPTIONS, selection=selection)


def releases(report: Report) -> list[dict[str, Any]]:
    """Return the releases of a report for programs."""
    found: list[dict[str, Any]] = json.loads(render_json(report))["releases"]
    return found


def test_period_is_as_if_nothing_else_had_run(
    tables: Tables, request: pytest.FixtureRequest
) -> None:
    """Numbers, superseded runs and what sub-agents used are those of the first day alone."""
    other = Tables()
    request.addfinalizer(other.close)
    fill(tables, days=1)
    fill(other, days=3)

    (alone,), (early,) = (releases(selected(t, EARLY)) for t in (tables, other))

    assert early == alone
    assert early["metrics"]["success"]["value"] == 1.0
    assert (early["runs"]["runs"], early["runs"]["tool_calls"]) == (1, 5)
    (later,) = releases(selected(other, Selection(since=START + DAY)))
    assert later["runs"]["runs"] == 2
    assert len(releases(selected(other, Selection()))) == 1


def test_files_of_other_dates_change_no_number(tables: Tables, tmp_path: Path) -> None:
    """A report of files is that of the same rows, whichever dates they have."""
    fill(tables, days=3)
    by_run = (
        "DATE '2026-11-01' + (right(coalesce(parent_trajectory_id, trajectory_id), 1)::INT % 4)"
    )
    tables.con.execute(f"UPDATE trajectories SET date = {by_run}")
    tables.con.execute(
        "UPDATE trajectory_scores SET date = trajectories.date FROM trajectories "
        "WHERE trajectories.trajectory_id = trajectory_scores.trajectory_id"
    )
    con, pinned = connect_whole(as_lake(tables, tmp_path / "lake"), (SCORES,))
    with con:
        for selection in (EARLY, Selection(since=START + 2 * DAY), Selection(until=START)):
            found = [
                read_report(con, "lake", selection=selection, pinned=files)
                for files in (None, pinned)
            ]
            assert found[0] == found[1]
    assert len({file.date for file in pinned.tables["trajectory_scores"].files}) > 2
    assert releases(found[0]) == []


def test_bounds_are_from_the_first_moment_to_before_the_last(tables: Tables) -> None:
    """A run that begins with the period is in it, one that begins with its end is not."""
    for start in (START, START + DAY):
        tables.scored(tables.run(task_id="a", start_time=start), "a")

    def runs(selection: Selection) -> int:
        return sum(release["runs"]["runs"] for release in releases(selected(tables, selection)))

    assert runs(Selection(since=START, until=START + DAY)) == 1
    assert runs(Selection(since=START)) == 2
    assert runs(Selection(until=START)) == 0


def test_run_without_a_known_time_is_left_out_and_counted(tables: Tables) -> None:
    """An import made it up; the page says so, and that no run is left."""
    tables.scored(tables.run(task_id="a", start_time=START.replace(year=2000)), "a")
    page = as_text(selected(tables, EARLY))

    assert "begun before 02 November 2026, 09:00 UTC; 1 run without a known time left" in page
    assert "The lake has 1 run, but none began in the requested time." in page


def test_agent_and_releases_are_shown_alone(tables: Tables) -> None:
    """The answer is between the last two of those that are shown."""
    for release in ("1.0", "1.1", "1.2"):
        for agent in ("files", "mails"):
            tables.scored(tables.run(release, agent, task_id="a"), "a")

    found = selected(tables, Selection("files", ("1.0", "1.2")))

    assert [release.key.release for release in found.releases] == ["1.0", "1.2"]
    (compared,) = found.comparisons.values()
    assert (compared.base, compared.candidate) == ("1.0", "1.2")
    assert "Only runs of agent files, of release 1.0 or 1.2." in as_text(found)


@pytest.mark.parametrize("selection", [Selection("nobody"), Selection(releases=("9.9",))])
def test_what_the_lake_does_not_know_is_bad_input(tables: Tables, selection: Selection) -> None:
    """With what there is instead."""
    tables.scored(tables.run(task_id="a"), "a")

    with pytest.raises(NothingToReport, match=r"no run of .*; there are runs of files 1\.0"):
        selected(tables, selection)
