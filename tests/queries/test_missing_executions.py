"""Whether a call without a recorded execution was never made, or only never logged."""

import json

import pytest
from tests.scenes import built_together

from tracegrade_queries.build.nesting import MAX_DEPTH

from .together import Scene
from .traces import (
    Row,
    agent,
    built_apart,
    message,
    model,
    request,
    response,
    rows,
    story,
    story_apart,
    tool,
)

OFFERED = json.dumps([{"name": "search"}, {"name": "pay"}])


def asked_for(*names: str, executed: str | None, offered: str | None) -> list[Row]:
    """Return a run in which a model requests tools; one of them is recorded."""
    said = [message("assistant", *(request(name, f"c{i}") for i, name in enumerate(names)))]
    told: Row = {} if offered is None else {"gen_ai__tool__definitions": offered}
    spans = [agent(1), model(2, 1, at=1, said=said, **told)]
    if executed:
        spans.append(tool(3, 1, at=5, tool_name=executed, gen_ai__tool__call__id="c0"))
    return spans


EVIDENCE = [
    ("search", None, "unknown"),  # web search of a provider, beside a function of ours
    ("search", OFFERED, "interrupted"),  # and the agent ended well, as one does that waits
    (None, OFFERED, "unknown"),
    (None, None, "unknown"),
    ("search", json.dumps([{"name": "search"}]), "not_executed"),
    (None, json.dumps([{"name": "search"}]), "not_executed"),
]


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The steps of a run with each evidence, then of one that asks for a tool twice."""
    runs = [
        asked_for("search", "pay", executed=executed, offered=offered)
        for executed, offered, _ in EVIDENCE
    ]
    runs.append(asked_for("search", "search", executed="search", offered=None))
    return story_apart(built_apart(tmp_path_factory.mktemp("missing"), runs), len(runs))


@pytest.mark.parametrize("number", range(len(EVIDENCE)))
def test_missing_execution_needs_evidence(stories: list[list[str]], number: int) -> None:
    """A tool of a kind that is recorded, or not offered, did not run; else it is not known."""
    assert stories[number][-1] == f"tool_call pay {{}} {EVIDENCE[number][-1]}"


def test_second_call_of_a_recorded_tool_did_not_run(stories: list[list[str]]) -> None:
    """Executions of that tool are recorded, and one is missing."""
    assert stories[-1] == ["tool_call search {} ok", "tool_call search {} not_executed"]


@built_together
def test_result_that_joins_those_of_all_calls_is_told_of_each() -> Scene:
    """Some write what a message holds of several calls as the result of its last one."""
    said = [message("assistant", request("search", "c1"), request("pay", "c2"))]
    heard = [*said, message("tool", response("found paid", "c2"))]
    spans = [
        agent(1),
        model(2, 1, at=1, said=said),
        tool(3, 1, at=3, tool_name="search", gen_ai__tool__call__id="c1", **result("found")),
        tool(4, 1, at=4, tool_name="pay", gen_ai__tool__call__id="c2", **result("paid")),
        model(5, 1, at=6, heard=heard),
    ]
    lake = yield spans

    assert [each for each in story(lake) if each.startswith("observation")] == [
        "observation found",
        "observation paid",
    ]


def result(text: str) -> Row:
    """Return the attribute that holds a tool's result."""
    return {"gen_ai__tool__call__result": text}


@built_together
def test_arguments_nested_too_deeply_are_counted_by_reason() -> Scene:
    """They are kept as sent, and marked."""
    spans = [agent(1)]
    for number, depth in ((2, MAX_DEPTH), (3, MAX_DEPTH + 1)):
        arguments = '{"a":' * depth + "1" + "}" * depth
        spans.append(tool(number, 1, at=number, gen_ai__tool__call__arguments=arguments))
    lake = yield spans

    found = rows(lake, "SELECT flags, length(arguments) AS length FROM steps ORDER BY step_index")
    assert found == [
        {"flags": [], "length": 6 * MAX_DEPTH + 1},
        {"flags": ["deep_arguments", "unparsed_arguments"], "length": 6 * MAX_DEPTH + 7},
    ]
