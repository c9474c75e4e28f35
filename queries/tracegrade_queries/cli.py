"""The `tracegrade sql` command: analysts' SQL over the lake."""

from typing import Annotated

import typer


def sql(
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
) -> None:
    """Run one SQL query over the lake and print its rows."""
    from tracegrade_queries import sql_command

    if show_list:
        sql_command.print_saved()
    else:
        sql_command.print_rows(
            sql_command.Question(query, saved, tuple(param or ())), lake=lake, output=output
        )
