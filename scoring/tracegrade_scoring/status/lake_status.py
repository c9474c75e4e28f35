"""Reads what of a lake is not scored yet; entry point of `tracegrade.lake_status`.

The traces are those that a scoring run would find now (`job/discovery.py`). Nothing is written.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from tracegrade_collector.status_part import StatusPart
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.discovery import unbuilt_spans
from tracegrade_queries.engine.connection import Limits, connect_pinned, read_pinned
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.relations import put
from tracegrade_scoring.follow.follower import LOCK_NAME
from tracegrade_scoring.job.commit import run_numbers
from tracegrade_scoring.job.discovery import ALL, unscored
from tracegrade_scoring.job.last_scoring import last_scored_ms
from tracegrade_scoring.job.run_scoring import start_summary
from tracegrade_scoring.job.unscorable import unscorable_traces
from tracegrade_scoring.rendering import words
from tracegrade_scoring.run_states import RUNNING_SECS
from tracegrade_scoring.schema import RELEASE_SCORES
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks import Specification

LIMITS: Final = Limits("1GB", threads=1)
MOST_NAMED: Final = 20
"""Traces that are named for people, of each kind; programs get all."""
_WORDS: Final = {
    "no_root": "its root span has not come",
    "parent_missing": "the parent of a span has not come",
    "not_ended": "a span has not ended",
    "quiet": "more of it may come",
}


class WaitingTrace(NamedTuple):
    """A trace with runs that are not scored yet, because more of them may come."""

    trace_id: str
    reason: str
    """As in `waiting_reasons.sql`."""
    is_running: bool
    """A span came within the last two minutes."""
    quiet_until: str
    """When its runs are scored as they are, if nothing comes until then; ISO 8601, UTC."""
    runs: Sequence[str]


def lake_status(lake: Lake) -> StatusPart:
    """Return which traces of a lake run, wait and failed, and when it was scored last."""
    new_spans = unbuilt_spans(lake, LIMITS)
    waiting, unscored_traces = _unscored(lake)
    failed = unscorable_traces(lake).select(["trace_id", "reason"]).to_pylist()
    newest_ms = last_scored_ms(lake.live_files(RELEASE_SCORES.name))
    values = {
        "spans_unread": new_spans,
        "traces_unscored": unscored_traces,
        "waiting": [each._asdict() for each in waiting],
        "failed": failed,
        "newest_scored": _iso(newest_ms * 10**6) if newest_ms else None,
        "follower": _follower(lake),
    }
    return StatusPart(values, [*_lines(values, waiting, newest_ms)])


def _unscored(lake: Lake) -> tuple[list[WaitingTrace], int]:
    """Return the traces that wait, and how many the next scoring run scores."""
    specification = start_summary(lake, Specification()).specification
    with unscored(
        lake, specification, ALL, LIMITS, numbers=run_numbers(lake), full=False
    ) as found:
        rows = found.con.table("waiting_runs").to_arrow_table()
        traces = found.traces
    if not len(rows):
        return [], traces

    def reasons(pinned: PinnedLake) -> list[dict[str, Any]]:
        with connect_pinned(pinned, (RAW_SPANS,), LIMITS) as con:
            put(con, "waiting_runs", rows)
            found: list[dict[str, Any]] = (
                con.sql(query("waiting_reasons")).to_arrow_table().to_pylist()
            )
            return found

    newest = time.time_ns() - RUNNING_SECS * 10**9
    return [
        WaitingTrace(
            row["trace_id"],
            row["reason"],
            (row["received_ns"] or 0) > newest,
            _iso(row["until_ns"]),
            row["runs"],
        )
        for row in read_pinned(lake, [RAW_SPANS.name], reasons)
    ], traces


def _follower(lake: Lake) -> str | None:
    """Return who follows a lake on this machine, in words; None if no process does."""
    if not lake.is_local:
        return None
    with closing(lake.lock(LOCK_NAME)) as lock:
        return None if lock.try_acquire() else lock.holder()


def _iso(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _lines(
    values: dict[str, Any], waiting: Sequence[WaitingTrace], newest_ms: int | None
) -> Iterator[str]:
    """Yield the values in words."""
    running = sum(each.is_running for each in waiting)
    yield (
        f"traces: {running:,} running, {len(waiting) - running:,} waiting, "
        f"{values['traces_unscored']:,} to be scored by the next run, "
        f"{len(values['failed']):,} failed"
    )
    if values["spans_unread"]:
        yield f"{words.count(values['spans_unread'], 'span')} not built into runs yet"
    for each in waiting[:MOST_NAMED]:
        state = "running" if each.is_running else "waiting"
        yield f"  {each.trace_id} {state}: {_WORDS[each.reason]}; quiet at {each.quiet_until}"
    for row in values["failed"][:MOST_NAMED]:
        yield f"  {row['trace_id']} failed: {row['reason']}"
    for traces in (waiting, values["failed"]):
        if len(traces) > MOST_NAMED:
            yield f"  and {len(traces) - MOST_NAMED:,} more; --json lists all"
    if newest_ms is not None:
        yield f"newest scored {words.age(time.time() - newest_ms / 1000)} ago"
    if values["follower"] is not None:
        yield f"followed by {values['follower'] or 'a process'}"
