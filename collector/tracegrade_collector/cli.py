"""The commands `collect`, `export`, `import` and `lake`.

Thin: what they do is imported only when they run, so that `--help` and the others start fast.
"""

from pathlib import Path
from typing import Annotated

import typer

LakePath = Annotated[Path, typer.Option(envvar="TRACEGRADE_LAKE", help="The lake's folder.")]


def collect(
    lake: LakePath,
    http: Annotated[str | None, typer.Option(help="OTLP/HTTP address, or 'off'.")] = None,
    grpc: Annotated[str | None, typer.Option(help="OTLP/gRPC address, or 'off'.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of options.")] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Allow an address that others reach.")
    ] = None,
) -> None:
    """Take OTLP requests in and land them in the lake, until SIGTERM or Ctrl-C."""
    from tracegrade_collector.config import CollectorConfig  # noqa: PLC0415 - see above
    from tracegrade_collector.receiver import receive  # noqa: PLC0415

    options = CollectorConfig.load(config, {"http": http, "grpc": grpc, "insecure": insecure})
    receive(lake, options)
