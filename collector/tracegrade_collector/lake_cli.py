"""The commands `tracegrade lake …`: their options. `lake_commands.py` is what they do.

Thin: what they do is imported only when they run, so that `--help` is fast.
"""

from pathlib import Path
from typing import Annotated

import typer

LakePath = Annotated[
    str, typer.Option("--lake", envvar="TRACEGRADE_LAKE", help="The lake: a folder or an URL.")
]
State = Annotated[
    Path | None,
    typer.Option(help="For a lake with a URL: the local folder of its log and quarantine."),
]
Tables = Annotated[list[str] | None, typer.Option("--table", help="Only this; may be repeated.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]

lake = typer.Typer(add_completion=False, rich_markup_mode=None)


@lake.callback()
def about() -> None:
    """Look after the lake."""


@lake.command()
def files(
    place: LakePath,
    table: Annotated[str, typer.Option(help="spans, logs, steps, trajectories, ...")],
    state: State = None,
) -> None:
    """Print the Parquet files that a table consists of now, one per line."""
    from tracegrade_collector import lake_commands as commands

    commands.print_files(commands.LakeOptions(place, state, (table,)))


@lake.command()
def delete(  # noqa: PLR0913, PLR0917 - one parameter per option
    place: LakePath,
    trace: Annotated[
        list[str] | None, typer.Option(help="A trace id, 32 hex digits; may be repeated.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            help="Traces with a row like: service_name = 'x' and start_ns < 1700000000000000000."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="The collector's options, if none is running.")
    ] = None,
    state: State = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Erase whole traces: from all tables, old files, log, quarantine and dead letters."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(place, state, (), dry_run, as_json)
    commands.delete(options, trace or (), where, config)


@lake.command()
def compact(
    place: LakePath,
    table: Tables = None,
    target_bytes: Annotated[
        int | None, typer.Option(min=1, help="Bytes of one new file; 128 MiB if not given.")
    ] = None,
    state: State = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Make few large, sorted files of many small ones, and mark what clients sent twice."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(place, state, tuple(table or ()), dry_run, as_json)
    commands.compact(options, target_bytes)


@lake.command()
def expire(  # noqa: PLR0913, PLR0917 - one parameter per option
    place: LakePath,
    older_than: Annotated[str, typer.Option(help="Whole days, such as 30d.")],
    table: Tables = None,
    keep_built: Annotated[
        bool, typer.Option("--keep-built", help="Keep steps, trajectories and scores.")
    ] = False,
    state: State = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Let dates that are too old leave the tables, and remove files that nothing needs."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(place, state, tuple(table or ()), dry_run, as_json)
    commands.expire(options, older_than, keep_built=keep_built)


@lake.command()
def verify(
    place: LakePath,
    deep: Annotated[
        bool, typer.Option("--deep", help="Decode every page of every file, not only footers.")
    ] = False,
    state: State = None,
    as_json: Json = False,
) -> None:
    """Prove that nothing was lost: received = landed + rejected + quarantined + pending."""
    from tracegrade_collector import lake_commands as commands

    commands.verify(commands.LakeOptions(place, state, as_json=as_json), deep=deep)


@lake.command()
def repair(
    place: LakePath,
    table: Tables = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make logs anew from the files, even good ones.")
    ] = False,
    state: State = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Put aside what is torn or damaged, and make lost logs anew from the files."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(place, state, tuple(table or ()), dry_run, as_json)
    commands.repair(options, rebuild=rebuild)
