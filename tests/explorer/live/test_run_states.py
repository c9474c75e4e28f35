"""The state of a run by its end, its scores and the age of its last span, at each border."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_explorer.sql import QUERIES
from tracegrade_scoring.run_states import (
    CONDITIONS,
    LIMITS,
    STATE_COLUMNS,
    RunState,
    end_of_running,
    end_of_silence,
    state_of,
)

NOW = datetime(2026, 11, 29, 12)  # noqa: DTZ001 - as tables hold times
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


class SentRun(NamedTuple):
    """A run as its spans came in."""

    age: timedelta
    """Of its last span."""
    gaps: Sequence[timedelta] = ()
    """From each of its steps to the next."""
    complete: bool = False
    imported: bool | None = False
    kill_point: str | None = None


def limits_of(run: SentRun, now: datetime = NOW) -> tuple[datetime, datetime] | None:
    """Return until when a run is running and silent, by the relation; None if it is over."""
    received = now - run.age
    with duckdb.connect() as con:
        con.execute("CREATE TABLE trajectories (trajectory_id VARCHAR, start_time TIMESTAMP, "
                    "trace_received_ns BIGINT, imported BOOLEAN, complete BOOLEAN, "
                    "kill_point VARCHAR)")  # fmt: skip
        con.execute("CREATE TABLE steps (trajectory_id VARCHAR, start_time TIMESTAMP, "
                    "end_time TIMESTAMP)")  # fmt: skip
        begun = received - sum(run.gaps, timedelta())
        since_1970 = (received - EPOCH) // TICK * 1_000
        con.execute("INSERT INTO trajectories VALUES ('r', $1, $2, $3, $4, $5)",
                    [begun, since_1970, run.imported, run.complete, run.kill_point])  # fmt: skip
        moment = begun
        for gap in run.gaps:
            moment += gap
            con.execute("INSERT INTO steps VALUES ('r', $1, $1)", [moment])
        text = QUERIES.unordered("open_runs")
        rows = con.execute(text, {"now": now, **LIMITS}).fetchall()
    return (rows[0][1], rows[0][2]) if rows else None


def state_at(limits: tuple[datetime, datetime] | None, now: datetime, **facts: Any) -> Any:
    """Return the state of a run at a time."""
    running, silent = limits or (None, None)
    row = {"scored": False, "awaits_score": False, "running_until": running,
           "silent_until": silent, **facts}  # fmt: skip
    return state_of(row, now)


@pytest.mark.parametrize(
    ("gaps", "running_for"),
    [
        ((), timedelta(minutes=2)),
        ((timedelta(seconds=24),), timedelta(minutes=2)),
        ((timedelta(seconds=24) + TICK,), timedelta(minutes=2) + 5 * TICK),
        ((timedelta(minutes=1), timedelta(minutes=8)), timedelta(minutes=40)),
        ((timedelta(hours=7),), DAY),
    ],
)
def test_each_border(gaps: Sequence[timedelta], running_for: timedelta) -> None:
    """Running for two minutes or five of its longest gaps, silent up to a day, then cut off."""
    limits = limits_of(SentRun(timedelta(0), gaps))

    assert limits is not None
    assert state_at(limits, NOW) is RunState.RUNNING
    assert state_at(limits, NOW + running_for - TICK) is RunState.RUNNING
    after = state_at(limits, NOW + running_for)
    assert after is (RunState.CUT_OFF if running_for == DAY else RunState.SILENT)
    assert state_at(limits, NOW + DAY - TICK) is not RunState.CUT_OFF
    assert state_at(limits, NOW + DAY) is RunState.CUT_OFF


@pytest.mark.parametrize(
    "run",
    [
        SentRun(timedelta(0), imported=True),
        SentRun(timedelta(0), imported=None),
        SentRun(DAY),
        SentRun(400 * DAY, (timedelta(hours=9),)),
    ],
)
def test_no_span_is_awaited_of_a_file_or_after_a_day(run: SentRun) -> None:
    """Such a run is cut off, never running and never crashed."""
    assert state_at(limits_of(run), NOW) is RunState.CUT_OFF


def test_a_run_that_is_over_waits_for_its_scores() -> None:
    """Unless it was killed on purpose, or gets none: then it has no state."""
    assert limits_of(SentRun(timedelta(0), complete=True)) is None
    assert limits_of(SentRun(timedelta(0), kill_point="mid")) is None
    assert state_at(None, NOW, awaits_score=True) is RunState.ENDED
    assert state_at(None, NOW, scored=True) is RunState.SCORED
    assert state_at(None, NOW) is None


ages = st.timedeltas(timedelta(0), 3 * DAY)
gap_lists = st.lists(st.timedeltas(timedelta(0), timedelta(hours=8)), max_size=4)


@given(ages, gap_lists, st.booleans(), st.sampled_from([True, False, None]), st.booleans())
def test_states_are_those_of_the_rule(
    age: timedelta, gaps: list[timedelta], complete: bool, imported: bool | None, scored: bool
) -> None:
    """And the condition of exactly that state selects the run."""
    limits = limits_of(SentRun(age, gaps, complete, imported))
    found = state_at(limits, NOW, scored=scored, awaits_score=complete and not scored)

    if complete:
        expected = RunState.SCORED if scored else RunState.ENDED
    elif imported is not False or age >= DAY:
        expected = RunState.CUT_OFF
    elif age < timedelta(minutes=2) or age < 5 * max(gaps, default=timedelta(0)):
        expected = RunState.RUNNING
    else:
        expected = RunState.SILENT
    assert found is expected
    if limits and imported is False:
        received = NOW - age
        longest = max(gaps, default=timedelta(0))
        assert limits == (end_of_running(received, longest), end_of_silence(received)) or (
            age >= DAY
        )
    assert _selected(limits, scored=scored, awaits_score=complete and not scored) == [expected]


def _selected(limits: tuple[datetime, datetime] | None, **facts: bool) -> list[RunState]:
    """Return the states whose conditions select a run."""
    running, silent = limits or (None, None)
    values = [facts["scored"], facts["awaits_score"], running, silent]
    row = ", ".join(
        f"${number}::{kind} AS {name}"
        for number, (name, kind) in enumerate(
            zip(STATE_COLUMNS, ("BOOLEAN", "BOOLEAN", "TIMESTAMP", "TIMESTAMP"), strict=True), 1
        )
    )
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE run_index AS SELECT {row}", values)
        return [
            state
            for state, condition in CONDITIONS.items()
            if con.execute(
                f"FROM run_index WHERE {condition}", {"now": NOW} if "$now" in condition else None
            ).fetchall()
        ]
