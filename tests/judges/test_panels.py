"""Panels: judges of different models whose majority decides, and who is of another opinion."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import Ended, tracegrade

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_judges.ask.ask import JudgeVerdict
from tracegrade_judges.ask.panel import panel_verdict
from tracegrade_judges.judge_file.load import load_judges
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_judges.questions.runs import JudgedRun
from tracegrade_lake import Lake

from .model_server import Json, ModelServer, Reply, honest, verdict
from .reading import rows, verdicts
from .test_run import EXPECTED as OF_ALL

EXPECTED = {key: label for key, label in OF_ALL.items() if key[1] == "pay"}
RUN = JudgedRun("t", "refund", None, None, None, None, 0)
QUESTION = JudgeQuestion("panel", RUN, "pay", "Was pay called?")


def file_of(folder: Path, judges: Json, **keys: Any) -> Path:
    """Write a judge file with these judges, each with what is given instead of the usual."""
    usual = {"base_url": "$JUDGE_BASE_URL", "api_key": "$JUDGE_KEY"}
    whole = {
        name: {"subject": "sub_goal", "model": usual | {"name": name}} | given
        for name, given in judges.items()
    }
    path = folder / "panel.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "judges": whole, **keys}))
    return path


def panel_of(folder: Path, *names: str) -> Path:
    """Write a judge file with a panel of judges, each of a model of its own name."""
    panel = {"judges": [*names], "only": ["refund/pay"]}
    return file_of(folder, {name: {} for name in names}, panels={"panel": panel})


def by_model(request: Json, number: int = 0) -> Reply:
    """Answer honestly; but `denies` says no to all, and `shrugs` never can tell."""
    reply = honest(request, number)
    model = request["model"]
    if model.startswith("honest") or b'"verdict"' not in reply.body:
        return reply
    call = json.loads(reply.body)["choices"][0]["message"]["tool_calls"][0]
    met = {"denies": "no", "shrugs": "cannot_tell"}[model]
    return verdict(json.loads(call["function"]["arguments"]) | {"met": met}, request)


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges."""
    return tracegrade("judge", "run", judges, "--lake", lake.root, *options)


def reply(label: str, value: float | None = None, **evidence: Any) -> JudgeVerdict:
    """Return one judge's reply."""
    return JudgeVerdict(QUESTION, label, value, evidence)


def test_the_majority_decides_and_who_disagrees_is_named(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """Two honest models outvote one that denies all; asked again, no request is sent."""
    server.rule = by_model
    judges = panel_of(tmp_path, "honest-a", "denies", "honest-b")

    estimated = tracegrade("judge", "estimate", judges, "--lake", lake.root)
    first = run(lake, judges, "--max-tokens", 1_000_000)
    asked = len(server.bodies)
    kept = rows(lake, "verdicts")
    again = run(lake, judges, "--max-tokens", 0)

    assert "panel: 6 questions, 6 not in the cache" in estimated.stdout
    assert "6 verdicts (0 errors)" in first.stdout
    assert "judges disagreed on 3, 0 of them ties" in first.stdout
    assert (again.returncode, len(server.bodies), rows(lake, "verdicts")) == (0, asked, kept)
    assert verdicts(lake) == EXPECTED
    assert {row["source"] for row in kept} == {"judge:panel"}
    found = json.loads(next(row["evidence"] for row in kept if row["label"] == "yes"))
    assert found["panel"] == "honest-a yes, denies no, honest-b yes"
    assert (found["votes"], found["replies"]["denies"]["model"]) == ({"no": 1, "yes": 2}, "denies")
    assert found["requests"] == 6
    calls = rows(lake, "judge_calls")
    assert {call["judge"] for call in calls} == {"honest-a", "denies", "honest-b"}
    assert sum(call["input_tokens"] + call["output_tokens"] for call in calls) == server.tokens
    command = ("report", "--lake", lake.root, "--trajectory", kept[0]["trajectory_id"])
    assert "denies no" in tracegrade(*command, "--format", "markdown").stdout


def test_a_tie_is_an_error_and_is_named(lake: Lake, tmp_path: Path, server: ModelServer) -> None:
    """One says yes, one no, and the third cannot tell; where two say no, they decide."""
    server.rule = by_model
    judges = panel_of(tmp_path, "honest", "denies", "shrugs")

    ended = run(lake, judges, "--max-tokens", 1_000_000)

    assert ended.returncode == 0
    assert "(3 errors)" in ended.stdout
    assert "judges disagreed on 3, 3 of them ties" in ended.stdout
    evidence = [json.loads(row["evidence"]) for row in rows(lake, "verdicts")]
    assert {each.get("reason_code") for each in evidence} == {"tie", None}


def test_one_budget_is_for_all_judges_of_a_panel(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """It holds for them together, and what was answered is not asked again."""
    server.rule = by_model
    judges = panel_of(tmp_path, "honest-a", "honest-b")

    ended = run(lake, judges, "--max-calls", 7, "--jobs", 1)
    rest = run(lake, judges, "--max-calls", 17, "--jobs", 1)

    assert (ended.returncode, rest.returncode) == (1, 0)
    assert len(server.bodies) == 24 == len(rows(lake, "judge_calls"))
    assert verdicts(lake) == EXPECTED
    assert "next to the panel's" not in rest.stderr
    own = {"trajectory_id": rows(lake, "verdicts")[0]["trajectory_id"], "subject": "success"}
    own |= {"sub_goal": None, "kill_point": None, "evidence": None}
    add_clean_verdicts(lake, [{**own, "value": 1.0, "label": "yes", "source": "judge:honest-b"}])
    warned = run(lake, judges, "--offline")
    assert "panel: scores count earlier verdicts of honest-b next to the panel's" in warned.stderr


def test_a_judge_of_a_panel_is_not_asked_alone(
    scored_lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """Scores would count it next to its panel."""
    ended = run(scored_lake, panel_of(tmp_path, "a", "b"), "--judge", "a", "--max-calls", 9)

    assert ended.returncode == 2
    assert "judge 'a' is asked by panel 'panel' alone" in ended.stderr
    assert server.bodies == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("yes", "yes", "no"), ("yes", None)),
        (("no", "no", "no"), ("no", None)),
        (("yes", "yes", "error"), ("yes", None)),
        (("yes", "no"), ("error", "tie")),
        (("yes", "no", "error"), ("error", "tie")),
        (("yes", "error", "error"), ("error", "no_majority")),
        (("yes", "yes", "no", "error"), ("error", "no_majority")),
        (("error", "error"), ("error", "cannot_tell")),
    ],
)
def test_more_than_half_of_all_judges_decide(
    labels: tuple[str, ...], expected: tuple[str, str | None]
) -> None:
    """A judge without a verdict counts as one that did not say so."""
    values = {"yes": 1.0, "no": 0.0, "error": None}
    codes = {"error": {"reason_code": "cannot_tell"}}
    found = panel_verdict(
        QUESTION,
        {f"j{n}": reply(each, values[each], **codes.get(each, {}))
         for n, each in enumerate(labels)},
    )  # fmt: skip

    assert (found.label, found.evidence.get("reason_code")) == expected
    assert found.value == values[found.label]


