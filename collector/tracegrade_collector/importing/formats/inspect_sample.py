"""Reads a sample of an Inspect log of any version: its messages, and facts from its events.

Events name their message by its id. Old logs have no ids; there a model call is matched by its
output. The oldest logs have no events, and later ones keep events and attachments in `transcript`.
The newest name the inputs of model calls by their positions in a pool.

A simulated user is a model of the role `user`. Its messages as the assistant of its own
conversation are the user's, and so are its tool calls. inspect_evals' tau2-bench logs that
conversation, and the agent's only as the input of its model calls.
"""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.spellings import as_list, as_object, as_text, block_text
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.usage import read_usage

_ATTACHMENTS: Final = ("attachment://", "tc://")
_USER: Final = "user"


class MessageFacts(NamedTuple):
    """Facts about a message from the events of a sample."""

    time_ns: int | None = None
    """When the model call or the tool that it comes from ended."""

    model: str | None = None
    usage: Mapping[str, int] = {}
    """Tokens, by attribute of the GenAI conventions."""


class LoggedSample:
    """Messages of a sample with their facts; replaces references to attachments by their texts."""

    def __init__(self, sample: JsonObject) -> None:
        transcript = as_object(sample.get("transcript"))
        self._attachments = as_object(sample.get("attachments") or transcript.get("content"))
        events = as_list(sample.get("events")) or as_list(transcript.get("events"))
        self._events = [event for event in events if isinstance(event, dict)]
        self._by_id: dict[str, MessageFacts] = {}
        self._by_output: defaultdict[str, deque[MessageFacts]] = defaultdict(deque)
        self._calls_of_user: set[str] = set()
        self._messages_by_user: set[str] = set()
        logged = self._attached_all(sample.get("messages"))
        self._read_events(sample, logged)
        self.messages: list[Any] = [self._owned(each) for each in self._of_agent(sample, logged)]
        """Messages of the agent's conversation, in order, each with its owner."""

    def facts_of(self, message: JsonObject) -> MessageFacts:
        """Return the facts from the events of the next message that equals this one."""
        key = str(message.get("tool_call_id") if message.get("role") == "tool" else _id(message))
        if key in self._by_id:
            return self._by_id[key]
        queue = self._by_output.get(_output_key(message))
        return queue.popleft() if queue and message.get("role") == "assistant" else MessageFacts()

    def tools(self) -> str | None:
        """Return the tools that the agent's first model call was offered."""
        offers = (each.get("tools") for each in self._events if each.get("role") != _USER)
        tools = next(filter(None, offers), None)
        return as_text(tools) if isinstance(tools, list) else None

    def _read_events(self, sample: JsonObject, logged: Sequence[Any]) -> None:
        calls = [event for event in self._events if event.get("event") == "model"]
        answers = [each for each in logged if as_object(each).get("role") == "assistant"]
        if not calls and len(answers) == 1:  # before Inspect logged events
            calls = [{"output": sample.get("output")}]
        for event in calls:
            self._read_model_call(event)
        for event in self._events:
            time = nanoseconds(event.get("completed") or event.get("timestamp"))
            if event.get("event") == "tool" and event.get("id") and time:
                self._by_id[str(event["id"])] = MessageFacts(time)

    def _read_model_call(self, event: JsonObject) -> None:
        output = as_object(event.get("output"))
        message = self._attached(_first_message(output))
        model = output.get("model") or event.get("model")
        facts = MessageFacts(
            nanoseconds(event.get("completed") or event.get("timestamp")),
            model if isinstance(model, str) and model else None,
            read_usage(output.get("usage")),
        )
        if event.get("role") == _USER:
            self._messages_by_user.add(str(_id(message) or _output_key(message)))
            self._calls_of_user.update(str(call.get("id")) for call in _calls(message))
        if _id(message) is not None:
            self._by_id[str(_id(message))] = facts
        elif message:
            self._by_output[_output_key(message)].append(facts)

    def _of_agent(self, sample: JsonObject, logged: Sequence[Any]) -> Sequence[Any]:
        """Return the conversation; of one that the simulated user led, the agent's side."""
        by_user = [each for each in logged if self._is_by_user(each)]
        if not by_user:
            return logged
        texts = {_text(each) for each in by_user}
        pool = as_object(sample.get("events_data")).get("messages") or sample.get("message_pool")
        for event in reversed(self._events):
            if event.get("event") == "model" and event.get("role") != _USER:
                prompt = self._attached_all(list(_input(event, as_list(pool))))
                prompted = {_text(each) for each in prompt if as_object(each).get("role") == _USER}
                if prompted & texts:
                    answer = self._attached(_first_message(as_object(event.get("output"))))
                    return [*prompt, answer] if answer else prompt
        return logged

    def _owned(self, message: Any) -> Any:
        """Return a message as the user's if a model of that role wrote it or requested it."""
        if not isinstance(message, dict):
            return message
        if self._is_by_user(message):
            return {**message, "role": _USER}
        metadata = as_object(message.get("metadata"))
        is_of_user = message.get("role") == "tool" and (
            str(message.get("tool_call_id")) in self._calls_of_user
            or metadata.get("requestor") == _USER
        )
        return {**message, "requestor": _USER} if is_of_user else message

    def _is_by_user(self, message: Any) -> bool:
        if not self._messages_by_user or as_object(message).get("role") != "assistant":
            return False
        return str(_id(message) or _output_key(message)) in self._messages_by_user

    def _attached_all(self, messages: Any) -> list[Any]:
        return [self._attached(each) for each in as_list(messages)]

    def _attached(self, value: Any) -> Any:
        """Return a value with the texts that it only names."""
        if isinstance(value, str) and value.startswith(_ATTACHMENTS):
            return self._attachments.get(value.partition("://")[2], value)
        if isinstance(value, list):
            return [self._attached(each) for each in value]
        if isinstance(value, dict):
            return {key: self._attached(value[key]) for key in value}
        return value


def _first_message(output: JsonObject) -> dict[str, Any]:
    choices = as_list(output.get("choices"))
    return as_object(as_object(choices[0]).get("message")) if choices else {}


def _id(message: JsonObject) -> Any:
    return message.get("id")


def _calls(message: JsonObject) -> list[dict[str, Any]]:
    return [call for call in as_list(message.get("tool_calls")) if isinstance(call, dict)]


def _text(message: Any) -> str:
    content = as_object(message).get("content")
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(block_text, as_list(content))))


def _output_key(message: JsonObject) -> str:
    """Return what tells a model's message without an id from others: its text and its calls."""
    calls = [
        (call.get("id"), call.get("function"), call.get("arguments")) for call in _calls(message)
    ]
    return json.dumps([_text(message), calls], sort_keys=True)


def _input(event: JsonObject, pool: Sequence[Any]) -> Iterator[Any]:
    """Yield the input messages of a model call, from the pool if it only names them."""
    yield from as_list(event.get("input"))
    for pair in as_list(event.get("input_refs")):
        if isinstance(pair, list) and len(pair) == 2 and all(type(each) is int for each in pair):
            yield from pool[slice(*pair)]
