"""The whole demo, run once: what it prints, and what stands in the lake that it leaves."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.commands import tracegrade
from tests.explorer.browser import chromium, needs_chromium, serving
from tests.explorer.lakes import explorer
from tests.explorer.run_view.first_screen import LEAST_SHARE, first_screens
from tests.queries.traces import Row, as_dicts
from tests.same_numbers import walk

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect

CHECKOUT = Path(__file__).parents[2]
TRACEGRADE = Path(sys.executable).with_name("tracegrade")
pytestmark = pytest.mark.slow

MODEL_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")

Ask = Callable[[str], list[Row]]


class Run(NamedTuple):
    """One run of the demo."""

    exit_code: int
    output: str
    errors: str
    folder: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The demo, run against its own model server."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    environment = {k: v for k, v in os.environ.items() if k not in MODEL_VARIABLES}
    done = subprocess.run(
        [sys.executable, "-m", "demo", "--folder", folder],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr, folder)


@pytest.fixture(scope="module")
def ask(demo: Run) -> Iterator[Ask]:
    """Return a function that asks the demo's lake a question in SQL."""
    with connect(Lake.open(demo.folder / "lake")) as con:
        yield lambda query: as_dicts(con.sql(query))


def test_demo_ends_well(demo: Run) -> None:
    """It exits with 0 and has nothing to complain about."""
    assert (demo.exit_code, demo.errors) == (0, "")


def test_demo_keeps_lake_and_report_and_says_where(demo: Run) -> None:
    """The last lines name what it leaves, and the command that shows it in a browser."""
    lake, report, ui = demo.output.splitlines()[-3:]

    assert Path(lake.removeprefix("lake: ")).is_dir()
    assert Path(report.removeprefix("report: ")).read_text().startswith("<!")
    command = ["ui:", str(TRACEGRADE), "ui", "--lake", str(demo.folder / "lake"), "--open"]
    assert ui.split() == command


def test_each_stage_is_one_line(demo: Run) -> None:
    """A newcomer reads ten lines, in order, that say what happened."""
    stages = [line.partition(" ")[0] for line in demo.output.splitlines() if line.startswith("[")]

    assert stages == [f"[{number}/10]" for number in range(1, 11)]


def test_worked_task_has_nine_of_twelve_decisions_right(ask: Ask) -> None:
    """Release 1.0: the listing, the write before the disk check and the archive are wrong."""
    rows = ask(
        "SELECT decision, picked_tool, expected_tool, correct, failed_criteria FROM decisions "
        "WHERE task_id = 'clean-uploads' AND release = '1.0' ORDER BY decision_index"
    )

    wrong = [
        (row["picked_tool"], row["expected_tool"], row["failed_criteria"])
        for row in rows
        if not row["correct"]
    ]
    assert len(rows) == 12
    assert [tools[:2] for tools in wrong] == [
        ("list_directory", "is_empty"),
        ("write_clean_file", "check_disk_space"),
        ("archive_uploads", None),
    ]
    assert wrong[0][2] == ["c"]
    assert wrong[1][2] == ["a"]


def test_worked_task_scores(ask: Ask) -> None:
    """9/12 = 7.5 and 12 calls for 11 in 1.0; all right in 1.1; no look at the disk in 1.2."""
    rows = ask(
        "SELECT 10 * tsa.value AS tsa, tsa.numerator AS correct, step_efficiency.value AS steps, "
        "sub_goal_coverage.value AS coverage, critical_path_completion.value AS critical "
        "FROM trajectory_scores JOIN trajectories USING (trajectory_id, task_id, release) "
        "WHERE task_id = 'clean-uploads' AND kill_point IS NULL ORDER BY release"
    )

    assert rows[0] == {
        "tsa": 7.5,
        "correct": 9,
        "steps": pytest.approx(11 / 12),
        "coverage": 0.8,
        "critical": 0.75,
    }
    assert rows[1:] == [
        {"tsa": 10, "correct": 11, "steps": 1, "coverage": 1, "critical": 1},
        {
            "tsa": pytest.approx(100 / 11),
            "correct": 10,
            "steps": 1,
            "coverage": 0.8,
            "critical": 0.75,
        },
    ]


