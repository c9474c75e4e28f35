"""A tool that is executed again after it failed: what the model was told is of the last try."""

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, apart, message, model, request, response, story, tool

ASKED: Row = message("user", "How warm is it in Paris?")
CALLED: Row = message("assistant", request("w", "c1", city="Paris"))
HEARD: list[Row] = [ASKED, CALLED, message("tool", response("22C", "c1"))]


def _tries(*tries: Row) -> list[Row]:
    """Return a run whose model calls a tool once and hears one result."""
    said = [message("assistant", "22C")]
    return [
        agent(1),
        model(2, 1, at=1, heard=[ASKED], said=[CALLED]),
        *tries,
        model(9, 1, at=30, heard=HEARD, said=said),
    ]


def _try(number: int, at: float, **more: object) -> Row:
    return tool(number, 1, at=at, tool_name="w", gen_ai__tool__call__id="c1", **more)


@built_together
def test_result_is_observed_of_the_try_that_it_came_from() -> Scene:
    """Each try is a call; the model saw none of those that failed before."""
    told: Row = {"gen_ai__tool__call__result": "22C"}
    lake = yield apart(
        [
            _tries(_try(3, 5, error="timeout"), _try(4, 9, **told)),
            _tries(_try(3, 5, error="timeout"), _try(4, 9)),
            _tries(_try(3, 5, error="timeout"), _try(4, 9, error="timeout"), _try(5, 15)),
            _tries(_try(3, 5, error="timeout")),
        ]
    )

    call = 'tool_call w {"city":"Paris"}'
    last = ["tool_call w ok", "observation 22C", "answer 22C"]
    failed = "tool_call w error"
    assert story(lake, f"{1:032x}") == [f"{call} error", *last]
    assert story(lake, f"{2:032x}") == [f"{call} error", *last]
    assert story(lake, f"{3:032x}") == [f"{call} error", failed, *last]
    assert story(lake, f"{4:032x}") == [f"{call} error", "observation 22C", "answer 22C"]
