"""The sub-goals of a run are drawn so that each line can be followed and each call be reached."""

import json
import re
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import LOOPED, client, explorer
from tests.explorer.test_align import call, steps
from tests.scoring.report.build import Tables, as_lake

from tracegrade_scoring.tasks.model import Task
from tracegrade_scoring.timeline.model import RunSubGoal
from tracegrade_scoring.timeline.plan.graph_layout import (
    GraphLayout,
    GraphShape,
    has_graphviz,
    placed,
    reduced_edges,
)
from tracegrade_scoring.timeline.plan.graph_picture import graph_picture, plan_picture
from tracegrade_scoring.timeline.plan.plan_graph import PlanGoals, RunCalls, summary
from tracegrade_scoring.timeline.plan.plan_lines import failed_calls, plan_lines
from tracegrade_scoring.timeline.plan.plans import plan_changes
from tracegrade_scoring.timeline.plan.served import goals_of_tools, served_goals

needs_graphviz = pytest.mark.skipif(not has_graphviz(), reason="pygraphviz has no wheel for this")
WIDTH = 176
CHAIN = {str(number): [str(before) for before in range(number)] for number in range(7)}
DEVAI: dict[str, list[str]] = {
    **CHAIN, "7": [], "8": [*CHAIN], "9": [*CHAIN], "10": [*CHAIN], "11": [], "12": ["11"],
    "13": ["11"],
}  # fmt: skip
"""The requirements of the task of DevAI that has most prerequisites."""


def random_deps(seed: int) -> dict[str, list[str]]:
    """Return a graph of 15 to 60 sub-goals, some with many prerequisites."""
    random = Random(seed)  # noqa: S311
    count = random.randint(15, 60)
    return {
        f"g{number}": [
            f"g{before}" for before in range(number) if random.random() < min(1, 2.2 / number)
        ]
        for number in range(count)
    }


def layout_of(deps: dict[str, list[str]]) -> tuple[GraphShape, GraphLayout]:
    """Return boxes of several heights, and where they stand."""
    number = {name: place for place, name in enumerate(deps)}
    edges = tuple((number[one], number[other]) for one, other in reduced_edges(deps))
    shape = GraphShape(WIDTH, tuple(40 + place * 37 % 60 for place in range(len(deps))), edges)
    return shape, placed(shape)


