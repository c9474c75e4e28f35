"""The interface with which packages add tables, views and saved queries of a lake.

A package above this one declares its `Layer` as an entry point (group `tracegrade.layers`), so
that analysts see its tables and nothing here names them.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import NamedTuple

from tracegrade.suggestions import did_you_mean
from tracegrade_lake import RAW_LOGS, RAW_SPANS, VERDICTS, Table
from tracegrade_queries.engine.sql import QUERIES, Queries, Saved, saved_queries
from tracegrade_queries.errors import UnknownQuery
from tracegrade_queries.schema import (
    AGENTS,
    BUILT_FILES,
    BUILT_TRACES,
    PRICED_DATES,
    STEPS,
    TRAJECTORIES,
)


class RunOrder(NamedTuple):
    """Lets readers see all tables of a job as one run left them."""

    application: str
    """Under which each commit notes the number of the run."""

    last_table: str
    """The table that a run commits last: its number is that of the last whole run."""


class Layer(NamedTuple):
    """The tables, views and queries that one package adds to a connection."""

    tables: tuple[Table, ...]
    queries: Queries
    views: tuple[str, ...] = ()
    """Queries that are views over the tables, for analysts; there once the tables are."""
    run_order: RunOrder | None = None
    """None: each table is read at its newest version."""
    why_absent: str = ""
    """Why a lake may lack the tables, and what makes them: ends a sentence."""
    kill_pages: str = ""
    """`module:function` that returns pages of kills for the folder of a report, given a lake."""

    def names(self) -> set[str]:
        """Return the names of the tables and views."""
        return {*self.views, *(table.name for table in self.tables)}


BUILT: Layer = Layer(
    (
        *(RAW_SPANS, RAW_LOGS, STEPS, TRAJECTORIES, AGENTS, VERDICTS),
        *(BUILT_TRACES, BUILT_FILES, PRICED_DATES),
    ),
    QUERIES,
)
"""The layer of this package, and the tables of a lake without a build."""


@cache
def higher_layers() -> tuple[Layer, ...]:
    """Return the layers of the packages above this one, sorted by the names of the packages."""
    found = sorted(entry_points(group="tracegrade.layers"), key=lambda entry: entry.name)
    return tuple(entry.load() for entry in found)


def table_named(name: str) -> Table:
    """Return the table of that name as a package declares it.

    Raises:
        ValueError: None does.
    """
    for layer in (BUILT, *higher_layers()):
        for table in layer.tables:
            if table.name == name:
                return table
    msg = f"no package declares the table '{name}'"
    raise ValueError(msg)


def saved() -> Mapping[str, Saved]:
    """Return the saved queries of all packages by name, sorted by name."""
    layers = (BUILT, *higher_layers())
    found = {name: each for layer in layers for name, each in saved_queries(layer.queries).items()}
    return dict(sorted(found.items()))


def find_query(name: str) -> str:
    """Return the text of a query of any package: a saved query, or one of a report.

    Raises:
        UnknownQuery: There is none of this name.
    """
    for layer in (BUILT, *higher_layers()):
        if name in layer.queries.paths:
            return layer.queries.text(name)
    hint = did_you_mean(name, list(saved())) or "`tracegrade sql --list` shows the saved ones"
    msg = f"no query is named '{name}'; {hint}"
    raise UnknownQuery(msg)
