"""`/runs/ID/spans`: the spans of a run's trace as they were received, as a tree."""

from typing import Final

from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.run_view.span_tree import span_lines
from tracegrade_explorer.snapshots.rows import find_run
from tracegrade_explorer.snapshots.snapshot import read
from tracegrade_scoring.rendering import words

SPANS: Final = 500
"""Spans on a page; JSON has more."""
MOST_SPANS: Final = 20_000


def spans(request: PageRequest) -> PageResponse:
    """Return the spans of a run's trace."""
    found = find_run(request.con, request.path["id"])
    (trace,) = read(request.con, "trace_dates", **found.key)
    rows = read(
        request.con, "run_spans", trace_id=trace["trace_id"], first_date=found.date,
        last_date=trace["last_date"], rows=SPANS if request.form == "html" else MOST_SPANS,
    )  # fmt: skip
    total = rows[0]["total"] if rows else 0
    view = {
        "run_id": found.trajectory_id,
        "trace_id": trace["trace_id"],
        "spans": span_lines(rows) if request.form == "html" else [],
        "total": total,
        "more": total - len(rows),
    }
    columns = (
        [name for name in rows[0] if name not in {"attributes", "total"}] if rows else ["span_id"]
    )
    title = f"Spans of run {words.run(found.trajectory_id)}"
    data = {"trace_id": trace["trace_id"], "spans": rows}
    return PageContent("spans", title, view, data, columns, rows)
