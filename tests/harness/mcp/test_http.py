"""MCP over HTTP: calls and their answers are found in every form of a server's reply."""

import http.client
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tracegrade_harness.mcp.http import (
    McpRequests,
    recorded_mcp,
    taped_mcp,
    without_stream,
)
from tracegrade_harness.parts.servers.http_server import HttpServer
from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.proxy import HttpProxy
from tracegrade_harness.proxy.upstream import LiveUpstream, UpstreamHandler
from tracegrade_harness.suite.normalize import Normalized
from tracegrade_harness.tape.normalizing import Normalizer
from tracegrade_harness.tape.player import TapePlayer, TapeRecorder
from tracegrade_harness.telemetry.observed_run import ObservedAnswer

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "now"}}
ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "noon"}]}}
JSON = ("content-type", "application/json")
TOLD = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}


def posted(*messages: object) -> ProxiedRequest:
    """Return the request that posts a message, or several as a batch."""
    body = json.dumps(messages[0] if len(messages) == 1 else messages).encode()
    return ProxiedRequest("POST", "/mcp", "", (), body)


def events(*messages: object) -> bytes:
    """Return messages as the events of a stream."""
    lines = [f"event: message\r\ndata: {json.dumps(each)}\r\n\r\n" for each in messages]
    return "".join(lines).encode()


@pytest.mark.parametrize(
    ("kind", "chunks"),
    [
        ("application/json", [json.dumps(ANSWER).encode()]),
        ("text/event-stream; charset=utf-8", [events(TOLD, ANSWER)]),
        ("text/event-stream", [events(ANSWER)[:20], events(ANSWER)[20:]]),
        ("text/event-stream", [b": hello\n\ndata: " + json.dumps(ANSWER).encode()]),
        ("application/json", [json.dumps([TOLD, ANSWER]).encode()]),
    ],
    ids=["json", "events", "torn events", "comment", "batch"],
)
def test_an_answer_is_found(kind: str, chunks: Sequence[bytes]) -> None:
    """By the id of its request."""
    reply = ProxiedReply(200, (("Content-Type", kind),), tuple(chunks))

    assert McpRequests().answers(posted(CALL), reply) == [ObservedAnswer(True, "noon")]


@pytest.mark.parametrize(
    ("status", "body"),
    [(502, json.dumps(ANSWER).encode()), (200, b""), (200, b"[" * 100_000)],
)
def test_a_call_without_an_answer_has_failed(status: int, body: bytes) -> None:
    """It is a call all the same."""
    (answer,) = McpRequests().answers(posted(CALL), ProxiedReply(status, (), (body,)))

    assert answer == ObservedAnswer(False, f"HTTP status {status}, without an answer")


def test_only_calls_of_tools_are_calls() -> None:
    """Each of a batch; what else is asked goes on without."""
    batch = posted(CALL, {**CALL, "id": 8, "method": "ping"}, {**CALL, "id": "9"}, TOLD)

    assert [call.tool for call in McpRequests().calls(batch)] == ["now", "now"]
    assert McpRequests().calls(posted({**CALL, "method": "tools/list"})) == []
    assert McpRequests().calls(posted(CALL)._replace(method="DELETE")) == []


async def serve(request: Request) -> Response:
    """Answer a message by events, and a notification by nothing."""
    asked = json.loads(await request.body())
    if "id" not in asked:
        return Response(status_code=202)
    if asked["method"] == "tools/list":
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": []}})
    answer = {**ANSWER, "id": asked["id"]}
    return Response(events(TOLD, answer), media_type="text/event-stream")


@contextmanager
def proxied(upstream: UpstreamHandler) -> Iterator[http.client.HTTPConnection]:
    """Yield a connection to a proxy before an upstream."""
    with (
        HttpProxy(without_stream(upstream), McpRequests(), None) as proxy,
        closing(http.client.HTTPConnection(proxy.url.removeprefix("http://"))) as connection,
    ):
        yield connection


def ask(connection: http.client.HTTPConnection, body: bytes) -> tuple[int, bytes]:
    """Return status and body of what a message is answered."""
    connection.request("POST", "/mcp", body)
    reply = connection.getresponse()
    return reply.status, reply.read()


