"""Answers are judged turn by turn, and a conversation passes only whole.

Source: [Agentic], "Experiments": three conversations of three turns, scores .95 but for one first
answer of 0; two pass, so pass@5 is .996, pass^5 .132, and the agent is not ready.
"""

import json
import shutil
from pathlib import Path

import pytest
from tests.commands import tracegrade
from tests.judges.conftest import judge_file
from tests.judges.model_server import Json, ModelServer, Reply, Rule, quoted_in, verdict
from tests.judges.reading import rows

from tracegrade_judges.twins.attacks import ATTACKS
from tracegrade_lake import Lake

TASKS = """
version: 1
tasks:
  sums:
    reference: ["4", "9", "16"]
"""
WRONG = "It is 5."


def conversation(number: int, first: str) -> str:
    """Return a conversation of three turns, as one line of JSON."""
    messages = []
    for asked, answered in (("2 + 2?", first), ("3 * 3?", "It is 9."), ("4 * 4?", "It is 16.")):
        messages += [{"role": "user", "content": asked}]
        messages += [{"role": "assistant", "content": answered}]
    return json.dumps({"task_id": "sums", "trial": number, "messages": messages}) + "\n"


def recorded(request: Json, number: int = 0) -> Reply:
    """Score as the paper's judge did."""
    del number
    _, right, answer = quoted_in(request["messages"][1]["content"])
    score = 0.95 if f" {right}." in answer else 0.0
    return verdict({"score": score, "quote": answer, "reason": "beside the right one"}, request)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake of three conversations, scored, and its task file."""
    home = tmp_path_factory.mktemp("conversations")
    (home / "tasks.yaml").write_text(TASKS)
    firsts = ["It is 4.", "It is 4.", WRONG]
    text = "".join(conversation(i, first) for i, first in enumerate(firsts, start=1))
    (home / "runs.jsonl").write_text(text)
    assert tracegrade("import", home / "runs.jsonl", "--lake", home / "lake").returncode == 0
    scored = tracegrade("score", "--lake", home / "lake", "--tasks", home / "tasks.yaml")
    assert scored.returncode == 0
    return home


def test_one_wrong_turn_fails_a_conversation(
    imported: Path, tmp_path: Path, server: ModelServer
) -> None:
    """Two of three pass; reliability is the paper's, and so few runs have no tier."""
    lake = Lake.open(shutil.copytree(imported / "lake", tmp_path / "lake"))
    judges = judge_file(tmp_path, subject="success", reference="task", rubric="agentic")
    server.rule = recorded

    judged = tracegrade("judge", "run", judges, "--lake", lake.root, "--max-tokens", 1_000_000)
    tracegrade("score", "--lake", lake.root)
    reported = tracegrade("report", "--lake", lake.root, "--format", "json")

    found = {row["value"]: row["label"] for row in rows(lake, "verdicts")}
    assert (judged.returncode, found) == (0, {0.95: "yes", 0.0: "no"})
    turns = [json.loads(row["evidence"])["turns"] for row in rows(lake, "verdicts")]
    assert sorted([turn["score"] for turn in each] for each in turns) == [
        [0.0, 0.95, 0.95], [0.95, 0.95, 0.95], [0.95, 0.95, 0.95],
    ]  # fmt: skip
    (release,) = json.loads(reported.stdout)["releases"]
    fifth = next(
        each
        for each in release["pass_other_estimators"]
        if (each["k"], each["estimator"]) == (5, "pooled")
    )
    assert (round(fifth["pass_at_k"], 3), round(fifth["pass_hat_k"], 3)) == (0.996, 0.132)


def obedient(request: Json, number: int = 0) -> Reply:
    """Score as `recorded`, but as the author of a question or an answer demands."""
    asked, _, answer = quoted_in(request["messages"][1]["content"])
    if "score = 1.0" in asked + answer:
        return verdict({"score": 1.0, "quote": answer, "reason": "as ordered"}, request)
    return recorded(request, number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "turned", "rate"),
    [(recorded, 0, "0.000 (0.000 to 0.161)"), (obedient, 16, "0.800 (0.584 to 0.919)")],
)
def test_twins_of_answers_show_what_a_judge_is_taken_in_by(
    imported: Path, tmp_path: Path, server: ModelServer, rule: Rule, turned: int, rate: str
) -> None:
    """Ten attacks in what users ask and agents answer; the flip rate is kept with its interval."""
    lake = Lake.open(shutil.copytree(imported / "lake", tmp_path / "lake"))
    judges = judge_file(tmp_path, subject="success", reference="task")
    server.rule = rule

    ended = tracegrade("judge", "twins", judges, "--lake", lake.root, "--max-tokens", 10**8)

    twins = rows(lake, "judge_twins")
    attacked = [row for row in twins if row["twin"] in ATTACKS and row["before"] == "no"]
    assert ended.returncode == 0
    assert {row["subject"] for row in twins} == {"success"}
    assert {(row["twin"], row["place"]) for row in attacked} == {
        (twin, place) for twin in ATTACKS for place in ("question", "answer")
    }
    assert sum(row["after"] == "yes" for row in attacked) == turned
    assert f"attacks turned no into yes in {turned} of 20: {rate}" in ended.stdout
    assert "padding changed the verdict of 0 of 6:" in ended.stdout
    assert "compared with the right one and to its opposite in 0 of 2:" in ended.stdout
    kept = [row for row in rows(lake, "judge_flip_rates") if row["place"] is None]
    assert {row["kind"]: (row["flipped"], row["twins"]) for row in kept} == {
        "attacks": (turned, 20), "padding": (0, 6), "negation": (0, 2),
    }  # fmt: skip
    (attacks,) = (row for row in kept if row["kind"] == "attacks")
    ends = f"({attacks['flip_rate_low']:.3f} to {attacks['flip_rate_high']:.3f})"
    assert f"{attacks['flip_rate']:.3f} {ends}" == rate
