"""The format `opencode`: what `opencode export` prints of a session of OpenCode → spans.

A session is one trajectory, and so is the session of each subagent, which has its parent as
conversation. A message of the model has a part for each step; a step is one model call, with the
tokens that it ends with. Summaries made by compaction are left out. A call failed if its state
is `error`, or if its command's exit code is not 0.

The form is that of anomalyco/opencode 1.18 (November 2026).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.importing.formats.session_part import session_part
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.spellings import as_id, as_text, quoted_word
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.tool_results import error_text
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    RunOrigin,
    Thought,
    ToolCall,
    ToolResult,
    Trajectory,
)
from tracegrade_collector.importing.usage import read_usage

FORMAT: Final = "opencode"
AGENT: Final = "opencode"
SUBAGENT: Final = "opencode-subagent"

_UNKNOWN_TOOL: Final = "invalid"
"""Tool that OpenCode calls in the place of one that does not exist or got wrong arguments."""


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    if not isinstance(record, dict) or not isinstance(record.get("info"), dict):
        return False
    messages = record.get("messages")
    if not isinstance(messages, list) or not messages:
        return messages == [] and "projectID" in record["info"]
    return isinstance(messages[0], dict) and messages[0].keys() >= {"info", "parts"}


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each session of a file, after one for each invalid record."""
    with open_plain(path) as file:
        for number, record in enumerate(read_records(file)):
            location = f"{path}:{record.line}"
            if record.fault or not fits(record.value):
                yield ImportPart(location, fault=record.fault or "no exported session")
                continue
            try:
                yield _part(path, record.line, number, record.value)
            except RecursionError:
                yield ImportPart(location, fault=TOO_DEEP)


def _part(path: Path, line: int, number: int, export: JsonObject) -> ImportPart:
    info = export["info"]
    session = as_id(info.get("id")) or path.stem
    parent, release = as_id(info.get("parentID")), info.get("version")
    ignored: Counter[str] = Counter()
    messages = [each for value in export["messages"] for each in _messages(value, ignored)]
    if not messages:
        fault = "no message of a session is in it"
        return ImportPart(f"{path}:{line}", fault=fault, ignored=ignored)
    run = Trajectory(
        RunOrigin(FORMAT, session, "", number),
        session,
        messages,
        release=release if isinstance(release, str) and release else None,
        agent=SUBAGENT if parent else AGENT,
        conversation=parent or session,
    )
    return session_part(path, line, run, ignored)


def _messages(value: Any, ignored: Counter[str]) -> Iterator[Message]:
    """Yield the messages of one of the export: each step of the model's, and its results."""
    info = value.get("info") if isinstance(value, dict) else None
    if not isinstance(info, dict) or not isinstance(value.get("parts"), list):
        ignored["messages without info and parts"] += 1
        return
    parts = [part for part in value["parts"] if isinstance(part, dict)]
    if info.get("role") == "user":
        if texts := list(_user_texts(parts, ignored)):
            yield Message("user", texts, _time(info, "created"))
        return
    if isinstance(info.get("error"), dict):
        ignored[f"errors of type {quoted_word(info['error'].get('name'))}"] += 1
    if info.get("summary") is True:
        ignored["summaries by compaction"] += 1
        return
    for step in _steps(parts):
        yield from _model_call(info, step, ignored)


def _steps(parts: Sequence[JsonObject]) -> list[list[JsonObject]]:
    """Return the parts of each model call; a message without steps is one call."""
    steps: list[list[JsonObject]] = [[]]
    for part in parts:
        if part.get("type") == "step-start" and steps[-1]:
            steps.append([])
        steps[-1].append(part)
    return steps


def _model_call(
    info: JsonObject, step: Sequence[JsonObject], ignored: Counter[str]
) -> Iterator[Message]:
    ends = [part.get("tokens") for part in step if part.get("type") == "step-finish"]
    pieces = [piece for part in step for piece in _pieces(part, ignored)]
    model = info.get("modelID")
    yield Message(
        "assistant",
        pieces,
        _call_time(info, step),
        model if isinstance(model, str) else None,
        _usage(ends[-1] if ends else info.get("tokens")),
    )
    results = [each for part in step if (each := _result(part)) is not None]
    yield from sorted(results, key=lambda message: message.time_ns or 0)


