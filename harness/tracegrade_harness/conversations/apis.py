"""Recognizes a request's model API, reads the request, and writes replies, also streamed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tracegrade_harness.conversations import anthropic_messages, chat_completions, responses
from tracegrade_harness.conversations.conversation import ModelTurn, Part

Json = Mapping[str, Any]


class ModelApi(NamedTuple):
    """An API of models."""

    path: str
    """End of the paths of its requests."""
    conversation: Callable[[Json], Iterator[Part]]
    reply: Callable[[Json, ModelTurn, int], dict[str, Any]]
    events: Callable[[Json, Json], Iterable[str]]
    names_events: bool
    """Whether each event of a stream begins with its type, which is also in its data."""


APIS: Final = (
    ModelApi(
        "/chat/completions",
        chat_completions.conversation,
        chat_completions.reply,
        chat_completions.events,
        names_events=False,
    ),
    ModelApi(
        "/responses",
        responses.conversation,
        responses.reply,
        responses.events,
        names_events=True,
    ),
    ModelApi(
        "/messages",
        anthropic_messages.conversation,
        anthropic_messages.reply,
        anthropic_messages.events,
        names_events=True,
    ),
)


class NotAModelRequest(Exception):
    """A request does not ask a known API for a model's answer; the text says why."""


class ModelRequest(NamedTuple):
    """A request for a model's answer."""

    api: ModelApi
    body: Json
    parts: tuple[Part, ...]
    """The messages to the model."""

    def answered(self, answer: ModelTurn) -> tuple[str, tuple[bytes, ...]]:
        """Return the media type of an answer, and its chunks."""
        body = self.api.reply(self.body, answer, len(self.parts))
        if not self.body.get("stream"):
            return "application/json", (json.dumps(body).encode(),)
        events = self.api.events(self.body, body)
        return "text/event-stream", tuple(map(self._event, events))

    def _event(self, data: str) -> bytes:
        name = f"event: {json.loads(data)['type']}\n" if self.api.names_events else ""
        return f"{name}data: {data}\n\n".encode()


def model_request(method: str, path: str, body: bytes) -> ModelRequest:
    """Return the API, the body and the conversation of a request to a model.

    Raises:
        NotAModelRequest: It asks no known API for an answer.
    """
    api = next((api for api in APIS if path.rstrip("/").endswith(api.path)), None)
    if api is None or method != "POST":
        known = ", ".join(f"POST …{api.path}" for api in APIS)
        msg = f"{method} {path} asks no model in a form that is known ({known})"
        raise NotAModelRequest(msg)
    try:
        request = json.loads(body)
        return ModelRequest(api, request, tuple(api.conversation(request)))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        msg = f"{method} {path} has a body that is none of its form: {error!r}"
        raise NotAModelRequest(msg) from error
