"""Sub-goals on which verdicts decide: with a criterion, with rules, and with nothing else."""

from collections.abc import Sequence

from tests.scenes import built_together
from tests.scoring.build import Row

from .scored import PlanCase, Scene

JUDGED = """
      look: {serves: [look]}
      tone: {success: {judge: Is it polite}, deps: [look]}
      both: {serves: [pay], success: {tool: pay, judge: Is the sum right}}
"""
"""Sub-goals without a criterion, for a judge alone, and for a judge and a rule."""


def judged(*calls: str, **values: float | None) -> PlanCase:
    """Return an attempt with a judge's verdicts on sub-goals; None: the judge failed."""
    verdicts = [
        {
            **{"subject": "sub_goal", "sub_goal": name},
            **{"source": "judge", "value": value, "label": "error" if value is None else None},
        }
        for name, value in values.items()
    ]
    return PlanCase(JUDGED, calls, verdicts=verdicts)


@built_together
def test_judge_settles_what_no_rule_can() -> Scene:
    """A verdict completes a sub-goal that asks for one; a rule beside it must hold as well."""
    scored, unpaid, wrong = yield [
        judged("pay", tone=0.7, both=1),
        judged(tone=0.7, both=1),
        judged("pay", tone=0.7, both=0.6),
    ]

    assert {name: scored.sub_goal(name)["completed"] for name in ("tone", "both")} == {
        "tone": True,
        "both": True,
    }
    assert scored.sub_goal("tone")["completion_source"] == "judge"
    assert scored.sub_goal("tone")["attempted"]
    assert scored.sub_goal("tone")["dependency_violation"]
    assert unpaid.sub_goal("both")["completed"] is False
    assert wrong.sub_goal("both")["completed"] is False


@built_together
def test_verdict_counts_more_than_the_status_of_a_call() -> Scene:
    """Without a criterion a verdict decides; without a verdict a call that went well."""
    tried = yield [
        judged("look", tone=1, both=0),
        judged("look", look=0, tone=1, both=0),
        judged(look=1, tone=1, both=0),
    ]

    by_call, denied, alone = (each.sub_goal("look") for each in tried)
    assert (by_call["completed"], by_call["completion_source"]) == (True, "status")
    assert (denied["completed"], denied["completion_source"]) == (False, "judge")
    assert alone["completed"]


@built_together
def test_unjudged_sub_goal_leaves_nothing_to_measure() -> Scene:
    """A judge who was not asked, or failed, makes no 0 of completion; calls are still counted."""
    tried = yield [judged("pay", "x", both=1.0), judged("pay", "x", both=1.0, tone=None)]

    for scored in tried:
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


def tried(goals: str, *calls: str, verdicts: Sequence[Row] = ()) -> PlanCase:
    """Return an attempt at sub-goals on which there are verdicts."""
    return PlanCase(goals, calls, verdicts=verdicts)


@built_together
def test_sub_goal_that_only_a_verdict_tells_counts_where_there_is_one() -> Scene:
    """Nothing serves it and it has no criterion: it counts for the attempts that were judged."""
    yes = [verdict("tidy", "yes"), verdict("tell", "yes")]
    both, first, neither = yield [
        *(tried(UNTOLD, "look", verdicts=each) for each in (yes, yes[:1], []))
    ]

    assert both["sub_goal_completion"][1:3] == (3, 3)
    assert both["sub_goal_completion_weighted"][1:3] == (4, 4)
    assert both["critical_path_completion"][1:3] == (1, 1)
    assert both["completion_with_all_deps"].value == 1
    assert both.sub_goal("tell")["deps"] == ["tidy"]
    assert first["sub_goal_coverage"][1:3] == (2, 2)
    assert neither["sub_goal_coverage"][1:3] == (1, 1)
    assert neither["critical_path_completion"].reason == "no_critical"


@built_together
def test_dependencies_reach_through_what_was_not_judged() -> Scene:
    """Who depends on a sub-goal that does not count depends on what that one depends on."""
    (scored,) = yield [PlanCase(UNTOLD, ["look"], verdicts=[verdict("tell", "yes")])]

    assert scored.sub_goal("tell")["deps"] == ["look"]


@built_together
def test_verdicts_alone_are_enough_for_scores() -> Scene:
    """A task whose sub-goals nothing serves has scores where its attempts were judged."""
    goals = "      a: {}\n      b: {deps: [a]}"

    met, failed, unjudged = yield [
        tried(goals, verdicts=[verdict("a", "yes"), verdict("b", "yes")]),
        tried(goals, verdicts=[verdict("a", "yes"), verdict("b", "no")]),
        tried(goals),
    ]

    assert met["sub_goal_coverage"][1:3] == (2, 2)
    assert met["completion_with_all_deps"].value == 1
    assert failed["sub_goal_completion"][:4] == (0.5, 1, 2, "scored")
    assert failed["sub_goal_coverage"].reason == "not_judged"
    assert unjudged["sub_goal_completion"].reason == "no_sub_goals"


@built_together
def test_judged_path_can_be_the_variant() -> Scene:
    """Alternatives are chosen among by verdicts too."""
    goals = "      d: {any_of: [[a], [b]]}\n      a: {}\n      b: {}"

    (scored,) = yield [PlanCase(goals, [], verdicts=[verdict("a", "no"), verdict("b", "yes")])]

    assert {name for _, name in scored.sub_goals} == {"b"}
    assert scored["sub_goal_completion"].value == 1


@built_together
def test_a_fault_that_verdicts_bring_is_that_of_their_attempts() -> Scene:
    """A cycle of sub-goals that count by verdicts alone spoils the attempts that were judged."""
    goals = """
      d: {any_of: [[a]]}
      a: {deps: [b]}
      b: {deps: [d]}
      c: {serves: [t]}
"""
    yes = [verdict("a", "yes"), verdict("b", "yes")]
    judged_run, other = yield [tried(goals, "t", verdicts=yes), tried(goals, "t")]

    assert judged_run["sub_goal_completion"].value == 1
    assert "a -> b -> a" in (judged_run["completion_with_all_deps"].reason or "")
    assert other["completion_with_all_deps"].value == 1


VERIFIED = [
    (("yes", "yes"), True, False),
    (("yes", "no"), False, True),
    (("no", "no"), False, False),
    (("yes", "error"), None, False),
]
"""What two verifiers say, whether that completes a sub-goal, and whether they disagree."""


@built_together
def test_all_verifiers_of_a_sub_goal_must_say_yes() -> Scene:
    """Two of one rank: both must say yes, and the row tells where they disagree."""
    said = [
        [verdict("tidy", label, f"verifier {i}") for i, label in enumerate(labels)]
        for labels, *_ in VERIFIED
    ]
    asked = [tried(UNTOLD, "look", verdicts=[*each, verdict("tidy", "yes")]) for each in said]

    tried_ones = yield [*asked]
    found = [each.sub_goal("tidy") for each in tried_ones]
    assert [(row["completed"], row["verdicts_disagree"]) for row in found] == [
        tuple(told) for _, *told in VERIFIED
    ]


@built_together
def test_verdicts_of_a_later_rank_do_not_disagree() -> Scene:
    """Judges that the task file does not ask do not count."""
    verdicts = [verdict("tidy", label, f"judge:{label}") for label in ("yes", "no")]

    (scored,) = yield [PlanCase(UNTOLD, [], verdicts=[*verdicts, verdict("tidy", "yes", "tests")])]
    row = scored.sub_goal("tidy")

    assert (row["completed"], row["verdicts_disagree"]) == (True, False)
