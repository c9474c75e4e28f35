"""Agents that write no spans are stopped, recorded and killed at the channel `http`."""

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.ordering import CURL, KILLS, made
from tests.harness.trial.shopping import steps
from tests.slow import slow_after

from tracegrade_harness.parts.servers.http_server import HttpServer

BOUGHT = {"body": {"id": "h2", "price": 3}, "query": {"by": "me"}}


def needing(program: str) -> None:
    """Skip where a program is missing."""
    if shutil.which(program) is None:
        pytest.skip(f"no program '{program}'; install it")


def kills(tried: HarnessRun, task_id: str) -> dict[str, tuple[object, ...]]:
    """Return boundary, immediate score and score after recovery of each kill of a task."""
    keys = ("boundary", "immediate", "after_recovery")
    return {
        row["kill_point"]: tuple(row[key] for key in keys)
        for row in tried.rows
        if row["task_id"] == task_id and row["kill_point"]
    }


@pytest.mark.parametrize(
    "command", slow_after(1, [(CURL,), (("node", "{suite}/agent.js"),)]), ids=["curl", "node"]
)
def test_an_agent_in_any_language_is_killed_between_its_requests(
    tmp_path: Path, command: Sequence[str]
) -> None:
    """Requests are calls of tools, which the routes of their service name."""
    needing(command[0] if command[0] == "node" else "curl")
    tried = made(tmp_path, {"task": KILLS}, command).run().build()

    assert tried.row("task")["success"] is True
    assert kills(tried, "task") == {"early": (1, 10, 10), "mid": (2, 0, 0), "late": (4, 0, 0)}
    assert [step[1:3] for step in steps(tried, "task") if step[0] == "tool_call"][:2] == [
        ("GET /credits", {}),
        ("POST /holds", BOUGHT),
    ]


def test_an_upstreams_key_stays_with_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent sees neither the key nor where the service is."""
    needing("curl")
    monkeypatch.setenv("SEARCH_KEY", "open-sesame")
    server = HttpServer(_Search())
    search = {
        "url": f"http://127.0.0.1:{server.address.port}/v1",
        "url_env": "SEARCH_URL",
        "headers": {"Authorization": "Bearer $SEARCH_KEY"},
        "calls": ["GET /search/{word}"],
    }
    script = 'curl -sf "$SEARCH_URL/search/tea%20pot?n=2" -H "authorization: none" > found'
    (tmp_path / "fixtures").mkdir()
    suite = made(
        tmp_path,
        {"task": {"verify": VERIFIED}},
        ["sh", "-c", f"{script}; env >> found"],
        files={"out": {"from": "fixtures", "at": "."}},
        upstreams={"search": search},
    )
    tried = suite.run().build()
    server.close()

    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert f"live: search, {search['url']}" in tried.ended.stdout
    assert [step[1:3] for step in steps(tried, "task") if step[0] == "tool_call"] == [
        ("GET /search/{word}", {"path": {"word": "tea pot"}, "query": {"n": "2"}})
    ]


@pytest.mark.slow
def test_of_an_mcp_upstream_calls_of_tools_are_calls(tmp_path: Path) -> None:
    """Its other messages are none."""
    needing("curl")
    messages = [
        {"id": 1, "method": "initialize"},
        {"id": 2, "method": "tools/call", "params": {"name": "now", "arguments": {"zone": "UTC"}}},
    ]
    script = "; ".join(f"curl -sf $CLOCK_URL -d '{json.dumps(each)}'" for each in messages)
    with closing(HttpServer(_Clock())) as server:
        url = f"http://127.0.0.1:{server.address.port}"
        clock = {"url": url, "url_env": "CLOCK_URL", "protocol": "mcp"}
        suite = made(tmp_path, {"task": {}}, ["sh", "-c", script], upstreams={"clock": clock})
        tried = suite.run().build()

    assert [step[1:] for step in steps(tried, "task") if step[0] == "tool_call"] == [
        ("now", {"zone": "UTC"}, "ok")
    ]


VERIFIED = [
    {"files": "out", "path": "found", "text": {"matches": "/v1/search/tea pot with the key"}},
    {"command": ["sh", "-c", "! grep -q open-sesame found"]},
]


class _Search:
    """A service that says what it was asked."""

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        if scope["type"] == "http":
            request = Request(scope, receive)
            knows = request.headers["authorization"] == "Bearer open-sesame"
            text = f"{request.url.path} {'with' if knows else 'without'} the key"
            await JSONResponse(text)(scope, receive, send)


class _Clock:
    """An MCP server."""

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        if scope["type"] == "http":
            asked = json.loads(await Request(scope, receive).body())
            result = {"content": [{"type": "text", "text": "noon"}]}
            await JSONResponse({"id": asked["id"], "result": result})(scope, receive, send)