def test_worked_task_is_verified_and_killed(ask: Ask) -> None:
    """1.0 leaves what nothing names; 1.1 wrote down how to undo it, and recovery does."""
    rows = ask(
        "SELECT release, kill_point, boundary, immediate, after_recovery, success "
        "FROM harness_trials ORDER BY release, boundary NULLS FIRST"
    )

    assert [tuple(row.values()) for row in rows] == [
        ("1.0", None, None, None, None, True),
        ("1.0", "early", 1, 10, 10, None),
        ("1.0", "mid", 9, 0, 0, None),
        ("1.0", "late", 12, 0, 0, None),
        ("1.1", None, None, None, None, True),
        ("1.1", "early", 1, 10, 10, None),
        ("1.1", "mid", 10, 7, 10, None),
        ("1.1", "late", 11, 7, 10, None),
        ("1.2", None, None, None, None, True),
        ("1.2", "early", 1, 10, 10, None),
        ("1.2", "mid", 9, 7, 10, None),
        ("1.2", "late", 10, 7, 10, None),
    ]


def test_worked_task_has_all_axes(ask: Ask) -> None:
    """The T-Score of a release needs all three; only the worked task was killed."""
    rows = ask(
        "SELECT release, pq_strict.value AS planning, ra_after_recovery.value AS rollback "
        "FROM trajectory_scores WHERE ra_after_recovery.value IS NOT NULL ORDER BY release"
    )

    assert [tuple(row.values()) for row in rows] == [
        ("1.0", 3.75, pytest.approx(10 / 3)),
        ("1.1", 7.5, 10),
        ("1.2", 7.5, 10),
    ]


def test_runbook_and_human_are_shown_beside(demo: Run) -> None:
    """RA of 1.0: 3.33 by rule, 6.67 with the runbook, 7.33 once a human gave its late kill a 5."""
    _, shown = demo.output.split("Killed on purpose: task")
    by_rule, with_runbook = shown.split("RUNBOOK.yaml")
    before, after = with_runbook.split("tracegrade harness review")

    assert "3.33" in by_rule
    assert "by rule: 6.67" in before
    assert "7.33" in after


def test_worked_example_has_its_t_score(demo: Run) -> None:
    """7.5, 3.75 and 22/3 give 5.600: with the runbook, a human's 5 and strict planning quality."""
    lake = demo.folder / "lake-with-runbook"
    done = tracegrade("report", "--lake", lake, "--format", "json")

    (release,) = json.loads(done.stdout)["releases"]
    assert release["t_score"]["strict"]["value"] == pytest.approx(5.600, abs=0.0005)


def test_release_is_one_group_of_runs_in_one_mode(ask: Ask) -> None:
    """Runs of the harness and the others stand in one column of the report."""
    rows = ask(
        "SELECT release, run_mode, count(*) FILTER (WHERE kill_point IS NULL) AS runs, "
        "count(kill_point) AS killed FROM trajectories WHERE agent_name = 'file-agent' "
        "GROUP BY ALL ORDER BY ALL"
    )

    assert [tuple(row.values()) for row in rows] == [
        ("1.0", "live", 34, 3),
        ("1.1", "live", 34, 3),
        ("1.2", "live", 34, 3),
    ]


def test_second_release_is_better_overall(ask: Ask) -> None:
    """Over all tasks, each of the five headline scores that can be better is better."""
    metrics = ("tsa", "step_efficiency", "sub_goal_coverage", "critical_path_completion")
    rows = ask(
        "SELECT metric, release, value FROM release_scores WHERE agent_name = 'file-agent' "
        "AND task_category = '' ORDER BY metric, release"
    )

    value = {(row["metric"], row["release"]): row["value"] for row in rows}
    assert all(value[metric, "1.0"] < value[metric, "1.1"] for metric in metrics)
    assert value["tsa", "1.1"] == 1


