"""Verdicts on which of several sub-goals a call serves: what they change, and what they cannot."""

from typing import Any

from tests.scenes import built_together
from tests.scoring.build import (
    Row,
    all_scores,
    call,
    connection,
    scored,
    specification,
    trajectory,
)

from .scored import PlanCase, Scene, goal

TWO = """
      find: {serves: [search]}
      check: {serves: [search]}
"""
THREE = f"{TWO}      look: {{serves: [search]}}\n"


def said(sub_goal: str, label: str, source: str = "judge:calls", step_index: int = 0) -> Row:
    """Return a verdict on whether the call of a step serves a sub-goal."""
    given = {"subject": "served", "step_index": step_index, "source": source}
    return {**given, "sub_goal": sub_goal, "label": label}


def tried(goals: str, *verdicts: Row, **columns: Any) -> PlanCase:
    """Return an attempt with one call of a tool that serves all sub-goals, and verdicts on it."""
    return PlanCase(goals, [goal(tool_name="search", **columns)], verdicts=verdicts)


def attempted(scored: Any) -> dict[str, str]:
    """Return the sub-goals that were attempted, and how that is known."""
    rows = scored.sub_goals.values()
    return {row["sub_goal"]: row["attribution"] for row in rows if row["attempted"]}


BOTH = {"find": "ambiguous", "check": "ambiguous"}


@built_together
def test_a_verdict_leaves_one_of_several() -> Scene:
    """By a yes to one, or a no to all others; so the other one was skipped."""
    alone, by_yes, by_no = yield [
        tried(TWO),
        tried(TWO, said("check", "yes")),
        tried(TWO, said("find", "no")),
    ]

    assert attempted(alone) == BOTH
    assert alone["sub_goal_coverage"].value == alone["sub_goal_completion"].value == 1
    for found in (by_yes, by_no):
        assert attempted(found) == {"check": "verdict"}
        assert found["sub_goal_coverage"][:5] == (0.5, 1, 2, "scored", "find")
        assert found["sub_goal_completion"].value == 0.5
        assert found["off_plan_calls"].value == 0


@built_together
def test_people_come_before_evaluations_and_these_before_judges() -> Scene:
    """No rank gives back what an earlier one took, but it may take of what is left."""
    evaluation = "gen_ai.evaluation.result"
    person, evaluated, both, narrowed = yield [
        tried(TWO, said("find", "yes"), said("check", "yes", "human:ann")),
        tried(TWO, said("find", "yes"), said("check", "yes", evaluation)),
        tried(TWO, said("check", "yes"), said("check", "no"), said("check", "no", "human:ann")),
        tried(THREE, said("look", "no", "human:ann"), said("check", "yes"), said("look", "yes")),
    ]

    assert attempted(person) == attempted(evaluated) == {"check": "verdict"}
    assert attempted(both) == {"find": "verdict"}
    assert attempted(narrowed) == {"check": "verdict"}


@built_together
def test_who_would_leave_none_or_does_not_agree_changes_nothing() -> Scene:
    """Two noes, a yes and a no of equal rank, two yeses, and a judge who cannot tell."""
    found = yield [
        tried(TWO, said("find", "no"), said("check", "no")),
        tried(TWO, said("check", "yes"), said("check", "no", "judge:other")),
        tried(TWO, said("check", "yes", "human:ann"), said("find", "yes", "human:bo")),
        tried(TWO, said("check", "error"), said("check", "yes", "judge:other")),
        tried(TWO),
    ]

    assert [attempted(each) for each in found] == [BOTH] * 5


@built_together
def test_some_of_several_may_be_left() -> Scene:
    """A no to one of three leaves two, and the call serves both as before."""
    (found,) = yield [tried(THREE, said("look", "no", "human:ann"))]

    assert attempted(found) == BOTH