def test_value_is_the_median_of_the_majority() -> None:
    """The lone 0.1 does not lower the score of those who decide; costs are summed."""
    found = panel_verdict(
        QUESTION,
        {
            "a": reply("yes", 0.9, quote="q", cost_usd=0.5, requests=1),
            "b": reply("yes", 0.8, quote="r", cost_usd=0.25, requests=2),
            "c": reply("no", 0.1, quote="s", cost_usd=None, requests=1),
        },
    )

    assert found.value == pytest.approx(0.85)
    assert (found.evidence["quote"], found.evidence["requests"]) == ("q", 4)
    assert found.evidence["cost_usd"] is None
    assert next(iter(found.evidence)) == "panel"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file["panels"]["p"].update(judges=["a", "c"]),
         "panel 'p' names judge 'c', which the file does not have; judges: a, b"),
        (lambda file: file["panels"]["p"].update(judges=["a", "a", "b"]),
         "panel 'p' names judge 'a' 2 times; name each judge once"),
        (lambda file: file["judges"]["b"].update(subject="planning"),
         "the judges of panel 'p' have several subjects: a sub_goal, b planning; make one panel"),
        (lambda file: file["judges"]["b"]["model"].update(name="m", base_url="http://a/"),
         "judges 'a' and 'b' of panel 'p' send equal requests; give one of them another model"),
        (lambda file: file["judges"]["b"].update(only=["x"]),
         "judge 'b' of panel 'p' has 'only', which its panel decides; give it to the panel"),
        (lambda file: file.update(panels={"a": {"judges": ["a", "b"]}}),
         "panel 'a' has the name of a judge, and their verdicts one source; give it another name"),
        (lambda file: file["panels"]["p"].update(votes=3),
         "unknown key 'votes' in panels.p; known keys: judges, only"),
        (lambda file: file["panels"]["p"].update(judges=["a"]),
         "panels.p.judges is ['a']; List should have at least 2 items"),
    ],
)  # fmt: skip
def test_a_panel_that_cannot_be_is_refused(
    tmp_path: Path, change: Callable[[Json], None], said: str
) -> None:
    """With its line and a way out."""
    file: Json = {
        "version": 1,
        "judges": {
            name: {"subject": "sub_goal", "model": {"name": model, "base_url": f"http://{name}"}}
            for name, model in (("a", "m"), ("b", "n"))
        },
        "panels": {"p": {"judges": ["a", "b"]}},
    }
    path = tmp_path / "judges.yaml"
    path.write_text(yaml.safe_dump(file))
    assert load_judges(path).problems == []
    change(file)
    path.write_text(yaml.safe_dump(file))

    found = [str(each) for each in load_judges(path).problems]

    assert any(said in each and "judges.yaml:" in each for each in found), found


@pytest.mark.slow
def test_a_panel_is_calibrated_and_attacked_as_one_judge(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """Labels are drawn of its verdicts, and twins are put to all of its judges."""
    server.rule = by_model
    judges = panel_of(tmp_path, "honest-a", "denies", "honest-b")
    assert run(lake, judges, "--max-tokens", 1_000_000).returncode == 0
    labels = tmp_path / "labels.csv"
    command = ("judge", "label", "--lake", lake.root, "--judge", "panel")

    drawn = tracegrade(*command, "--count", 6, "--out", labels)
    head, *lines = labels.read_text().splitlines()
    labels.write_text("\n".join([head, *(line.replace(',"",', ',"yes",', 1) for line in lines)]))
    taken = tracegrade(*command, "--labels", labels, "--by", "ann")
    measured = tracegrade("judge", "calibrate", "--lake", lake.root, "--judge", "panel")
    twins = tracegrade(
        "judge", "twins", judges, "--lake", lake.root, "--max-tokens", 10**8, "--count", 1
    )

    assert (drawn.returncode, taken.returncode, twins.returncode) == (0, 0, 0)
    assert "labels 6 (undecided 0): both yes 3" in measured.stdout
    assert twins.stdout.startswith("panel: attacks turned no into yes in ")
    assert {row["judge"] for row in rows(lake, "judge_twins")} == {"panel"}
