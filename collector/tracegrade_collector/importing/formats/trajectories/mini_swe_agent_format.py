"""The format `mini-swe-agent`: mini-swe-agent's `.traj.json` files → spans (1 to 2.4, July 2026).

A file is a run. Its commands are calls of `bash`, as the model called the tool or wrote them in
fenced code, and a return code other than 0 is a failure. An answer that mini-swe-agent could not
parse is a message as well. Times, tokens and costs are those of each model call; the first
version has only the cost of the run, which its last model call gets.

The submission is the answer, and the result of the command that submits. A run that ended without
one failed, by its budget if a limit ended it; one that an exception ended is `invalid`.

The messages alone, as a list, are read if the first has the prompt of mini-swe-agent. Nothing then
tells tokens, costs, times, or how a run ended that submitted nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.formats.trajectories.swe_agent_format import (
    BASH,
    task_in_path,
    verdict_on_limit,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject, read_records
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.spellings import as_list, as_object, as_text
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    RunOrigin,
    ToolCall,
    ToolResult,
    Trajectory,
    counts,
    left_out,
    spans_of,
    with_totals,
)
from tracegrade_collector.importing.usage import read_cost, read_usage

FORMAT: Final = "mini-swe-agent"
NO_RUN: Final = "no trajectory of mini-swe-agent: it lacks 'trajectory_format' or 'messages'"
NO_MESSAGE: Final = "no message of mini-swe-agent"
SUBMITTED: Final = "Submitted"

_LIMITS: Final = ("LimitsExceeded", "TimeExceeded")
_OF_AGENT: Final = (*_LIMITS, "RepeatedFormatError", SUBMITTED)
_FENCED: Final = re.compile(
    r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```"
    r"|<mswea_bash_command>(.*?)</mswea_bash_command>",
    re.DOTALL,
)
_PROMPTS: Final = ("mswea_bash_command", "exactly ONE bash code block with ONE command")
"""One of these is in the system's message that mini-swe-agent writes."""

_SUBMITS: Final = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_RETURN_CODE: Final = re.compile(r"\s*<returncode>(-?\d{1,10})</returncode>")


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return _is_run(record) or _is_prompt(record)


def _is_run(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("messages"), list)
        and str(record.get("trajectory_format")).startswith(FORMAT)
    )


