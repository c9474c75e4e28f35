"""The `tracegrade sql` command: analysts' SQL over the lake."""

import re
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from tracegrade.terminal.visible import echo

_COMMENT: Final = re.compile(r"--[^\s=]*\s")
"""Beginning of a query that starts with a comment."""


class _QueryCommand(TyperCommand):
    """Reads a query that begins with a comment as a query, not as an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, as all commands do."""
        readable = [f" {each}" if _COMMENT.match(each) else each for each in args]
        return super().parse_args(ctx, readable)


sql = typer.Typer(add_completion=False, rich_markup_mode=None)


@sql.command("sql", cls=_QueryCommand)
def _sql(  # noqa: PLR0913, PLR0917 - one for each option
    query: Annotated[
        str | None,
        typer.Argument(
            help="SQL over spans, logs, steps, trajectories, scores and others; - reads stdin."
        ),
    ] = None,
    lake: Annotated[
        str | None, typer.Option(envvar="TRACEGRADE_LAKE", help="The lake's folder or URL.")
    ] = None,
    saved: Annotated[str | None, typer.Option(help="Run a saved query.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the saved queries.")] = False,
    param: Annotated[
        list[str] | None, typer.Option(help="Value of a $name in the query, as name=value.")
    ] = None,
    output: Annotated[
        str, typer.Option("--format", help="table, csv, json or parquet.")
    ] = "table",
    guard: Annotated[
        bool,
        typer.Option(help="In CSV, an apostrophe before texts that spreadsheets would compute."),
    ] = True,
    memory_limit: Annotated[
        str,
        typer.Option(
            help="Memory of the engine before it spills, as 4GB or 40% of the machine; a query is "
            "stopped when the process grows by a quarter more."
        ),
    ] = "40%",
    timeout: Annotated[
        float | None, typer.Option(help="Stop the query after so many seconds.", metavar="SECS")
    ] = None,
) -> None:
    """Run one SQL query over the lake and print its rows."""
    from tracegrade_queries import sql_command

    if show_list:
        sql_command.print_saved()
    else:
        sql_command.print_rows(
            sql_command.Question(query, saved, tuple(param or ())),
            lake=lake,
            output=sql_command.Output(output, guard),
            limits=sql_command.QueryLimits(memory_limit, timeout),
        )


task = typer.Typer(
    help="Work off buckets that `tracegrade score --engine files` hands out.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _memory(text: str) -> str:
    """Return an amount of memory; the engine checks it before the command waits for work."""
    import duckdb

    try:
        duckdb.connect(config={"memory_limit": text}).close()
    except duckdb.Error as error:
        msg = f"'{text}' is not an amount of memory; write it as 4GB or 512MiB"
        raise typer.BadParameter(msg) from error
    return text


MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        parser=_memory,
        metavar="SIZE",
        help="Memory of the engine before it spills, as 4GB.",
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", min=1, help="Cores that the engine may use.")
]


@task.callback()
def _task() -> None:
    """Commands about buckets that wait in a lake."""


@task.command()
def run(
    manifests: Annotated[
        list[str],
        typer.Argument(
            help="Path or URL, LAKE/_tasks/RUN/manifest-N.json.", metavar="MANIFEST..."
        ),
    ],
    memory: MemoryOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Process the buckets of these manifests, and write their outcomes next to them.

    Buckets that already have an outcome are skipped, so the command may run again.
    """
    from tracegrade_queries.engine.connection import Limits
    from tracegrade_queries.engine.worker import work_off, worked_off

    for location in manifests:
        echo(worked_off(location, work_off(location, Limits(memory, threads))), err=True)


@task.command()
def share(
    lake: Annotated[
        str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
    ],
    index: Annotated[int, typer.Option(min=0, help="Number of the share, from 0.")],
    of: Annotated[int, typer.Option(min=1, help="Total number of shares.")],
    idle: Annotated[
        float,
        typer.Option(min=0, help="End after so many seconds without a bucket.", metavar="SECS"),
    ] = 300.0,
    memory: MemoryOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Process a share of the buckets that a run hands out in a lake, and end with the run.

    Runs together with `tracegrade score --engine files --slots N`, with N shares.
    """
    from functools import partial

    from tracegrade_lake import Lake
    from tracegrade_queries.engine.connection import Limits
    from tracegrade_queries.engine.worker import Share, work_off_share
    from tracegrade_queries.errors import BadEngine

    if index >= of:
        msg = f"--index {index} of --of {of} shares is none of them; the first is 0"
        raise BadEngine(msg)
    say = partial(echo, err=True)
    limits = Limits(memory, threads)
    done = work_off_share(Lake.open(lake), Share(index, of), say, limits, idle)
    say(f"worked on {done} buckets")