@built_together
def test_a_verdict_chooses_among_the_candidates_alone() -> Scene:
    """Not another sub-goal, another step, a call that its span explains, or one of one rule."""
    other = f"{TWO}      other: {{serves: [else]}}\n"
    found = yield [
        tried(other, said("other", "yes")),
        tried(other, said("unknown", "yes")),
        tried(other, said("check", "yes", step_index=1)),
        tried(other, said("check", "yes"), sub_goal="find"),
        PlanCase("      a: {serves: [search]}\n      b: {serves: [t]}", ["search"], verdicts=[
            said("b", "yes"), said("a", "no"),
        ]),
    ]  # fmt: skip

    assert [attempted(each) for each in found[:3]] == [BOTH] * 3
    assert attempted(found[3]) == {"find": "span"}
    assert attempted(found[4]) == {"a": "rule"}


@built_together
def test_a_verdict_tells_what_arguments_that_are_lacking_cannot() -> Scene:
    """A call that may serve two sub-goals serves the one that is left."""
    goals = """
      find: {serves: [search]}
      check: {serves: [{tool: search, arguments: x}]}
"""
    before, after = yield [
        tried(goals, arguments=None),
        tried(goals, said("check", "yes", "human:ann"), arguments=None),
    ]

    assert before["sub_goal_coverage"].status == "error"
    assert attempted(after) == {"check": "verdict"}
    assert after["sub_goal_coverage"].value == 0.5


TASKS = """
tools:
  write: {effect: write}
tasks:
  x:
    sub_goals:
      open: {serves: [read]}
      save: {serves: [write]}
      send: {serves: [write, mail], deps: [open], critical: true}
"""


def test_decision_points_recovery_and_failure_modes_go_by_it() -> None:
    """All that asks which sub-goal a call serves asks the same."""
    calls = [("write", "error"), ("write", "ok"), ("mail", "ok")]
    steps = [
        call(run, i, tool, status=status, arguments=f'{{"n": {i}}}', offered=True)
        for run in ("t1", "t2")
        for i, (tool, status) in enumerate(calls)
    ]
    verdicts = [
        {"trajectory_id": "t2", **said("save", "yes", step_index=0)},
        {"trajectory_id": "t2", **said("send", "yes", "human:ann", step_index=1)},
    ]
    runs = [trajectory(name, task_id="x") for name in ("t1", "t2")]
    with connection(steps, runs, verdicts) as con:
        found = all_scores(scored(con, specification(TASKS)))
        points = con.sql(
            "SELECT attempt_id, sub_goal, first_call FROM decision_points_of_calls "
            "ORDER BY attempt_id, call_index"
        ).fetchall()
        rows = con.sql(
            "SELECT trajectory_id, step_index, candidates, served, decided_by "
            "FROM ambiguous_call_rows ORDER BY trajectory_id, step_index"
        ).fetchall()

    by_rule = [("t1", "save", 0), ("t1", "save", 0), ("t1", "send", 2)]
    by_verdict = [("t2", "save", 0), ("t2", "send", 1), ("t2", "send", 2)]
    assert points == [*by_rule, *by_verdict]
    both = ["save", "send"]
    assert rows == [
        *(("t1", i, both, both, "rule") for i in (0, 1)),
        ("t2", 0, both, ["save"], "judge"),
        ("t2", 1, both, ["send"], "verifier"),
    ]
    changed = ("recovery_rate", "premature_commitment")
    assert [found["t1"][metric].value for metric in changed] == [1, 0]
    assert [found["t2"][metric].value for metric in changed] == [0, 1]


def test_a_verdict_on_a_sub_agent_names_its_own_step() -> None:
    """The step is counted in the run of the agent that made the call."""
    steps = [call("t1", 0, "ask"), call("t2", 0, "search"), call("t2", 1, "search")]
    runs = [trajectory("t1", task_id="x"), trajectory("t2", parent_trajectory_id="t1")]
    verdict = {"trajectory_id": "t2", **said("check", "yes", step_index=1)}
    tasks = f"tasks:\n  x:\n    sub_goals:\n{TWO}"
    with connection(steps, runs, [verdict]) as con:
        scored(con, specification(tasks))
        found = con.sql(
            "SELECT trajectory_id, step_trajectory_id, step_index, served, decided_by "
            "FROM ambiguous_call_rows ORDER BY step_index"
        ).fetchall()

    assert found == [
        ("t1", "t2", 0, ["find", "check"], "rule"),
        ("t1", "t2", 1, ["check"], "judge"),
    ]
