"""The commands `collect`, `export` and `import`; `lake_cli.py` has `lake`.

The module is thin: a command's work is imported only when it runs, so `--help` starts fast.
"""

from pathlib import Path
from typing import Annotated

import typer

from tracegrade_collector.importing.mapping import FIELDS
from tracegrade_collector.lake_cli import lake

__all__ = ["collect", "export", "import_", "lake"]

LakePath = Annotated[
    str, typer.Option(envvar="TRACEGRADE_LAKE", help="The lake: a folder or a URL.")
]


def _print_options(is_given: bool) -> None:
    from tracegrade_collector.config_toml import options_as_toml

    if is_given:
        typer.echo(options_as_toml(), nl=False)
        raise typer.Exit


def collect(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakePath,
    http: Annotated[str | None, typer.Option(help="OTLP/HTTP address, or 'off'.")] = None,
    grpc: Annotated[str | None, typer.Option(help="OTLP/gRPC address, or 'off'.")] = None,
    config: Annotated[Path | None, typer.Option(help="Options file (TOML).")] = None,
    state: Annotated[
        str | None, typer.Option(help="Local state folder of a lake with a URL.")
    ] = None,
    token_file: Annotated[str | None, typer.Option(help="Token file (TOML).")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="TLS certificate (PEM).")] = None,
    tls_key: Annotated[
        str | None, typer.Option(help="Private key of the certificate (PEM).")
    ] = None,
    insecure: Annotated[
        bool | None,
        typer.Option("--insecure", help="Allow non-loopback access without TLS and tokens."),
    ] = None,
    _: Annotated[
        bool,
        typer.Option(
            "--print-options",
            callback=_print_options,
            is_eager=True,
            help="Print all options as TOML, then exit.",
        ),
    ] = False,
) -> None:
    """Receive OTLP traces and logs and write them to the lake, until SIGTERM or Ctrl-C."""
    from tracegrade_collector.config import CollectorConfig
    from tracegrade_collector.receive.receiver import receive

    flags = {
        "http": http,
        "grpc": grpc,
        "state": state,
        "token_file": token_file,
        "tls_cert_file": tls_cert,
        "tls_key_file": tls_key,
        "insecure": insecure,
    }
    receive(lake, CollectorConfig.load(config, flags))


def import_(  # noqa: PLR0913, PLR0917 - one parameter per option
    files: Annotated[
        list[Path],
        typer.Argument(help="Files, gzipped or not, or folders of Harbor and OpenHands."),
    ],
    lake: LakePath,
    format_: Annotated[
        str, typer.Option("--format", help="otlp, messages, verdicts, …; auto detects it.")
    ] = "auto",
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Paths of fields, FIELD=PATH,…, or their values, FIELD==TEXT. Fields: "
            f"{', '.join(FIELDS)}.",
        ),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help="Roles of messages: user=assistant,env=tool,… (also: system)."),
    ] = None,
    plan_marker: Annotated[
        str | None,
        typer.Option(help="Pattern (RE2) of how plans begin in texts of the agent."),
    ] = None,
    code_calls: Annotated[
        bool,
        typer.Option("--code-calls", help="Read fenced code and the reply after it as a call."),
    ] = False,
    code_language: Annotated[
        list[str] | None,
        typer.Option(help="Languages whose code is a call: python,bash,… (code: of no name)."),
    ] = None,
    allow_partial: Annotated[
        bool,
        typer.Option(
            "--allow-partial", help="Import runs even if most messages are not understood."
        ),
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Collector options (TOML), for redaction.")
    ] = None,
    redact: Annotated[bool | None, typer.Option(help="Whether to replace secrets.")] = None,
) -> None:
    """Import traces and verdicts from files, each only once and with secrets redacted."""
    from tracegrade_collector.commands import ImportOptions, run_import
    from tracegrade_collector.config import CollectorConfig

    options = ImportOptions(
        format_,
        map_ or (),
        role or (),
        plan_marker,
        code_calls,
        code_language or (),
        allow_partial,
    )
    run_import(files, lake, options, CollectorConfig.load(config, {"redact": redact}))


def export(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakePath,
    to: Annotated[
        str, typer.Option("--to", "--format", help="otlp-json, otlp-endpoint, or atif for runs.")
    ],
    table: Annotated[str, typer.Option(help="spans or logs.")] = "spans",
    trace: Annotated[str | None, typer.Option(help="Export only this trace id.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write instead of stdout.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="OTLP/HTTP base URL to send to.")] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="HTTP header to send, KEY=VALUE; repeatable.")
    ] = None,
) -> None:
    """Export spans or log records as OTLP, as they were received, or runs in another format."""
    from tracegrade_collector.commands import ExportOptions, run_export

    run_export(lake, ExportOptions(to, table, trace, out, endpoint, tuple(header or ())))
