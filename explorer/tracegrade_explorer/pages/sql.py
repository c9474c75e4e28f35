"""`/sql` and `/sql/NAME`: the tables of a lake, saved queries, and a reader's own query."""

from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, FormRefused, PageMissing, SqlStopped, TooSlow
from tracegrade_explorer.own_queries import NAME, OwnQuery, own_queries, own_query
from tracegrade_explorer.responses import (
    Download,
    PageContent,
    PageRequest,
    PageResponse,
    Redirect,
)
from tracegrade_explorer.sql_process.download import MOST_ROWS, download_rows
from tracegrade_explorer.sql_process.process import MEMORY_BYTES
from tracegrade_explorer.sql_process.run import MAX_ROWS, SECS, Rows, run_sql
from tracegrade_explorer.workbench.draft import VALUE, Draft, own_draft, parameters_of, saved_draft
from tracegrade_explorer.workbench.mistake import Mistake, mistake_of
from tracegrade_explorer.workbench.result import result_of
from tracegrade_explorer.workbench.tables import tables
from tracegrade_queries.engine.layers import saved
from tracegrade_queries.errors import QueryFailed

MEDIA_TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
OWN: Final = frozenset({"q", "save", "save_as", "overwrite"})
"""Fields of the form besides the values of a query."""
EXAMPLE: Final = """\
SELECT trajectory_id, tool_name, status
FROM steps
WHERE status = 'error'
LIMIT 100"""


def former_queries(request: PageRequest) -> PageResponse:
    """Lead from the former address of the saved queries, or of one of them, to that of today."""
    name = request.path.get("id")
    path = links.saved_query(name) if name else "/sql"
    return Redirect(links.with_query(path, request.pairs))


def sql(request: PageRequest) -> PageResponse:
    """Return the editor for a reader's own query, and its rows where the form was sent.

    An address runs no text of its own: anyone can write one, and lead a reader to it.

    Raises:
        PageMissing: No SQL is taken here.
        BadFilter: Something else than a query and its values is given.
        FormRefused: Rows are requested by an address.
        QueryFailed: For programs: the query is not a single SELECT, or the engine refuses it.
        SqlStopped: For programs: it took more time or memory than it may.
    """
    draft = own_draft(request.pairs)
    if not request.site.sql and (request.posted or draft.text):
        msg = "this explorer takes no SQL; start it with `tracegrade ui --sql` if it should"
        raise PageMissing(msg)
    _check_fields(request)
    ready = request.posted and draft.text.strip() and draft.has_values
    return _workbench(request, draft, runs=bool(ready))


def saved_sql(request: PageRequest) -> PageResponse:
    """Return a saved query in the editor, and its rows.

    It runs at once if it needs no values, else where the form was sent.

    Raises:
        PageMissing: No query has this name, or no SQL is taken here and the text is another.
        BadFilter, FormRefused, QueryFailed, SqlStopped: As of `sql`.
    """
    name = request.path["id"]
    draft = saved_draft(request.site.lake, name, request.pairs)
    if draft is None:
        msg = f"no saved query is named '{name}'; /sql lists them"
        raise PageMissing(msg)
    if not draft.name and not request.site.sql:
        msg = "this explorer takes no SQL of a reader's own; leave the saved query as it is"
        raise PageMissing(msg)
    _check_fields(request)
    of_address = draft.name and not draft.fields
    return _workbench(request, draft, runs=draft.has_values and bool(request.posted or of_address))


def save_query(request: PageRequest) -> PageResponse:
    """Save a query in the lake, and lead to it; ask first if another text has its name.

    Raises:
        FormRefused: Who asks may not save here, or nothing is given to save.
    """
    if not request.labeler or request.labels is None or not request.site.sql:
        msg = "you may not save queries here; `tracegrade ui --label-as NAME` lets you on loopback"
        raise FormRefused(msg)
    given = dict(request.pairs)
    draft = own_draft(request.pairs)
    name = (given.get("save") or given.get("save_as") or "").strip()
    if why := _refused_name(name, draft.text):
        return _workbench(request, draft, mistake=Mistake(why))
    overwrite = given.get("overwrite") == "yes"
    if request.labels.save_query(name, draft.text, request.labeler, overwrite=overwrite):
        values = [(VALUE + key, value) for key, value in draft.values.items()]
        return Redirect(links.with_query(links.saved_query(name), values))
    other = own_query(request.site.lake, name)
    return _workbench(request, draft, other=other)


