"""Computes the costs of runs: prices of models times the tokens that a build counted.

Its own module because prices change while spans do not. `trajectories.model_usage` holds the usage
of models, so that new prices do not require reading spans again. All sums are of whole numbers, in
millionths of a millionth of a US dollar.

Makes:
    priced_runs (from agents, trajectories): model usage of the runs, or of the agents, whose cost
        is worked out
    prices: what models cost
"""

import datetime
import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_lake import Column, Lake, Table
from tracegrade_queries.costs.priced_dates import (
    inputs_digest,
    note_dates,
    of_sources,
    priced_dates,
    sources,
    with_sources,
)
from tracegrade_queries.engine.connection import Limits, connect_pinned, read_pinned
from tracegrade_queries.engine.pinned import PinnedLake, dated_on
from tracegrade_queries.engine.relations import make_view, put
from tracegrade_queries.engine.sql import query
from tracegrade_queries.engine.staged import stage_dates
from tracegrade_queries.relations import RELATIONS
from tracegrade_queries.schema import AGENTS, TRAJECTORIES

COSTED: Final = (AGENTS, TRAJECTORIES)
"""The tables with costs; the last has those that are counted."""

_ID: Final = {
    AGENTS.name: "rows.trajectory_id || '/' || rows.agent_span_id",
    TRAJECTORIES.name: "rows.trajectory_id",
}
"""SQL of what identifies one of the `rows` of each; `run_costs` has it as the trajectory."""

MEMORY_LIMIT: Final = "4GB"
"""Memory of the engine; it spills beyond."""


class Price(NamedTuple):
    """Prices of a model's tokens, in millionths of a millionth of a US dollar each.

    That equals the price of a million tokens in millionths of a US dollar.
    """

    input: int
    """Price of input that was not read from or written to a cache."""
    cache_read: int
    cache_write: int
    output: int
    """Price of output without reasoning."""
    reasoning: int


Prices = Mapping[str, Price]
"""By the name of a model, or by a beginning of its name and one of the next two."""
ANY_ENDING: Final = "*"
DATED: Final = "-<date>"
"""For dated names, such as `gpt-4o-2024-08-06`; see `model_names.is_date`."""

NO_PRICES: Final[Prices] = {}


class Unpriced(NamedTuple):
    """Why the cost of runs is not known."""

    model: str | None
    """None if the spans name none."""
    reason: str
    """no_price | no_tokens; not_counted of runs that an earlier version built."""
    trajectories: int


class Costs(NamedTuple):
    """Numbers of trajectories in the lake with a known cost, and without one."""

    priced: int = 0
    """Trajectories with a cost."""
    stated: int = 0
    """Priced trajectories with a call whose cost only the trace states."""
    unpriced: tuple[Unpriced, ...] = ()
    """A trajectory counts for each of its reasons; sorted."""
    prices: int = 0
    """Prices in force."""
    list_date: str | None = None
    """Date of the built-in price list, if the prices are its own."""


NO_COSTS: Final = Costs()


MODEL_PRICES: Final = Table(
    name="model_prices",
    grain="one price, by the name of a model, or by a beginning of it and `*` or `-<date>`",
    columns=(
        Column("name", pa.string(), "As in the price file."),
        *(Column(kind, pa.int64(), "In millionths of 1e-6 US dollars.") for kind in Price._fields),
        Column(
            "list_date",
            pa.string(),
            "Date of the built-in price list that has it; NULL for a price of a user's file.",
        ),
    ),
    partition_by=(),
)
"""The prices that a lake's costs were worked out with last."""


class PricesInForce(NamedTuple):
    """Prices of models, with their source."""

    prices: Prices
    list_date: str | None = None
    """Date of the built-in price list; None: a user gave the prices, or dropped all."""


def stored_prices(lake: Lake) -> PricesInForce | None:
    """Return the prices that a lake's costs were worked out with last; None before the first."""
    dataset = lake.dataset(MODEL_PRICES.name)
    if dataset is None:
        return None
    rows = dataset.to_table().to_pylist()
    prices = {row["name"]: Price(*(row[kind] for kind in Price._fields)) for row in rows}
    return PricesInForce(prices, rows[0].get("list_date") if rows else None)


def prices_digest(lake: Lake) -> str:
    """Return hex digits that differ where costs were worked out with other prices."""
    stored = stored_prices(lake)
    rows = sorted((name, *price) for name, price in stored.prices.items()) if stored else []
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def store_prices(lake: Lake, chosen: PricesInForce) -> None:
    """Let these be the prices of a lake."""
    if chosen == stored_prices(lake):
        return
    rows = [
        {"name": name, **price._asdict(), "list_date": chosen.list_date}
        for name, price in sorted(chosen.prices.items())
    ]
    lake.replace(MODEL_PRICES, pa.Table.from_pylist(rows, MODEL_PRICES.arrow()))


