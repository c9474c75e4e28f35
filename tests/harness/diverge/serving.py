"""A suite whose agent asks a service and an MCP server, which can change after it was recorded."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from tests.commands import Ended, tracegrade

from tracegrade_harness.parts.servers.http_server import HttpServer

AGENT = '''
"""An agent that asks, and writes nothing down."""

import json
import os
import urllib.request


def asked(url, message=None):
    body = None if message is None else json.dumps(message).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
        answer.read()


asked(os.environ["SHOP_URL"] + "/items/7?unit=g&unit=kg")
asked(os.environ["SHOP_URL"] + "/page")
asked(os.environ["SHOP_URL"] + "/find", {"word": "tea"})
asked(os.environ["SHOP_URL"] + "/orders", {"item": 7})
asked(os.environ["MODEL_URL"] + "/chat", {"prompt": "hello"})
for number, method, params in ((1, "initialize", {}),
                               (2, "tools/list", {}),
                               (3, "tools/call", {"name": "price", "arguments": {"item": 7}}),
                               (4, "tools/call", {"name": "buy", "arguments": {"item": 7}})):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    asked(os.environ["WIKI_MCP"] + os.environ["WIKI_PATH"], message)
'''
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
ITEM = {"id": 7, "name": "tea", "price": 3, "stock": {"count": 5}}
TASKS = """
version: 1
tools:
  POST /find: {effect: read}
  price: {effect: read}
  buy: {effect: write}
tasks: {ask: {}}
"""


class Shop:
    """A service, a model and an MCP server, which count what they are asked."""

    def __init__(self, wiki_path: str = "/") -> None:
        self.wiki = f"/mcp{wiki_path}"
        self.lines: list[str] = []
        self.item: dict[str, Any] = {**ITEM}
        self.page = "<p>open</p>"
        self.price: dict[str, Any] = {"amount": 3}
        self.gone: set[str] = set()
        self._numbers = count(1)

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        """Answer, with a number that goes up."""
        if scope["type"] == "http":
            request = Request(scope, receive)
            body = await request.body()
            asked = json.loads(body) if body else {}
            reply = self._reply(request, asked)
            await reply(scope, receive, send)

    def _reply(self, request: Request, asked: dict[str, Any]) -> Response:
        path = request.url.path
        if path == self.wiki.partition("?")[0]:
            return self._message(request, asked)
        self.lines.append(f"{request.method} {path}")
        if path in self.gone:
            return JSONResponse({"error": f"no {path}"}, 404)
        if path == "/page":
            return Response(self.page, media_type="text/html")
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"error": "no key"}, 401)
        seen = {"number": next(self._numbers), "api_key": KEY, "asked": asked}
        return JSONResponse({**self.item, **seen, "units": request.query_params.getlist("unit")})

    def _message(self, request: Request, asked: dict[str, Any]) -> Response:
        if "id" not in asked:
            return Response(status_code=202)
        params = asked.get("params", {})
        self.lines.append(f"{asked['method']} {params.get('name', '')}".strip())
        text = json.dumps({**self.price, "number": next(self._numbers)})
        content = {"content": [{"type": "text", "text": text}]}
        results = {
            "initialize": {"protocolVersion": "2025-03-26", "capabilities": {}},
            "tools/list": {"tools": [{"name": "price"}, {"name": "buy"}]},
        }
        answer = {"jsonrpc": "2.0", "id": asked["id"]}
        if asked["method"] != "initialize" and params.get("name") in self.gone:
            return JSONResponse({**answer, "error": {"code": -32602, "message": "unknown tool"}})
        return JSONResponse({**answer, "result": results.get(asked["method"], content)})


class Recorded(NamedTuple):
    """A suite with a tape, and the service that it was recorded of."""

    suite: Path
    shop: Shop

    def diverge(self, *options: str) -> Ended:
        """Ask again what the tape holds, and nothing before."""
        self.shop.lines.clear()
        return tracegrade("harness", "diverge", self.suite, "--yes-as-root", *options)


@contextmanager
def recorded(folder: Path, wiki_path: str = "/") -> Iterator[Recorded]:
    """Yield a suite that was recorded, as long as its service is there; its wiki is at a path."""
    shop = Shop(wiki_path)
    with closing(HttpServer(shop)) as server:
        suite = _written(folder, f"http://127.0.0.1:{server.address.port}", wiki_path)
        ended = tracegrade(
            "harness", "record", suite, "--yes-as-root", "--folder", folder / "home"
        )
        assert ended.returncode == 0, ended.stderr
        yield Recorded(suite, shop)


def _written(folder: Path, url: str, wiki_path: str) -> Path:
    (folder / "fixtures").mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "tasks.yaml").write_text(TASKS)
    headers = {"Authorization": "Bearer $SHOP_KEY"}
    upstreams: Mapping[str, Any] = {
        "shop": {"url": url, "url_env": "SHOP_URL", "headers": headers},
        "model": {"url": url, "url_env": "MODEL_URL", "headers": headers, "protocol": "model"},
        "wiki": {"url": f"{url}/mcp", "url_env": "WIKI_MCP", "protocol": "mcp"},
    }
    asker = {
        "command": ["{python}", "{suite}/agent.py"],
        "channels": ["http"],
        "environment": {"set": {"WIKI_PATH": wiki_path}},
    }
    written = {
        "version": 1,
        "suite": "asking",
        "tasks": "tasks.yaml",
        "agents": {"asker": asker},
        "environments": {
            "desk": {
                "files": {"data": {"from": "fixtures", "at": "data"}},
                "upstreams": upstreams,
            }
        },
        "cases": {"ask": {"environment": "desk", "agent": "asker"}},
    }
    suite = folder / "suite.yaml"
    suite.write_text(yaml.safe_dump(written, sort_keys=False))
    return suite
