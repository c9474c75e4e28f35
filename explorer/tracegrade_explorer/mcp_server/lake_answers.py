"""Gets the answers of pages and queries for tools, some at a time, and frames the results."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Final, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError

from tracegrade.errors import TracegradeError
from tracegrade_explorer.app import SLOW, Explorer, PageRoute
from tracegrade_explorer.errors import PageMissing, TooSlow
from tracegrade_explorer.mcp_server.frame import framed_error
from tracegrade_explorer.responses import PageRequest, PageResponse
from tracegrade_explorer.sql_process.run import Rows, run_sql
from tracegrade_explorer.workbench.draft import VALUE, saved_draft

CALLS: Final = 4
"""Calls of tools that run at once; others wait."""
MOST_CALLS: Final = 32
"""Running or waiting; more are refused."""
SQL_ROWS: Final = 200
P = ParamSpec("P")


class LakeAnswers:
    """The answers of one lake."""

    def __init__(self, explorer: Explorer) -> None:
        """Read by an explorer."""
        self._explorer = explorer
        self._running = asyncio.Semaphore(CALLS)
        self._calls = 0

    @property
    def lake(self) -> str:
        """Path or URL of the lake."""
        return self._explorer.site.lake

    async def page(
        self,
        make: Callable[[PageRequest], PageResponse],
        names: Mapping[str, str] | None = None,
        pairs: Sequence[tuple[str, str]] = (),
    ) -> Any:
        """Return the JSON of a page.

        Raises:
            TracegradeError: What the page raises.
        """
        return await self._explorer.data(PageRoute("", make, SLOW), names or {}, pairs)

    async def query(self, text: str) -> Rows:
        """Return the first rows of a SELECT.

        Raises:
            TracegradeError: As of `run_sql`.
        """
        return await asyncio.to_thread(run_sql, self.lake, text, {}, SQL_ROWS)

    async def saved_query(self, name: str, values: Mapping[str, str]) -> Rows:
        """Return the first rows of a saved query.

        Raises:
            PageMissing: There is none of this name, or it needs other values.
            TracegradeError: As of `run_sql`.
        """
        pairs = [(VALUE + key, value) for key, value in values.items()]
        draft = await asyncio.to_thread(saved_draft, self.lake, name, pairs)
        if draft is None:
            msg = f"no saved query is named '{name}'; the resource tracegrade://queries lists them"
            raise PageMissing(msg)
        names = [key for key, _ in draft.fields]
        if set(names) != set(values):
            msg = f"the query {name} takes these values: {', '.join(names) or 'none'}"
            raise PageMissing(msg)
        return await asyncio.to_thread(run_sql, self.lake, draft.text, values, SQL_ROWS)

    def framing(self, answer: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
        """Return a tool that answers in its turn, and whose errors are framed as answers are."""
        return wraps(answer)(partial(self._in_turn, answer))

    async def _in_turn(
        self, answer: Callable[P, Awaitable[str]], *args: P.args, **kwargs: P.kwargs
    ) -> str:
        try:
            if self._calls >= MOST_CALLS:
                msg = f"{MOST_CALLS} calls are under way; try again in a moment"
                raise TooSlow(msg)
            self._calls += 1
            try:
                async with self._running:
                    return await answer(*args, **kwargs)
            finally:
                self._calls -= 1
        except TracegradeError as error:
            raise ToolError(framed_error(str(error))) from None
