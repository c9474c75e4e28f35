"""Where a run is killed."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade_harness.trial.points import Boundary, points


def run(writes: str) -> list[Boundary]:
    """Return the boundaries of a run: `w` is a call that writes, `r` one that reads."""
    return [
        Boundary(number, "tool", None, kind == "w") for number, kind in enumerate(writes, start=1)
    ]


def numbers(writes: str, planned_steps: int | None = None) -> list[int | str]:
    """Return after which call the run is killed early, mid and late, or why it is not."""
    found = points(run(writes), planned_steps).values()
    return [point.number if isinstance(point, Boundary) else point for point in found]


def test_the_worked_example_is_killed_after_calls_1_9_and_12() -> None:
    """Release 1.0 of the file agent: eight calls that read, four that write, a plan of five."""
    assert numbers("rrrrrrrrwwww", planned_steps=5) == [1, 9, 12]


def test_release_1_1_is_killed_after_calls_1_10_and_11() -> None:
    """It looks at the disk before it writes."""
    assert numbers("rrrrrrrrrww", planned_steps=5) == [1, 10, 11]


def test_without_a_plan_mid_is_after_the_first_write() -> None:
    """Nothing says what half of the run is."""
    assert numbers("rwrwr") == [1, 2, 4]


def test_with_a_plan_mid_is_where_half_of_it_is_done_and_something_was_written() -> None:
    """Both have to hold; half is reached by the fourth of eight steps and the third of five."""
    assert numbers("rwrrrrw", planned_steps=8) == [1, 4, 7]
    assert numbers("rwrrrrw", planned_steps=5) == [1, 3, 7]
    assert numbers("rrrrrww", planned_steps=8) == [1, 6, 7]


def test_a_plan_that_is_longer_than_the_run_puts_mid_at_the_last_write() -> None:
    """Mid and late are one moment then."""
    assert numbers("rwrw", planned_steps=40) == [1, 4, 4]


def test_a_run_whose_first_call_writes_has_no_early_point() -> None:
    """Early is before any write."""
    assert numbers("wr") == ["first_call_writes", 1, 1]


def test_a_run_that_writes_nothing_has_an_early_point_alone() -> None:
    """There is nothing to undo later."""
    assert numbers("rr") == [1, "no_writes", "no_writes"]


def test_a_run_without_calls_has_no_point() -> None:
    """It cannot be killed between two calls."""
    assert numbers("") == ["no_calls", "no_calls", "no_calls"]


def plain_mid(writes: str, planned_steps: int | None) -> int | str:
    """Return after which call mid is, by docs/metrics.md, section 6.1, call by call."""
    if "w" not in writes:
        return "no_writes" if writes else "no_calls"
    for done in range(1, len(writes) + 1):
        half_is_reached = planned_steps is None or done >= planned_steps - done
        if half_is_reached and "w" in writes[:done]:
            return done
    return writes.rindex("w") + 1


@settings(max_examples=many(100))
@given(st.text("rw", max_size=9), st.none() | st.integers(0, 24))
def test_mid_is_where_as_many_steps_are_done_as_are_left(
    writes: str, planned_steps: int | None
) -> None:
    """Half is reached by the call after which no more steps of the plan are left than are done."""
    assert numbers(writes, planned_steps)[1] == plain_mid(writes, planned_steps)