def _is_prompt(record: Any) -> bool:
    """Return whether this is the first message of a run."""
    message = as_object(record)
    text = str(message.get("content"))
    return message.get("role") == "system" and any(prompt in text for prompt in _PROMPTS)


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each run of a file, and one for each invalid record."""
    alone: list[JsonObject] = []
    with open_plain(path) as file:
        for number, record in enumerate(read_records(file)):
            location = f"{path}:{record.line}"
            is_message = bool(alone) or _is_prompt(record.value)
            if record.fault or not (is_message or _is_run(record.value)):
                yield ImportPart(location, fault=record.fault or NO_RUN)
            elif not is_message:
                yield _whole_part(path, location, number, record.value)
            elif "role" in as_object(record.value):
                alone.append(record.value)
            else:
                yield ImportPart(location, fault=NO_MESSAGE)
    if alone:
        yield _whole_part(path, f"{path}:1", 0, _with_end(alone))


def _with_end(messages: list[JsonObject]) -> JsonObject:
    """Return the run of messages alone; what answers the command that submits was submitted."""
    *before, last = messages
    submits = bool(before) and any(mark in str(before[-1].get("content")) for mark in _SUBMITS)
    if not submits or before[-1].get("role") != "assistant" or last.get("role") != "user":
        return {"messages": messages}
    info = {"exit_status": SUBMITTED, "submission": last.get("content")}
    return {"messages": [*before, {**last, "role": "exit", "extra": info}], "info": info}


def _whole_part(path: Path, location: str, number: int, record: JsonObject) -> ImportPart:
    try:
        return _part(path, location, number, record)
    except RecursionError:
        return ImportPart(location, fault=TOO_DEEP)


def _part(path: Path, location: str, number: int, record: JsonObject) -> ImportPart:
    ignored: Counter[str] = Counter()
    info = as_object(record.get("info"))
    origin = RunOrigin(FORMAT, source_of(path), str(number), number)
    trajectory = _trajectory(path, origin, record, ignored)
    is_limit = info.get("exit_status") in _LIMITS and not info.get("submission")
    verdicts = verdict_on_limit(origin.trajectory_id(), f"{FORMAT} exit_status") * is_limit
    return ImportPart(
        location,
        Signal.TRACES,
        spans_of(trajectory),
        verdicts=verdicts,
        understood=counts(trajectory) + Counter({"scores": len(verdicts)}),
        ignored=ignored + left_out(trajectory),
    )


def _trajectory(
    path: Path, origin: RunOrigin, record: JsonObject, ignored: Counter[str]
) -> Trajectory:
    info = as_object(record.get("info"))
    model = as_object(as_object(info.get("config")).get("model")).get("model_name")
    reader = _Reader(model if isinstance(model, str) else None, ignored)
    values = as_list(record.get("messages"))
    for value, after in zip(values, [*values[1:], None], strict=True):
        reader.add(value, after)
    cost = read_cost(as_object(info.get("model_stats")).get("instance_cost")) or None
    task = record.get("instance_id")
    return Trajectory(
        origin,
        path.name,
        with_totals(reader.messages, {}, cost),
        task=task if isinstance(task, str) and task else task_in_path(path),
        outcome=_outcome(info),
        release=as_text(info["mini_version"]) if info.get("mini_version") else None,
        agent=FORMAT,
        system="\n".join(reader.system) or None,
        answer=as_text(info["submission"]) if info.get("submission") else None,
    )


def _outcome(info: JsonObject) -> str | None:
    status = info.get("exit_status")
    if not status or info.get("submission"):
        return None
    return "failure" if status in _OF_AGENT else "invalid"


class _Reader:
    """Reads the messages of a run one by one."""

    def __init__(self, model: str | None, ignored: Counter[str]) -> None:
        self._model = model
        self._ignored = ignored
        self._open: list[str] = []  # ids of calls without a result
        self.messages: list[Message] = []
        self.system: list[str] = []

    def add(self, value: Any, after: Any) -> None:
        """Read the next message, knowing the one after it."""
        if not isinstance(value, dict):
            self._ignored["messages that are not objects"] += 1
            return
        extra = as_object(value.get("extra"))
        role = value.get("role")
        if value.get("object") == "response" or role == "assistant":
            self._answer(value, extra, after)
        elif role == "exit":
            self._exit(value, extra)
        elif "returncode" in extra or role == "tool":
            self._results(value, extra)
        elif self._open and (code := _RETURN_CODE.match(str(value.get("content")))):
            self._results(value, {"returncode": int(code[1])})
        else:
            self._other(value, extra)

    def _answer(self, value: JsonObject, extra: JsonObject, after: Any) -> None:
        """Read an answer of the model; its commands are in fenced code if it called no tool."""
        pieces = _pieces(value, self._ignored)
        calls = [piece for piece in pieces if isinstance(piece, ToolCall)]
        if not calls:
            commands = _commands(value, extra, after)
            calls = [
                ToolCall(f"{len(self.messages)}.{n}", BASH, as_text({"command": command}))
                for n, command in enumerate(commands)
            ]
            pieces = [*_without_code(pieces, commands), *calls]
        self._open = [call.call_id or "" for call in calls]
        response = as_object(extra.get("response")) or value
        self.messages.append(self._of_model(pieces, response, extra))

    def _of_model(
        self, pieces: Sequence[Piece], response: JsonObject, extra: JsonObject
    ) -> Message:
        model = response.get("model")
        return Message(
            "assistant",
            pieces,
            nanoseconds(extra.get("timestamp")),
            model if isinstance(model, str) and model else self._model,
            read_usage(response.get("usage")),
            read_cost(extra.get("cost")) or None,  # 0 where it was not tracked
        )

    def _results(self, value: JsonObject, extra: JsonObject) -> None:
        """Read a result; one without the id of its call is that of the first open one."""
        call_id = value.get("tool_call_id") or value.get("call_id")
        if not isinstance(call_id, str):
            call_id = self._open[0] if self._open else None
        if call_id in self._open:
            self._open.remove(call_id)
        code = extra.get("returncode")
        failed = type(code) is int and code != 0
        read_message = read_messages([{**value, "role": "tool"}], Counter())
        results = [
            piece._replace(call_id=call_id, failed=failed, error=_error(extra, failed=failed))
            for message in read_message
            for piece in message.pieces
            if isinstance(piece, ToolResult)
        ]
        self.messages.append(Message("tool", results, nanoseconds(extra.get("timestamp"))))

    def _exit(self, value: JsonObject, extra: JsonObject) -> None:
        """Read the end: what was submitted is the result of the command that did it."""
        if extra.get("exit_status") == SUBMITTED and self._open:
            text = as_text(extra.get("submission") or value.get("content") or "")
            result = ToolResult(self._open[0], BASH, text, failed=False)
            self.messages.append(Message("tool", [result], nanoseconds(extra.get("timestamp"))))

    def _other(self, value: JsonObject, extra: JsonObject) -> None:
        """Read a message of the system or the user; one that rejects an answer holds it."""
        if rejected := as_object(extra.get("response")):
            choices = as_list(rejected.get("choices"))
            answer = as_object(as_object(choices[0]).get("message")) if choices else rejected
            pieces = _pieces({**answer, "role": "assistant"}, self._ignored)
            self.messages.append(self._of_model(pieces, rejected, extra))
        for message in read_messages([value], self._ignored):
            if message.role == "system":
                texts = (each.text for each in message.pieces if isinstance(each, MessageText))
                self.system += texts
            else:
                time = nanoseconds(extra.get("timestamp")) or message.time_ns
                self.messages.append(replace(message, time_ns=time))


def _pieces(value: JsonObject, ignored: Counter[str]) -> list[Piece]:
    """Return the parts of an answer: a message of Chat Completions, or items of Responses."""
    items = value.get("output")
    values = items if isinstance(items, list) else [value]
    return [piece for message in read_messages(values, ignored) for piece in message.pieces]


def _commands(value: JsonObject, extra: JsonObject, after: Any) -> list[str]:
    """Return the commands that were run of an answer without calls."""
    actions = [as_object(each).get("command") for each in as_list(extra.get("actions"))]
    if actions:
        return [each for each in actions if isinstance(each, str)]
    content = value.get("content")
    fenced = _FENCED.finditer(content) if isinstance(content, str) else ()
    found = [match[1] if match[2] is None else match[2] for match in fenced]
    return found if len(found) == 1 and _follows_command(after) else []


def _follows_command(after: Any) -> bool:
    """Return whether a message is the reply to a command, or the end that it led to.

    None follows the last command of a run that was interrupted.
    """
    if after is None:
        return True
    role, content = as_object(after).get("role"), as_object(after).get("content")
    is_end = role == "exit" or content == ""
    return is_end or (role == "user" and bool(_RETURN_CODE.match(str(content))))


def _without_code(pieces: Sequence[Piece], commands: Sequence[str]) -> Iterator[Piece]:
    """Yield the parts without the fenced code that became calls."""
    for piece in pieces:
        if not commands or not isinstance(piece, MessageText):
            yield piece
        elif text := _FENCED.sub("", piece.text).strip():
            yield MessageText(text)


def _error(extra: JsonObject, *, failed: bool) -> str | None:
    stated = extra.get("exception_info")
    return stated if failed and isinstance(stated, str) and stated else None
