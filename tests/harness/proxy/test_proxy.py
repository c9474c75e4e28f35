"""A proxy passes requests and replies on as they are, and says what calls they were."""

import http.client
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tracegrade_harness.parts.servers.http_server import HttpServer
from tracegrade_harness.proxy.messages import CallNames, ProxiedRequest
from tracegrade_harness.proxy.proxy import HttpProxy
from tracegrade_harness.proxy.upstream import LiveUpstream


async def echo(request: Request) -> Response:
    """Answer with the request."""
    body = (await request.body()).decode()
    seen = {"line": f"{request.method} {request.url.path}?{request.url.query}", "body": body}
    return JSONResponse({**seen, "x": request.headers.get("x")}, 201, {"x-own": "1"})


async def stream(_: Request) -> Response:
    """Answer in chunks."""

    async def chunks() -> AsyncIterator[bytes]:
        for each in (b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"):
            yield each

    return StreamingResponse(chunks(), media_type="text/event-stream")


async def move(request: Request) -> Response:
    """Answer with another address of the service."""
    return RedirectResponse(str(request.base_url) + "base/echo")


SERVICE = Starlette(
    routes=[
        Route("/base/echo", echo, methods=["GET", "POST", "DELETE"]),
        Route("/base/stream", stream),
        Route("/base/moved", move),
    ]
)


@contextmanager
def proxied() -> Iterator[http.client.HTTPConnection]:
    """Yield a connection to a proxy before the service."""
    server = HttpServer(SERVICE)
    upstream = LiveUpstream(f"http://127.0.0.1:{server.address.port}/base", {"X": "own"})
    with (
        closing(server),
        HttpProxy(upstream, CallNames([]), None) as proxy,
        closing(http.client.HTTPConnection(proxy.url.removeprefix("http://"))) as connection,
    ):
        yield connection


def test_a_request_and_its_reply_pass() -> None:
    """But for the headers that the suite sets."""
    with proxied() as connection:
        connection.request("POST", "/echo?a=%20b", "text", {"X": "agent's"})
        reply = connection.getresponse()
        text = reply.read().decode()

    assert reply.status == 201
    assert reply.headers["x-own"] == "1"
    assert text == '{"line":"POST /base/echo?a=%20b","body":"text","x":"own"}'


def test_a_streaming_reply_keeps_its_chunks() -> None:
    """A client sees the same events at the same bounds."""
    with proxied() as connection:
        connection.request("GET", "/stream")
        reply = connection.getresponse()
        chunks = [reply.read1() for _ in range(3)]

    assert chunks == [b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"]


def test_a_redirect_stays_at_the_proxy() -> None:
    """Else the agent would go past it."""
    with proxied() as connection:
        connection.request("GET", "/moved")

        assert connection.getresponse().headers["location"] == "/echo"


def test_a_service_that_is_not_there_is_a_bad_gateway() -> None:
    """The reply says so, and so do the notes of the trial."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    upstream = LiveUpstream(f"http://127.0.0.1:{port}", {})
    with HttpProxy(upstream, CallNames([]), None) as proxy:
        with closing(http.client.HTTPConnection(proxy.url.removeprefix("http://"))) as connection:
            connection.request("GET", "/")
            status = connection.getresponse().status
        notes = proxy.notes()

    assert status == 502
    assert len(notes) == 1
    assert notes[0].startswith(f"http: 127.0.0.1:{port} gives no reply")


@pytest.mark.parametrize(
    ("method", "target", "body", "name", "arguments"),
    [
        ("GET", "/orders/7", b"", "GET /orders/{id}", '{"path": {"id": "7"}}'),
        ("GET", "/orders/a%2Fb", b"", "GET /orders/{id}", '{"path": {"id": "a/b"}}'),
        ("GET", "/orders", b"", "GET /orders", "{}"),
        ("GET", "/orders/7/items", b"", "GET /orders/7/items", "{}"),
        ("PUT", "/orders/7", b"{}", "PUT /orders/7", '{"body": {}}'),
        (
            "GET",
            "/orders?a=1&b=2&b=3",
            b"",
            "GET /orders",
            '{"query": {"a": "1", "b": ["2", "3"]}}',
        ),
        ("POST", "/orders", b'{"n": [1]}', "POST /orders", '{"body": {"n": [1]}}'),
        ("POST", "/orders", b"n=1", "POST /orders", '{"body": "n=1"}'),
    ],
)
def test_a_request_is_a_call(
    method: str, target: str, body: bytes, name: str, arguments: str
) -> None:
    """Its name is the first that fits; its arguments are what that leaves open."""
    path, _, query = target.partition("?")
    call = CallNames(["GET /orders/{id}"]).call(ProxiedRequest(method, path, query, (), body))

    assert (call.tool, call.arguments) == (name, arguments)


def test_bytes_are_told_apart_by_their_digest() -> None:
    """They are not text."""
    request = ProxiedRequest("POST", "/", "", (), b"\xff\x00")

    assert '"bytes": 2, "sha256": "' in str(CallNames([]).call(request).arguments)
