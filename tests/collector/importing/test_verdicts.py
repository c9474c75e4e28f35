"""Verdicts from files stand in the lake once, and a run that got one is scored anew."""

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.commands import tracegrade

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import Imported, import_files
from tracegrade_lake import VERDICTS, Lake, Table
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES

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
    return import_files(lake, [file], notes.append, reading=ReadOptions("auto", paths)), notes


def verdicts(lake: Lake) -> list[tuple[Any, ...]]:
    """Return the lake's verdicts without their date."""
    with connect(lake) as con:
        return con.sql(
            "SELECT trajectory_id, subject, sub_goal, kill_point, value, label, source, evidence "
            "FROM verdicts ORDER BY ALL"
        ).fetchall()


def verdict(**fields: Any) -> Row:
    """Return a verdict of success."""
    return {"trajectory_id": RUN, "value": 1, "source": "checker", **fields}


def planned(question: str, **fields: Any) -> Row:
    """Return a verdict on one question about the plan."""
    return verdict(subject="planning", question=question, **fields)


def served(step: object, **fields: Any) -> Row:
    """Return a verdict that the call of a step serves a sub-goal."""
    return verdict(**{"subject": "served", "sub_goal": "a", "step_index": step, **fields})


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


@pytest.mark.parametrize("kill_point", ["kill_point", "injection"])
def test_csv_holds_verdicts_as_well(lake: Lake, tmp_path: Path, kill_point: str) -> None:
    """A column each; empty cells say nothing, and cells may hold line breaks.

    Files of before `kill_point` was a name are read as well.
    """
    file = tmp_path / "verdicts.csv"
    file.write_text(
        f"trace_id,subject,{kill_point},value,evidence\r\n"
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


def test_each_question_about_a_plan_has_its_own_verdict(lake: Lake, tmp_path: Path) -> None:
    """A verdict is known by its question too, in JSON as in CSV; on success there is none."""
    first = [
        planned("scope_control", value=0.5),
        planned("reversibility", value="yes", label="yes"),
    ]
    add(lake, tmp_path / "plans.jsonl", *first)
    rows = tmp_path / "plans.csv"
    rows.write_text(
        "trajectory_id,subject,question,value,label,source\n"
        f"{RUN},planning,scope_control,1,,checker\n"
        f"{RUN},planning,branch_coverage,,no,checker\n"
        f"{RUN},success,Was it refunded?,1,,checker\n"
    )
    imported, notes = add(lake, rows)

    assert notes == []
    assert dict(imported.verdicts) == {"added": 2, "replaced": 1, "known": 0}
    with connect(lake) as con:
        found = con.sql("SELECT subject, question, value, label FROM verdicts ORDER BY ALL")
        assert found.fetchall() == [
            ("planning", "branch_coverage", None, "no"),
            ("planning", "reversibility", None, "yes"),
            ("planning", "scope_control", 1.0, None),
            ("success", None, 1.0, None),
        ]


def test_each_step_and_sub_goal_has_its_own_verdict(lake: Lake, tmp_path: Path) -> None:
    """Whether a call serves a sub-goal is known by both, in JSON as in CSV."""
    add(lake, tmp_path / "calls.jsonl", served(3), served(3, sub_goal="b"), served(4.0))
    rows = tmp_path / "calls.csv"
    rows.write_text(
        "trajectory_id,subject,sub_goal,step_index,label,source\n"
        f"{RUN},served,a,3,no,checker\n"
        f"{RUN},served,a,5,yes,checker\n"
        f"{RUN},sub_goal,a,5,yes,checker\n"
    )
    imported, notes = add(lake, rows)

    assert notes == []
    assert dict(imported.verdicts) == {"added": 2, "replaced": 1, "known": 0}
    with connect(lake) as con:
        found = con.sql("SELECT subject, sub_goal, step_index, value, label FROM verdicts")
        assert sorted(found.fetchall(), key=str) == [
            ("served", "a", 3, None, "no"),
            ("served", "a", 4, 1.0, None),
            ("served", "a", 5, None, "yes"),
            ("served", "b", 3, 1.0, None),
            ("sub_goal", "a", None, None, "yes"),
        ]


def test_a_lake_from_before_there_were_questions_opens(lake: Lake, tmp_path: Path) -> None:
    """Its verdicts have none, and are known again, replaced and joined by new ones."""
    columns = tuple(
        column for column in VERDICTS.columns if column.name not in {"question", "step_index"}
    )
    older = Table(VERDICTS.name, "", columns)
    day = datetime.date(2026, 1, 2)
    row = {**verdict(subject="success", value=1.0), "date": day}
    lake.append(older, pa.Table.from_pylist([row], schema=older.arrow()))
    assert [row[0] for row in verdicts(lake)] == [RUN]

    again, _ = add(lake, tmp_path / "same.jsonl", verdict())
    later, _ = add(lake, tmp_path / "more.jsonl", verdict(value=0), planned("scope_control"))
    assert dict(again.verdicts) == {"added": 0, "replaced": 0, "known": 1}
    assert dict(later.verdicts) == {"added": 1, "replaced": 1, "known": 0}
    assert [(row[1], row[4]) for row in verdicts(lake)] == [("planning", 1.0), ("success", 0.0)]


def test_fields_of_verdicts_can_be_mapped(lake: Lake, tmp_path: Path) -> None:
    """Other tools have other names for them."""
    record = {"run": {"id": RUN}, "grade": 0.8, "by": "judge:1"}
    paths = {"trajectory_id": "run.id", "value": "grade", "source": "by"}
    _, notes = add(lake, tmp_path / "file", record, **paths)

    assert notes == []
    assert verdicts(lake) == [(RUN, "success", None, None, 0.8, None, "judge:1", None)]


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"trajectory_id": "x", "value": 1}, "trajectory_id must be 32 hex digits, '-' and 16"),
        ({"trace_id": 5, "value": 1}, "trace_id must be 32 hex digits"),
        ({"value": 1}, "a verdict needs a trajectory_id, a trace_id or a task"),
        ({"verdicts": [3]}, "a verdict is an object, this is a int"),
        (verdict(value=None), "a verdict needs a value"),
        (verdict(value=[1]), "a verdict needs a value"),
        (verdict(value=float("inf")), "a verdict needs a value"),
        (verdict(subject="fame"), "subject must be one of success, step, sub_goal, served, "),
        (verdict(subject={}), "subject must be one of success, step, sub_goal, served, "),
        (verdict(subject="sub_goal"), "a verdict on a sub_goal must name it"),
        (verdict(subject="served", step_index=0), "the sub_goal that a call served must name it"),
        (served(None), "must name a step_index, a whole number from 0"),
        (served(-1), "must name a step_index, a whole number from 0"),
        (served(1.5), "must name a step_index, a whole number from 0"),
        (served(2**31), "must name a step_index, a whole number from 0"),
        (served(True), "must name a step_index, a whole number from 0"),
        (verdict(subject="rollback"), "kill_point must be one of early, mid, late"),
        (verdict(subject="planning"), "question must be one of dependency_ordering, branch_"),
        (verdict(subject="planning", question="scope_control", value=7), "this has value 7"),
        (planned("reversibility", label="half", value=None), "this has label 'half'"),
    ],
)
def test_what_is_no_verdict_is_named_by_its_line(
    lake: Lake, tmp_path: Path, record: Row, fault: str
) -> None:
    """One line for each, and the others are read."""
    file = tmp_path / "verdicts.jsonl"
    imported, notes = add(lake, file, verdict(), record, verdict(source="b"))

    assert len(notes) == 1
    assert notes[0].startswith(f"{file}:2")
    assert fault in notes[0]
    assert imported.verdicts["added"] == 2


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        ("llm-judge", True),
        ("Judge:answers", True),
        ("reviewed by a human", True),
        ("judge", False),
        ("judge:gpt human-like", False),
        ("human:judy", False),
        ("pytest", False),
    ],
)
def test_source_that_looks_like_a_judges_or_a_persons_is_told(
    lake: Lake, tmp_path: Path, source: str, is_told: bool
) -> None:
    """It counts as a verifier's, perhaps by mistake; the note comes once for a file's verdicts."""
    rows = [verdict(source=source, subject="sub_goal", sub_goal=name) for name in ("a", "b")]
    imported, notes = add(lake, file := tmp_path / "verdicts.jsonl", *rows)

    told = f"{file}: 2 verdicts, first of source '{source}', count as a verifier's: a source is a"
    assert imported.verdicts["added"] == 2
    assert [note[: len(told)] for note in notes] == ([told] if is_told else [])


