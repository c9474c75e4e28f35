"""The `tracegrade sql` command: analysts' SQL over the lake."""

from typing import Annotated

import typer


def sql(  # noqa: PLR0913, PLR0917 - one for each option
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
            help="What the engine may use before it spills, as 4GB or 40% of the machine; a query "
            "for which the process grows by a quarter more is stopped."
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
