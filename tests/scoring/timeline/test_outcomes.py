"""What a page says of a run whose success nobody knows, and of verdicts of checks."""

import json

import pytest
from tests.scoring.report.build import Tables

from tracegrade_scoring.timeline.read import Window, read_timeline
from tracegrade_scoring.timeline.texts import render_terminal
from tracegrade_scoring.timeline.unknown_outcome import unknown_outcome
from tracegrade_scoring.timeline.view import timeline_view

CHECKS = [
    {"verifier": "{}", "outcome": "pass", "evidence": "'report.json' fits"},
    {"verifier": "{}", "outcome": "fail", "evidence": "'clean.csv' has 3 rows, not 12"},
]


def unknown_run(tables: Tables, *, flags: list[str], other: str = "no_sub_goals") -> str:
    """Insert a run whose success is not known; another metric says something of its task."""
    run = tables.run(flags=flags)
    tables.scored(run, None)
    tables.score(run, "success", None, reason="success_unknown")
    tables.score(run, "sub_goal_coverage", None, reason=other)
    return run


@pytest.mark.parametrize(
    ("flags", "other", "missing", "remedy"),
    [
        (["unrecorded_answer"], "no_sub_goals", "its answer was not recorded, or was cut",
         "let the instrumentation capture messages"),
        (["unrecorded_calls"], "no_sub_goals", "tool calls that it made were not recorded",
         "let the instrumentation capture messages"),
        ([], "no_task", "no task file describes the run's task", "tracegrade tasks draft"),
        ([], "ambiguous_task", "the run matches several tasks", "narrow their `match`"),
        ([], "no_sub_goals", "neither its task nor a verdict says so", "give its task `success`"),
    ],
)  # fmt: skip
def test_heading_says_what_is_missing_and_how_to_get_it(
    tables: Tables, flags: list[str], other: str, missing: str, remedy: str
) -> None:
    """A run of unknown outcome is headed by the reason, and labeling it is always a way."""
    run = unknown_run(tables, flags=flags, other=other)
    timeline = read_timeline(tables.con, "lake", run, Window())
    found = unknown_outcome(timeline)
    assert found is not None
    assert missing in found.missing
    assert remedy in found.remedy
    assert found.remedy.endswith("or label the run")
    assert timeline_view(timeline).headline == f"Not known whether it succeeded: {found.missing}"
    assert missing in " ".join(render_terminal(timeline, width=99, color=False).split())


def test_known_runs_and_killed_ones_are_not_called_unknown(tables: Tables) -> None:
    """A run that was killed on purpose is no attempt, and a run that was not scored waits."""
    solved, killed, unscored = (tables.run() for _ in range(3))
    tables.scored(solved, None)
    tables.score(solved, "success", 1.0, source="task")
    tables.scored(killed, None)
    tables.score(killed, "success", None, reason="killed_run")
    for run in (solved, killed, unscored):
        timeline = read_timeline(tables.con, "lake", run, Window())
        assert unknown_outcome(timeline) is None
        assert timeline_view(timeline).headline == ""


def test_verdicts_of_the_harness_are_sentences(tables: Tables) -> None:
    """Its evidence is JSON; a page says how many checks passed, what failed, and what is left."""
    run = tables.run()
    tables.scored(run, None)
    tables.score(run, "success", 0.0, source="verifier")
    for subject, value, evidence in (
        ("success", 0.0, {"status": "done", "verifiers": CHECKS}),
        ("rollback", 7.0, {"left": 2, "notes": ["recovery: ended with 2"], "immediate": 3.0}),
    ):
        tables.insert(
            "verdicts", trajectory_id=run, subject=subject, value=value, kill_point="mid",
            source="harness", evidence=json.dumps(evidence),
        )  # fmt: skip

    view = timeline_view(read_timeline(tables.con, "lake", run, Window()))
    (outcome,) = [value for name, value in view.facts if name == "outcome"]
    said = "1 of 2 checks passed; 'clean.csv' has 3 rows, not 12"
    assert outcome == f"failed; harness says failed: {said}"
    ((_, score, why),) = view.verdicts
    assert (score, why) == ("7", "harness (2 objects left changed; recovery: ended with 2)")
