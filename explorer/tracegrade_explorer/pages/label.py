"""`POST /label` and `/queue`: a person's verdict on a run, and the runs without a verdict."""

from collections.abc import Mapping
from typing import Any, Final

from duckdb import DuckDBPyConnection

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, FormRefused, PageMissing, RunMissing
from tracegrade_explorer.filters.grammar import Filter, to_pairs
from tracegrade_explorer.labels.people import HUMAN
from tracegrade_explorer.labels.rows import LabeledStep, read_form, rows_of, rows_taken_back
from tracegrade_explorer.labels.writer import LabelGiven, LabelWriter
from tracegrade_explorer.pages.kill_score import writer_of
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, Redirect
from tracegrade_explorer.snapshots.rows import FoundRun, Neighbors, find_run
from tracegrade_explorer.snapshots.snapshot import Row, read, read_matching
from tracegrade_scoring.schema import REASON_KINDS
from tracegrade_scoring.sql import query as macros
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.verdict_sentences import success_sentences

SAMPLED: Final = "sampled"
SEQUENCES: Final = ("random", "newest", "disagree", SAMPLED)
"""Orders of a queue; the first is the default. The last has only runs that were drawn by
`tracegrade judge label`, to measure a judge by."""
NO_TAGS: Final = frozenset({"person", "check", "judge", "unexplained"})
"""Kinds of reasons that name a source, not a failure."""
TAGS: Final = 40
"""Tags of the lake that a form offers."""
OFFERED_STEPS: Final = 200


def label(request: PageRequest) -> PageResponse:
    """Write the label in a form, and redirect to the next run.

    Raises:
        FormRefused: The caller may not label, or the form has no verdict.
        RunMissing: The run is no longer in the lake.
    """
    fields = dict(request.pairs)
    writer = writer_of(request)
    try:
        found = find_run(request.con, fields.get("run", ""))
    except PageMissing as error:
        msg = f"the label was not saved: {error}"
        raise RunMissing(msg) from error
    run_id, name = found.trajectory_id, request.labeler
    before = _labeled_steps(_own_rows(request, run_id))
    if last := writer.given(run_id, name):
        before += _steps_at(request, found, last.step)
    if fields.get("act") == "undo":
        rows = rows_taken_back(run_id, name, before)
        writer.write(run_id, rows, LabelGiven(name, "", "", "", None))
        return Redirect(links.run(run_id))
    form = read_form(fields)
    steps = _steps_at(request, found, form.step)
    if form.step is not None and not steps:
        msg = f"the run has no step {form.step}; leave the step empty, or name one of its own"
        raise FormRefused(msg)
    rows = rows_of(run_id, name, form, steps[0] if steps else None, before)
    writer.write(run_id, rows, LabelGiven(name, form.verdict, form.tag, form.note, form.step))
    return Redirect(_next(fields.get("next", ""), run_id))


def _next(address: str, run_id: str) -> str:
    """Return the address to continue at; always a page of the explorer."""
    own = ("/runs/", "/queue", "/conversations/")
    return address if address.startswith(own) else links.run(run_id)


def _own_rows(request: PageRequest, run_id: str) -> list[Row]:
    source = f"{HUMAN}{request.labeler}"
    return read(request.cursor_of_lake(), "own_labels", trajectory_id=run_id, source=source)


def _labeled_steps(rows: list[Row]) -> list[LabeledStep]:
    return [
        LabeledStep(**{name: row[name] for name in LabeledStep._fields})
        for row in rows
        if row["subject"] == "step"
    ]


def _steps_at(request: PageRequest, found: FoundRun, step: int | None) -> list[LabeledStep]:
    """Return a list of a run's step with its span; empty if the run has no such step."""
    if step is None:
        return []
    con = request.cursor_of(found.date)
    rows = read(con, "step_spans", **found.key, step_index=step)
    return [LabeledStep(**row) for row in rows]


def queue(request: PageRequest) -> PageResponse:
    """Redirect to the first unlabeled run of a filter; show a note if there is none."""
    own, run_filter = request.split("order", "queue")
    order = own.get("order", SEQUENCES[0])
    if order not in SEQUENCES:
        msg = f"order={order} is not known; known: {', '.join(SEQUENCES)}"
        raise BadFilter(msg)
    if request.labeler and request.labels:
        request.labels.start()
    rows = waiting(request, run_filter, order, rows=1)
    if rows:
        pairs = [*to_pairs(run_filter.runs_alone), ("queue", order)]
        return Redirect(links.with_query(links.run(rows[0]["trajectory_id"]), pairs))
    done = len(request.labels.labeled()) if request.labels else 0
    view = {"run_filter": run_filter, "labeled": done}
    return PageContent("queue", "Nothing left to label", view, {"waiting": 0})