def test_secrets_in_evidence_are_redacted(lake: Lake, tmp_path: Path) -> None:
    """A judge may quote what it saw."""
    add(lake, tmp_path / "file", verdict(evidence="it printed AKIAIOSFODNN7EXAMPLE"))

    assert verdicts(lake)[0][-1] == "it printed [redacted:api_key]"


def successes(lake: Lake) -> list[tuple[Any, ...]]:
    """Score what needs it, and return each run's success, and who says so."""
    score(lake, specification("tasks: {}"))
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql(
            "SELECT success.value, success.source FROM trajectory_scores ORDER BY trajectory_id"
        ).fetchall()


@pytest.mark.slow
def test_a_verdict_scores_its_run_anew(lake: Lake, tmp_path: Path) -> None:
    """A verdict counts as new data of its trace; a trace's verdict is one on its outermost run."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    failed = json.dumps({"messages": messages, "success": False}) + "\n"
    (tmp_path / "runs.jsonl").write_text(failed * 3)
    import_files(lake, [tmp_path / "runs.jsonl"], print)
    before = successes(lake)
    with connect(lake) as con:
        ids = con.sql("SELECT trajectory_id, trace_id FROM trajectories ORDER BY 1").fetchall()
    passed = {"label": "passed", "source": "tests"}
    of_run, of_trace = {"trajectory_id": ids[0][0]}, {"trace_id": ids[1][1]}
    add(lake, tmp_path / "verdicts.jsonl", {**of_run, **passed}, {**of_trace, **passed})

    assert before == [(0.0, "trace")] * 3
    assert successes(lake) == [(1.0, "verifier"), (1.0, "verifier"), (0.0, "trace")]


def run(**fields: Any) -> Row:
    """Return a run of a few words."""
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    return {"messages": said, **fields}


RUNS: list[Row] = [
    *({"task": "t", "trial": trial, "agent": "a"} for trial in range(2)),
    *({"task": "t", "trial": 0, "agent": "b", "release": release} for release in ("1", "2")),
    *({"task": "talk", "conversation_id": "c"} for _ in range(2)),
    *({"task": "alone"} for _ in range(2)),
]


JUDGED: list[tuple[Row, list[int] | str]] = [
    ({"task_id": "t", "trial": 1}, [1]),
    ({"task": "t", "trial": "1"}, [1]),
    ({"task": "t", "trial": 1.0}, [1]),
    ({"task": "t", "trial": 0, "agent": "a"}, [0]),
    ({"task": "t", "agent": "b", "release": "2"}, [3]),
    ({"task": "talk"}, [4, 5]),
    ({"task": "t", "trial": 0}, "3 runs have task 't', trial '0'; tell them apart"),
    ({"task": "alone"}, "2 runs have task 'alone'; tell them apart by trial, agent"),
    ({"task": "t", "trial": 2}, "no run in the lake has task 't', trial '2'; import the"),
    ({"task": "x"}, "no run in the lake has task 'x'; import the runs before"),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the runs above."""
    file = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    file.write_text("".join(json.dumps(run(**each)) + "\n" for each in RUNS))
    return file


