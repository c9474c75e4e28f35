"""What the fake model says to the quickstarts: it looks an order up, and tells what it found."""

import json
import re
from typing import Any, Final

from .model_turn import Turn

TOOL: Final = "order_status"
FOUND: Final = "It was shipped on 3 May."
UNKNOWN: Final = "I cannot find that order."
RESULT: Final = "shipped on 3 May"

_ORDER: Final = re.compile(r"\b[AB]-\d{4}\b")
# Signs of an earlier answer of the model; smolagents reports a failed call in words alone.
_CALLED: Final = (
    '"role": "assistant"',
    '"function_call_output"',
    '"functionResponse"',
    '"tool_result"',
    "Now let's retry",
)


def turn_of_order(request: dict[str, Any]) -> Turn:
    """Return the model's turn: a call of the tool, or an answer once its result is there.

    Args:
        request: Of any of the APIs.
    """
    said = {name: request[name] for name in ("messages", "input", "contents") if name in request}
    history = json.dumps(said)
    if any(mark in history for mark in _CALLED):
        return Turn("2", None, FOUND if RESULT in history else UNKNOWN, [])
    order = _ORDER.search(history)
    assert order is not None, "the question names no order"
    return Turn("1", None, None, [(TOOL, json.dumps({"order": order[0]}))])
