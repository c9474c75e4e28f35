"""Writes results to the lake: rows of `harness_trials`, and verdicts for scores."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade.state import VERSION
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.importing.verdict_rows import add_verdicts
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_harness.trial.object_states import cut_log
from tracegrade_harness.trial.result import TrialResult
from tracegrade_lake import Lake
from tracegrade_lake.tables import rows_of

SOURCE: Final = "harness"
"""The judge that the verdicts name."""

MAX_NAMED: Final = 50
"""Leftovers that a verdict's evidence names; `harness_trials` has them all."""

_JSON: Final = ("verifiers", "leftovers", "changed", "states", "notes")


def write(lake: Lake, run: str, suite: str, results: Sequence[TrialResult]) -> None:
    """Add the results of a run and their verdicts to a lake, without secrets.

    A run is added once, even if its harness was interrupted and resumed. If a later harness ran an
    invalid trial again, the new result replaces the old one.
    """
    redactor = Redactor.from_options(CollectorConfig(), lake.state)
    rows = [_row(run, suite, result) for result in _without_secrets(redactor, results)]
    for key in (*_JSON, "reason", "recovery_log"):
        clean = redactor.redact_texts([row[key] or "" for row in rows])
        for row, text in zip(rows, clean, strict=True):
            row[key] = text or None
    for row in rows:
        row["recovery_log"] = row["recovery_log"] and cut_log(row["recovery_log"])
    _write_rows(lake, run, rows)
    add_verdicts(lake, [*verdicts(results)], redactor)


def _without_secrets(redactor: Redactor, results: Sequence[TrialResult]) -> Iterator[TrialResult]:
    """Yield results whose texts of objects have no secret; in JSON, some would not be found."""
    states = [state for result in results for state in result.states or () if "texts" in state]
    texts = [text for state in states for text in state["texts"].values()]
    clean = iter(redactor.redact_texts(texts))
    for result in results:
        if result.states is None:
            yield result
            continue
        cleaned = [
            {**state, "texts": {moment: next(clean) for moment in state["texts"]}}
            if "texts" in state
            else state
            for state in result.states
        ]
        yield result.model_copy(update={"states": cleaned})


def _write_rows(lake: Lake, run: str, rows: Sequence[Mapping[str, Any]]) -> None:
    table = pa.Table.from_pylist(list(rows), schema=HARNESS_TRIALS.arrow())
    writer = f"harness/{run}"
    noted = lake.transaction_version(HARNESS_TRIALS.name, writer)
    if noted is None:
        lake.append(HARNESS_TRIALS, table, {writer: 1})
        return
    holding = [
        (file.path, rows_of_date)
        for file in lake.live_files(HARNESS_TRIALS.name)
        if run in (rows_of_date := rows_of(lake, HARNESS_TRIALS, [file]))["run"].to_pylist()
    ]
    there = [
        row for _, rows_of_date in holding for row in rows_of_date.to_pylist() if row["run"] == run
    ]
    if _by_trial(there) == _by_trial(table.to_pylist()):
        return
    others = [rows_of_date.filter(pc.field("run") != run) for _, rows_of_date in holding]
    staged = lake.stage(HARNESS_TRIALS, pa.concat_tables([*others, table]), uuid.uuid4().hex)
    lake.replace_files(HARNESS_TRIALS, [path for path, _ in holding], staged, {writer: noted + 1})


def _by_trial(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=lambda row: (row["task_id"], row["trial"], row["kill_point"] or ""))


def verdicts(results: Iterable[TrialResult]) -> Iterable[Mapping[str, Any]]:
    """Yield the verdict of each result, on its own trajectory or on the repeated one.

    A run that a limit ended has failed, with or without verifiers, and gets the label `budget`. In
    a conversation of several turns, only the last turn fails, because the limit ended that one.

    A run that the harness could not judge gets the label `error` and no value. A result that is
    the harness's fault gets no verdict.
    """
    for result in results:
        if result.kill_point:
            yield from _of_kill(result)
        elif result.trajectory_id and _is_decided(result):
            *earlier, last = [result.trajectory_id, *result.turns]
            yield from map(partial(_of_trial, result), earlier)
            yield {**_of_trial(result, last), "label": _label_of_last(result)}


def _is_decided(result: TrialResult) -> bool:
    by_verifiers = result.verifiers is not None and result.status != "invalid"
    return by_verifiers or result.status == "budget"


def _of_trial(result: TrialResult, trajectory_id: str) -> Mapping[str, Any]:
    return _verdict(
        trajectory_id,
        "success",
        value=float(result.success) if result.success is not None else None,
        label="error" if result.success is None else None,
        evidence={
            "status": result.status,
            "reason": result.reason if result.status == "budget" else None,
            "verifiers": result.verifiers,
            "tape_misses": result.tape_misses,
            "notes": result.notes,
        },
    )


def _label_of_last(result: TrialResult) -> str | None:
    if result.status == "budget":
        return "budget"
    return "error" if result.success is None else None


def _of_kill(result: TrialResult) -> Iterable[Mapping[str, Any]]:
    if result.baseline_trajectory_id is None or result.status in {"invalid", "not_run"}:
        return
    judged = result.status == "done"
    leftovers = result.leftovers or []
    yield _verdict(
        result.baseline_trajectory_id,
        "rollback",
        kill_point=result.kill_point,
        value=result.after_recovery if judged else None,
        label=result.label if judged else _label(result),
        evidence={
            "immediate": result.immediate,
            "boundary": result.boundary,
            "killed": result.trajectory_id,
            "reason": result.reason,
            "leftovers": leftovers[:MAX_NAMED],
            "left": len(leftovers),
            "notes": result.notes,
            "tape_misses": result.tape_misses,
        },
    )


def _label(result: TrialResult) -> str:
    return "not_applicable" if result.status == "not_applicable" else "error"


def _verdict(
    trajectory_id: str | None, subject: str, *, evidence: Mapping[str, Any], **fields: Any
) -> Mapping[str, Any]:
    return {
        "trajectory_id": trajectory_id,
        "subject": subject,
        "sub_goal": None,
        "kill_point": None,
        "source": SOURCE,
        "evidence": json.dumps(
            {key: value for key, value in evidence.items() if value not in (None, [])}
        ),
        **fields,
    }


def _row(run: str, suite: str, result: TrialResult) -> dict[str, Any]:
    fields = result.model_dump(exclude={"label", "tape_misses", "traces", "turns"})
    texts = {key: _json(fields[key] or None if key == "notes" else fields[key]) for key in _JSON}
    started_at = result.started_at.replace(tzinfo=None)
    return {
        **fields,
        **texts,
        "run": run,
        "suite": suite,
        "started_at": started_at,
        "harness_version": VERSION,
        "date": started_at.date(),
    }


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value)