def waiting(request: PageRequest, run_filter: Filter, order: str, rows: int) -> list[Row]:
    """Return the first unlabeled runs of a filter, and their total number."""
    labeled = request.labels.labeled() if request.labels else []
    given: Mapping[str, object] = {
        "name": request.labeler, "queue_order": order, "labeled": labeled, "rows": rows,
    }  # fmt: skip
    con = request.cursor_of_lake()
    con.execute(macros("verdict_answer"))
    given = {**given, "sampled": sampled_runs(con) if order == SAMPLED else None}
    return read_matching(con, "queue_runs", run_filter.conditions_alone, parameters=given)


def sampled_runs(con: DuckDBPyConnection) -> list[str]:
    """Return the runs that were drawn to measure a judge by; none in a lake without judges."""
    drawn = "FROM duckdb_views() WHERE view_name = 'judge_samples'"
    if not con.execute(f"SELECT view_name {drawn}").fetchall():
        return []
    rows = con.execute("SELECT DISTINCT trajectory_id FROM judge_samples ORDER BY ALL").fetchall()
    return [trajectory_id for (trajectory_id,) in rows]


def label_card(
    request: PageRequest,
    found: FoundRun,
    timeline: Timeline,
    run_filter: Filter,
    around: Neighbors,
    order: str,
) -> dict[str, Any]:
    """Return the label card of a run's page: the form, or how to label with a file."""
    card: dict[str, Any] = {
        "page_token": request.page_token,
        "labeler": request.labeler,
        "others_say": success_sentences(timeline.verdicts),
        "queue": None,
    }
    if not request.labeler or request.labels is None:
        return card
    run_id = found.trajectory_id
    if order in SEQUENCES:
        card["queue"] = _queue_bar(request, run_filter, order)
        pairs = [*to_pairs(run_filter.runs_alone), ("order", order)]
        after = links.with_query("/queue", pairs)
    else:
        after = links.run(around.following or run_id, run_filter)
    tags = [row["tag"] for row in read(request.cursor_of_lake(), "used_tags", rows=TAGS)]
    kinds = [kind.replace("_", " ") for kind in REASON_KINDS if kind not in NO_TAGS]
    calls = [step for step in timeline.steps if step.kind == "tool_call"][:OFFERED_STEPS]
    return {
        **card,
        "label": _filled(request, request.labels, run_id, timeline),
        "awaits_scores": request.labels.awaits_scores(run_id),
        "scoring_failure": request.labels.scoring_failure,
        "next_run": after,
        "last_labeled": request.labels.last(request.labeler),
        "tags": [*dict.fromkeys((*tags, *kinds))],
        "label_steps": [(step.step_index, step.tool_name or "") for step in calls],
    }


def _queue_bar(request: PageRequest, run_filter: Filter, order: str) -> dict[str, Any]:
    rows = waiting(request, run_filter, order, rows=1)
    left = rows[0]["waiting"] if rows else 0
    done = len(request.labels.labeled(request.labeler)) if request.labels else 0
    drawn = order == SAMPLED or bool(sampled_runs(request.cursor_of_lake()))
    return {
        "left": left,
        "done": done,
        "order": order,
        "orders": [
            (each, links.with_query("/queue", [*to_pairs(run_filter.runs_alone), ("order", each)]))
            for each in SEQUENCES
            if drawn or each != SAMPLED
        ],
    }


def _filled(
    request: PageRequest, labels: LabelWriter, run_id: str, timeline: Timeline
) -> dict[str, Any]:
    """Return the content of the form: this person's label, else the first reason and its step."""
    if (given := labels.given(run_id, request.labeler)) and given.verdict:
        return {**given._asdict(), "said": True}
    own = [] if given else _own_rows(request, run_id)
    if own:
        verdict = next((row for row in own if row["subject"] == "success"), None) or {}
        step = next((row["step_index"] for row in own if row["subject"] == "step"), None)
        words = {1.0: "good", 0.0: "bad", None: "unsure"}
        return {
            "verdict": words.get(verdict.get("value"), ""),
            "tag": verdict.get("tag") or "", "note": verdict.get("evidence") or "", "step": step,
            "said": True,
        }  # fmt: skip
    reason = next((each for each in timeline.reasons if each.kind not in NO_TAGS), None)
    own_step = reason if reason and reason.step_trajectory_id in {None, run_id} else None
    return {
        "verdict": "", "tag": reason.kind.replace("_", " ") if reason else "", "note": "",
        "step": own_step.step_index if own_step else None, "said": False,
    }  # fmt: skip
