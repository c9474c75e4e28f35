"""Judges of calls say which of several sub-goals a call serves, and cite why."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Ended, tracegrade
from tests.queries.traces import agent, land, request_of, span, tool
from tests.scoring.build import specification

from tracegrade_judges.questions.build import SERVED_CRITERION, JudgeQuestion
from tracegrade_judges.questions.runs import JudgedRun
from tracegrade_judges.twins.copies import twins_of
from tracegrade_judges.verdict import JudgedStep, SubGoalVerdict
from tracegrade_judges.verdict_checks import fault_of_served
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES

from .conftest import judge_file
from .model_server import Json, ModelServer, Reply, calling, quoted_in, response, verdict
from .reading import rows

TASKS = """
tasks:
  orders:
    sub_goals:
      find: {serves: [search], critical: true}
      check: {serves: [search], deps: [find]}
      pay: {serves: [pay]}
"""
RUNS = 3
"""Each calls `search` to find, and `pay`; those with an odd number `search` again, to check."""
QUESTIONS = 10
"""Two on each call of `search`."""


def ordered_run(trace: int) -> bytes:
    """Return a run of the task whose calls of `search` say what they are for."""
    calls = [("search", "find"), ("pay", "pay"), *((("search", "check"),) if trace % 2 else ())]
    spans = [agent(1, trace=trace, tracegrade__task__id="orders")]
    for number, (name, aim) in enumerate(calls, start=2):
        texts = {
            "gen_ai__tool__call__arguments": f'{{"aim": "to {aim}"}}',
            "gen_ai__tool__call__result": f"{aim} is done",
        }
        spans.append(tool(number, 1, tool_name=name, trace=trace, at=number, **texts))
    return request_of(spans, {"service.version": "1"})


@pytest.fixture(scope="session")
def ordered_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with these runs, scored; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("ordered") / "lake")
    land(lake, *map(ordered_run, range(1, RUNS + 1)))
    score(lake, specification(TASKS))
    return lake


@pytest.fixture
def lake(ordered_lake: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake."""
    return Lake.open(shutil.copytree(ordered_lake.root, tmp_path / "orders"))


def reader(request: Json, number: int = 0) -> Reply:
    """Read the call, and say that it serves what its arguments say."""
    del number
    messages = request["messages"]
    (step, sub_goal) = re.findall(
        r"The call of step (\d+) was made to get the sub-goal '(\w+)'", messages[0]["content"]
    )[0]
    results = [each for each in messages if each["role"] == "tool"]
    if not results:
        return Reply(
            response({"tool_calls": [calling("read_step", {"step": int(step)})]}, request)
        )
    texts = json.loads(quoted_in(results[0]["content"])[0])
    met = "yes" if f"to {sub_goal}" in texts["arguments"] else "no"
    said = {"met": met, "evidence_steps": [int(step)], "quote": texts["result"], "reason": "aim"}
    return verdict(said, request)


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges, and score the lake."""
    ended = tracegrade("judge", "run", judges, "--lake", lake.root, *options)
    score(lake, specification(TASKS))
    return ended


def coverage(lake: Lake) -> list[Any]:
    """Return how many sub-goals each run attempted, in the order of the traces."""
    with connect(lake, layers=(SCORES,)) as con:
        found = con.sql(
            "SELECT sub_goal_coverage.numerator FROM trajectory_scores ORDER BY trajectory_id"
        )
        return [value for (value,) in found.fetchall()]


def decided(lake: Lake) -> list[tuple[Any, ...]]:
    """Return what became of each ambiguous call."""
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql(
            "SELECT step_index, served, decided_by FROM ambiguous_calls ORDER BY ALL"
        ).fetchall()


def test_what_a_judge_says_of_calls_changes_scores(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """It is asked of each candidate, once; a run that only searched to find skipped the check."""
    server.rule = reader
    judges = judge_file(tmp_path, subject="served")
    before = coverage(lake)
    estimated = tracegrade("judge", "estimate", judges, "--lake", lake.root)
    first = run(lake, judges, "--max-tokens", 1_000_000)
    requests = len(server.bodies)
    again = run(lake, judges, "--max-tokens", 1_000_000)

    assert before == [3, 3, 3]
    assert f"{QUESTIONS} questions, {QUESTIONS} not in the cache" in estimated.stdout
    assert (first.returncode, again.returncode) == (0, 0)
    assert f"{QUESTIONS} questions, {QUESTIONS} verdicts (0 errors)" in first.stdout
    assert f"added 0, replaced 0, known {QUESTIONS}" in again.stdout
    assert requests == len(server.bodies) == 2 * QUESTIONS
    assert coverage(lake) == [3, 2, 3]
    of_find = [(0, ["find"], "judge")] * 3
    assert decided(lake) == [*of_find, *[(4, ["check"], "judge")] * 2]
    kept = rows(lake, "verdicts")
    assert {(row["subject"], row["source"]) for row in kept} == {("served", "judge:nodes")}
    evidence = json.loads(kept[0]["evidence"])
    assert evidence["evidence_steps"] == [kept[0]["step_index"]]
    assert evidence["reason"] == "aim"
    assert {row["step_index"] for row in rows(lake, "judge_calls")} == {0, 4}
    told = json.loads(server.bodies[0])["messages"][0]["content"]
    assert '- find: {"serves": [' in told
    assert '"critical": true' in told


def test_a_report_marks_scores_until_people_measured_the_judge(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """Labels of drawn verdicts decide before the judge's, and count its agreement."""
    server.rule = reader
    judges = judge_file(tmp_path, subject="served")
    run(lake, judges, "--max-tokens", 1_000_000)
    report = tracegrade("report", "--lake", lake.root, "--format", "json")
    of_judge = ("--lake", lake.root, "--judge", "nodes")
    drawn, labeled = tmp_path / "drawn.csv", tmp_path / "labeled.csv"
    assert tracegrade("judge", "label", *of_judge, "--out", drawn).returncode == 0
    with drawn.open(newline="") as file:
        items = list(csv.DictReader(file))
    with labeled.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["item", "label"])
        writer.writeheader()
        for row in items:
            writer.writerow({"item": row["item"], "label": LABELS[row["sub_goal"]]})
    taken = tracegrade("judge", "label", *of_judge, "--labels", labeled, "--by", "ann")
    score(lake, specification(TASKS))
    measured = tracegrade("judge", "calibrate", *of_judge)

    (release,) = json.loads(report.stdout)["releases"]
    assert "uncalibrated" in release["metrics"]["sub_goal_coverage"]["flags"]
    assert release["remarks"]["calls"]["served_by_models"] == 5
    assert len({row["item"] for row in items}) == len(items) == QUESTIONS
    assert {row["step_index"] for row in items} == {"0", "4"}
    assert "step 0 was made to get the sub-goal 'find' done" in " ".join(
        row["question"] for row in items
    )
    assert all(row["question"].endswith("It may serve: find, check") for row in items)
    assert str(QUESTIONS) in taken.stdout
    assert {(served[0], by) for _, served, by in decided(lake)} == {("check", "verifier")}
    assert measured.returncode == 1
    (calibration,) = rows(lake, "verdict_calibrations")
    found = {name: calibration[name] for name in ("labels", "both_yes", "both_no")}
    assert found == {"labels": QUESTIONS, "both_yes": 2, "both_no": 2}
    assert rows(lake, "corrected_rates") == []
    left = tracegrade("judge", "estimate", judges, "--lake", lake.root)
    assert "0 questions" in left.stdout


