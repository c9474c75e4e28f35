"""Long runs are folded where nothing happens, and plans are shown by their changes."""

from typing import Any

from tests.explorer.test_align import THOUGHT, call, steps

from tracegrade_explorer.run_view.blocks import StepBlock, blocks
from tracegrade_scoring.rendering.blocks import StepView
from tracegrade_scoring.timeline.model import Step
from tracegrade_scoring.timeline.plan.plans import plan_changes


def seen(of: int, content: str = "") -> dict[str, Any]:
    """Return what was observed of a call."""
    return {"kind": "observation", "call_step": of, "content": content}


def view(step: Step, marks: tuple[str, ...] = ()) -> StepView:
    """Return a step in words."""
    return StepView(
        step.step_index, step.kind, step.tool_name or "", failed=False, facts=(), texts=(),
        marks=marks, offset="", duration="", start_share=0, width_share=0,
    )  # fmt: skip


def folded(found: list[Step], marks: dict[int, str] | None = None) -> list[StepBlock]:
    """Return the blocks of steps, some of them marked."""
    told = marks or {}
    views = [view(step, (told[step.step_index],) if step.step_index in told else ())
             for step in found]  # fmt: skip
    return blocks(found, views, {})


def test_equal_calls_in_a_row_are_one_fold() -> None:
    """With what was observed of them; two are not folded, nor equal ones with another between."""
    found = steps(call("a"), seen(0), call("a"), seen(2), call("a"), seen(4), call("b"), call("a"))
    result = folded(found, {2: "loop"})

    assert [block.title for block in result] == ["a \u00d7 3, same arguments, same result", ""]
    assert [len(block.steps) for block in result] == [6, 2]
    assert result[0].marks == ("loop",)
    assert [block.title for block in folded(steps(call("a"), call("a")))] == [""]


def test_a_fold_says_that_results_differ() -> None:
    """Polling is not a loop."""
    found = steps(call("a"), seen(0, "1"), call("a"), seen(2, "2"), call("a"), seen(4, "2"))
    assert folded(found)[0].title == "a \u00d7 3, same arguments, 2 different results"


def test_long_stretches_are_folded_where_something_is_found_elsewhere() -> None:
    """A run in which nothing was found stays open."""
    found = steps(THOUGHT, *(call(f"tool {n}") for n in range(30)), call("last"))

    assert [block.title for block in folded(found)] == [""]
    titles = [block.title for block in folded(found, {31: "wrong"})]
    assert titles == ["30 calls without a finding", ""]


def test_folds_lose_no_step() -> None:
    """All are there, in order."""
    found = steps(*(call("a") for _ in range(4)), THOUGHT, *(call(f"{n}") for n in range(25)))
    result = folded(found, {3: "x"})
    assert [step.index for block in result for step in block.steps] == [*range(30)]


def test_a_plan_is_told_by_what_it_changes() -> None:
    """Steps are the same by id, else by text."""
    changes = plan_changes([
        (1, '[{"id": "a", "text": "look"}, {"id": "b"}, "say it"]'),
        (4, "not a plan"),
        (5, '[{"id": "a", "text": "look", "status": "done"}, "say it", {"id": "c"}]'),
    ])  # fmt: skip

    assert [change.step_index for change in changes] == [1, 5]
    assert [item.text for item in changes[0].added] == ["look", "b", "say it"]
    assert [item.key for item in changes[1].added] == ["c"]
    assert [item.key for item in changes[1].removed] == ["b"]
    assert [(old.status, new.status) for old, new in changes[1].restated] == [("", "done")]


def test_plans_of_any_shape_are_read() -> None:
    """Any JSON may be in the field; only a list is a plan."""
    odd = ["{}", "null", '[[1], null, 3, {"text": {"x": 1}}]', "[" * 5000, "[]", '"a"']
    changes = plan_changes(enumerate(odd))
    assert [change.step_index for change in changes] == [2]
    assert len(changes[0].items) == 4


def test_equal_calls_of_several_agents_are_not_one() -> None:
    """Two agents that made the same call did not repeat it; three times by one is a repeat."""
    found = steps(*[call("look")] * 6)
    agents = dict(enumerate(("a", "b", "a", "b", "b", "b")))
    result = blocks(found, [view(each) for each in found], agents)

    repeats = [block for block in result if block.title]
    assert [[each.index for each in block.steps] for block in repeats] == [[3, 4, 5]]
