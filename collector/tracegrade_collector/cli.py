"""The commands `collect`, `export` and `import`; `lake_cli.py` has `lake`.

Thin: what they do is imported only when they run, so that `--help` and the others start fast.
"""

from pathlib import Path
from typing import Annotated

import typer

from tracegrade_collector.lake_cli import lake

__all__ = ["collect", "export", "import_", "lake"]

LakePath = Annotated[str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.")]


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


def import_(
    files: Annotated[list[Path], typer.Argument(help="OTLP as JSON, JSON lines or protobuf.")],
    lake: LakePath,
    format_: Annotated[str, typer.Option("--format", help="auto or otlp.")] = "auto",
) -> None:
    """Add the spans and log records of files to the lake, each once."""
    from tracegrade_collector.commands import run_import  # noqa: PLC0415 - see above

    run_import(files, lake, format_)


def export(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakePath,
    to: Annotated[str, typer.Option(help="otlp-json or otlp-endpoint.")],
    table: Annotated[str, typer.Option(help="spans or logs.")] = "spans",
    trace: Annotated[str | None, typer.Option(help="Only the trace of this id.")] = None,
    out: Annotated[Path | None, typer.Option(help="A file to write, not stdout.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="OTLP/HTTP base URL to send to.")] = None,
    header: Annotated[list[str] | None, typer.Option(help="KEY=VALUE to send along.")] = None,
) -> None:
    """Write spans or log records as OTLP again, equal to what came in."""
    from tracegrade_collector.commands import ExportOptions, run_export  # noqa: PLC0415

    run_export(lake, ExportOptions(to, table, trace, out, endpoint, tuple(header or ())))
