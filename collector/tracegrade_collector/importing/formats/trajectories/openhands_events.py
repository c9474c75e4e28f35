"""Reads events of OpenHands, of its SDK and of the versions before it, as messages of a run."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any, Final

from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.spellings import (
    as_id,
    as_list,
    as_object,
    as_text,
    quoted_word,
)
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.tool_results import read_result
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    Thought,
    ToolCall,
)
from tracegrade_collector.importing.usage import read_cost, read_usage

_RUNNING: Final = -1
"""Exit code of a command that has not ended."""

_NO_CALLS: Final = ("finish", "think")
"""Tools that only tell what the agent says or thinks."""

_TOKENS: Final = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "cached_tokens": "cache_read_tokens",
    "reasoning_tokens": "reasoning_tokens",
}
_OLD_NAMES: Final = {"run": "execute_bash", "run_ipython": "execute_ipython_cell"}
_EDITORS: Final = ("edit", "read", "run_ipython")
_EDITOR_ERROR: Final = "ERROR:\n"
"""How the result of an editor begins that failed."""

_UNKNOWN_TOOL: Final = re.compile(r"Function '(.{1,200}?)' not found in available tools")
"""Error without a cause about a call that no event shows."""

_OF_EVENTS: Final = frozenset(
    {
        *("id", "timestamp", "source", "message", "action", "cause", "timeout"),
        *("tool_call_metadata", "llm_metrics"),
    }
)
"""Keys of an event beside its arguments, where these have no object of their own."""

_BOOKKEEPING: Final = ("recall", "change_agent_state", "agent_state_changed", "null", "system")


class EventReader:
    """Reads the events of a run one by one."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.system: list[str] = []
        self.tools: str | None = None
        self.ignored: Counter[str] = Counter()
        self.total_usage: dict[str, int] = {}
        self.total_cost: float | None = None
        self._usage_of: dict[str, dict[str, int]] = {}  # by the response's id
        self._responses: list[str | None] = []  # of each message
        self._model: str | None = None  # that used the most tokens
        self._before: Counter[str] = Counter()  # tokens accumulated so far
        self._cost_before = 0.0

    def goes_on_from(self, other: "EventReader") -> None:
        """Count tokens and costs from where another reader of the same metrics is."""
        self._before, self._cost_before = other._before, other._cost_before

    def add(self, event: Any) -> None:
        """Read the next event."""
        if not isinstance(event, dict):
            self.ignored["events that are not objects"] += 1
        elif isinstance(event.get("kind"), str):
            self._add_new(event)
        elif isinstance(event.get("observation"), str):
            self._add_old_result(event, event["observation"])
        elif isinstance(event.get("action"), str):
            self._add_old_action(event, event["action"])
        else:
            self.ignored["events of an unknown form"] += 1

    def finished(self) -> list[Message]:
        """Return the messages, with the tokens of each response at its message."""
        pairs = zip(self.messages, self._responses, strict=True)
        return [
            replace(
                each,
                usage=self._usage_of.get(response or "", each.usage),
                model=each.model or (self._model if each.role == "assistant" else None),
            )
            for each, response in pairs
        ]

    def _add_new(self, event: JsonObject) -> None:
        kind = event["kind"]
        if kind == "ActionEvent":
            self._action(event)
        elif kind == "MessageEvent":
            message = as_object(event.get("llm_message"))
            role = "user" if event.get("source") == "user" else "assistant"
            self._say(role, message, event)
        elif kind in {"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}:
            self._result(event)
        elif kind == "SystemPromptEvent":
            prompt = as_object(event.get("system_prompt")).get("text")
            self.system += [prompt] if isinstance(prompt, str) else []
            self.tools = as_text(event["tools"]) if as_list(event.get("tools")) else None
        elif kind == "ConversationStateUpdateEvent" and event.get("key") == "stats":
            self._stats(as_object(event.get("value")))
        else:
            self.ignored[f"events of kind {quoted_word(kind)}"] += 1

    def _action(self, event: JsonObject) -> None:
        """Read an action; those of one response are one message."""
        name = as_text(event.get("tool_name") or "")
        call = as_object(event.get("tool_call"))
        arguments = call.get("arguments") or as_text(as_object(event.get("action")))
        pieces = [*self._thoughts(event)]
        if name == "finish":
            pieces.append(
                MessageText(as_text(as_object(event.get("action")).get("message") or ""))
            )
        elif name == "think":
            pieces.append(Thought(as_text(as_object(event.get("action")).get("thought") or "")))
        else:
            pieces.append(ToolCall(as_id(event.get("tool_call_id")), name, as_text(arguments)))
        response = as_id(event.get("llm_response_id"))
        if response is not None and self._responses and self._responses[-1] == response:
            last = self.messages[-1]
            self.messages[-1] = replace(last, pieces=[*last.pieces, *pieces])
        else:
            self._add(Message("assistant", pieces, nanoseconds(event.get("timestamp"))), response)

    def _thoughts(self, event: JsonObject) -> list[Piece]:
        reasoning = event.get("reasoning_content")
        thoughts: list[Piece] = (
            [Thought(reasoning)] if isinstance(reasoning, str) and reasoning else []
        )
        said = {"role": "assistant", "content": as_list(event.get("thought"))}
        return [*thoughts, *(p for m in read_messages([said], self.ignored) for p in m.pieces)]

    def _result(self, event: JsonObject) -> None:
        observation = as_object(event.get("observation"))
        name, error = event.get("tool_name"), event.get("error") or event.get("rejection_reason")
        if name in _NO_CALLS and not error:
            return
        metadata = as_object(observation.get("metadata"))
        code = observation.get("exit_code", metadata.get("exit_code"))
        found = {
            "tool_call_id": event.get("tool_call_id"),
            "name": name,
            "content": observation.get("content"),
            "is_error": observation.get("is_error") is True or _failed(code),
            "error": error,
        }
        time = nanoseconds(event.get("timestamp"))
        self._add(Message("tool", [read_result(found)], time), None)

    def _stats(self, value: JsonObject) -> None:
        """Read the tokens so far: the totals of all models, and those of each response."""
        self.total_usage, self.total_cost, most = {}, None, -1
        for each in map(as_object, as_object(value.get("usage_to_metrics")).values()):
            accumulated = read_totals(each.get("accumulated_token_usage"))
            name = each.get("model_name")
            if isinstance(name, str) and sum(accumulated.values()) > most:
                self._model, most = name, sum(accumulated.values())
            for key, tokens in accumulated.items():
                self.total_usage[key] = self.total_usage.get(key, 0) + tokens
            cost = read_cost(each.get("accumulated_cost"))
            self.total_cost = (self.total_cost or 0) + cost if cost else self.total_cost
            for usage in map(as_object, as_list(each.get("token_usages"))):
                if isinstance(usage.get("response_id"), str):
                    self._usage_of[usage["response_id"]] = read_totals(usage)

    def _add_old_action(self, event: JsonObject, action: str) -> None:
        args = _arguments(event)
        if action == "system":
            self.system += [args["content"]] if isinstance(args.get("content"), str) else []
            self.tools = as_text(args["tools"]) if as_list(args.get("tools")) else None
        elif action == "message":
            self._say(_speaker(event, args), {"content": args.get("content")}, event)
            images = len(as_list(args.get("image_urls") or args.get("images_urls")))
            self.ignored.update({"images": images} if images else {})
        elif event.get("source", "agent") != "agent" or action in _BOOKKEEPING:
            self.ignored[f"actions {quoted_word(action)}"] += 1
        else:
            self._old_call(event, action, args)

    def _old_call(self, event: JsonObject, action: str, args: JsonObject) -> None:
        thought = args.get("final_thought") or args.get("thought")
        pieces: list[Piece] = []
        if isinstance(thought, str) and thought:
            pieces.append(MessageText(thought) if action == "finish" else Thought(thought))
        if action not in _NO_CALLS:
            known = as_object(event.get("tool_call_metadata"))
            name = known.get("function_name") or _OLD_NAMES.get(action, action)
            plain = {key: value for key, value in args.items() if key != "thought"}
            call_id = as_id(known.get("tool_call_id") or event.get("id"))
            pieces.append(ToolCall(call_id, as_text(name), as_text(plain)))
        response = as_id(as_object(_response(event)).get("id"))
        if response is not None and self._responses and self._responses[-1] == response:
            last = self.messages[-1]
            self.messages[-1] = replace(last, pieces=[*last.pieces, *pieces])
        elif pieces or response is not None:
            self._add(self._of_model(pieces, event), response)

    def _add_old_result(self, event: JsonObject, observation: str) -> None:
        if observation in {*_BOOKKEEPING, *_NO_CALLS} or event.get("source") == "user":
            self.ignored[f"observations {quoted_word(observation)}"] += observation != "think"
            return
        known = as_object(event.get("tool_call_metadata"))
        call_id, name = known.get("tool_call_id") or event.get("cause"), known.get("function_name")
        if call_id is None and (unknown := _UNKNOWN_TOOL.match(as_text(event.get("content")))):
            call_id, name = f"unknown-{len(self.messages)}", unknown[1]
            self._add(self._of_model([ToolCall(call_id, name, None)], event), None)
        found = {
            "tool_call_id": call_id,
            "name": name,
            "content": event.get("content"),
            "is_error": _old_failed(event, observation),
        }
        time = nanoseconds(event.get("timestamp"))
        self._add(Message("tool", [read_result(found)], time), None)

    def _say(self, role: str, message: JsonObject, event: JsonObject) -> None:
        for each in read_messages([{**message, "role": role}], self.ignored):
            if role == "user":
                self._add(replace(each, time_ns=nanoseconds(event.get("timestamp"))), None)
            else:
                response = as_id(event.get("llm_response_id"))
                self._add(self._of_model(list(each.pieces), event), response)

    def _of_model(self, pieces: list[Piece], event: JsonObject) -> Message:
        """Return a message of the model, with tokens and cost since the one before it."""
        metrics = as_object(event.get("llm_metrics"))
        accumulated = as_object(metrics.get("accumulated_token_usage"))
        now = Counter({key: n for key, n in accumulated.items() if type(n) is int and n >= 0})
        stated = read_usage(as_object(_response(event)).get("usage"))
        usage = read_totals(dict(now - self._before)) if accumulated else stated
        self._before = now if accumulated else self._before
        model = as_object(_response(event)).get("model")
        return Message(
            "assistant",
            pieces,
            nanoseconds(event.get("timestamp")),
            model if isinstance(model, str) else None,
            usage,
            self._cost_since(metrics),
        )

    def _cost_since(self, metrics: JsonObject) -> float | None:
        """Return the cost since the message before; None if nothing was added."""
        total = read_cost(metrics.get("accumulated_cost"))
        if total is None or total <= self._cost_before:
            return None
        cost, self._cost_before = total - self._cost_before, total
        return round(cost, 12)

    def _add(self, message: Message, response: str | None) -> None:
        self.messages.append(message)
        self._responses.append(response)


def _arguments(event: JsonObject) -> JsonObject:
    """Return the arguments of an action; the oldest events have them among their own keys."""
    if "args" in event:
        return as_object(event["args"])
    return {key: value for key, value in event.items() if key not in _OF_EVENTS}


def _speaker(event: JsonObject, args: JsonObject) -> str:
    """Return whose message it is; the oldest events only say whether its author waits."""
    is_users = event.get("source") == "user" or (
        "source" not in event and args.get("wait_for_response") is not True
    )
    return "user" if is_users else "assistant"


def _response(event: JsonObject) -> Any:
    return as_object(event.get("tool_call_metadata")).get("model_response")


def read_totals(tokens: Any) -> dict[str, int]:
    """Return tokens that OpenHands has added up, by attribute of the GenAI conventions."""
    found = as_object(tokens)
    return read_usage({key: found.get(name) for key, name in _TOKENS.items()})


def _old_failed(event: JsonObject, observation: str) -> bool:
    """Return whether a result of the versions before the SDK is a failure."""
    extras = as_object(event.get("extras")) or event
    code = as_object(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    is_refused = observation in _EDITORS and as_text(event.get("content")).startswith(
        _EDITOR_ERROR
    )
    is_marked = event.get("success") is False or extras.get("error") is True
    return observation == "error" or is_refused or is_marked or _failed(code)


def _failed(code: Any) -> bool:
    return type(code) is int and code not in {0, _RUNNING}
