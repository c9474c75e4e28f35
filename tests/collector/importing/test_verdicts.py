"""Verdicts from files stand in the lake once, and a run that got one is scored anew."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tracegrade_collector.importer import Imported, import_files
from tracegrade_collector.importing.part import Reading
from tracegrade_collector.lake import Lake
from tracegrade_queries.connection import connect
from tracegrade_scoring.job import score
from tracegrade_scoring.schema import SCORE_TABLES

from ...scoring.build import specification

TRACE = "1" * 32
RUN = f"{TRACE}-{'2' * 16}"

Row = dict[str, Any]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def add(lake: Lake, file: Path, *records: Row, **paths: str) -> tuple[Imported, list[str]]:
    """Import a file of these records; return the counts and the notes."""
    if records:
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
    notes: list[str] = []
    return import_files(lake, [file], notes.append, reading=Reading("auto", paths)), notes


def verdicts(lake: Lake) -> list[tuple[Any, ...]]:
    """Return the lake's verdicts without their date."""
    with connect(lake) as con:
        return con.sql("SELECT * EXCLUDE (date) FROM verdicts ORDER BY ALL").fetchall()


def verdict(**fields: Any) -> Row:
    """Return a verdict of success."""
    return {"trajectory_id": RUN, "value": 1, "source": "checker", **fields}


def test_each_verdict_stands_in_the_lake_once(lake: Lake, tmp_path: Path) -> None:
    """The same file adds nothing, a grown one what is new, and what changed stands for the old."""
    file = tmp_path / "verdicts.jsonl"
    goal = verdict(subject="sub_goal", sub_goal="pay", label="done", value=None)
    first, _ = add(lake, file, verdict(), goal)
    again, _ = add(lake, file)
    grown, _ = add(lake, file, verdict(value=0), goal, verdict(source="another"))

    assert [dict(each.verdicts) for each in (first, again, grown)] == [
        {"added": 2, "replaced": 0, "known": 0},
        {"added": 0, "replaced": 0, "known": 2},
        {"added": 1, "replaced": 1, "known": 1},
    ]
    assert verdicts(lake) == [
        (RUN, "sub_goal", "pay", None, None, "done", "checker", None),
        (RUN, "success", None, None, 0.0, None, "checker", None),
        (RUN, "success", None, None, 1.0, None, "another", None),
    ]


def test_csv_holds_verdicts_as_well(lake: Lake, tmp_path: Path) -> None:
    """A column each; empty cells say nothing, and cells may hold line breaks."""
    file = tmp_path / "verdicts.csv"
    file.write_text(
        "trace_id,subject,injection,value,evidence\r\n"
        f'{TRACE},rollback,late,7,"all undone,\r\nbut slowly"\r\n'
        f"{TRACE},success,,true,\r\n"
    )
    imported, notes = add(lake, file)

    assert notes == []
    assert imported.understood == {"verdicts": 2}
    evidence = "all undone,\r\nbut slowly"
    assert verdicts(lake) == [
        (TRACE, "rollback", None, "late", 7.0, None, "import", evidence),
        (TRACE, "success", None, None, 1.0, None, "import", None),
    ]


def test_fields_of_verdicts_can_be_mapped(lake: Lake, tmp_path: Path) -> None:
    """Other tools have other names for them."""
    record = {"run": {"id": RUN}, "grade": 0.8, "by": "judge-1"}
    paths = {"trajectory_id": "run.id", "value": "grade", "source": "by"}
    _, notes = add(lake, tmp_path / "file", record, **paths)

    assert notes == []
    assert verdicts(lake) == [(RUN, "success", None, None, 0.8, None, "judge-1", None)]


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"trajectory_id": "x", "value": 1}, "trajectory_id must be 32 hex digits, '-' and 16"),
        ({"trace_id": 5, "value": 1}, "trace_id must be 32 hex digits"),
        ({"value": 1}, "a verdict needs a trajectory_id or a trace_id"),
        (verdict(value=None), "a verdict needs a value"),
        (verdict(value=[1]), "a verdict needs a value"),
        (verdict(value=float("inf")), "a verdict needs a value"),
        (verdict(subject="fame"), "subject must be one of success, sub_goal, rollback"),
        (verdict(subject={}), "subject must be one of success, sub_goal, rollback"),
        (verdict(subject="sub_goal"), "a verdict on a sub_goal must name it"),
        (verdict(subject="rollback"), "injection must be one of early, mid, late"),
    ],
)
def test_what_is_no_verdict_is_named_by_its_line(
    lake: Lake, tmp_path: Path, record: Row, fault: str
) -> None:
    """One line for each, and the others are read."""
    file = tmp_path / "verdicts.jsonl"
    imported, notes = add(lake, file, verdict(), record, verdict(source="b"))

    assert [note[: len(f"{file}:2: {fault}")] for note in notes] == [f"{file}:2: {fault}"]
    assert imported.verdicts["added"] == 2


def test_secrets_in_evidence_are_redacted(lake: Lake, tmp_path: Path) -> None:
    """A judge may quote what it saw."""
    add(lake, tmp_path / "file", verdict(evidence="it printed AKIAIOSFODNN7EXAMPLE"))

    assert verdicts(lake)[0][-1] == "it printed [redacted:api_key]"


def successes(lake: Lake) -> list[tuple[Any, ...]]:
    """Score what needs it, and return each run's success, and who says so."""
    score(lake, specification("tasks: {}"))
    with connect(lake, tables=SCORE_TABLES) as con:
        return con.sql(
            "SELECT success.value, success.source FROM trajectory_scores ORDER BY trajectory_id"
        ).fetchall()


@pytest.mark.parametrize("field", ["trajectory_id", "trace_id"])
def test_a_verdict_scores_its_run_anew(lake: Lake, tmp_path: Path, field: str) -> None:
    """A verdict counts as new data of its trace; a trace's verdict is one on its outermost run."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    (tmp_path / "run.json").write_text(json.dumps({"messages": messages, "success": False}))
    import_files(lake, [tmp_path / "run.json"], print)
    before = successes(lake)
    with connect(lake) as con:
        run = con.sql(f"SELECT {field} FROM trajectories").fetchall()[0][0]
    add(lake, tmp_path / "verdicts.jsonl", {field: run, "label": "passed", "source": "tests"})

    assert before == [(0.0, "trace")]
    assert successes(lake) == [(1.0, "verifier")]


def test_the_command_ends_with_2_if_something_was_not_read(tmp_path: Path) -> None:
    """What could be read is in the lake; stdout stays empty, stderr says what was counted."""
    file = tmp_path / "verdicts.jsonl"
    file.write_text(json.dumps(verdict()) + "\n{}\n")
    program = str(Path(sys.executable).with_name("tracegrade"))
    command = [program, "import", str(file), "--format", "verdicts"]
    command += ["--lake", str(tmp_path / "lake")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert f"{file}:2: a verdict needs a value" in done.stderr
    assert "verdicts: 1 added, 0 replaced, 0 were in the lake already" in done.stderr
