"""Reads the steps of an ATIF trajectory of any version as messages of a run.

A step of the agent is a message of the model, then the results of its calls. A step that the
agent's program took without a model (`llm_call_count` 0) has only calls. Steps that were copied
from an earlier trajectory are not new: only the prompts among them, in a first document, are read.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.spellings import as_list, as_object, quoted_word
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.tool_results import read_result
from tracegrade_collector.importing.trajectory import Message, MessageText, ToolCall, ToolResult
from tracegrade_collector.importing.usage import read_cost, read_usage

_STEP_FIELDS: Final = frozenset(
    {
        *("step_id", "timestamp", "source", "model_name", "message", "reasoning_content"),
        *("tool_calls", "observation", "metrics", "llm_call_count", "is_copied_context"),
    }
)
_METRICS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens")
_EXTRA_METRICS: Final = (
    *("reasoning_tokens", "reasoning_output_tokens"),
    "cache_creation_input_tokens",
)
_METRICS_FIELDS: Final = frozenset({*_METRICS, "cost_usd", "extra"})
_FAILED: Final = ("error", "failed")
_FLAGS: Final = ("is_error", "isError", "tool_result_is_error")
"""In a result's `extra` (Harbor's agents); the last one also in that of older steps."""

_INPUT: Final = "gen_ai.usage.input_tokens"
_READ: Final = "gen_ai.usage.cache_read.input_tokens"
_WRITTEN: Final = "gen_ai.usage.cache_creation.input_tokens"


class StepsRead(NamedTuple):
    """Content of the steps of a run."""

    messages: list[Message]
    system: str | None
    """The system's messages before the first other one."""


def read_steps(documents: Sequence[JsonObject], ignored: Counter[str]) -> StepsRead:
    """Return the messages of a trajectory and of those that continue it, in order.

    Args:
        documents: The trajectory, then its continuations.
        ignored: Counts what is left out, by reason.
    """
    reader = _Reader(ignored)
    for number, document in enumerate(documents):
        model = as_object(document.get("agent")).get("model_name")
        for step in as_list(document.get("steps")):
            reader.add(step, model, is_continued=number > 0)
    return StepsRead(reader.messages, "\n".join(reader.system) or None)


class _Reader:
    """Reads the steps of a run one by one."""

    def __init__(self, ignored: Counter[str]) -> None:
        self._ignored = ignored
        self.messages: list[Message] = []
        self.system: list[str] = []

    def add(self, step: Any, model: Any, *, is_continued: bool) -> None:
        """Read the next step."""
        if not isinstance(step, dict):
            self._ignored["steps that are not objects"] += 1
            return
        source = step.get("source")
        is_copied = step.get("is_copied_context") is True
        if is_copied and (is_continued or source == "agent"):
            self._ignored["steps copied from an earlier trajectory"] += 1
            return
        _count_fields(step, _STEP_FIELDS, "steps", self._ignored)
        if source == "agent":
            self._agent(step, step.get("model_name") or model)
        elif source == "user":
            self.messages += self._read("user", step)
            self._unread_results(step, "steps of the user")
        elif source == "system":
            self._system(step)
        else:
            self._ignored[f"steps of source {quoted_word(source)}"] += 1

    def _system(self, step: JsonObject) -> None:
        texts = [
            piece.text
            for message in self._read("system", step)
            for piece in message.pieces
            if isinstance(piece, MessageText)
        ]
        if self.messages:
            self._ignored["messages of the system during the run"] += len(texts)
        else:
            self.system += texts
        self._unread_results(step, "steps of the system")

    def _read(self, role: str, step: JsonObject) -> list[Message]:
        plain = {"role": role, "content": step.get("message"), "timestamp": step.get("timestamp")}
        return [each for each in read_messages([plain], self._ignored) if each.pieces]

    def _agent(self, step: JsonObject, model: Any) -> None:
        calls = [call for call in as_list(step.get("tool_calls")) if isinstance(call, dict)]
        (message,) = read_messages([_chat_message(step, calls, model)], self._ignored)
        message = self._without_filler(message, calls)
        if step.get("llm_call_count") == 0 and type(step["llm_call_count"]) is int:
            message = self._dispatched(message)
        else:
            metrics = as_object(step.get("metrics"))
            _count_fields(metrics, _METRICS_FIELDS, "metrics", self._ignored)
            message = replace(
                message, usage=_tokens(metrics), cost_usd=read_cost(metrics.get("cost_usd"))
            )
        results = list(self._results(step, has_calls=bool(calls)))
        if message.by_model or message.pieces:
            self.messages.append(message)
        if results:
            self.messages.append(Message("tool", results))

    def _without_filler(self, message: Message, calls: Sequence[JsonObject]) -> Message:
        """Leave out the text that Harbor writes where the model wrote none."""
        titles = [f"Executed {call.get('function_name')}" for call in calls]
        fillers = {
            *titles,
            *(
                f"{title} {call.get('tool_call_id')}"
                for title, call in zip(titles, calls, strict=True)
            ),
        }
        kept = [
            each
            for each in message.pieces
            if not (isinstance(each, MessageText) and each.text in fillers)
        ]
        if len(kept) == len(message.pieces):
            return message
        self._ignored["texts that Harbor writes for a call without one"] += 1
        return replace(message, pieces=kept)

    def _dispatched(self, message: Message) -> Message:
        """Return a step without a model call: its calls alone."""
        calls = [piece for piece in message.pieces if isinstance(piece, ToolCall)]
        if len(calls) < len(message.pieces):
            reason = "texts of steps without a model call"
            self._ignored[reason] += len(message.pieces) - len(calls)
        return replace(message, pieces=calls, by_model=False)

    def _results(self, step: JsonObject, *, has_calls: bool) -> Iterator[ToolResult]:
        results = as_list(as_object(step.get("observation")).get("results"))
        for result in results:
            if not isinstance(result, dict):
                self._ignored["results that are not objects"] += 1
            elif not has_calls and result.get("source_call_id") is None:
                self._ignored["results of steps without a tool call"] += 1
            else:
                yield _result(result, step, is_only=len(results) == 1)

    def _unread_results(self, step: JsonObject, where: str) -> None:
        results = as_list(as_object(step.get("observation")).get("results"))
        if results:
            self._ignored[f"results of {where}"] += len(results)


