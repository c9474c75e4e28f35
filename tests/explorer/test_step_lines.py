"""A step of a run is one line: what was asked and returned, below the sub-goal that it serves."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.explorer.test_align import THOUGHT, call, steps
from tests.explorer.test_blocks import seen, view
from tests.scoring.report.build import Tables, as_lake

from tracegrade_explorer.run_view.blocks import blocks
from tracegrade_explorer.run_view.step_lines import LineBlock, line_blocks
from tracegrade_scoring.timeline.model import Step

HOSTILE = "<script>alert(1)</script>"
LONG_RESULT = f'{{"rows":[{", ".join(["1.0"] * 900)}],"{HOSTILE}":1}}'
ANSWER = {"kind": "answer", "content": "Done", "role": "assistant"}


def lines(
    found: list[Step], goals: Mapping[int, str] = {}, marks: Mapping[int, str] = {}
) -> list[LineBlock]:
    """Return steps as lines, some marked, some calls serving sub-goals."""
    views = [
        view(step, (marks[step.step_index],) if step.step_index in marks else ()) for step in found
    ]
    by_index = {step.step_index: step for step in found}
    return line_blocks(blocks(found, views, {}), by_index, goals, {}, {})


def shortened(**facts: Any) -> tuple[str, str]:
    """Return what the line of one call says it was given, and what it returned."""
    (block,) = lines(steps(call("a", **facts)))
    return block.lines[0].given, block.lines[0].returned


def test_arguments_and_results_are_short() -> None:
    """Values that are long are counted; an error stands in place of a result."""
    rows = str([{"row": "x" * 9}] * 30).replace("'", '"')
    assert shortened(arguments=f'{{"path": "a.csv", "rows": {rows}, "of": {{"n": 1}}}}') == (
        'path="a.csv", rows=[30], of={"n":1}', "",
    )  # fmt: skip
    assert shortened(result='[{"id": 1}, {"id": 2}]')[1] == "[2] id=1"
    assert shortened(result="[]", error="OSError: disk full")[1] == "OSError: disk full"
    assert shortened(result="plain\ntext " * 99)[1] == ("plain text " * 99)[:159] + "…"
    assert shortened(arguments='{"a": ' + "[" * 9_000)[0].startswith('{"a": [[[')


def test_an_observation_is_inside_its_call() -> None:
    """With what was found at it; one without its call stands alone."""
    found = steps(call("a"), seen(0), seen(0), call("b"), {"kind": "observation"})
    (block,) = lines(found, marks={1: "cut", 2: "cut"})

    assert [line.view.index for line in block.lines] == [0, 3, 4]
    assert [each.index for each in block.lines[0].seen] == [1, 2]
    assert (block.lines[0].mark, block.lines[0].findings) == ("▲", ("cut",))
    assert block.last_index == 4


def test_steps_stand_below_the_sub_goal_that_they_serve() -> None:
    """A thought with the next call, an answer with what is before it, a plan with neither."""
    found = steps(
        {"kind": "plan"}, THOUGHT, call("a"), seen(2), THOUGHT, call("b"), call("c"),
        {"kind": "plan"}, call("a"), THOUGHT, ANSWER,
    )  # fmt: skip
    result = lines(found, {2: "look", 5: "look", 8: "tell"})

    assert [(block.head, [line.view.index for line in block.lines]) for block in result] == [
        ("", [0]), ("look", [1, 2, 4, 5]), ("serves no sub-goal", [6, 7]), ("tell", [8]),
        ("serves no sub-goal", [9, 10]),
    ]  # fmt: skip
    assert {block.head for block in lines(found)} == {""}


def test_a_fold_stays_whole_below_its_sub_goal() -> None:
    """It says which steps it holds, observations included."""
    found = steps(call("a"), seen(0), call("a"), seen(2), call("a"), seen(4), call("b"))
    fold, rest = lines(found, {0: "look", 2: "look", 4: "look", 6: "look"})
    assert (fold.head, len(fold.lines), fold.last_index) == ("look", 3, 5)
    assert (rest.head, [line.view.index for line in rest.lines]) == ("", [6])


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str]]:
    """The pages of a failed run with four equal findings, and its address."""
    with closing(Tables()) as tables:
        run = tables.run(task_id="pay", user_input=HOSTILE)
        for index in range(5):
            tables.insert("steps", trajectory_id=run, step_index=index, kind="tool_call",
                          tool_name=f"pay{index}", arguments=f'{{"to": "{HOSTILE}"}}',
                          status="error", error_message=HOSTILE,
                          result=LONG_RESULT if index == 4 else None)  # fmt: skip
        for index in range(4):
            tables.insert("failed_calls", trajectory_id=run, step_trajectory_id=run,
                          step_index=index, failed_by="status", outcome="lost")  # fmt: skip
        tables.scored(run, "pay")
        tables.score(run, "success", 0.0, numerator=0.0, denominator=1.0)
        tables.score(run, "tsa", 0.5, numerator=1.0, denominator=2.0)
        for rank, (kind, step) in enumerate((("lost_call", 2), ("no_answer", None)), 1):
            tables.insert("run_reasons", trajectory_id=run, rank_in_run=rank, kind=kind, key="k",
                          sentence=f"{kind} {HOSTILE}", step_trajectory_id=step and run,
                          step_index=step, success=False, source="static")  # fmt: skip
        lake = as_lake(tables, tmp_path_factory.mktemp("lines") / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        yield client(pages), f"/runs/{run}"


def test_the_heading_says_why_the_run_failed(web: tuple[TestClient, str]) -> None:
    """Each reason leads to the step that shows it."""
    page = web[0].get(web[1]).text
    (heading,) = re.findall("<h1.*?</h1>", page, re.DOTALL)
    assert '<span class="lead-f">Failed:</span>' in heading
    assert re.findall(r'href="([^"]+)">(\w+) &lt;script', heading) == [("#s2", "lost_call")]
    assert "no_answer &lt;script" in heading


def test_json_comes_on_lines_of_its_own(web: tuple[TestClient, str]) -> None:
    """On the page its beginning; behind the link all of it; else as it was sent."""
    page = web[0].get(web[1]).text
    address = f"{web[1]}/steps/4/result"
    whole = web[0].get(f"{address}?indent=1").text

    assert f'href="{address}?indent=1"' in page
    assert "{\n  <b>&#34;rows&#34;</b>: [\n    1.0,\n" in page
    assert whole.startswith('{\n  "rows": [\n    1.0,\n')
    assert whole.endswith(f'\n  ],\n  "{HOSTILE}": 1\n}}')
    assert web[0].get(address).text == LONG_RESULT


def test_equal_findings_in_a_row_are_one(web: tuple[TestClient, str]) -> None:
    """With a link to each step and how many they are; scores are folded below main ones."""
    page = web[0].get(web[1]).text
    (finding,) = re.findall(r'<li class="mark">(.*?)</li>', page)

    assert re.findall('href="#s(.)"', finding) == ["0", "1", "2", "3"]
    assert "\u00d74 the call failed" in finding
    assert 'Findings <span class="of">4<' in page
    assert page.count("(4 times, to s3)") == 1
    assert '<details class="folded-scores"><summary>' in page
    assert "<dd>50.0%</dd>" in page


def test_nothing_of_a_trace_acts(web: tuple[TestClient, str]) -> None:
    """Neither in lines nor in headings."""
    page = web[0].get(web[1]).text
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in page
