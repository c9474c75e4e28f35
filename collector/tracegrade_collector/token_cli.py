"""The command `tracegrade token`: makes what an exporter shows the collector."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

token = typer.Typer(add_completion=False, rich_markup_mode=None)


@token.callback()
def about() -> None:
    """Look after the tokens that let exporters send."""


@token.command()
def new(
    file: Annotated[Path, typer.Option(help="The collector's token_file; made if absent.")],
    tenant: Annotated[str, typer.Option(help="Whose lake; without it, the lake itself.")] = "",
    expires: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="First day without it, UTC.")
    ] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="Only to read /metrics.")] = False,
) -> None:
    """Print a new token, once, and add its hash to the file."""
    from tracegrade_collector.errors import BadCredentials
    from tracegrade_collector.receive.tokens import add_token

    if metrics and tenant:
        msg = "a token is either a tenant's or for metrics; leave out --tenant or --metrics"
        raise BadCredentials(msg)
    typer.echo(add_token(file, None if metrics else tenant, expires.date() if expires else None))
