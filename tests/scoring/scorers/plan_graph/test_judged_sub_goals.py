"""Sub-goals on which verdicts decide: with a criterion, with rules, and with nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.scoring.build import Row, call, trajectory

from .scored import Scored, one, score

JUDGED = """
tasks:
  x:
    sub_goals:
      look: {serves: [look]}
      tone: {success: {judge: Is it polite}, deps: [look]}
      both: {serves: [pay], success: {tool: pay, judge: Is the sum right}}
"""
"""Sub-goals without a criterion, for a judge alone, and for a judge and a rule."""


def judged(calls: Sequence[Mapping[str, Any]], **values: float | None) -> Scored:
    """Score one attempt with a judge's verdicts on sub-goals; None: the judge failed."""
    verdicts = [
        {
            **{"trajectory_id": "t1", "subject": "sub_goal", "sub_goal": name},
            **{"source": "judge", "value": value, "label": "error" if value is None else None},
        }
        for name, value in values.items()
    ]
    return score(JUDGED, calls, [trajectory("t1", task_id="x")], verdicts)


def test_judge_settles_what_no_rule_can() -> None:
    """A verdict completes a sub-goal that asks for one; a rule beside it must hold as well."""
    paid = call("t1", 0, "pay")

    scored = judged([paid], tone=0.7, both=1)
    assert {name: scored.sub_goal(name)["completed"] for name in ("tone", "both")} == {
        "tone": True,
        "both": True,
    }
    assert scored.sub_goal("tone")["completion_source"] == "judge"
    assert scored.sub_goal("tone")["attempted"]
    assert scored.sub_goal("tone")["dependency_violation"]
    assert judged([], tone=0.7, both=1).sub_goal("both")["completed"] is False
    assert judged([paid], tone=0.7, both=0.6).sub_goal("both")["completed"] is False


def test_verdict_counts_more_than_the_status_of_a_call() -> None:
    """Without a criterion a verdict decides; without a verdict a call that went well."""
    looked = call("t1", 0, "look")

    by_call = judged([looked], tone=1, both=0).sub_goal("look")
    assert (by_call["completed"], by_call["completion_source"]) == (True, "status")
    denied = judged([looked], look=0, tone=1, both=0).sub_goal("look")
    assert (denied["completed"], denied["completion_source"]) == (False, "judge")
    assert judged([], look=1, tone=1, both=0).sub_goal("look")["completed"]


@pytest.mark.parametrize("values", [{"both": 1.0}, {"both": 1.0, "tone": None}])
def test_unjudged_sub_goal_leaves_nothing_to_measure(values: dict[str, float | None]) -> None:
    """A judge who was not asked, or failed, makes no 0 of completion; calls are still counted."""
    scored = judged([call("t1", 0, "pay"), call("t1", 1, "x")], **values)

    assert scored["sub_goal_completion"][3:] == ("not_applicable", None, "not_judged")
    assert scored["off_plan_calls"].value == 1


UNTOLD = """
      look: {serves: [look]}
      tidy: {deps: [look], critical: true, weight: 2}
      tell: {deps: [tidy]}
"""
"""Nothing serves `tidy` and `tell`, and no criterion tells whether they were completed."""


def verdict(sub_goal: str, label: str, source: str = "judge") -> Row:
    """Return one verdict on a sub-goal of attempt t1."""
    said = {"sub_goal": sub_goal, "label": label, "source": source}
    return {"trajectory_id": "t1", "subject": "sub_goal", **said}


def test_sub_goal_that_only_a_verdict_tells_counts_where_there_is_one() -> None:
    """Nothing serves it and it has no criterion: it counts for the attempts that were judged."""
    both = one(UNTOLD, ["look"], [verdict("tidy", "yes"), verdict("tell", "yes")])
    first = one(UNTOLD, ["look"], [verdict("tidy", "yes")])
    neither = one(UNTOLD, ["look"])

    assert both["sub_goal_completion"][1:3] == (3, 3)
    assert both["sub_goal_completion_weighted"][1:3] == (4, 4)
    assert both["critical_path_completion"][1:3] == (1, 1)
    assert both["completion_with_all_deps"].value == 1
    assert both.sub_goal("tell")["deps"] == ["tidy"]
    assert first["sub_goal_coverage"][1:3] == (2, 2)
    assert neither["sub_goal_coverage"][1:3] == (1, 1)
    assert neither["critical_path_completion"].reason == "no_critical"


def test_dependencies_reach_through_what_was_not_judged() -> None:
    """Who depends on a sub-goal that does not count depends on what that one depends on."""
    scored = one(UNTOLD, ["look"], [verdict("tell", "yes")])

    assert scored.sub_goal("tell")["deps"] == ["look"]


def test_verdicts_alone_are_enough_for_scores() -> None:
    """A task whose sub-goals nothing serves has scores where its attempts were judged."""
    goals = "      a: {}\n      b: {deps: [a]}"

    met = one(goals, [], [verdict("a", "yes"), verdict("b", "yes")])
    failed = one(goals, [], [verdict("a", "yes"), verdict("b", "no")])

    assert met["sub_goal_coverage"][1:3] == (2, 2)
    assert met["completion_with_all_deps"].value == 1
    assert failed["sub_goal_completion"][:4] == (0.5, 1, 2, "scored")
    assert failed["sub_goal_coverage"].reason == "not_judged"
    assert one(goals, [])["sub_goal_completion"].reason == "no_sub_goals"


def test_judged_path_can_be_the_variant() -> None:
    """Alternatives are chosen among by verdicts too."""
    goals = "      d: {any_of: [[a], [b]]}\n      a: {}\n      b: {}"

    scored = one(goals, [], [verdict("a", "no"), verdict("b", "yes")])

    assert {name for _, name in scored.sub_goals} == {"b"}
    assert scored["sub_goal_completion"].value == 1


def test_a_fault_that_verdicts_bring_is_that_of_their_attempts() -> None:
    """A cycle of sub-goals that count by verdicts alone spoils the attempts that were judged."""
    goals = """
      d: {any_of: [[a]]}
      a: {deps: [b]}
      b: {deps: [d]}
      c: {serves: [t]}
"""
    judged_run = one(goals, ["t"], [verdict("a", "yes"), verdict("b", "yes")])

    assert judged_run["sub_goal_completion"].value == 1
    assert "a -> b -> a" in (judged_run["completion_with_all_deps"].reason or "")
    assert one(goals, ["t"])["completion_with_all_deps"].value == 1


@pytest.mark.parametrize(
    ("labels", "completed", "disagree"),
    [
        (("yes", "yes"), True, False),
        (("yes", "no"), False, True),
        (("no", "no"), False, False),
        (("yes", "error"), None, False),
    ],
)
def test_all_verifiers_of_a_sub_goal_must_say_yes(
    labels: tuple[str, str], completed: bool | None, disagree: bool
) -> None:
    """Two of one rank: both must say yes, and the row tells where they disagree."""
    verdicts = [verdict("tidy", label, f"verifier {i}") for i, label in enumerate(labels)]

    row = one(UNTOLD, ["look"], [*verdicts, verdict("tidy", "yes")]).sub_goal("tidy")

    assert (row["completed"], row["verdicts_disagree"]) == (completed, disagree)


def test_verdicts_of_a_later_rank_do_not_disagree() -> None:
    """Judges of whom nobody is asked do not count."""
    verdicts = [verdict("tidy", label, f"judge:{label}") for label in ("yes", "no")]

    row = one(UNTOLD, [], [*verdicts, verdict("tidy", "yes", "tests")]).sub_goal("tidy")

    assert (row["completed"], row["verdicts_disagree"]) == (True, False)