def test_a_verdict_can_name_its_task(lake: Lake, tmp_path: Path, runs: Path) -> None:
    """With what tells its runs apart; of a conversation it judges all turns, else one run."""
    file, notes = tmp_path / "verdicts.jsonl", list[str]()
    named = [{**each, "value": 1, "source": str(i)} for i, (each, _) in enumerate(JUDGED)]
    file.write_text("".join(json.dumps(each) + "\n" for each in named))
    imported = import_files(lake, [file, runs], notes.append)  # spans are written first
    build(lake)
    with connect(lake) as con:
        at = con.sql("SELECT trajectory_id FROM trajectories ORDER BY start_time").fetchall()
    judged: dict[str, list[int]] = {}
    for run_id, *_, source, _ in verdicts(lake):
        judged.setdefault(source, []).append(at.index((run_id,)))

    found = {str(i): runs for i, (_, runs) in enumerate(JUDGED) if isinstance(runs, list)}
    assert {source: sorted(runs) for source, runs in judged.items()} == found
    said = [(i, text) for i, (_, text) in enumerate(JUDGED, start=1) if isinstance(text, str)]
    expected = [f"{file}:{line}: {text}" for line, text in said]
    assert [note[: len(text)] for note, text in zip(notes, expected, strict=True)] == expected
    assert imported.faults == len(expected)
    assert import_files(lake, [file], print).verdicts == {"added": 0, "replaced": 0, "known": 7}


