"""HTTP requests and replies as a proxy passes them, and the tool calls in them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import parse_qs, unquote

from tracegrade_harness.telemetry.observed_run import ObservedAnswer, ObservedCall

FAILED: Final = 400
"""The first status of replies that are errors."""
EVENTS: Final = "text/event-stream"
"""The media type of a reply that is a stream of events."""
_PLACEHOLDER: Final = re.compile(r"\\\{(\w+)\\\}")

Headers = tuple[tuple[str, str], ...]


class ProxiedRequest(NamedTuple):
    """A request of an agent."""

    method: str
    path: str
    """The path as it was sent, with percent escapes."""
    query: str
    headers: Headers
    body: bytes

    @property
    def target(self) -> str:
        """Path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path


class ProxiedReply(NamedTuple):
    """The reply that the agent receives."""

    status: int
    headers: Headers
    chunks: tuple[bytes, ...]
    """The body in the chunks in which it arrived."""

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.chunks)

    @property
    def kind(self) -> str:
        """The media type, without its parameters."""
        types = [value for name, value in self.headers if name.lower() == "content-type"]
        return types[0].partition(";")[0].strip().lower() if types else ""


class CallsOfRequests(Protocol):
    """Translates requests into tool calls."""

    def calls(self, request: ProxiedRequest) -> Sequence[ObservedCall]:
        """Return the calls in a request; none if the request passes without the gate."""

    def answers(self, request: ProxiedRequest, reply: ProxiedReply) -> Sequence[ObservedAnswer]:
        """Return the answer of each call of a request."""


class CallNames:
    """Requests that are a call each, and their names."""

    def __init__(self, templates: Sequence[str]) -> None:
        """Take names.

        Args:
            templates: Names such as `GET /orders/{id}`; the first match counts. A request without
                a match is named by its method and path.
        """
        self._templates = [(each, _compiled(each)) for each in templates]

    def calls(self, request: ProxiedRequest) -> Sequence[ObservedCall]:
        """Return the only call of a request."""
        return [self.call(request)]

    def answers(self, request: ProxiedRequest, reply: ProxiedReply) -> Sequence[ObservedAnswer]:
        """Return the only answer of a reply."""
        del request
        return [answer_of(reply)]

    def call(self, request: ProxiedRequest) -> ObservedCall:
        """Return the call of a request."""
        name, found = self.named(f"{request.method} {request.path}")
        query = parse_qs(request.query, keep_blank_values=True)
        arguments = {key: values if values[1:] else values[0] for key, values in query.items()}
        given: dict[str, Any] = {"path": found} if found else {}
        given |= {"query": arguments} if arguments else {}
        given |= {"body": content_of(request.body)} if request.body else {}
        return ObservedCall(_clean(name), _clean(json.dumps(given, ensure_ascii=False)))

    def named(self, line: str) -> tuple[str, Mapping[str, str]]:
        """Return the name of a method and path, and the number of its placeholders."""
        for name, pattern in self._templates:
            if match := pattern.fullmatch(line):
                return name, {key: unquote(value) for key, value in match.groupdict().items()}
        return line, {}


def answer_of(reply: ProxiedReply) -> ObservedAnswer:
    """Return a reply as the answer of a call."""
    try:
        text = reply.body.decode()
    except UnicodeDecodeError:
        text = f"{len(reply.body)} bytes of {reply.kind or 'unknown content'}"
    return ObservedAnswer(reply.status < FAILED, text)


def content_of(body: bytes) -> Any:
    """Return a body's JSON, else its text, else a digest."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(_PLACEHOLDER.sub(r"(?P<\1>[^/]+)", re.escape(template)))


def _clean(text: str) -> str:
    """Return a text without lone surrogates, which JSON allows and UTF-8 does not."""
    return text.encode(errors="replace").decode()


def messages_in(reply: ProxiedReply) -> Iterator[bytes]:
    """Yield the messages of a reply as JSON: its body, or the data of each event."""
    if reply.status >= FAILED:
        return
    if reply.kind != EVENTS:
        yield reply.body
        return
    text = reply.body.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    for event in text.split("\n\n"):
        lines = [line.removeprefix("data:") for line in event.split("\n") if line[:5] == "data:"]
        if lines:
            yield "\n".join(line.removeprefix(" ") for line in lines).encode()