def on_curve(points: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Return points along a chain of cubic curves."""
    found = []
    for begin in range(0, len(points) - 1, 3):
        for share in (place / 20 for place in range(21)):
            rest = 1 - share
            weights = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
            of = points[begin : begin + 4]
            found.append(tuple(
                sum(weight * point[axis] for weight, point in zip(weights, of, strict=True))
                for axis in (0, 1)
            ))  # fmt: skip
    return found  # type: ignore[return-value]


GRAPHS = [DEVAI, *map(random_deps, range(40))]


@needs_graphviz
@pytest.mark.parametrize("deps", GRAPHS, ids=lambda deps: f"{len(deps)} sub-goals")
def test_no_line_goes_through_a_box_and_no_box_covers_another(deps: dict[str, list[str]]) -> None:
    """Nor does a line end elsewhere than at its two boxes."""
    shape, layout = layout_of(deps)
    boxes = [
        (x, y, x + WIDTH, y + height)
        for (x, y), height in zip(layout.corners, shape.heights, strict=True)
    ]
    for number, one in enumerate(boxes):
        assert min(one) >= -1
        for other in boxes[:number]:
            apart = one[2] <= other[0] or other[2] <= one[0]
            assert apart or one[3] <= other[1] or other[3] <= one[1]
    for line in layout.lines:
        foreign = [box for at, box in enumerate(boxes) if at not in {line.begin, line.end}]
        for x, y in on_curve(line.points):
            assert not any(
                left + 1 < x < right - 1 and top + 1 < y < bottom - 1
                for left, top, right, bottom in foreign
            )
        assert line.points[0][0] == pytest.approx(boxes[line.begin][2], abs=1)
        assert line.tip[0] == pytest.approx(boxes[line.end][0], abs=1)


def test_prerequisites_that_others_imply_are_not_drawn() -> None:
    """What must come before each stays the same; a circle is opened."""
    assert len(reduced_edges(DEVAI)) == 11
    assert sum(map(len, DEVAI.values())) == 44
    assert reduced_edges({"a": [], "b": ["a"], "c": ["a", "b", "gone"]}) == [
        ("a", "b"),
        ("b", "c"),
    ]
    assert reduced_edges({"a": ["b", "a"], "b": ["a"]}) == [("a", "b")]


@needs_graphviz
def test_equal_shapes_are_laid_out_once() -> None:
    """Runs of a task mostly have the same."""
    shape, first = layout_of({"a": [], "b": ["a"]})
    assert placed(shape) is first


def goal(name: str, *deps: str, done: bool | None = True, **facts: Any) -> RunSubGoal:
    """Return a sub-goal, which is critical unless said."""
    known = {"critical": True, "attempted": done, "completed": done, "regressed": False,
             "dependency_violation": False, **facts}  # fmt: skip
    return RunSubGoal(sub_goal=name, deps=[*deps], **known)


TASK = Task.model_validate({
    "sub_goals": {
        "parse": {"serves": ["read_csv"]},
        "clean": {"serves": [{"tool": "write", "arguments": "clean/"}]},
        "room": {"serves": ["remove"]},
    }
})  # fmt: skip
GOALS = [
    goal("parse"),
    goal("room", "parse", attempted=True, completed=False),
    goal("clean", "room"),
    goal("report", "clean", done=False, critical=False),
    goal("tell", "report", done=False, critical=False),
]
PLANS = [
    (0, '[{"id": "parse"}, {"id": "clean"}, {"id": "archive", "tool": "move", '
        '"effect": "destructive"}, {"id": "tell"}]'),
    (5, '[{"id": "parse", "status": "done"}, {"id": "free", "tool": "remove"}, {"id": "clean"}, '
        '{"id": "archive", "tool": "move"}]'),
]  # fmt: skip


def planned() -> PlanGoals:
    """Return a run that wrote, failed, planned anew, made room, wrote again and moved."""
    found = steps(
        {"kind": "plan"}, call("read_csv"), call("read_csv"), call("write", '"clean/a"'),
        {"kind": "thought"}, {"kind": "plan"}, call("remove"), call("write", '"clean/a"'),
        call("write", '"other"'), call("move"),
    )  # fmt: skip
    calls = [step for step in found if step.kind == "tool_call"]
    served = served_goals(calls, {each.sub_goal for each in GOALS}, TASK)
    known = RunCalls(calls, served, goals_of_tools(calls, served), frozenset({3}), frozenset({2}))
    return PlanGoals(GOALS, plan_changes(PLANS), known)


def test_a_call_serves_what_its_span_says_and_else_what_rules_say() -> None:
    """Rules look at arguments, and say nothing of what was cut."""
    found = steps(
        call("write", '"clean/a"'), call("write", '"b"'), call("write", '"b"', sub_goal="parse"),
        call("write", '"clean/a"', flags=["truncated"]), call("read_csv", sub_goal="unknown"),
    )  # fmt: skip
    assert served_goals(found, {"parse", "clean"}, TASK) == {
        0: ("clean",), 2: ("parse",), 4: ("parse",),
    }  # fmt: skip
    assert served_goals(found, {"parse"}, None) == {2: ("parse",)}


def test_boxes_say_how_far_a_run_got() -> None:
    """Done, tried, skipped although it could have been begun, or never reached."""
    boxes = planned().boxes()
    assert [(box.name, box.state, box.notes) for box in boxes] == [
        ("parse", "done", ()),
        ("room", "tried", ("planned late, as free",)),
        ("clean", "done", ()),
        ("report", "skipped", ("not in the plan",)),
        ("tell", "never reached", ()),
    ]
    said = summary(boxes, [box.name for box in boxes])
    assert said == "2 of 5 sub-goals done, critical path broken at room"
    assert [[(each.step, each.mark) for each in box.squares] for box in boxes] == [
        [(1, "good"), (2, "warn")], [(6, "good")], [(3, "bad"), (7, "good")], [], [],
    ]  # fmt: skip


def test_what_was_planned_and_is_no_sub_goal_stands_by_itself() -> None:
    """With its effect and the calls of its tool."""
    (extra,) = planned().extra_boxes()
    assert (extra.name, extra.state, extra.notes) == ("archive", "extra", ())
    assert [each.step for each in extra.squares] == [9]


def test_a_new_plan_leaves_the_line_before_at_its_first_undone_item() -> None:
    """And says what it adds, what it drops, and after which failed call."""
    goals = planned()
    lines = plan_lines(
        goals.changes, goals.done_before, failed_calls(goals.calls.calls, goals.calls.failed)
    )
    first, second = lines

    assert [(mark.name, mark.state) for mark in first.marks] == [
        ("parse", "done"), ("clean", "dropped"), ("archive", "dropped"), ("tell", "dropped"),
    ]  # fmt: skip
    assert second.fork == 1
    assert second.why == "+ free, \u2212 tell, because write failed (s3)"
    assert [(mark.name, mark.state, mark.added) for mark in second.marks] == [
        ("free", "done", True), ("clean", "done", False), ("archive", "done", False),
    ]  # fmt: skip
    no_failure = plan_lines(goals.changes, goals.done_before, [])[1]
    assert no_failure.why.endswith("with no failure before")


def test_a_plan_that_only_restates_is_no_new_line() -> None:
    """To-do lists are sent again with each item that is done."""
    changes = plan_changes([(0, '["a", "b"]'), (1, '[{"text": "a", "status": "done"}, "b"]')])
    assert len(plan_lines(changes, lambda item, step: False, [])) == 1


@needs_graphviz
def test_each_square_leads_to_a_step_of_its_own_box() -> None:
    """Of the picture as it is drawn."""
    goals = planned()
    deps = {each.sub_goal: each.deps for each in GOALS}
    picture = str(graph_picture(goals.boxes(), goals.extra_boxes(), deps, "#s{}".format))
    parts = re.split(r"<g><title>(\w+):", picture)[1:]
    links = {
        name: [int(step) for step in re.findall(r'href="#s(\d+)"', part)]
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    }
    assert links == {
        **{box.name: [each.step for each in box.squares] for box in goals.boxes()},
        "archive": [9],
    }
    assert "style=" not in picture


@needs_graphviz
def test_texts_of_a_trace_are_escaped_and_never_cut_without_a_whole_one() -> None:
    """In boxes, in squares and on lines of plans."""
    name = "<b>" + "long " * 40
    goals = PlanGoals([goal(name)], plan_changes([(0, f'["{name}"]')]), planned().calls)
    graph = str(graph_picture(goals.boxes(), [], {name: []}, "#s{}".format))
    lines = plan_lines(goals.changes, goals.done_before, [])
    for picture in (graph, str(plan_picture(lines, "#s{}".format))):
        assert "<b>" not in picture
        assert "&lt;b&gt;" + "long " * 40 in picture


def test_lines_of_plans_do_not_cover_one_another() -> None:
    """Items of a plan are side by side, with any names."""
    texts = ", ".join(f'"{"w" * size}"' for size in (1, 30, 8, 200))
    lines = plan_lines(plan_changes([(0, f"[{texts}]")]), lambda item, step: False, [])
    drawn = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"',
                       str(plan_picture(lines, "#s{}".format)))  # fmt: skip
    places = [(float(x), float(width)) for x, width in drawn]
    assert len(places) == 4
    assert all(one[0] + one[1] < other[0] for one, other in pairwise(places))


def table_alone(page: str) -> str:
    """Return the card of a page whose sub-goals are a table, which is open."""
    card = page.partition('class="plan-card"')[2].partition("</section>")[0]
    assert "goal-name" not in card
    assert "<details open><summary>Sub-goals as a table" in card
    return card


@needs_graphviz
def test_without_graphviz_the_table_stands_alone(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says why; with it, the same page has a box for each row."""
    assert 'class="goal-name"' in web.get(f"/runs/{LOOPED}").text
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert "no wheel for this system" in table_alone(web.get(f"/runs/{LOOPED}").text)


def test_more_sub_goals_than_anybody_reads_are_a_table(tmp_path: Path) -> None:
    """All of them."""
    with closing(Tables()) as tables:
        run = tables.run(task_id="long")
        for number in range(61):
            tables.insert("sub_goals", trajectory_id=run, sub_goal=f"g{number}", critical=False,
                          weight=1.0, attempted=True, completed=True, task_id="long")  # fmt: skip
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        card = table_alone(client(pages).get(f"/runs/{run}").text)
    assert "more than 60 sub-goals" in card
    assert "61 of 61 sub-goals done" in card
    assert len(re.findall(r"<tr><td>g\d+<", card)) == 61


def test_a_card_says_which_part_of_a_long_run_it_is_made_from(web: TestClient) -> None:
    """Steps are read a page at a time."""
    whole, rest = (web.get(f"/runs/{LOOPED}{query}").text for query in ("", "?from=15"))
    assert "Its calls are those" not in whole
    assert "Its calls are those of s15 to s16, as below." in rest


def test_many_plans_of_many_items_are_drawn_in_time() -> None:
    """To-do lists are sent again and again: 300 of 200 items beside 2,000 calls."""
    names = [f"i{number}" for number in range(200)]
    plans = [
        (place, json.dumps([{"id": name} for name in names[place % 7 :]])) for place in range(300)
    ]
    found = steps(
        *(call(names[place % 200], sub_goal=names[place % 60]) for place in range(2_000))
    )
    goals = [goal(name) for name in names[:60]]
    served = served_goals(found, {each.sub_goal for each in goals}, None)
    known = RunCalls(found, served, goals_of_tools(found, served), frozenset(), frozenset())
    begun = time.thread_time()
    planned = PlanGoals(goals, plan_changes(plans), known)
    boxes, extra = planned.boxes(), planned.extra_boxes()
    lines = plan_lines(planned.changes, planned.done_before, [])
    assert time.thread_time() - begun < 5
    assert (len(boxes), len(extra), len(lines)) == (60, 140, 8)


@needs_graphviz
def test_what_was_planned_beside_many_sub_goals_is_counted() -> None:
    """A row of boxes has an end."""
    plan = json.dumps([f"i{number}" for number in range(15)])
    planned = PlanGoals(
        [goal("a")], plan_changes([(0, plan)]), RunCalls([], {}, {}, *[frozenset[int]()] * 2)
    )
    picture = str(graph_picture(planned.boxes(), planned.extra_boxes(), {"a": []}, str))
    assert picture.count("goal-extra") == 12
    assert "in the plan, not in the task: 12 of 15" in picture