def test_a_record_may_hold_a_list_of_verdicts(lake: Lake, tmp_path: Path, runs: Path) -> None:
    """Each has what its record says; one that names a sub-goal is on that."""
    import_files(lake, [runs], print)
    needs = [{"requirement_id": 0, "satisfied": True}, {"requirement_id": 1, "satisfied": False}]
    file = tmp_path / "judged.json"
    file.write_text(json.dumps({"name": "t", "run": 1, "requirements": needs}))
    paths = {"verdicts": "requirements", "task": "name", "trial": "run"}
    paths |= {"sub_goal": "requirement_id", "value": "satisfied", "source": "=human"}
    _, notes = add(lake, file, **paths)

    assert notes == []
    assert [(*row[1:5], row[6]) for row in verdicts(lake)] == [
        ("sub_goal", "0", None, 1.0, "human"),
        ("sub_goal", "1", None, 0.0, "human"),
    ]


def test_real_labels_find_their_runs(lake: Lake, shared_data: Path) -> None:
    """WorkBench: 388 of 400 labels have a run with steps, 159 of them say correct."""
    workbench = shared_data / "workbench"
    paths = {"task": "query", "agent": "model"}
    import_files(lake, [workbench / "runs.jsonl.gz"], print, reading=ReadOptions("auto", paths))
    imported, notes = add(lake, workbench / "labels.jsonl.gz", **paths, value="correct")

    assert (imported.verdicts["added"], len(notes)) == (388, 12)
    assert sum(row[4] for row in verdicts(lake)) == 159


def test_real_judgments_of_sub_goals_find_their_runs(
    lake: Lake, tmp_path: Path, shared_data: Path
) -> None:
    """DevAI: 366 verdicts of people on the requirements of 55 tasks, 157 of them met."""
    files = sorted((shared_data / "devai/judgment/OpenHands/human_as_a_judge").glob("*.json"))
    tasks = [json.loads(file.read_text())["name"] for file in files]
    (tmp_path / "runs.jsonl").write_text(
        "".join(json.dumps(run(task=task)) + "\n" for task in tasks)
    )
    paths = {"verdicts": "requirements", "task": "name", "source": "=human"}
    paths |= {"sub_goal": "requirement_id", "value": "satisfied"}
    import_files(lake, [tmp_path / "runs.jsonl"], print)
    imported = import_files(lake, files, print, reading=ReadOptions("auto", paths))

    assert (len(files), imported.verdicts["added"], imported.faults) == (55, 366, 0)
    assert sum(row[4] for row in verdicts(lake)) == 157


def test_the_command_ends_with_2_if_something_was_not_read(tmp_path: Path) -> None:
    """What could be read is in the lake; stdout stays empty, stderr says what was counted."""
    file = tmp_path / "verdicts.jsonl"
    file.write_text(json.dumps(verdict()) + "\n{}\n")
    done = tracegrade("import", file, "--format", "verdicts", "--lake", tmp_path / "lake")

    assert (done.returncode, done.stdout) == (2, "")
    assert f"{file}:2: a verdict needs a value" in done.stderr
    assert "verdicts: 1 added, 0 replaced, 0 were in the lake already" in done.stderr
