"""What calls serve by verdicts: from an imported file to scores, a report and a comparison."""

import json
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES

TASKS = """
tasks:
  refund:
    sub_goals:
      find: {serves: [search]}
      check: {serves: [search]}
      pay: {serves: [pay]}
"""


def one_run(trace: int) -> bytes:
    """Return a run of the task."""
    spans = [agent(1, trace=trace, tracegrade__task__id="refund")]
    spans += [
        tool(number, 1, tool_name=name, trace=trace, at=number, **texts)
        for number, name in enumerate(("search", "search", "pay"), start=2)
        for texts in [{"gen_ai__tool__call__arguments": f'{{"n": {number}}}'}]
    ]
    return request_of(spans, {"service.version": "1" if trace <= 3 else "2"})


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of six runs, scored, with verdicts on release 2 that came in a file, scored again."""
    folder = tmp_path_factory.mktemp("served")
    lake = Lake.create(folder / "lake")
    land(lake, *map(one_run, range(1, 7)))
    score(lake, specification(TASKS))
    lines = [json.dumps(each) for each in verdicts()]
    (folder / "served.jsonl").write_text("\n".join(lines))
    imported = tracegrade("import", folder / "served.jsonl", "--lake", lake.root)
    assert imported.returncode == 0, imported.stderr
    scored = tracegrade("score", "--lake", lake.root, "--summary", folder / "summary.json")
    assert scored.returncode == 0, scored.stderr
    (folder / "lines.txt").write_text(scored.stdout + scored.stderr)
    return lake


def verdicts() -> list[dict[str, Any]]:
    """Return what a person and a judge say of the runs of release 2, and what has no effect."""
    of = [
        *((4, 0, "check", "yes", "human:ann"), (4, 1, "check", "yes", "human:ann")),
        *((5, 0, "find", "yes", "judge:calls"), (5, 1, "check", "error", "judge:calls")),
        *((6, 0, "pay", "yes", "human:ann"), (6, 2, "pay", "yes", "human:ann")),
        (6, 9, "find", "yes", "human:ann"),
    ]
    return [
        {
            "trace_id": f"{trace:032x}",
            "subject": "served",
            **{"step_index": step, "sub_goal": sub_goal, "label": label, "source": source},
        }
        for trace, step, sub_goal, label, source in of
    ]


def test_scores_and_rows_go_by_verdicts_and_what_had_no_effect_is_counted(lake: Lake) -> None:
    """One run skipped `find`, by a person; the summary has a reason for each other verdict."""
    with connect(lake, layers=(SCORES,)) as con:
        coverage = con.sql(
            "SELECT trajectory_id, sub_goal_coverage.numerator FROM trajectory_scores ORDER BY ALL"
        ).fetchall()
        rows = con.sql(
            "SELECT trajectory_id, step_index, served, decided_by FROM ambiguous_calls "
            "WHERE decided_by <> 'rule' ORDER BY ALL"
        ).fetchall()
        every = con.sql("SELECT count(*) FROM ambiguous_calls").fetchall()

    assert [int(covered) for _, covered in coverage] == [3, 3, 3, 2, 3, 3]
    assert [(int(run[:32], 16), *rest) for run, *rest in rows] == [
        (4, 0, ["check"], "verifier"),
        (4, 1, ["check"], "verifier"),
        (5, 0, ["find"], "judge"),
    ]
    assert every == [(12,)]
    summary = json.loads((lake.root.parent / "summary.json").read_text())
    assert summary["served_verdicts"] == {
        **{"counted": 3, "could_not_tell": 1},
        **{"no_candidate": 1, "no_such_call": 1, "not_ambiguous": 1},
    }
    told = (lake.root.parent / "lines.txt").read_text()
    assert "verdicts on which sub-goal a call serves: 3; without effect: 1 on a step" in told


def test_a_report_and_a_comparison_say_who_decided(lake: Lake) -> None:
    """The same numbers in JSON and in words; what rests on an uncalibrated judge is marked."""
    report = tracegrade("report", "--lake", lake.root, "--format", "json")
    full = ("--format", "markdown", "--long")
    words = tracegrade("report", "--lake", lake.root, *full).stdout
    compared = tracegrade("compare", "1", "2", "--lake", lake.root, "--format", "json")
    cautions = tracegrade("compare", "1", "2", "--lake", lake.root, "--format", "markdown").stdout

    of = {each["release"]: each for each in json.loads(report.stdout)["releases"]}
    counts = {
        "1": {"ambiguous_calls": 6, "served_by_people": 0, "served_by_models": 0},
        "2": {"ambiguous_calls": 6, "served_by_people": 2, "served_by_models": 1},
    }
    assert {release: found["remarks"]["calls"] for release, found in of.items()} == counts
    (comparison,) = json.loads(compared.stdout)["comparisons"]
    assert comparison["calls"] == {"base": counts["1"], "candidate": counts["2"]}
    marked = {
        name: [name for name, each in found["metrics"].items() if "uncalibrated" in each["flags"]]
        for name, found in of.items()
    }
    assert marked["1"] == []
    assert "sub_goal_coverage" in marked["2"]
    assert "tool_allowed_rate" not in marked["2"]
    sentence = (
        "which of several sub-goals 6 calls served: verdicts of people or verifiers decide on 2, "
        "verdicts of judges decide on 1, rules alone on 3"
    )
    assert sentence in words
    assert sentence in cautions
    assert (
        "Sub-goals of calls as judged, not corrected: judge 'judge:calls' is not calib" in cautions
    )
