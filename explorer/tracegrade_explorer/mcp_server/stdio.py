"""Serves one client by stdin and stdout until it closes them."""

import contextlib
from collections.abc import Callable

from tracegrade_explorer.app import SLOW, Explorer
from tracegrade_explorer.logs import show_logs
from tracegrade_explorer.mcp_server.server import mcp_server
from tracegrade_explorer.responses import Site
from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_queries.engine.connection import open_lake


def serve_stdio(
    location: str, max_runs: int, timeout_secs: float, *, sql: bool, say: Callable[[str], object]
) -> None:
    """Answer about a lake until stdin ends.

    Args:
        location: Path or URL of the lake.
        max_runs: Runs to list, the newest.
        timeout_secs: Time limit of an answer.
        sql: Whether SQL of the client's own is taken.
        say: Receives a line for each note to the user; stdout is the client's.

    Raises:
        LakeMissing: There is no lake.
    """
    show_logs()
    lake = open_lake(location, say)
    with contextlib.closing(LatestSnapshot(lake, max_runs)) as latest:
        latest.follow()
        explorer = Explorer(latest, Site(str(location), sql), timeout_secs / SLOW)
        with contextlib.closing(explorer):
            mcp_server(explorer, sql=sql).run("stdio")
