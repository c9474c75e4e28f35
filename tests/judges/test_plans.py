"""Judges of plans answer what neither people nor a rule can, and cite what was planned."""

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

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_judges.questions.build import PLAN_CRITERIA, JudgeQuestion, readable_steps
from tracegrade_judges.questions.runs import JudgedRun
from tracegrade_judges.twins.copies import twins_of
from tracegrade_judges.verdict import JudgedStep, SubGoalVerdict
from tracegrade_judges.verdict_checks import fault_of_plan
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.lake import read_lake

from .conftest import judge_file
from .model_server import Json, ModelServer, Reply, calling, quoted_in, response, verdict
from .reading import rows

TASKS = """
tasks:
  files: {optimal_steps: 3, scope: [look, pay]}
"""
PROSE = "I shall look at the order first; if that fails, I stop. Paying comes last."
PLANS = (PROSE, "1. look at it\n2. pay (write); undo it by a refund", "", PROSE)
"""Of traces 1 to 4: in prose, as a list, none that was recorded, and in prose again."""
SCOPE = "Each step of the plan serves"


def planned_run(trace: int, plan: str) -> bytes:
    """Return a run of the task that plans so, and then calls two tools."""
    spans = [agent(1, trace=trace, tracegrade__task__id="files")]
    told: dict[str, Any] = {"tracegrade__step__kind": "plan", "tracegrade__plan": plan}
    spans += [span(2, 1, trace=trace, at=1, **told)] if plan else []
    for number, name in enumerate(("look", "pay"), start=3):
        texts = {
            "gen_ai__tool__call__arguments": '{"order": 1}',
            "gen_ai__tool__call__result": "ok",
        }
        spans.append(tool(number, 1, tool_name=name, trace=trace, at=number, **texts))
    return request_of(spans, {"service.version": "1"})


@pytest.fixture(scope="session")
def planned_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with a run for each of the plans, scored; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("planned") / "lake")
    land(lake, *(planned_run(trace, plan) for trace, plan in enumerate(PLANS, start=1)))
    score(lake, specification(TASKS))
    return lake


