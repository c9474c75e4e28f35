"""Calls of tools by the SDK's own client, and what they answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from mcp import Client

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.mcp_server.frame import CLOSING, MOST_CHARACTERS, OPENING
from tracegrade_explorer.mcp_server.server import mcp_server

T = TypeVar("T")


class ToolAnswer(NamedTuple):
    """One answer of a tool."""

    text: str
    failed: bool

    @property
    def data(self) -> dict[str, Any]:
        """What is in its frame, which is the only one."""
        begin, end = self.text.index(OPENING), self.text.index(CLOSING)
        assert self.text.count("<") == 2
        assert self.failed or (begin, end) == (0, len(self.text) - len(CLOSING))
        found: dict[str, Any] = json.loads(self.text[begin + len(OPENING) : end])
        return found


class Caller:
    """Calls tools of one client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: object) -> ToolAnswer:
        """Call a tool; each answer has one text of bounded length."""
        answer = await self.client.call_tool(tool, arguments)
        (content,) = answer.content
        text: str = content.text  # type: ignore[union-attr]
        assert len(text) <= MOST_CHARACTERS + 100 * bool(answer.is_error)
        return ToolAnswer(text, bool(answer.is_error))


def with_client(pages: Explorer, ask: Callable[[Caller], Awaitable[T]], *, sql: bool = True) -> T:
    """Return what a client of a server in this process finds out."""

    async def asked() -> T:
        async with Client(mcp_server(pages, sql=sql)) as client:
            return await ask(Caller(client))

    return asyncio.run(asked())


def call(pages: Explorer, tool: str, **arguments: object) -> ToolAnswer:
    """Return the answer to one call."""

    async def ask(caller: Caller) -> ToolAnswer:
        return await caller(tool, **arguments)

    return with_client(pages, ask)
