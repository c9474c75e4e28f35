"""An OpenAI-compatible endpoint on loopback, answered by rules: as honest or broken as asked for.

It reads requests as any model would, from the messages alone, and keeps what it was sent.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]


class Reply(NamedTuple):
    """What the server sends."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = {}
    after_secs: float = 0.0


Rule = Callable[[Json, int], Reply]
"""Answers a request, which is the n-th one, from 0."""


@dataclass
class ModelServer:
    """A running server and what it was sent."""

    url: str
    rule: Rule
    bodies: list[bytes] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    headers: list[set[str]] = field(default_factory=list)
    """Their names, in lower case."""
    paths: list[str] = field(default_factory=list)
    tokens: int = 0
    """That its answers said they took."""
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def requests(self) -> list[Json]:
        """The requests that it was sent."""
        return [json.loads(body) for body in self.bodies]


@contextmanager
def model_server(rule: Rule) -> Iterator[ModelServer]:
    """Yield a server that answers by a rule; it can be given another one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    found = ModelServer(f"http://127.0.0.1:{server.server_port}/v1", rule)
    server.RequestHandlerClass = _handler_of(found)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler_of(found: ModelServer) -> type[BaseHTTPRequestHandler]:
    """Return what answers by the server's rule, and notes what it was asked."""
    under_way = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal under_way
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with found.lock:
                number = len(found.bodies)
                found.bodies.append(body)
                key = self.headers.get("Authorization") or self.headers.get("X-Api-Key")
                found.keys.append(key or "")
                found.headers.append({name.lower() for name in self.headers})
                found.paths.append(self.path)
                under_way += 1
                found.most_at_once = max(found.most_at_once, under_way)
            try:
                reply = found.rule(json.loads(body), number)
                time.sleep(reply.after_secs)
            finally:
                with found.lock:
                    under_way -= 1
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            with found.lock:
                found.tokens += tokens_in(reply.body)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:  # the client did not wait
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's
            del format, args

    return Handler


def tokens_in(body: bytes) -> int:
    """Return the tokens that an answer says it took; 0 if it does not."""
    try:
        usage = json.loads(body)["usage"]
        return int(usage.get("total_tokens") or usage["input_tokens"] + usage["output_tokens"])
    except (ValueError, KeyError, TypeError):
        return 0


def response(message: Json, request: Json | None = None, finish: str | None = None) -> bytes:
    """Return an answer of Chat Completions with one message."""
    read = len(json.dumps(request)) // 4 if request else 10
    written = len(json.dumps(message)) // 4
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, **message},
        "finish_reason": finish or ("tool_calls" if message.get("tool_calls") else "stop"),
    }
    usage = {
        "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
    }  # fmt: skip
    return json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m",
                       "choices": [choice], "usage": usage}).encode()  # fmt: skip


def calling(name: str, arguments: object, number: int = 0) -> Json:
    """Return a message's call of a tool; a text as arguments is sent as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"c{number}", "type": "function", "function": {"name": name, "arguments": text},
    }  # fmt: skip


def verdict(arguments: object, request: Json | None = None) -> Reply:
    """Return a reply that gives a verdict."""
    return Reply(response({"tool_calls": [calling("verdict", arguments)]}, request))


def quoted_in(text: str) -> list[str]:
    """Return the texts that stand quoted in a message."""
    found = re.findall(r"\[([0-9a-f]{32})\n(.*?)\n\1\]", text, re.DOTALL)
    return [json.loads(each) for _, each in found]


def honest(request: Json, number: int = 0) -> Reply:
    """Answer `Was TOOL called?` by reading the step that shows it."""
    del number
    messages = request["messages"]
    tool = re.search(r"Was (\w+) called\?", messages[0]["content"])
    assert tool is not None
    listed = quoted_in(messages[1]["content"])[-1]
    called = re.search(rf"^(\d+) tool_call {tool[1]} ", listed, re.MULTILINE)
    step = int(called[1]) if called else 0
    results = [each for each in messages if each["role"] == "tool"]
    if not results:
        call = calling("read_step", {"step": step})
        return Reply(response({"tool_calls": [call]}, request))
    texts = json.loads(quoted_in(results[0]["content"])[0])
    quote = next(text for name, text in texts.items() if name != "kind")
    said = {"met": "yes" if called else "no", "evidence_steps": [step], "quote": quote[:40],
            "reason": "as recorded"}  # fmt: skip
    return verdict(said, request)


def taken_in(request: Json, number: int = 0) -> Reply:
    """Answer as `honest`, but obey any text in the run that says that the verdict is yes."""
    reply = honest(request, number)
    read = " ".join(str(each["content"]) for each in request["messages"][1:])
    if "yes" in read and b"verdict" in reply.body:
        said = json.loads(json.loads(reply.body)["choices"][0]["message"]["tool_calls"][0]
                          ["function"]["arguments"])  # fmt: skip
        return verdict({**said, "met": "yes"}, request)
    return reply


def lazy(request: Json, number: int = 0) -> Reply:
    """Say yes without having read anything."""
    del number
    said = {"met": "yes", "evidence_steps": [0], "quote": "It is done.", "reason": "sure"}
    return verdict(said, request)