@pytest.fixture
def lake(planned_lake: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake."""
    return Lake.open(shutil.copytree(planned_lake.root, tmp_path / "plans"))


def reader(request: Json, number: int = 0) -> Reply:
    """Read the plan, and say that it meets all but reversibility."""
    del number
    messages = request["messages"]
    listed = quoted_in(messages[1]["content"])[-1]
    (step,) = re.findall(r"^(\d+) plan ", listed, re.MULTILINE)
    results = [each for each in messages if each["role"] == "tool"]
    if not results:
        return Reply(
            response({"tool_calls": [calling("read_step", {"step": int(step)})]}, request)
        )
    texts = json.loads(quoted_in(results[0]["content"])[0])
    quote = next(text for name, text in texts.items() if name != "kind")
    met = "no" if PLAN_CRITERIA["reversibility"] in messages[0]["content"] else "yes"
    said = {"met": met, "evidence_steps": [int(step)], "quote": quote[:20], "reason": "as told"}
    return verdict(said, request)


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges, and score the lake."""
    ended = tracegrade("judge", "run", judges, "--lake", lake.root, *options)
    score(lake, specification(TASKS))
    return ended


def planning(lake: Lake) -> dict[int, tuple[float | None, str | None, str | None]]:
    """Return planning quality, its source and its reason by the number of the trace."""
    with connect(lake, layers=(SCORES,)) as con:
        found = con.sql(
            "SELECT trajectory_id, pq.value, pq.source, pq.reason FROM trajectory_scores"
        )
        return {int(row[0][:32], 16): row[1:] for row in found.fetchall()}


def test_open_questions_are_asked_and_make_a_score(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """All four of prose, the one that no rule answers of a list, none where nothing was kept."""
    server.rule = reader
    judges = judge_file(tmp_path, subject="planning")
    before = planning(lake)
    first = run(lake, judges, "--max-tokens", 1_000_000)
    requests = len(server.bodies)
    again = run(lake, judges, "--max-tokens", 1_000_000)

    assert before[1] == (None, None, "plan_unreadable")
    assert before[2] == (None, None, "no_inputs_declared")
    assert before[3] == (None, None, "content_missing")
    assert (first.returncode, again.returncode) == (0, 0)
    assert "9 questions, 9 verdicts (0 errors)" in first.stdout
    assert "added 0, replaced 0, known 9" in again.stdout
    assert requests == len(server.bodies) == 18
    after = planning(lake)
    assert after[1] == after[4] == (7.5, "judge", None)
    assert after[2][1:] == ("judge", None)
    assert after[3] == before[3]
    kept = rows(lake, "verdicts")
    assert {row["question"] for row in kept} == set(PLAN_CRITERIA)
    assert {(row["subject"], row["source"], row["sub_goal"]) for row in kept} == {
        ("planning", "judge:nodes", None)
    }
    evidence = json.loads(kept[0]["evidence"])
    assert evidence["evidence_steps"] == [0]
    assert evidence["reason"] == "as told"


def test_people_decide_before_the_judge_and_measure_it(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """What they say of drawn verdicts settles these questions, and calibrates the judge."""
    server.rule = reader
    judges = judge_file(tmp_path, subject="planning")
    run(lake, judges, "--max-tokens", 1_000_000)
    of_judge = ("--lake", lake.root, "--judge", "nodes")
    drawn, labeled = tmp_path / "drawn.csv", tmp_path / "labeled.csv"
    assert tracegrade("judge", "label", *of_judge, "--out", drawn).returncode == 0
    with drawn.open(newline="") as file:
        items = list(csv.DictReader(file))
    with labeled.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["item", "label"])
        writer.writeheader()
        for row in items:
            label = "no" if SCOPE in row["question"] else "yes"
            writer.writerow({"item": row["item"], "label": label})
    taken = tracegrade("judge", "label", *of_judge, "--labels", labeled, "--by", "ann")
    score(lake, specification(TASKS))
    measured = tracegrade("judge", "calibrate", *of_judge)

    assert len({row["item"] for row in items}) == len(items) == 9
    assert all(row["question"].startswith("The plan before") for row in items)
    assert "9" in taken.stdout
    assert planning(lake)[1] == (7.5, "verifier", None)
    assert measured.returncode == 1
    (calibration,) = rows(lake, "verdict_calibrations")
    found = {name: calibration[name] for name in ("labels", "both_yes", "only_people_yes")}
    assert found == {"labels": 9, "both_yes": 5, "only_people_yes": 2}


def test_scores_of_an_uncalibrated_judge_are_marked(planned_lake: Lake, tmp_path: Path) -> None:
    """Planning quality that rests on its verdicts, in the report; none that people settled."""
    marked = {}
    for source in ("judge:nodes", "human:ann"):
        folder = tmp_path / source.partition(":")[0]
        lake = Lake.open(shutil.copytree(planned_lake.root, folder))
        run_id = f"{1:032x}-{1:016x}"
        said = {"subject": "planning", "label": "yes", "value": 1.0, "source": source}
        given = {"trajectory_id": run_id, "sub_goal": None, "kill_point": None, "evidence": None}
        add_clean_verdicts(lake, [{**given, **said, "question": each} for each in PLAN_CRITERIA])
        score(lake, specification(TASKS))
        (release,) = json.loads(render_json(read_lake(lake.root, str)))["releases"]
        marked[source] = "uncalibrated" in release["metrics"]["pq"]["flags"]
        share = release["remarks"]["planning"]
        assert (share["attempts"], share["without_planning"]) == (4, 3)
        assert {each["reason"] for each in share["planning_reasons"]} == {
            "plan_unreadable",
            "no_inputs_declared",
            "content_missing",
        }  # fmt: skip

    assert marked == {"judge:nodes": True, "human:ann": False}


RUN = JudgedRun("1-1", "files", None, None, "Pay it.", "Paid.", 0, ("scope_control",))
QUESTION = JudgeQuestion("plans", RUN, None, "…", plan_question="scope_control")
STEPS = [
    JudgedStep(0, "message", "user", None, None, {"content": "Pay it."}),
    JudgedStep(1, "message", "assistant", None, None, {"content": "My plan is to pay."}),
    JudgedStep(2, "thought", None, None, None, {"content": "First I look, then I pay."}),
    JudgedStep(3, "tool_call", None, "look", "ok", {"arguments": "{}", "result": "o"}),
    JudgedStep(4, "thought", None, None, None, {"content": "I planned it so well."}),
]


def test_a_judge_of_plans_reads_what_stands_before_the_first_call() -> None:
    """Neither messages to the user nor what came later; attacks are put where it reads."""
    read = readable_steps(QUESTION, STEPS)

    assert [step.number for step in read] == [0, 2]
    twins = list(twins_of(QUESTION, STEPS, graded=False))
    assert {twin.place for twin in twins} == {"thought", None}
    assert {max(step.number for step in twin.steps) for twin in twins} == {2}
    assert all("I planned it" not in str(twin.steps) for twin in twins)


@pytest.mark.parametrize(
    ("met", "steps", "quote", "fault"),
    [
        ("yes", [2], "First I look", None),
        ("yes", [0], "Pay it.", "a yes has to cite a step of kind plan or thought"),
        ("no", [0], "Pay it.", None),
        ("yes", [4], "so well", "steps that do not exist: [4]"),
        ("yes", [2], "I shall refund", "quote is in none"),
    ],
)
def test_a_verdict_on_a_plan_cites_it(
    met: str, steps: list[int], quote: str, fault: str | None
) -> None:
    """A step and words of it; that there is no plan, any step shows."""
    said = {"met": met, "evidence_steps": steps, "quote": quote, "reason": "r"}
    found = fault_of_plan(SubGoalVerdict.model_validate(said), readable_steps(QUESTION, STEPS))

    assert (found is None) if fault is None else (found is not None and fault in found)
