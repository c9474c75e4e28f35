"""`tracegrade ui`: pages over a lake, in a browser.

The command imports its implementation when it runs, so that `--help` stays fast.
"""

from pathlib import Path
from typing import Annotated

import typer

from tracegrade.terminal.visible import echo


def ui(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: Annotated[
        str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
    ],
    listen: Annotated[
        str,
        typer.Option(help="Address to listen on; port 0 picks a free port.", metavar="HOST:PORT"),
    ] = "127.0.0.1:8321",
    host_name: Annotated[
        list[str] | None,
        typer.Option(help="Another host name that browsers use for it; repeatable."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File of hashed tokens, as `tracegrade token new` writes it, of those who may "
            "read; one of its own, since who may send need not read. Else each start has a token "
            "that is printed."
        ),
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option("--no-token", help="Let every user of this machine in; loopback alone."),
    ] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="TLS certificate (PEM).")] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="Private key of the certificate (PEM).")
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Allow non-loopback access without TLS and a token file."),
    ] = False,
    max_runs: Annotated[
        int, typer.Option(min=1, help="Runs to list, the newest; each takes about 2 kB.")
    ] = 2_000_000,
    sql: Annotated[
        bool | None,
        typer.Option(
            "--sql/--no-sql", help="Whether readers may ask in SQL; on loopback, unless given."
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Seconds that a page may take; those that read the whole lake, twelve times as "
            "long.",
            metavar="SECS",
        ),
    ] = 5.0,
    build: Annotated[
        bool,
        typer.Option(
            "--build/--no-build",
            help="Build new spans into runs as they come in: every 5 s, on an object store every "
            "30 s.",
        ),
    ] = True,
    score_every: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Also run `tracegrade score` on what is new, so many seconds after the last such "
            "run; never, unless given.",
            metavar="SECS",
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    label_as: Annotated[
        str | None,
        typer.Option(
            help="Let every caller label runs as this person; only on loopback. Elsewhere the "
            "token file names the labelers.",
            metavar="NAME",
        ),
    ] = None,
    mcp: Annotated[
        bool,
        typer.Option(
            "--mcp",
            help="Answer coding agents at /mcp by the Model Context Protocol; they send the token "
            "in a header, and SQL only where --sql is given.",
        ),
    ] = False,
) -> None:
    """Browse the runs of a lake, with scores and evidence at each step, until Ctrl-C."""
    from tracegrade_explorer.server import Options, serve

    options = Options(
        listen, tuple(host_name or ()), token_file, no_token, tls_cert, tls_key, insecure,
        max_runs, sql, timeout, open_, label_as, build, score_every,
    )  # fmt: skip
    if mcp:
        from tracegrade_explorer.mcp_server.server import mcp_app

        serve(lake, options, echo, mcp_app)
    else:
        serve(lake, options, echo)
