"""`/queries`, `/queries/NAME` and `/sql`: saved queries, and readers' own."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, FormRefused, PageMissing
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_explorer.sql_process.run import CSV_ROWS, MAX_ROWS, Rows, run_sql
from tracegrade_queries.engine.layers import find_query, saved
from tracegrade_scoring.rendering import words

VALUE: Final = "p."
"""Before the name of a query's parameter in an address."""
LONGEST_ADDRESS: Final = 6_000
"""Characters; longer queries have no address of their own."""
CELL_CHARACTERS: Final = 400
LONG_CHARACTERS: Final = 60
"""From which on a cell is not squeezed into the width of its longest word."""
PARAMETER: Final = re.compile(r"\$([a-zA-Z_]\w*)")
QUOTED: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
EXAMPLE: Final = """\
SELECT trajectory_id, tool_name, status
FROM steps
WHERE status = 'error'
LIMIT 100"""


def queries(request: PageRequest) -> PageResponse:
    """Return the saved queries of all packages."""
    del request
    rows: list[Row] = [
        {"name": name, "summary": each.summary, "parameters": ", ".join(each.parameters)}
        for name, each in saved().items()
    ]
    view = {"queries": [{**row, "href": links.saved_query(row["name"])} for row in rows]}
    return PageContent("queries", "Saved queries", view, {"queries": rows}, [*rows[0]], rows)


def saved_query(request: PageRequest) -> PageResponse:
    """Return one saved query with its form, and its rows where the form was sent.

    Raises:
        PageMissing: No query has this name.
        FormRefused: An address, not a form, requests rows.
        QueryFailed: The engine refuses a value.
        SqlStopped: It took more time or memory than it may.
    """
    name = request.path["id"]
    found = saved_editor(name, request.pairs)
    if found is None:
        msg = f"no saved query is named '{name}'; /queries lists them"
        raise PageMissing(msg)
    text, fields = found
    address = links.saved_query(name)
    _check_csv(request, address)
    rows = _run(request, text, _values(dict(request.pairs))) if request.posted else None
    filled = links.with_query(address, request.pairs)
    view = {
        "name": name,
        "summary": saved()[name].summary,
        "text": text,
        "fields": fields,
        "found": rows and _row_cells(rows),
        "page_token": request.page_token,
        "address": filled if request.posted and len(filled) < LONGEST_ADDRESS else "",
        "edit": links.with_query("/sql", [("q", text)]) if len(text) < LONGEST_ADDRESS else "",
    }
    return _document("query", f"Query {name}", view, rows)


def saved_editor(
    name: str, pairs: Iterable[tuple[str, str]]
) -> tuple[str, list[tuple[str, str]]] | None:
    """Return a saved query and the value for each parameter, '' for none; None if unknown."""
    found = saved().get(name)
    if found is None:
        return None
    values = _values(dict(pairs))
    return find_query(name), [(each, values.get(each, "")) for each in found.parameters]


def sql(request: PageRequest) -> PageResponse:
    """Return the form for a reader's own query, and its rows where the form was sent.

    An address runs nothing: anybody can write one, and lead a reader to it.

    Raises:
        PageMissing: This explorer does not accept SQL.
        BadFilter: The address has more than a query and its values.
        FormRefused: An address, not a form, requests rows.
        QueryFailed: The query is not a single SELECT, or the engine refuses it.
        SqlStopped: It took more time or memory than it may.
    """
    if not request.site.sql:
        msg = "this explorer takes no SQL; start it with `tracegrade ui --sql` if it should"
        raise PageMissing(msg)
    given = dict(request.pairs)
    text, fields = editor(request.pairs)
    unknown = [key for key in given if key != "q" and not key.startswith(VALUE)]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: q and {VALUE}NAME"
        raise BadFilter(msg)
    _check_csv(request, "/sql")
    ready = request.posted and text.strip() and all(VALUE + name in given for name, _ in fields)
    rows = _run(request, text, dict(fields)) if ready else None
    address = links.with_query("/sql", request.pairs)
    view = {
        "text": text or EXAMPLE,
        "fields": fields,
        "found": rows and _row_cells(rows),
        "page_token": request.page_token,
        "address": address if request.posted and len(address) < LONGEST_ADDRESS else "",
    }
    return _document("sql", "SQL", view, rows)


def editor(pairs: Iterable[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """Return the query of an address or form, and the value of each $name in it; '' for none."""
    given = dict(pairs)
    text, values = given.get("q", ""), _values(given)
    return text, [(name, values.get(name, "")) for name in parameters_of(text)]


def parameters_of(text: str) -> list[str]:
    """Return the names of a query's parameters in their order, those in texts left out."""
    return list(dict.fromkeys(PARAMETER.findall(QUOTED.sub("", text))))


def _values(given: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix(VALUE): value for key, value in given.items() if key.startswith(VALUE)
    }


def _check_csv(request: PageRequest, page: str) -> None:
    """Refuse an address that requests rows: only a form may do so.

    Raises:
        FormRefused: It does.
    """
    if request.form == "csv" and not request.posted:
        msg = f"an address runs no query; send it with POST, as the page {page} does"
        raise FormRefused(msg)


def _run(request: PageRequest, text: str, values: Mapping[str, str]) -> Rows:
    return run_sql(
        request.site.lake, text, values, CSV_ROWS if request.form == "csv" else MAX_ROWS
    )


def _document(template: str, title: str, view: dict[str, Any], rows: Rows | None) -> PageContent:
    if rows is None:
        return PageContent(template, title, view, {"rows": None, "page_token": view["page_token"]})
    data = {"columns": rows.columns, "rows": rows.rows, "more": rows.more}
    return PageContent(template, title, view, data, rows.columns, rows.rows)


def _row_cells(rows: Rows) -> dict[str, Any]:
    return {
        "columns": rows.columns,
        "rows": [[_cell(name, row[name]) for name in rows.columns] for row in rows.rows],
        "more": rows.more,
    }


def _cell(column: str, value: object) -> dict[str, str]:
    """Return a cell; the id of a run leads to it."""
    if value is None:
        return {"text": words.NOTHING, "href": "", "kind": "faint"}
    text = words.clip(str(value), CELL_CHARACTERS)
    is_run = column.endswith("trajectory_id")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kind = "num" if is_number else "long" if len(text) > LONG_CHARACTERS and not is_run else ""
    return {"text": text, "href": links.run(str(value)) if is_run else "", "kind": kind}
