"""The command over stdio and the address of the explorer: answers, and what is refused."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.commands import tracegrade
from tests.explorer.lakes import LOOPED
from tests.explorer.mcp_server.tool_calls import Caller
from tests.explorer.test_server import ui
from tests.waiting import PATIENCE_SECS

from tracegrade_lake import Lake

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_runs", {"filter": "outcome=failed"}),
    ("get_run", {"id": LOOPED}),
    ("get_text", {"id": LOOPED, "step": 2, "field": "content"}),
    ("explain_failure", {"id": "t5"}),
    ("compare_releases", {"base": "1.0", "candidate": "1.1"}),
    ("list_issues", {"state": "new"}),
    ("search_text", {"text": "disk full"}),
    ("run_saved_query", {"name": "why_runs_failed"}),
)
FAILING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_run", {"id": "nowhere"}),
    ("search_runs", {"filter": "tsb=1"}),
    ("get_run", {"id": "../x"}),
)
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"Accept": "application/json, text/event-stream"}


class Served(NamedTuple):
    """An explorer that serves tools."""

    url: str
    token: str

    def post(self, **changed: str | None) -> httpx2.Response:
        """Return the answer to a request, with some headers changed or, if None, left out."""
        headers = {**HEADERS, "Authorization": f"Bearer {self.token}", **changed}
        given = {name: value for name, value in headers.items() if value is not None}
        return httpx2.post(self.url, json=LIST, headers=given, timeout=PATIENCE_SECS)


@pytest.fixture(scope="module")
def served(sample_lake: Lake) -> Iterator[Served]:
    """An explorer of the sample, with its address of tools."""
    with ui(sample_lake.root, "--mcp") as process:
        assert process.stdout is not None
        parts = urlsplit(process.stdout.readline().removeprefix("ui: ").strip())
        yield Served(f"http://{parts.netloc}/mcp", parse_qs(parts.query)["token"][0])
        process.terminate()
        process.wait()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


async def call_all(client: Client, *more: tuple[str, dict[str, Any]]) -> set[str]:
    """Call every tool, with arguments that answer and with some that fail; return their names."""
    caller = Caller(client)
    for tool, given in (*CALLS, *more):
        assert not (await caller(tool, **given)).failed, tool
    for tool, given in FAILING:
        assert (await client.call_tool(tool, given)).is_error
    return {tool.name for tool in (await client.list_tools()).tools}


def test_a_client_starts_the_command_and_calls_all_tools(
    sample_lake: Lake, tmp_path: Path
) -> None:
    """On stderr there is nothing, errors of calls included."""
    command = str(Path(sys.executable).with_name("tracegrade"))
    server = StdioServerParameters(
        command=command, args=["mcp", "--lake", str(sample_lake.root)], cwd=tmp_path
    )

    async def ask(errors: Any) -> set[str]:
        async with Client(stdio_client(server, errlog=errors)) as client:
            return await call_all(client, ("sql", {"query": "SELECT 1 AS one"}))

    with (tmp_path / "errors").open("w") as errors:
        names = asyncio.run(ask(errors))

    assert names == {tool for tool, _ in CALLS} | {"sql"}
    assert (tmp_path / "errors").read_text() == ""


def test_a_client_calls_all_tools_over_http(served: Served) -> None:
    """Those but SQL, which the explorer must be started with."""

    async def ask() -> set[str]:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECS) as http,
            Client(streamable_http_client(served.url, http_client=http)) as client,
        ):
            return await call_all(client)

    assert asyncio.run(ask()) == {tool for tool, _ in CALLS}


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 200),
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_requests_need_the_token_and_come_from_no_other_site(
    served: Served, changed: dict[str, str | None], status: int
) -> None:
    """Refusals are JSON; each answer has the headers of the explorer."""
    answer = served.post(**changed)

    assert answer.status_code == status
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
    assert "text/html" not in answer.headers.get("Content-Type", "")


def test_neither_a_cookie_nor_an_address_admits(served: Served) -> None:
    """So no page of a browser calls a tool."""
    cookie = f"tracegrade_{urlsplit(served.url).port}={served.token}"
    by_address = httpx2.post(f"{served.url}?token={served.token}", json=LIST, headers=HEADERS)

    assert served.post(Authorization=None, Cookie=cookie).status_code == 401
    assert (by_address.status_code, by_address.headers.get("Set-Cookie")) == (401, None)


def test_only_short_posts_are_read(served: Served) -> None:
    """No stream, no session to end, no long body."""
    headers = {**HEADERS, "Authorization": f"Bearer {served.token}"}
    long = {**LIST, "params": {"x": "x" * 70_000}}

    assert httpx2.get(served.url, headers=headers).status_code == 405
    assert httpx2.delete(served.url, headers=headers).status_code == 405
    assert httpx2.post(served.url, json=long, headers=headers).status_code == 413


def test_pages_alone_have_no_tools(sample_lake: Lake) -> None:
    """Unless the explorer is started with them."""
    with ui(sample_lake.root, "--no-token") as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("ui: ").strip()
        status = httpx2.post(f"{url}mcp", json=LIST, headers=HEADERS).status_code
        process.terminate()
        process.wait()

    assert status == 405


def test_the_command_ends_where_there_is_no_lake(tmp_path: Path) -> None:
    """In one line on stderr; stdout is the client's."""
    ended = tracegrade("mcp", "--lake", tmp_path / "none")

    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


def test_no_other_command_imports_the_sdk() -> None:
    """It takes a second, which the help of a command has not."""
    code = (
        "import sys, tracegrade.cli, tracegrade_explorer.server, tracegrade_explorer.cli, "
        "tracegrade_explorer.mcp_server.cli; sys.exit('mcp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