@pytest.mark.parametrize(
    ("base", "candidate", "word"), [("1.0", "1.1", "ship"), ("1.1", "1.2", "hold")]
)
def test_one_release_may_ship_and_the_next_must_be_held(
    demo: Run, base: str, candidate: str, word: str
) -> None:
    """Twelve tasks are enough for the rule; 1.2 no longer solves those with a malformed upload."""
    command = ("compare", base, candidate, "--lake", demo.folder / "lake", "--agent", "file-agent")

    assert tracegrade(*command).stdout.startswith(f"{candidate}: {word}. ")


def test_errors_replans_and_recoveries_happen(ask: Ask) -> None:
    """Malformed uploads and a full disk fail calls; plans change, and some runs recover."""
    rows = ask(
        "SELECT task_id, release, sum(error_count)::BIGINT AS errors, "
        "sum(replans.value) AS replans, avg(replan_given_failure.value) AS reacted, "
        "avg(success.value) AS succeeded "
        "FROM trajectories JOIN trajectory_scores USING (trajectory_id, task_id, release) "
        "WHERE task_id IN ('semicolon-upload', 'full-disk') GROUP BY ALL ORDER BY ALL"
    )

    assert [tuple(row.values()) for row in rows] == [
        ("full-disk", "1.0", 3, 3, 1, 1),
        ("full-disk", "1.1", 0, 3, None, 1),
        ("full-disk", "1.2", 3, 0, 0, 0),
        ("semicolon-upload", "1.0", 9, 0, 0, 0),
        ("semicolon-upload", "1.1", 3, 3, 1, 1),
        ("semicolon-upload", "1.2", 3, 0, 0, 0),
    ]


def test_framework_agent_is_traced_without_a_change(ask: Ask) -> None:
    """Five runs of a stock SDK: two refunds fail once, one tool was never offered."""
    rows = ask(
        "SELECT tool_name, status, count(*) AS calls FROM steps JOIN trajectories "
        "USING (trajectory_id) WHERE release = '2026.11' AND kind = 'tool_call' "
        "AND tool_name IN ('issue_refund', 'cancel_order') GROUP BY ALL ORDER BY ALL"
    )

    assert [tuple(row.values()) for row in rows] == [
        ("cancel_order", "not_executed", 1),
        ("issue_refund", "error", 2),
        ("issue_refund", "ok", 3),
    ]


def test_framework_agent_runs_are_matched_to_tasks(ask: Ask) -> None:
    """Its spans carry no task: four requests are refunds, one comes too late."""
    rows = ask(
        "SELECT task_id, count(*) AS runs FROM trajectory_scores WHERE release = '2026.11' "
        "GROUP BY task_id ORDER BY task_id"
    )

    assert [tuple(row.values()) for row in rows] == [
        ("refund-order", 4),
        ("refuse-late-refund", 1),
    ]


def test_evidence_and_queries_are_shown(demo: Run) -> None:
    """The output has the worked example's numbers, why a pick was wrong, and two queries."""
    assert "7.5" in demo.output
    assert "picked list_directory at 'look'" in demo.output
    assert demo.output.count("An analyst asks: ") == 2
    assert "replanned" in demo.output
    assert "cost_1_0" in demo.output


def test_numbers_are_the_same_wherever_they_are_shown(demo: Run) -> None:
    """Of commands, pages and SQL, rollback-ability after kills among them."""
    told = walk(Lake.open(demo.folder / "lake"))

    assert told.differing() == []
    assert told.shared("value") > 150
    assert told.shared("sub-goal") > 20


@needs_chromium
def test_first_screens_of_its_runs_say_what_went_wrong(demo: Run) -> None:
    """Verdict, plan, the title of the steps and the first finding, of nine runs in ten."""
    lake = Lake.open(demo.folder / "lake")
    with (
        closing(explorer(lake)) as pages,
        closing(pages.latest),
        serving(pages) as base,
        chromium() as browser,
    ):
        found = first_screens(browser, lake, base)

    assert found.share_in_place >= LEAST_SHARE, found.runs
    assert found.share_with_finding >= LEAST_SHARE, found.runs
    assert found.too_high == []
