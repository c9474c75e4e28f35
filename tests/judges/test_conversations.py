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
from tests.judges.model_server import Json, ModelServer, Reply, quoted_in, verdict
from tests.judges.reading import rows

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
    """Two of three pass; reliability and tier are the paper's."""
    lake = Lake.open(shutil.copytree(imported / "lake", tmp_path / "lake"))
    judges = judge_file(tmp_path, asks="success", reference="task", rubric="agentic")
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
    assert "Not ready" in reported.stdout