def _refused_name(name: str, text: str) -> str:
    """Return why a query cannot be saved under a name; '' if it can."""
    if not text.strip():
        return "There is nothing to save: the query is empty."
    if not NAME.fullmatch(name):
        return "A name has 1 to 60 of a-z, 0-9 and -, such as calls-by-tool; choose another."
    if name in saved():
        return f"The built-in query {name} cannot be replaced; choose another name."
    return ""


def _check_fields(request: PageRequest) -> None:
    """Return if each field is understood, and no address wants rows of its own text.

    Raises:
        BadFilter, FormRefused: As of `sql`.
    """
    unknown = [key for key, _ in request.pairs if key not in OWN and not key.startswith(VALUE)]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: q and {VALUE}NAME"
        raise BadFilter(msg)


def _workbench(
    request: PageRequest,
    draft: Draft,
    *,
    runs: bool = False,
    mistake: Mistake | None = None,
    other: OwnQuery | None = None,
) -> PageResponse:
    """Return the page with a draft in the editor, and its rows if it runs."""
    if request.form in MEDIA_TYPES and runs:
        return _download(request, draft)
    if request.form in {"csv", "parquet"}:
        msg = "an address runs no query; send it with POST, as the page /sql does"
        raise FormRefused(msg)
    rows: Rows | None = None
    status = 400 if mistake else 409 if other else 200
    try:
        rows = run_sql(request.site.lake, draft.text, dict(draft.values)) if runs else None
    except QueryFailed as error:
        mistake, status = mistake_of(str(error), draft.text), 400
    except (SqlStopped, TooSlow) as error:
        mistake, status = Mistake(str(error)), 503
    view = {
        "draft": draft,
        "text": draft.text or EXAMPLE,
        "found": rows and result_of(rows),
        "mistake": mistake,
        "other": other,
        "address": _address(draft) if request.posted else "",
        "page_token": request.page_token,
        **_lists(request),
    }
    return PageContent("sql", draft.name or "SQL", view, _for_programs(request), status=status)


def _lists(request: PageRequest) -> dict[str, Any]:
    """Return what stands next to the editor, and the limits of a query."""
    own: dict[str, list[str]] = {}
    for query in own_queries(request.site.lake).values():
        own.setdefault(query.by, []).append(query.name)
    return {
        "tables": tables(request),
        "built_in": saved(),
        "own": own,
        "labeler": request.labeler,
        "secs": SECS,
        "memory": MEMORY_BYTES >> 30,
        "most_rows": MAX_ROWS,
        "most_download": MOST_ROWS,
    }


def _for_programs(request: PageRequest) -> dict[str, Any]:
    queries = [
        {"name": name, "by": "built in", "summary": each.summary, "parameters": each.parameters}
        for name, each in saved().items()
    ]
    queries += [
        {"name": each.name, "by": each.by, "summary": "", "parameters": parameters_of(each.text)}
        for each in own_queries(request.site.lake).values()
    ]
    return {
        "rows": None,
        "page_token": request.page_token,
        "tables": tables(request),
        "queries": queries,
    }


def _address(draft: Draft) -> str:
    """Return the address of a draft with its values; '' if it would be too long."""
    values = [(VALUE + key, value) for key, value in draft.values.items()]
    if draft.name:
        found = links.with_query(links.saved_query(draft.name), values)
    else:
        found = links.with_query("/sql", [("q", draft.text), *values])
    return found if len(found) <= links.LONGEST else ""


def _download(request: PageRequest, draft: Draft) -> Download:
    file = download_rows(request.site.lake, draft.text, draft.values, request.form)
    name = f"{draft.name or 'query'}.{request.form}"
    return Download(file, MEDIA_TYPES[request.form], name)