def _call_time(info: JsonObject, step: Sequence[JsonObject]) -> int | None:
    """Return when a model call ended: before its tools, which may run while it still writes."""
    tools = [_time(_state(part), "start") for part in step if part.get("type") == "tool"]
    starts = [time for time in tools if time]
    ends = [time for part in step if (time := _time(part, "end"))]
    if starts:
        return min(starts)
    return max(ends, default=None) or _time(info, "completed") or _time(info, "created")


def _pieces(part: JsonObject, ignored: Counter[str]) -> Iterator[Piece]:
    kind, text = part.get("type"), part.get("text")
    if kind == "tool":
        yield _call(part)
    elif kind in ("text", "reasoning") and isinstance(text, str):
        if text:
            yield MessageText(text) if kind == "text" else Thought(text)
    elif kind not in ("step-start", "step-finish"):
        ignored[f"parts of type {quoted_word(kind)}"] += 1


def _user_texts(parts: Sequence[JsonObject], ignored: Counter[str]) -> Iterator[Piece]:
    for part in parts:
        if part.get("synthetic") is True or part.get("ignored") is True:
            ignored["texts that the user did not write"] += 1
        else:
            yield from _pieces(part, ignored)


def _call(part: JsonObject) -> ToolCall:
    given = _state(part).get("input")
    args = None if given is None else as_text(given)
    return ToolCall(as_id(part.get("callID")), _tool(part), args)


def _tool(part: JsonObject) -> str:
    """Return the name of the tool that the model has called."""
    name, given = part.get("tool"), _state(part).get("input")
    if name == _UNKNOWN_TOOL and isinstance(given, dict) and isinstance(given.get("tool"), str):
        return str(given["tool"])
    return as_text(name or "")


def _result(part: JsonObject) -> Message | None:
    """Return the result of a call that has ended."""
    state = _state(part)
    if part.get("type") != "tool" or state.get("status") not in ("completed", "error"):
        return None
    error = _failure(part, state)
    text = state.get("output") if state.get("status") == "completed" else state.get("error")
    result = ToolResult(
        as_id(part.get("callID")),
        _tool(part),
        "" if text is None else as_text(text),
        failed=error is not None,
        error=error,
    )
    return Message("tool", [result], _time(state, "end"))


def _failure(part: JsonObject, state: JsonObject) -> str | None:
    """Return why a call failed; None for one that did not."""
    metadata, given = state.get("metadata"), state.get("input")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    if state.get("status") == "error":
        return error_text(state.get("error") or "error")
    if part.get("tool") == _UNKNOWN_TOOL and isinstance(given, dict):
        return error_text(given.get("error") or _UNKNOWN_TOOL)
    return f"exit code {code}" if type(code) is int and code != 0 else None


def _usage(tokens: Any) -> dict[str, int]:
    """Return the tokens of a step, which counts each kind apart.

    Versions without a total count the reasoning as part of the output.
    """
    counts = tokens if isinstance(tokens, dict) else {}
    cache = counts.get("cache")
    held: Mapping[str, Any] = cache if isinstance(cache, dict) else {}
    output, reasoning = counts.get("output"), counts.get("reasoning")
    if type(counts.get("total")) is int and type(output) is int and type(reasoning) is int:
        output += reasoning
    return read_usage(
        {
            "input_tokens": counts.get("input"),
            "cache_read_input_tokens": held.get("read"),
            "cache_creation_input_tokens": held.get("write"),
            "output_tokens": output,
            "reasoning_tokens": reasoning,
        }
    )


def _state(part: JsonObject) -> JsonObject:
    state = part.get("state")
    return state if isinstance(state, dict) else {}


def _time(value: JsonObject, key: str) -> int | None:
    times = value.get("time")
    return nanoseconds(times.get(key)) if isinstance(times, dict) else None
