"""Runs are flagged whose answer the trace does not hold: it may have been given."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, apart, message, model, request, rows, tool

CALLED = [message("assistant", request("w", "c1", city="Paris"))]
CALL: Row = {"gen_ai__tool__call__id": "c1", "tool_name": "w"}
EMPTY = json.dumps([{"role": "assistant", "parts": []}])
BLANK = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": ""}]}])
HIDDEN = json.dumps([{"role": "assistant", "parts": [{"type": "thinking"}, {"type": "text"}]}])
CUT = json.dumps([message("assistant", "It is 22C in Paris")])[:-6]


def _flagged(lake: Any) -> list[bool]:
    """Return of each run whether its answer is not recorded."""
    found = rows(lake, "SELECT flags FROM trajectories ORDER BY trace_id")
    return ["unrecorded_answer" in row["flags"] for row in found]


def _ending(*last: Row) -> list[Row]:
    """Return a run that calls a tool and ends as given."""
    return [agent(1), model(2, 1, at=1, said=CALLED), tool(3, 1, at=5, **CALL), *last]


@built_together
def test_last_model_call_without_output_may_have_answered() -> Scene:
    """Its output was not captured, has parts without content, or was cut before a whole text."""
    used: Row = {"gen_ai__usage__output_tokens": 5, "gen_ai__usage__input_tokens": 5}
    lake = yield apart(
        [
            _ending(model(4, 1, at=9)),
            _ending(model(4, 1, at=9, gen_ai__response__finish_reasons=["stop"], **used)),
            _ending(model(4, 1, at=9, gen_ai__output__messages=CUT)),
            _ending(model(4, 1, at=9, gen_ai__output__messages=CUT[:20])),
            _ending(model(4, 1, at=9, gen_ai__output__messages=HIDDEN)),
            _ending(model(4, 1, at=9, gen_ai__completion__0__role="assistant")),
        ]
    )

    assert _flagged(lake) == [True] * 6
    assert rows(lake, "SELECT DISTINCT final_answer FROM trajectories") == [{"final_answer": None}]


@built_together
def test_run_that_did_not_answer_is_not_flagged() -> Scene:
    """An empty output, a call at the end, no end, a failure and an answer elsewhere are known."""
    lake = yield apart(
        [
            _ending(model(4, 1, at=9, gen_ai__output__messages=EMPTY)),
            _ending(model(4, 1, at=9, gen_ai__output__messages=BLANK)),
            _ending(model(4, 1, at=9, ai__response__text="")),
            _ending(model(4, 1, at=9, gen_ai__completion__0__content="")),
            _ending(),
            _ending(model(4, 1, at=9), tool(5, 1, at=20)),
            _ending(model(4, 1, at=9, gen_ai__response__finish_reasons=["tool_calls"])),
            _ending(model(4, 1, at=9, gen_ai__usage__output_tokens=0)),
            _ending(model(4, 1, at=9, error="overloaded")),
            [agent(1, gen_ai__output__messages=json.dumps([message("assistant", "22C")]))],
            _ending(model(4, 1, at=9, said=[message("assistant", "22C")])),
        ]
    )

    assert _flagged(lake) == [False] * 11
