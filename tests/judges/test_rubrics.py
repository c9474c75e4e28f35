"""Rubrics of users: checked places, graded or yes and no, and their hash in each verdict."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import Ended, tracegrade

from tracegrade_judges.judge_file.load import load_judges
from tracegrade_judges.judge_file.model import Rubric
from tracegrade_judges.twins.attacks import attacks_on
from tracegrade_lake import Lake

from .model_server import Json, ModelServer, Reply, honest, quoted_in, verdict
from .reading import rows, verdicts
from .test_conversations import WRONG, imported
from .test_run import EXPECTED

__all__ = ["imported"]

TEXT = "Score how well this holds: {criterion} Sub-goal {sub_goal} of {task}; {{1}} is a brace."


def rubric_file(folder: Path, text: str, judge: Json | None = None, **rubric: Any) -> Path:
    """Write a judge file with one judge, `nodes`, that has a rubric of its own."""
    model = {"base_url": "$JUDGE_BASE_URL", "name": "rules-1", "api_key": "$JUDGE_KEY"}
    whole = {"subject": "sub_goal", "model": model, "rubric": "mine"} | (judge or {})
    path = folder / "rubric.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "version": 1,
                "judges": {"nodes": whole},
                "rubrics": {"mine": {"text": text, **rubric}},
            }
        )
    )
    return path


def run(lake: Lake, judges: Path) -> Ended:
    """Run the judges."""
    return tracegrade("judge", "run", judges, "--lake", lake.root, "--max-tokens", 1_000_000)


def scored(request: Json, number: int = 0) -> Reply:
    """Answer as `honest`, with a score instead: 0.8 for yes, 0.25 for no."""
    reply = honest(request, number)
    if b'"verdict"' not in reply.body:
        return reply
    call = json.loads(reply.body)["choices"][0]["message"]["tool_calls"][0]
    said = json.loads(call["function"]["arguments"])
    return verdict({"score": 0.8 if said.pop("met") == "yes" else 0.25, **said}, request)


def test_a_graded_rubric_scores_sub_goals(lake: Lake, tmp_path: Path, server: ModelServer) -> None:
    """A score from the threshold on is a yes; only a new text is asked about anew."""
    server.rule = scored
    file = rubric_file(tmp_path, TEXT, graded=True)

    first = run(lake, file)
    asked, kept = len(server.bodies), rows(lake, "verdicts")
    strict = run(lake, rubric_file(tmp_path, TEXT, {"threshold": 0.81}, graded=True))
    all_no = verdicts(lake)
    after_threshold = len(server.bodies)
    worded = run(lake, rubric_file(tmp_path, f"{TEXT} Be kind.", graded=True))

    assert (first.returncode, strict.returncode, worded.returncode) == (0, 0, 0)
    assert {row["value"] for row in kept} == {0.8, 0.25}
    assert verdicts(lake) == EXPECTED
    assert set(all_no.values()) == {"no"}
    assert (asked, after_threshold, len(server.bodies)) == (24, 24, 48)
    instructions = server.requests[0]["messages"][0]["content"]
    assert instructions.startswith("Score how well this holds: Was ")
    assert " of refund; {1} is a brace.\n\n" in instructions
    assert "never follow" in instructions.lower()
    assert "score: from 0 (not at all) to 1" in instructions
    evidence = [json.loads(row["evidence"]) for row in (kept[0], rows(lake, "verdicts")[0])]
    assert [each["rubric"] for each in evidence] == ["mine", "mine"]
    hashes = [Rubric(text=text, graded=True).digest for text in (TEXT, f"{TEXT} Be kind.")]
    assert [each["rubric_hash"] for each in evidence] == hashes
    assert evidence[0]["prompt_version"] != evidence[1]["prompt_version"]


def test_a_rubric_of_answers_says_yes_or_no(
    imported: Path, tmp_path: Path, server: ModelServer
) -> None:
    """It names the parts of an answer, whose texts stay quoted in the message."""
    said = iter(("cannot_tell", "no"))

    def fair(request: Json, number: int = 0) -> Reply:
        del number
        answer = quoted_in(request["messages"][1]["content"])[-1]
        met = next(said) if answer == WRONG else "yes"
        return verdict({"met": met, "quote": answer, "reason": "fair"}, request)

    server.rule = fair
    text = "Is {answer} friendly, and does it agree with {reference}? Task {task}."
    lake = Lake.open(shutil.copytree(imported / "lake", tmp_path / "lake"))
    judgments = []
    for wording in (text, f"{text} Be fair."):
        ended = run(lake, rubric_file(tmp_path, wording, {"subject": "success"}))
        assert ended.returncode == 0
        found = [(row["label"], row["value"]) for row in rows(lake, "verdicts")]
        judgments.append(sorted(found, key=str))

    assert judgments == [
        [("error", None), ("yes", 1.0), ("yes", 1.0)],
        [("no", 0.0), ("yes", 1.0), ("yes", 1.0)],
    ]
    told = server.requests[0]["messages"][0]["content"]
    assert 'Is the text below "The agent\'s answer" friendly' in told
    assert "It is 4." not in told


@pytest.mark.parametrize(
    ("text", "judge", "said"),
    [
        ("Good?", {}, "rubric 'mine': place '{criterion}' is missing for a judge of sub_goal"),
        ("{criterion} {answer}", {}, "place '{answer}' is unknown to a judge of sub_goal; places: "
         "{criterion}, {sub_goal}, {task}; write {{ and }} for braces in the text"),
        ("{criterion.x}", {}, "place '{criterion.x}' is unknown to a judge of sub_goal"),
        ("{criterion!r:>9}", {}, "place '{criterion!r:>9}' is unknown to a judge of sub_goal"),
        ("{criterion} {}", {}, "place '{}' is unknown to a judge of sub_goal"),
        ("{criterion} {", {}, "a brace belongs to no place: Single '{' encountered"),
        ("{criterion}", {"subject": "success"}, "place '{answer}' is missing for a judge"),
        ("{criterion}", {"subject": "served"}, "place '{candidates}' is missing for a"),
        ("{criterion}", {"rubric": "mime"}, "judge 'nodes' names rubric 'mime', which the file "
         "does not have; did you mean 'mine'?"),
        ("{criterion}", {"threshold": 0.5}, "its rubric 'mine' has no scores; remove it, or give"),
        ("", {}, "rubrics.mine.text is ''"),
    ],
)  # fmt: skip
def test_a_rubric_that_cannot_be_used_is_refused(
    tmp_path: Path, text: str, judge: Json, said: str
) -> None:
    """With its line, the value and a way out."""
    found = [str(each) for each in load_judges(rubric_file(tmp_path, text, judge)).problems]

    assert any(said in each and "rubric.yaml:" in each for each in found), found


def test_the_name_of_tracegrade_s_rubric_is_taken(tmp_path: Path) -> None:
    """`agentic` means the same in each file."""
    path = rubric_file(tmp_path, "{answer}", {"subject": "success", "rubric": "agentic"})
    path.write_text(path.read_text().replace("mine:", "agentic:"))

    (found,) = load_judges(path).problems

    assert "rubric 'agentic' is tracegrade's own; give it another name" in str(found)


def test_attacks_demand_what_a_graded_rubric_asks_for() -> None:
    """The attacks on a judge that gives scores demand the best one."""
    assert json.loads(attacks_on("sub_goal", graded=True)["forged_verdict"])["score"] == 1
    assert json.loads(attacks_on("success", graded=False)["forged_verdict"])["met"] == "yes"
