"""Counts the runs of a filter by each name that they have: the facets of lists."""

from duckdb import DuckDBPyConnection

from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.snapshot import Row, read_cached


def facet_rows(
    request: PageRequest, con: DuckDBPyConnection, run_filter: Filter, names: int
) -> list[Row]:
    """Return the names of each facet with their runs, those of most runs first.

    Args:
        request: The request.
        con: A cursor over the whole lake that no other thread uses.
        run_filter: The runs.
        names: Maximum for each facet.
    """
    found = read_cached(request.snapshot, con, "facets", run_filter, names=names)
    if not request.snapshot.dimensions:
        return found
    return [*found, *_of_dimensions(request, con, run_filter, names)]


def _of_dimensions(
    request: PageRequest, con: DuckDBPyConnection, run_filter: Filter, names: int
) -> list[Row]:
    dimensions = ",".join(request.snapshot.dimensions)
    return read_cached(
        request.snapshot, con, "dimension_facets", run_filter,
        names=names, dimensions=dimensions,
    )  # fmt: skip