def update_costs(lake: Lake, prices: Prices) -> Costs:
    """Bring all `cost_usd` up to date with the prices, and count the runs whose cost is known.

    Only dates that are not noted as up to date are read, and those rewritten on which a cost
    differs.

    Args:
        lake: The lake to read and write. One writer of built tables at a time.
        prices: The prices; if none covers a model, the cost that the trace states counts.
    """
    noted = priced_dates(lake)

    def connected(pinned: PinnedLake) -> tuple[duckdb.DuckDBPyConnection, dict[str, str]]:
        made = sources(pinned, prices.items())
        known = set(noted["inputs_digest"].to_pylist())
        stale = dated_on(date for date, source in made.items() if source not in known)
        part = pinned.only({table.name: stale for table in COSTED})
        return connect_pinned(part, COSTED, Limits(MEMORY_LIMIT)), made

    con, made = read_pinned(lake, [table.name for table in COSTED], connected)
    with con:
        create_prices(con, prices)
        written: dict[str, str] = {}
        for table in COSTED:
            work_out_costs(con, table, table.name)
            written = _write_costs(lake, con, table)
        unchanged = of_sources(noted, made.values())
        made |= {date: inputs_digest(prices.items(), [path]) for date, path in written.items()}
        new = with_sources(con.sql(query("cost_counts")).to_arrow_table(), made)
    every = pa.concat_tables([unchanged, new])
    if len(new) or len(unchanged) < len(noted):
        note_dates(lake, every)
    return _counted(every)._replace(prices=len(prices))


def _write_costs(lake: Lake, con: duckdb.DuckDBPyConnection, table: Table) -> dict[str, str]:
    """Rewrite the dates on which a cost differs; return the new file of each date."""
    stale = con.sql(
        f"SELECT DISTINCT date FROM {table.name} AS rows "
        f"LEFT JOIN run_costs ON {_ID[table.name]} = run_costs.trajectory_id "
        "WHERE rows.cost_usd IS DISTINCT FROM run_costs.cost_usd ORDER BY date"
    ).fetchall()
    dates = [date for (date,) in stale]
    if not dates:
        return {}
    files = stage_dates(lake, table, dates, partial(_costed, con, table))
    lake.put_files(table, files, list(map(str, dates)), {})
    return {file.partition["date"]: file.name for file in files}


def _costed(
    con: duckdb.DuckDBPyConnection, table: Table, date: datetime.date
) -> duckdb.DuckDBPyRelation:
    return with_costs(con, table, f"{table.name} WHERE date = '{date}'")


def split_ending(name: str) -> tuple[str, str]:
    """Return the name of a price without its ending, and the ending: `*`, `-<date>` or ''."""
    ending = next((each for each in (ANY_ENDING, DATED) if name.endswith(each)), "")
    return name.removesuffix(ending), ending


def create_prices(con: duckdb.DuckDBPyConnection, prices: Prices) -> None:
    """Create the table `prices` (name, ending, and what `Price` has)."""
    rows = []
    for name, price in prices.items():
        stem, ending = split_ending(name)
        rows.append({"name": stem, "ending": ending, **price._asdict()})
    kinds = [(kind, pa.int64()) for kind in Price._fields]
    schema = pa.schema([("name", pa.string()), ("ending", pa.string()), *kinds])
    put(con, "prices", pa.Table.from_pylist(rows, schema))


def work_out_costs(con: duckdb.DuckDBPyConnection, table: Table, rows: str) -> None:
    """Make `usage_costs` and `run_costs` of the rows in a relation.

    Args:
        con: Holds `prices`, as `create_prices` makes it.
        table: One of `COSTED`.
        rows: The name of a relation with its columns.
    """
    usage = f"SELECT {_ID[table.name]} AS trajectory_id, rows.model_usage FROM {rows} AS rows"
    make_view(con, "priced_runs", usage)
    RELATIONS.run(con, ("run_costs", "usage_costs"), ("priced_runs", "prices"))


def with_costs(con: duckdb.DuckDBPyConnection, table: Table, rows: str) -> duckdb.DuckDBPyRelation:
    """Return rows of a table, in their order, with the `cost_usd` that `run_costs` has of them."""
    return con.sql(
        f"WITH rows AS (SELECT * FROM {rows}) "
        "SELECT rows.* REPLACE (run_costs.cost_usd AS cost_usd) FROM rows "
        f"LEFT JOIN run_costs ON {_ID[table.name]} = run_costs.trajectory_id "
        f"ORDER BY {_ID[table.name]}"
    )


def _counted(counts: pa.Table) -> Costs:
    """Return the counts of all dates together."""
    totals = counts.group_by(["status", "model"]).aggregate([("trajectories", "sum")])
    rows = list(zip(*(column.to_pylist() for column in totals.columns), strict=True))
    known = {status: runs for status, model, runs in rows if model is None}
    unpriced = [
        Unpriced(model, status, runs)
        for status, model, runs in rows
        if status not in (None, "priced", "stated")
    ]
    unpriced.sort(key=lambda each: (-each.trajectories, each.model is None, each[:2]))
    return Costs(known.get("priced", 0), known.get("stated", 0), tuple(unpriced))
