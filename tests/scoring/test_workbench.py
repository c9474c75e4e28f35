"""Tool correctness next to the true label of WorkBench's runs: docs/internals/measurements.md.

Source of the runs: [Styles 2024].
"""

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import yaml

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.ground_truth import task_file

from .build import specification

pytestmark = pytest.mark.slow

CALENDAR = ("create_event", "delete_event", "update_event")
EMAIL = ("send_email", "delete_email", "forward_email", "reply_email")
READS = (
    *("calendar.search_events", "calendar.get_event_information_by_id"),
    *("email.search_emails", "email.get_email_information_by_id"),
    "company_directory.find_email_address",
)
TOOLS = {
    **{name: {"effect": "read"} for name in READS},
    **{f"calendar.{name}": {"effect": "write"} for name in CALENDAR},
    **{f"email.{name}": {"effect": "write"} for name in EMAIL},
}
SAYS_NO = {"error_pattern": "^(Email|Event|Field) not |^Invalid|^Participant email not"}
"""How these tools say that a call was in vain."""
PATHS = {
    **{"messages": "steps", "task": "task", "success": "correct"},
    **{"release": "model", "user_input": "query"},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Path:
    """The 400 runs, each with its task and the label of the benchmark's own scorer."""
    folder, file = shared_data / "workbench", tmp_path_factory.mktemp("workbench") / "runs.jsonl"
    with (
        gzip.open(folder / "runs.jsonl.gz", "rt") as made,
        gzip.open(folder / "labels.jsonl.gz", "rt") as labels,
        file.open("w") as merged,
    ):
        for line, label in zip(made, labels, strict=True):
            run = json.loads(line)
            known = {"task": f"{run['domain']}-{run['row']}"}
            correct = json.loads(label)["correct"]
            merged.write(json.dumps({**run, **known, "correct": correct}) + "\n")
    return file


@pytest.fixture(scope="module")
def tasks(runs: Path) -> Specification:
    """The expected writes of each task, in any order."""
    paths = {"task": "task", "expected": "expected_actions"}
    truth = yaml.safe_load(task_file([runs], paths, "writes", list[str]().append))
    unordered = {name: {**t, "sequence_matters": False} for name, t in truth["tasks"].items()}
    return specification(json.dumps({"tools": TOOLS, "tasks": unordered}))


@pytest.fixture(scope="module")
def lake(runs: Path, tasks: Specification, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """The scored runs; tests read it or take a copy."""
    lake = Lake.create(tmp_path_factory.mktemp("lake"))
    import_files(lake, [runs], list[str]().append, reading=ReadOptions("messages", PATHS))
    score(lake, tasks)
    return lake


@pytest.fixture(scope="module")
def con(lake: Lake) -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of the scored runs."""
    with connect(lake, layers=(SCORES,)) as con:
        yield con


AGREEMENT = [
    # label, tool-correct, and without utilization: runs
    ("correct", "no", "no", 5),
    ("correct", "no", "yes", 5),
    ("correct", "no_calls", "no_calls", 20),
    ("correct", "yes", "yes", 129),
    ("incorrect", "no", "no", 229),
]
"""The table of docs/internals/measurements.md."""


def test_tool_correctness_agrees_with_the_true_label(con: duckdb.DuckDBPyConnection) -> None:
    """No incorrect run is tool-correct; ten correct ones are not, five of them by use alone."""
    rows = con.sql("""
      SELECT
        if(success.value = 1, 'correct', 'incorrect') AS label,
        coalesce(tool_correct.reason, if(tool_correct.value = 1, 'yes', 'no')) AS correct,
        coalesce(
          tool_correct.reason,
          if(
            coalesce(tool_selection_jaccard.value, 1) = 1
            AND coalesce(tool_parameters.value, 1) = 1
            AND coalesce(tool_sequence.value, 1) = 1,
            'yes', 'no'
          )
        ) AS without_utilization,
        count(*)
      FROM trajectory_scores
      GROUP BY ALL
      ORDER BY ALL
    """)

    assert rows.fetchall() == AGREEMENT


def test_disagreements_are_failed_attempts_at_the_same_write(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Each of the five made up an id first, in vain, and then found the right one."""
    rows = con.sql("""
      SELECT bool_or(steps.result IN ('Email not found.', 'Event not found.'))
      FROM trajectory_scores INNER JOIN steps USING (trajectory_id)
      WHERE success.value = 1 AND tool_selection_jaccard.value < 1 AND steps.kind = 'tool_call'
      GROUP BY trajectory_id
    """)

    assert rows.fetchall() == [(True,)] * 5


def test_failures_and_recovery_need_no_tasks(lake: Lake, tmp_path: Path) -> None:
    """A file of tools alone tells which calls failed, and how many were made good."""
    copy = Lake.open(shutil.copytree(lake.root, tmp_path / "copy"))
    tools = {name: {**tool, **SAYS_NO} for name, tool in TOOLS.items()}
    done = score(copy, specification(json.dumps({"tools": tools})))

    assert (done.counts.calls.made, done.counts.calls.failed) == (1050, 146)
    with connect(copy, layers=(SCORES,)) as con:
        recovered = con.sql("""
          SELECT release, sum(recovery_rate.numerator), sum(recovery_rate.denominator)
          FROM trajectory_scores GROUP BY release ORDER BY release
        """)
        assert recovered.fetchall() == [("gpt-4", 4, 4), ("mistral-8x7B", 19, 142)]
        evidence = con.sql("""
          SELECT failed_by, count(*), count_if(outcome = 'recovered')
          FROM failed_calls GROUP BY failed_by ORDER BY failed_by
        """)
        assert evidence.fetchall() == [("error_pattern", 120, 23), ("status", 26, 0)]


def test_loops_and_invented_tools_are_found(con: duckdb.DuckDBPyConnection) -> None:
    """Twelve runs, none correct, went round in circles; five called tools that do not exist."""
    rows = con.sql("""
      SELECT mode, success, count(*)
      FROM failures WHERE mode IN ('loop_trap', 'tool_hallucination')
      GROUP BY ALL ORDER BY ALL
    """)

    assert rows.fetchall() == [
        ("loop_trap", False, 12),
        ("tool_hallucination", False, 4),
        ("tool_hallucination", True, 1),
    ]


def test_nearly_every_failed_run_has_a_reason(con: duckdb.DuckDBPyConnection) -> None:
    """Of 229 failed runs 4 are unexplained; their steps are those that were expected."""
    rows = con.sql("""
      SELECT count(*), count_if(kind = 'unexplained')
      FROM run_reasons WHERE success IS FALSE AND rank_in_run = 1
    """)

    assert rows.fetchall() == [(229, 4)]