def _chat_message(step: JsonObject, calls: Sequence[JsonObject], model: Any) -> dict[str, Any]:
    """Return a step of the agent with the names that chats have for its fields."""
    return {
        "role": "assistant",
        "content": step.get("message"),
        "reasoning_content": step.get("reasoning_content"),
        "timestamp": step.get("timestamp"),
        "model": model,
        "tool_calls": [
            {
                "id": call.get("tool_call_id"),
                "name": call.get("function_name"),
                "arguments": call.get("arguments"),
            }
            for call in calls
        ],
    }


def _result(result: JsonObject, step: JsonObject, *, is_only: bool) -> ToolResult:
    """Return a result; one that only names a sub-agent's trajectory has its summary as text."""
    is_error = _says_error(as_object(result.get("extra")))
    if is_only and not is_error:
        is_error = as_object(step.get("extra")).get(_FLAGS[-1]) is True
    content = result.get("content")
    return read_result(
        {
            "tool_call_id": result.get("source_call_id"),
            "content": "\n".join(_summaries(result)) if content is None else content,
            "is_error": is_error,
        }
    )


def _says_error(extra: JsonObject) -> bool:
    return any(extra.get(flag) is True for flag in _FLAGS) or extra.get("status") in _FAILED


def _summaries(result: JsonObject) -> Iterator[str]:
    for reference in as_list(result.get("subagent_trajectory_ref")):
        summary = as_object(as_object(reference).get("extra")).get("summary")
        if isinstance(summary, str):
            yield summary


def _tokens(metrics: JsonObject) -> dict[str, int]:
    """Return the tokens; a prompt that cannot hold what was cached lacks what was written."""
    extra = as_object(metrics.get("extra"))
    stated = {key: metrics.get(key) for key in _METRICS}
    tokens = read_usage(stated | {key: extra.get(key) for key in _EXTRA_METRICS})
    written = tokens.get(_WRITTEN, 0)
    if _INPUT in tokens and written + tokens.get(_READ, 0) > tokens[_INPUT]:
        tokens[_INPUT] += written
    return tokens


def _count_fields(
    found: JsonObject, known: frozenset[str], where: str, ignored: Counter[str]
) -> None:
    ignored.update(f"fields {quoted_word(key)} of {where}" for key in found if key not in known)


def times_in(document: JsonObject) -> Iterator[int]:
    """Yield the times of the steps that have one."""
    for step in as_list(document.get("steps")):
        time = nanoseconds(step.get("timestamp")) if isinstance(step, dict) else None
        if time:
            yield time
