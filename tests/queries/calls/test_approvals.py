"""Calls of OpenAI's MCP tools that need approval are one call, from request to end."""

from tests.queries.calls.test_provider_calls import BY_PROVIDER, EXECUTED_BY
from tests.queries.together import Scene
from tests.queries.traces import Row, agent, message, model, rows, story
from tests.scenes import built_together

ASKS: Row = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "name": "roll",
    "server_label": "dice",
    "arguments": '{"sides": 6}',
}
APPROVES: Row = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
ROLLED: Row = {
    "type": "mcp_call",
    "id": "mcp_1",
    "approval_request_id": "mcpr_1",
    "name": "roll",
    "server_label": "dice",
    "arguments": '{"sides": 6}',
    "output": "4",
}


def run(*more: Row) -> list[Row]:
    """Return a run whose first model call asks for approval."""
    return [agent(1, ms=100), model(2, 1, at=1, said=[message("assistant", ASKS)]), *more]


@built_together
def test_an_approved_call_is_one() -> Scene:
    """Another item, of another model call, holds its result."""
    lake = yield run(
        model(
            *(3, 1),
            at=20,
            heard=[message("user", APPROVES)],
            said=[message("assistant", ROLLED, "It is 4.")],
        )
    )

    assert story(lake) == ['tool_call roll {"sides":6} ok', "observation 4", "answer It is 4."]
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_a_call_that_waits_for_approval_is_interrupted() -> Scene:
    """And so is its run: it has neither failed nor ended."""
    lake = yield run()

    assert story(lake) == ['tool_call roll {"sides":6} interrupted']
    assert rows(lake, "SELECT interrupted FROM trajectories") == [{"interrupted": True}]