LABELS = {"find": "no", "check": "yes"}
"""A person says that every search was a check."""


def test_twins_attack_the_call_and_what_stands_around_it(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """An honest judge is not moved, and says no to the opposite of a yes."""
    server.rule = reader
    judges = judge_file(tmp_path, subject="served")
    asked = tracegrade(
        "judge", "twins", judges, "--lake", lake.root, "--max-tokens", 9_000_000, "--count", 2
    )

    assert asked.returncode == 0, asked.stderr
    twins = rows(lake, "judge_twins")
    assert {row["subject"] for row in twins} == {"served"}
    assert {row["step_index"] for row in twins} <= {0, 4}
    assert {row["place"] for row in twins} == {"argument", "result", "thought", "answer", None}


RUN = JudgedRun("1-1", "orders", None, None, "Check it.", "Checked.", 0)
QUESTION = JudgeQuestion(
    "calls",
    RUN,
    "check",
    SERVED_CRITERION.format(step_index=1, sub_goal="check"),
    step_index=1,
    candidates={"find": "{}", "check": "{}"},
)
STEPS = [
    JudgedStep(0, "thought", None, None, None, {"content": "First I check it."}),
    JudgedStep(1, "tool_call", None, "search", "ok", {"arguments": "{}", "result": "o"}),
    JudgedStep(2, "answer", None, None, None, {"content": "Checked."}),
]


def test_a_question_about_a_call_has_its_subject_and_its_opposite() -> None:
    """The last twin asks for the opposite of the criterion."""
    *_, last = twins_of(QUESTION, STEPS, graded=False)

    assert QUESTION.subject == last.question.subject == "served"
    assert last.twin == "negation"
    assert QUESTION.criterion in last.question.criterion != QUESTION.criterion


@pytest.mark.parametrize(
    ("met", "steps", "quote", "fault"),
    [
        ("yes", [0, 1], "First I check", None),
        ("yes", [0], "First I check", "a yes has to cite the call itself, step 1"),
        ("no", [0], "First I check", None),
        ("yes", [1, 7], "o", "steps that do not exist: [7]"),
        ("yes", [1], "never said", "quote is in none"),
        ("no", [], "o", "evidence_steps is empty"),
        ("cannot_tell", [], "", None),
    ],
)
def test_a_verdict_on_a_call_cites_it(
    met: str, steps: list[int], quote: str, fault: str | None
) -> None:
    """A verdict cites a step and words of it; a yes cites the call, even with other evidence."""
    said = {"met": met, "evidence_steps": steps, "quote": quote, "reason": "r"}
    found = fault_of_served(SubGoalVerdict.model_validate(said), STEPS, 1)

    assert (found is None) if fault is None else (found is not None and fault in found)


def test_a_call_whose_arguments_were_not_captured_is_not_asked_about(
    tmp_path: Path, server: ModelServer
) -> None:
    """What the judge would need is lacking, and the verdict says so."""
    lake = Lake.create(tmp_path / "blind")
    spans = [agent(1, tracegrade__task__id="orders"), tool(2, 1, tool_name="search", at=2)]
    told: dict[str, Any] = {"tracegrade__step__kind": "thought"}
    spans.append(span(3, 1, at=1, **told, tracegrade__thought__content="I search."))
    land(lake, request_of(spans, {"service.version": "1"}))
    score(lake, specification(TASKS))
    run(lake, judge_file(tmp_path, subject="served"), "--max-tokens", 1_000_000)

    assert server.bodies == []
    kept = rows(lake, "verdicts")
    assert [row["label"] for row in kept] == ["error", "error"]
    assert {json.loads(row["evidence"])["reason_code"] for row in kept} == {"content_missing"}
    assert [by for *_, by in decided(lake)] == ["rule"]