def test_what_is_recorded_is_played_under_any_id() -> None:
    """As JSON, even if it was recorded as events."""
    recorder = TapeRecorder()
    listing = json.dumps({**CALL, "id": 1, "method": "tools/list"}).encode()
    server = HttpServer(Starlette(routes=[Route("/mcp", serve, methods=["POST"])]))
    with closing(server):
        live = LiveUpstream(f"http://127.0.0.1:{server.address.port}", {})
        with proxied(recorded_mcp(live, "mcp:x", recorder)) as connection:
            assert ask(connection, listing)[0] == 200
            assert ask(connection, posted(CALL).body) == (200, events(TOLD, ANSWER))
            assert ask(connection, json.dumps(TOLD).encode())[0] == 202
    player = TapePlayer(recorder.entries())
    with proxied(taped_mcp("mcp:x", player)) as connection:
        heard = ask(connection, posted({**CALL, "id": "new"}).body)
        missed = ask(connection, posted(CALL).body)
        told = ask(connection, json.dumps(TOLD).encode())

    assert json.loads(heard[1]) == {**ANSWER, "id": "new"}
    assert "tracegrade replay miss" in json.loads(missed[1])["error"]["message"]
    assert told == (202, b"")
    assert player.unused() == ["mcp:x tools/list x 1"]


def test_a_stream_without_end_is_not_offered() -> None:
    """A client then goes on without, as the protocol asks."""
    with proxied(LiveUpstream("http://127.0.0.1:1", {})) as connection:
        connection.request("GET", "/mcp", headers={"accept": "text/event-stream"})
        stream = connection.getresponse()
        stream.read()
        deep = ask(connection, b'{"id": 1, "params": ' + b"[" * 100_000)

    assert (stream.status, stream.headers["allow"]) == (405, "POST, DELETE")
    assert deep[0] == 400


def test_a_call_of_a_server_with_another_id_is_the_same_where_a_suite_says_so() -> None:
    """What it answered goes back under the id of the new message."""
    recorder = TapeRecorder()
    params = {"name": "now", "arguments": {"run": "run-17"}}
    reply = ProxiedReply(
        200, (("content-type", "application/json"),), (json.dumps(ANSWER).encode(),)
    )
    recorded_mcp(lambda _: reply, "mcp:x", recorder)(posted({**CALL, "params": params}))
    rule = Normalized.model_validate({"pattern": r"run-\d+", "with": "RUN"})
    normalizer = Normalizer([rule])
    again = {**CALL, "id": 9, "params": {"name": "now", "arguments": {"run": "run-18"}}}

    said = taped_mcp("mcp:x", TapePlayer(recorder.entries(), normalizer))(posted(again))

    assert json.loads(said.body) == {**ANSWER, "id": 9}


@pytest.mark.parametrize(
    ("path", "query", "kept"),
    [
        ("/", "", "/"),
        ("/a%20b/mcp", "x=1&y=%C3%A9", "/a%20b/mcp?x=1&y=%C3%A9"),
        ("/\xe9", "", "/%C3%A9"),
    ],
)
def test_a_tape_has_the_path_of_its_server(path: str, query: str, kept: str) -> None:
    """As it was sent, if it is printable."""
    assert taped_at(posted(CALL)._replace(path=path, query=query)) == kept


def test_a_tape_has_no_secret_of_a_path() -> None:
    """Some servers are given their key there."""
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    kept = taped_at(posted(CALL)._replace(query=f"api_key={key}"))

    assert kept is not None
    assert kept.startswith("/mcp?api_key=[redacted:")
    assert key not in kept


def taped_at(request: ProxiedRequest) -> str | None:
    """Return the path that a tape has of a request."""
    recorder = TapeRecorder()
    reply = ProxiedReply(200, (JSON,), (json.dumps(ANSWER).encode(),))
    recorded_mcp(lambda _: reply, "mcp:x", recorder)(request)
    (entry,) = recorder.entries()
    return entry.path
