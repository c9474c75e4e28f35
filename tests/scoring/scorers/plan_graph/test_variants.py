"""A sub-goal with several ways to it: the one that was taken is scored."""

from tests.scenes import built_together

from .scored import PlanCase, Scene

ALTERNATIVES = """
      lookup:   {serves: [search]}
      decide:   {deps: [lookup], any_of: [[refund], [escalate, note]]}
      refund:   {serves: [pay], deps: [decide], critical: true}
      escalate: {serves: [ticket], deps: [lookup], critical: true}
      note:     {serves: [write], deps: [escalate]}
      tell:     {serves: [send], deps: [decide]}
"""


@built_together
def test_variant_that_was_taken_is_scored() -> Scene:
    """Sub-goals of the other path leave totals, critical path and dependencies."""
    refunded, escalated = yield [
        PlanCase(ALTERNATIVES, ["search", "pay", "send"]),
        PlanCase(ALTERNATIVES, ["search", "ticket", "write", "send"]),
    ]

    assert refunded["sub_goal_completion"][:3] == (1, 3, 3)
    assert refunded["critical_path_completion"][:3] == (1, 1, 1)
    assert refunded["completion_with_all_deps"].value == 1
    assert escalated["sub_goal_completion"][:3] == (1, 4, 4)
    assert {name for _, name in escalated.sub_goals} == {"lookup", "escalate", "note", "tell"}


@built_together
def test_variants_that_tie_go_by_size_then_file() -> Scene:
    """Equal completion and coverage: fewest sub-goals; equal size too: first in the file."""
    equal = "      d: {any_of: [[b], [a]]}\n      a: {serves: [t]}\n      b: {serves: [u]}"
    untouched, twins = yield [PlanCase(ALTERNATIVES, []), PlanCase(equal, [])]

    assert "refund" in {name for _, name in untouched.sub_goals}
    assert {name for _, name in twins.sub_goals} == {"b"}


@built_together
def test_who_depends_on_a_choice_depends_on_what_was_chosen() -> Scene:
    """An uncounted prerequisite stands for its own ones and for the chosen path."""
    (scored,) = yield [PlanCase(ALTERNATIVES, ["search", "send", "pay"])]

    assert scored.sub_goal("tell")["dependency_violation"] is True
    assert scored.sub_goal("refund")["dependency_violation"] is False


GRAPHS = """
      find:  {serves: [search]}
      pay:   {serves: [pay], critical: true}
      call:  {serves: [phone], critical: true}
    graphs:
      online:  {find: {}, pay: {deps: [find]}}
      counter: {pay: {}, find: {deps: [pay]}}
      phone:   {call: {}}
"""


@built_together
def test_graph_that_fits_the_run_is_scored() -> Scene:
    """One of several: highest completion, then coverage, fewest sub-goals, first in the file."""
    called, paid, nothing, of_one_graph = yield [
        PlanCase(GRAPHS, ["phone"]),
        PlanCase(GRAPHS, ["pay", "search"]),
        PlanCase(GRAPHS, []),
        PlanCase(ALTERNATIVES, []),
    ]

    assert called["sub_goal_completion"][:3] == (1, 1, 1)
    assert called["sub_goal_completion"].label == "phone"
    assert {name for _, name in called.sub_goals} == {"call"}
    assert called["off_plan_calls"].value == 0
    assert paid["sub_goal_completion"].label == "online"
    assert paid["dependency_violation"].value == 1
    assert nothing["sub_goal_completion"].label == "phone"
    assert of_one_graph["sub_goal_completion"].label is None


@built_together
def test_group_inside_an_unchosen_path_is_not_asked() -> Scene:
    """Nested groups count only inside the chosen path."""
    goals = """
      top:   {any_of: [[inner], [plain]]}
      inner: {any_of: [[a], [b]]}
      a:     {serves: [t]}
      b:     {serves: [u]}
      plain: {serves: [v]}
"""
    inner, plain = yield [PlanCase(goals, ["u"]), PlanCase(goals, ["v"])]

    assert {name for _, name in inner.sub_goals} == {"b"}
    assert {name for _, name in plain.sub_goals} == {"plain"}


@built_together
def test_call_of_another_path_is_not_off_plan() -> Scene:
    """Off-plan calls serve no sub-goal of the task at all."""
    (scored,) = yield [PlanCase(ALTERNATIVES, ["search", "pay", "ticket", "weather"])]

    assert scored["off_plan_calls"].value == 1
