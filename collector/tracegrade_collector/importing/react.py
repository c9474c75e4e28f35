"""Lists of ReAct steps (thought, action, action_input, observation) → messages of a trajectory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
    return isinstance(value, dict) and any(key in value for key in (*_THOUGHTS, *_TOOLS))


def read_steps(values: Iterable[Any]) -> Chat:
    """Return the messages of the steps, and how many steps were not understood."""
    chat = Chat([], Counter())
    for value in values:
        if is_step(value) or (isinstance(value, dict) and _found(value, _ANSWERS) is not None):
            chat.messages.extend(_step_messages(value, f"step-{len(chat.messages)}"))
        else:
            chat.unread["steps without thought, action or answer"] += 1
    return chat


def _step_messages(step: Mapping[str, Any], call_id: str) -> Iterator[Message]:
    action = _found(step, _TOOLS)
    arguments = _found(step, _ARGUMENTS)
    if isinstance(action, dict):  # {"action": {"name": …, "arguments": …}}
        arguments = _found(action, ("args", *_ARGUMENTS)) if arguments is None else arguments
        action = _found(action, ("name", *_TOOLS))
    said: list[Piece] = []
    if (thought := _found(step, _THOUGHTS) or _logged_thought(step)) is not None:
        said.append(Thought(as_text(thought)))
    if action is not None:
        text = None if arguments is None else as_text(arguments)
        said.append(ToolCall(call_id, as_text(action), text))
    if (answer := _found(step, _ANSWERS)) is not None:
        said.append(MessageText(as_text(answer)))
    if said:
        yield Message("assistant", said)
    result = _observed(step)
    error = _found(step, _ERRORS) if action is not None or result is not None else None
    if result is not None or error is not None:
        answered = {"id": call_id, "content": result, "error": error}
        yield Message("tool", [read_result(answered)])


def _observed(step: Mapping[str, Any]) -> Any:
    """Return what came of the action: an empty text is a result, if nothing else is told."""
    told = _found(step, _RESULTS)
    return "" if told is None and any(step.get(key) == "" for key in _RESULTS) else told


def _found(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) not in (None, "")), None)


def _logged_thought(step: Mapping[str, Any]) -> str | None:
    """Return what stands before the action in LangChain's text of a step."""
    log = step.get("log")
    if not isinstance(log, str):
        return None
    before = log.partition("Action:")[0].strip()
    return before.removeprefix("Thought:").strip() or None
