"""The commands `tracegrade lake …`: their options; `lake_commands.py` does their work.

The module is thin: a command's work is imported only when it runs, so `--help` is fast.
"""

from pathlib import Path
from typing import Annotated

import typer

LakePath = Annotated[
    str, typer.Option("--lake", envvar="TRACEGRADE_LAKE", help="The lake: a folder or a URL.")
]
StateOption = Annotated[
    Path | None,
    typer.Option(help="Local state folder (log, quarantine) of a lake with a URL."),
]
Tables = Annotated[list[str] | None, typer.Option("--table", help="Only this table; repeatable.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be done, without doing it.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]

lake = typer.Typer(add_completion=False, rich_markup_mode=None)


@lake.callback()
def about() -> None:
    """Maintain the lake: status, list, compact, expire, delete, verify and repair."""


@lake.command()
def status(location: LakePath, state: StateOption = None, as_json: JsonOption = False) -> None:
    """Show which traces run, wait for their root, or made scoring fail, and why."""
    from tracegrade_collector import lake_commands as commands

    commands.print_status(commands.LakeOptions(location, state, as_json=as_json))


@lake.command()
def files(
    location: LakePath,
    table: Annotated[str, typer.Option(help="spans, logs, steps, trajectories, ...")],
    state: StateOption = None,
) -> None:
    """Print the current Parquet files of a table, one per line."""
    from tracegrade_collector import lake_commands as commands

    commands.print_files(commands.LakeOptions(location, state, (table,)))


@lake.command()
def delete(  # noqa: PLR0913, PLR0917 - one parameter per option
    location: LakePath,
    trace: Annotated[
        list[str] | None, typer.Option(help="Trace id, 32 hex digits; repeatable.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            help="Condition on rows: service_name = 'x' and start_ns < 1700000000000000000."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Collector options (TOML), if no collector runs.")
    ] = None,
    state: StateOption = None,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Erase whole traces from tables, old files, the log, quarantine and dead letters."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(location, state, (), dry_run, as_json)
    commands.delete(options, trace or (), where, config)


@lake.command()
def compact(
    location: LakePath,
    table: Tables = None,
    target_bytes: Annotated[
        int | None, typer.Option(min=1, help="Target size of a file in bytes; default 128 MiB.")
    ] = None,
    state: StateOption = None,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Merge small files into large, sorted ones, and mark rows that were sent twice."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(location, state, tuple(table or ()), dry_run, as_json)
    commands.compact(options, target_bytes)


@lake.command()
def expire(  # noqa: PLR0913, PLR0917 - one parameter per option
    location: LakePath,
    older_than: Annotated[str, typer.Option(help="Age in whole days, such as 30d.")],
    table: Tables = None,
    keep_built: Annotated[
        bool, typer.Option("--keep-built", help="Keep steps, trajectories and scores.")
    ] = False,
    state: StateOption = None,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Remove old dates from the tables, and delete files that are no longer needed."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(location, state, tuple(table or ()), dry_run, as_json)
    commands.expire(options, older_than, keep_built=keep_built)


@lake.command()
def verify(
    location: LakePath,
    deep: Annotated[
        bool, typer.Option("--deep", help="Decode every page of every file, not only footers.")
    ] = False,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that nothing was lost: received = landed + rejected + quarantined + pending."""
    from tracegrade_collector import lake_commands as commands

    commands.verify(commands.LakeOptions(location, state, as_json=as_json), deep=deep)


@lake.command()
def repair(
    location: LakePath,
    table: Tables = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Rebuild logs from the files even if they are readable."),
    ] = False,
    state: StateOption = None,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Set aside torn or damaged files, and rebuild lost logs from the data files."""
    from tracegrade_collector import lake_commands as commands

    options = commands.LakeOptions(location, state, tuple(table or ()), dry_run, as_json)
    commands.repair(options, rebuild=rebuild)
