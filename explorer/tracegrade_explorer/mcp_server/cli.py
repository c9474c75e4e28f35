"""`tracegrade mcp`: tools over a lake for a coding agent, by stdin and stdout.

The command imports its implementation when it runs, so that `--help` stays fast.
"""

from typing import Annotated

import typer

from tracegrade.terminal.visible import echo


def mcp(
    lake: Annotated[
        str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
    ],
    max_runs: Annotated[
        int, typer.Option(min=1, help="Runs to list, the newest; each takes about 2 kB.")
    ] = 2_000_000,
    sql: Annotated[
        bool, typer.Option("--sql/--no-sql", help="Whether the agent may ask in SQL.")
    ] = True,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds that an answer may take.", metavar="SECS"),
    ] = 60.0,
) -> None:
    """Answer a coding agent about a lake over the Model Context Protocol; it only reads.

    A client starts this command and talks to it by stdin and stdout. `tracegrade ui --mcp` serves
    the same tools over HTTP.
    """
    from tracegrade_explorer.mcp_server.stdio import serve_stdio

    serve_stdio(lake, max_runs, timeout, sql=sql, say=lambda text: echo(text, err=True))
