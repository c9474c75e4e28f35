"""Lists of ReAct steps (thought, action, action_input, observation) → messages of a trajectory.

A step may also be a pair of an action and its observation, like LangChain's `intermediate_steps`.
An observation may be a step of its own after its action's.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tracegrade_collector.importing.chat import Chat
from tracegrade_collector.importing.spellings import as_text
from tracegrade_collector.importing.tool_results import read_result
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    Thought,
    ToolCall,
)

_THOUGHTS: Final = ("thought", "thoughts", "reasoning")
_TOOLS: Final = ("action", "tool", "tool_name", "action_name")
_ARGUMENTS: Final = ("action_input", "tool_input", "action_args", "arguments", "args", "input")
_RESULTS: Final = ("observation", "tool_output", "result", "output")
_ERRORS: Final = ("error", "error_message")
_ANSWERS: Final = ("final_answer", "answer")


def is_step(value: Any) -> bool:
    """Return whether this looks like a step: it names a tool, or a thought."""
    step = _as_object(value)
    return step is not None and any(key in step for key in (*_THOUGHTS, *_TOOLS))


def read_steps(values: Iterable[Any], ignored: Counter[str]) -> Chat:
    """Return the messages of the steps, and how many steps were not understood.

    Args:
        values: The steps, in order.
        ignored: Counts the parts that are left out of understood steps.
    """
    chat = Chat([], Counter())
    call_id: str | None = None  # id of the last call, as long as nothing was observed
    for value in values:
        step = _as_object(value) or {}
        if _found(step, _TOOLS) is not None:
            call_id = f"step-{len(chat.messages)}"
        acted, answered = _assistant_message(step, call_id), _answered(step, call_id)
        chat.messages.extend(filter(None, (acted, answered)))
        call_id = None if answered else call_id
        if not acted and not answered:
            chat.unread["steps without thought, action or answer"] += 1
        elif not answered and _observed(step) not in (None, ""):
            ignored["observations without an action"] += 1
    return chat


def _as_object(value: Any) -> Mapping[str, Any] | None:
    """Return a step as an object; for a pair, the action with its observation."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], dict):
        return {**value[0], "observation": value[1]} if _found(value[0], _TOOLS) else None
    return value if isinstance(value, dict) else None


def _assistant_message(step: Mapping[str, Any], call_id: str | None) -> Message | None:
    action = _found(step, _TOOLS)
    arguments = _found(step, _ARGUMENTS)
    if isinstance(action, dict):  # {"action": {"name": …, "arguments": …}}
        arguments = _found(action, ("args", *_ARGUMENTS)) if arguments is None else arguments
        action = _found(action, ("name", *_TOOLS))
    pieces: list[Piece] = []
    if (thought := _found(step, _THOUGHTS) or _logged_thought(step)) is not None:
        pieces.append(Thought(as_text(thought)))
    if action is not None:
        text = None if arguments is None else as_text(arguments)
        pieces.append(ToolCall(call_id, as_text(action), text))
    if (answer := _found(step, _ANSWERS)) is not None:
        pieces.append(MessageText(as_text(answer)))
    return Message("assistant", pieces) if pieces else None


def _answered(step: Mapping[str, Any], call_id: str | None) -> Message | None:
    """Return the result of the call that still has none."""
    result, error = _observed(step), _found(step, _ERRORS)
    if call_id is None or (result is None and error is None):
        return None
    return Message("tool", [read_result({"id": call_id, "content": result, "error": error})])


def _observed(step: Mapping[str, Any]) -> Any:
    """Return the result of the action; an empty text counts only without another."""
    result = _found(step, _RESULTS)
    return "" if result is None and any(step.get(key) == "" for key in _RESULTS) else result


def _found(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) not in (None, "")), None)


def _logged_thought(step: Mapping[str, Any]) -> str | None:
    """Return the text before the action in LangChain's log of a step."""
    log = step.get("log")
    if not isinstance(log, str):
        return None
    before = log.partition("Action:")[0].strip()
    return before.removeprefix("Thought:").strip() or None
