"""A report shows each kill on purpose: where it was, what it scores, and what it left."""

import json
from typing import Any

from tests.scoring.report.build import Tables, pages

from tracegrade_scoring.report.as_json import render_json


def kill(tables: Tables, run: str, kill_point: str, value: float | None, **facts: Any) -> None:
    """Insert a verdict on a kill."""
    evidence = facts.pop("evidence", None)
    text = evidence if isinstance(evidence, str) or evidence is None else json.dumps(evidence)
    row = {"subject": "rollback", "kill_point": kill_point, "value": value, "source": "harness"}
    tables.insert("verdicts", trajectory_id=run, evidence=text, **{**row, **facts})


def left(*objects: str, named: int = 0) -> list[dict[str, str | None]]:
    """Return leftovers in the form of evidence; the first of them are named."""
    return [
        {"object": name, "named_by": "journal" if i < named else None}
        for i, name in enumerate(objects)
    ]


def killed(tables: Tables) -> None:
    """Insert a run that was repeated and killed at three points; a human has looked at one."""
    run = tables.run(task_id="clean", run_mode="live")
    tables.scored(run, "clean")
    kill(tables, run, "early", 10, evidence={"immediate": 10, "boundary": 1, "left": 0})
    mid = {"immediate": 7, "boundary": 4, "leftovers": left("files:a", "files:b", named=1)}
    kill(tables, run, "mid", 3, evidence={**mid, "left": 2})
    kill(tables, run, "late", 5, source="human:ann", evidence="nothing is lost")
    late = {"immediate": 0, "boundary": 9, "leftovers": left(*(f"files:{n}" for n in range(7)))}
    kill(tables, run, "late", 0, evidence={**late, "left": 60})


def test_every_page_shows_each_kill_with_what_it_left(tables: Tables) -> None:
    """Its objects, the number of others, and the objects that have no way to undo them."""
    killed(tables)

    for page in pages(tables.report()):
        assert "late after call 9" in page
        assert "files:0, files:1, files:2, files:3, files:4, and 55 more" in page
        assert "nothing says how to undo that" in page
        assert "files:a, files:b; nothing says how to undo files:b" in page
        assert "human:ann" in page
        assert "nothing is lost" in page


def test_worst_kills_stand_first(tables: Tables) -> None:
    """A human's word stands beside that of the rules."""
    killed(tables)
    (release,) = tables.report().releases

    found = [(each.kill_point, each.after_recovery, each.source) for each in release.kills]
    assert found == [
        ("late", 0, "harness"),
        ("mid", 3, "harness"),
        ("late", 5, "human:ann"),
        ("early", 10, "harness"),
    ]


def test_kills_without_a_score_say_why(tables: Tables) -> None:
    """There was no such moment, or no judgment; these rows come last."""
    run = tables.run(task_id="clean")
    tables.scored(run, "clean")
    kill(tables, run, "mid", None, label="error", evidence={"reason": "not_still: 2 objects"})
    kill(tables, run, "early", None, label="not_applicable", evidence={"reason": "no_calls"})

    for page in pages(tables.report()):
        assert "not judged: not_still: 2 objects" in page
        assert "there is no such moment: no tool was called" in page


def test_verdict_on_a_trace_is_about_its_outermost_run(tables: Tables) -> None:
    """As it is for scores; kills of runs that are not counted are not shown."""
    run = tables.run(task_id="clean", trace_id="abc")
    tables.scored(run, "clean")
    kill(tables, "abc", "late", 7)
    kill(tables, "of-no-run", "late", 0)

    (release,) = json.loads(render_json(tables.report()))["releases"]
    assert [(each["trajectory_id"], each["after_recovery"]) for each in release["kills"]] == [
        (run, 7)
    ]
