"""Makes the tables of a snapshot that money and time are added up from, for its first reader.

Windows of time and ways of grouping share them, so that each page is one pass in memory.

Makes:
    model_spending (from run_index, run_members, trajectories, usage_costs): `model_spending`,
        as a table
    tool_times (from run_index, run_members, steps): `tool_times`, as a table
"""

from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.sql import QUERIES
from tracegrade_queries.costs.pricing import NO_PRICES, Prices, create_prices, work_out_costs
from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.sql import RELATIONS

TABLES: Final = ("model_spending", "tool_times")


def make_tables(request: PageRequest) -> None:
    """Create the tables unless an earlier reader of this snapshot did."""
    request.snapshot.cached(TABLES, lambda: _make(request))


def _make(request: PageRequest) -> None:
    prices = request.snapshot.prices
    with request.cursor_of_lake() as con:
        fill_tables(con, prices.prices if prices else NO_PRICES)


def fill_tables(con: DuckDBPyConnection, prices: Prices) -> None:
    """Create the tables, which all cursors see.

    Args:
        con: Holds the tables of a lake and `run_index`.
        prices: By which the costs of its runs were worked out.
    """
    RELATIONS.make(con, "run_members")
    create_prices(con, prices)
    work_out_costs(con, TRAJECTORIES, TRAJECTORIES.name)
    for name in TABLES:
        con.execute(f"CREATE OR REPLACE TABLE {name} AS {QUERIES.text(name)}")
