"""`/sql-names.json`: the names that the editor of the SQL page completes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import PageMissing
from tracegrade_explorer.own_queries import own_queries
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.workbench.tables import tables
from tracegrade_queries.engine.layers import saved
from tracegrade_scoring.rendering import words

NAMED_TABLES: Final = 2
"""Tables that the hint of a column names; it counts the rest."""


def sql_names(request: PageRequest) -> PageResponse:
    """Return the names of tables, columns and saved queries, each with a hint.

    Raises:
        PageMissing: It is requested as a page.
    """
    if request.form != "json":
        msg = "the names of the SQL page are for programs alone, as /sql-names.json"
        raise PageMissing(msg)
    found = tables(request)
    choices = [*_tables(found), *_columns(found), *_saved(request)]
    return PageContent("", "", {}, {"choices": choices})


def _tables(found: list[dict[str, Any]]) -> Iterator[Mapping[str, str]]:
    for table in found:
        yield {"text": table["name"], "hint": f"table, {words.count(table['rows'], 'row')}"}


def _columns(found: list[dict[str, Any]]) -> Iterator[Mapping[str, str]]:
    """Yield each name of a column once."""
    holders: dict[str, list[str]] = {}
    for table in found:
        for column in table["columns"]:
            holders.setdefault(column["name"], []).append(table["name"])
    for name, named in sorted(holders.items()):
        more = len(named) - NAMED_TABLES
        rest = f" and {words.count(more, 'more table')}" if more > 0 else ""
        yield {"text": name, "hint": f"column of {', '.join(named[:NAMED_TABLES])}{rest}"}


def _saved(request: PageRequest) -> Iterator[Mapping[str, str]]:
    """Yield the saved queries, with their addresses: a query cannot be a part of another."""
    for name in (*saved(), *own_queries(request.site.lake)):
        yield {"text": name, "hint": "saved query", "href": links.saved_query(name)}
