"""The command `tracegrade token`: makes bearer tokens for exporters."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

token = typer.Typer(add_completion=False, rich_markup_mode=None)


@token.callback()
def about() -> None:
    """Manage the tokens with which exporters authenticate."""


@token.command()
def new(
    file: Annotated[Path, typer.Option(help="Token file; created if absent.")],
    tenant: Annotated[str, typer.Option(help="Tenant; default: the lake itself.")] = "",
    expires: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Day on which it expires (UTC).")
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Token for reading /metrics only.")
    ] = False,
) -> None:
    """Print a new token, once, and add its hash to the file."""
    from tracegrade_collector.edge.tokens import add_token
    from tracegrade_collector.errors import BadCredentials

    if metrics and tenant:
        msg = "a token is either a tenant's or for metrics; leave out --tenant or --metrics"
        raise BadCredentials(msg)
    typer.echo(add_token(file, None if metrics else tenant, expires.date() if expires else None))
