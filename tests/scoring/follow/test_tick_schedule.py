"""Pauses of a follower: at most a fifth of a core, and longer ones after failures."""

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_scoring.follow.tick_schedule import LONGEST_PAUSE_SECS, SHARE, TickSchedule

secs = st.floats(0.01, 1000)


@given(every=secs, begun=st.floats(0, 1e6), work=st.floats(0, 1000))
def test_a_tick_takes_a_fifth_of_a_core_at_most(every: float, begun: float, work: float) -> None:
    """The next one may begin after five times its work, and not before the given time."""
    schedule = TickSchedule(every)
    assert schedule.secs_left(begun) == 0
    schedule.succeeded(begun, work)
    left = schedule.secs_left(begun)
    assert left >= min(SHARE * work, every) * 0.999
    assert max(SHARE * work, every) - 1e-3 <= left <= max(SHARE * work, every) + 1e-3
    assert schedule.secs_left(begun + left + 1e-3) == 0


@given(every=secs, failures=st.integers(1, 5000))
def test_pauses_grow_up_to_five_minutes(every: float, failures: int) -> None:
    """However often a tick fails; one that succeeds ends it."""
    schedule = TickSchedule(every)
    pauses = [schedule.failed(0.0) for _ in range(failures)]
    assert pauses == sorted(pauses)
    assert pauses[0] == min(every, LONGEST_PAUSE_SECS)
    assert pauses[-1] <= LONGEST_PAUSE_SECS
    schedule.succeeded(0.0, 0.0)
    assert schedule.failed(0.0) == pauses[0]


def test_weeks_of_failures_leave_the_longest_pause() -> None:
    """No number of failures is too large."""
    schedule = TickSchedule(0.001)
    pauses = [schedule.failed(0.0) for _ in range(5_000)]

    assert pauses[-1] == LONGEST_PAUSE_SECS
