"""`POST /kill-score`: a person's score of a kill, and the form on the kill's page."""

from typing import Any

from tracegrade_explorer.errors import FormRefused, PageMissing, RunMissing
from tracegrade_explorer.kills.links import kill_link, kills_of
from tracegrade_explorer.labels.kill_scores import (
    SCORES,
    WITH_NOTE,
    KillScore,
    ScoredKill,
    read_score,
)
from tracegrade_explorer.labels.people import HUMAN
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.responses import PageRequest, PageResponse, Redirect
from tracegrade_explorer.snapshots.rows import find_run
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_harness.kills.read import KillRecord, kill_named
from tracegrade_scoring.rendering import words


def kill_score(request: PageRequest) -> PageResponse:
    """Write the score in a form, and return to the kill's page.

    Raises:
        FormRefused: The caller may not label, or the form has no valid score.
        RunMissing: The kill or the run that it repeats is not in the lake.
    """
    fields = dict(request.pairs)
    writer = writer_of(request)
    found = kill_named(kills_of(request), fields.get("run", ""), fields.get("point", ""))
    if found is None or found.baseline_trajectory_id is None:
        msg = "the score was not saved: no such kill is in this lake"
        raise RunMissing(msg)
    try:
        run = find_run(request.con, found.baseline_trajectory_id)
    except PageMissing as error:
        msg = f"the score was not saved: {error}"
        raise RunMissing(msg) from error
    given = KillScore("") if fields.get("act") == "undo" else read_score(fields)
    kill = ScoredKill(
        run.trajectory_id, found.kill_point, found.immediate, found.boundary, found.trajectory_id
    )
    writer.write_score(kill, request.labeler, given)
    return Redirect(kill_link(found))


def writer_of(request: PageRequest) -> LabelWriter:
    """Return what writes labels.

    Raises:
        FormRefused: The caller may not label.
    """
    if request.labeler and request.labels is not None:
        return request.labels
    msg = "you may not label here; `tracegrade ui --label-as NAME` lets you on your own machine"
    raise FormRefused(msg)


def score_card(request: PageRequest, found: KillRecord) -> dict[str, Any] | None:
    """Return the form of a kill and the scores that others gave; None without a run to score."""
    if found.baseline_trajectory_id is None or found.status != "done":
        return None
    rows = read(
        request.cursor_of_lake(), "kill_scores",
        trajectory_id=found.baseline_trajectory_id, kill_point=found.kill_point,
    )  # fmt: skip
    own = f"{HUMAN}{request.labeler}" if request.labeler else None
    return {
        "labeler": request.labeler if request.labels is not None else "",
        "page_token": request.page_token,
        "run": found.baseline_trajectory_id,
        "point": found.kill_point,
        "choices": [*SCORES.items()],
        "with_note": WITH_NOTE,
        "given": _given(request, found, [row for row in rows if row["source"] == own]),
        "others": [_sentence(row) for row in rows if row["source"] != own],
    }


def _given(request: PageRequest, found: KillRecord, own: list[Row]) -> KillScore:
    """Return this person's score: since the start of the explorer, else the lake's."""
    run_id = found.baseline_trajectory_id or ""
    if request.labels is not None:
        given = request.labels.score_given(run_id, found.kill_point, request.labeler)
        if given is not None:
            return given
    for row in own:
        if row["value"] is not None:
            return KillScore(f"{row['value']:g}", row["evidence"] or "")
    return KillScore("")


def _sentence(row: Row) -> str:
    who = words.name((row["source"] or "").removeprefix(HUMAN))
    score = words.name(row["label"]) if row["value"] is None else f"{row['value']:g} of 10"
    is_person = (row["source"] or "").startswith(HUMAN)
    note = f": {words.line(row['evidence'])}" if is_person and row["evidence"] else ""
    return f"{who} says {score}{note}"
