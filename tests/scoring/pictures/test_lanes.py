"""Lanes: times stand in order, idle times are cut out, and long runs stay small."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_scoring.pictures.lanes import (
    COLUMNS,
    CUT,
    LEAST_IDLE,
    PLOT,
    TICKS,
    Lane,
    LaneBox,
    TimeScale,
    lanes_picture,
)

TIMES = st.floats(0, 1e9, allow_nan=False)
PAIRS = st.tuples(TIMES, TIMES).map(lambda pair: (min(pair), max(pair)))
BOXES = st.builds(
    lambda times, kind: LaneBox(times[0], times[1], kind, "t", ""),
    PAIRS,
    st.sampled_from(["model", "call", "failed"]),
)
LANES = st.lists(
    st.builds(
        lambda times, boxes: Lane("a", 0, times, boxes, None),
        st.lists(PAIRS, min_size=1, max_size=3),
        st.lists(BOXES, max_size=8),
    ),
    min_size=1,
    max_size=4,
)


def call(start: float, end: float, kind: str = "call") -> LaneBox:
    """Return a box that leads to a step."""
    return LaneBox(start, end, kind, f"s{start:.0f} look", f"#s{start:.0f}")


@given(LANES, st.lists(TIMES, max_size=20))
def test_times_stand_in_their_order_within_the_plot(lanes: list[Lane], times: list[float]) -> None:
    """A later time is never left of an earlier one, with any cuts."""
    scale = TimeScale(lanes)
    found = [scale.at(time) for time in sorted(times)]

    assert found == sorted(found)
    assert all(-0.01 <= x <= PLOT + 0.01 for x in found)
    assert len(scale.idle) < 1 / LEAST_IDLE
    assert all(end - start > (scale.end - scale.start) * LEAST_IDLE for start, end in scale.idle)
    assert len(list(scale.ticks())) <= 4 * TICKS + 1


@given(LANES)
def test_no_box_is_in_an_idle_time(lanes: list[Lane]) -> None:
    """What is cut out holds no model call and no tool call of any agent."""
    scale = TimeScale(lanes)
    for start, end in scale.idle:
        for lane in lanes:
            assert not any(box.start < end and box.end > start for box in lane.boxes)


def test_an_idle_time_is_as_wide_as_its_mark() -> None:
    """A minute without a span between two calls; the mark says how long it was."""
    lane = Lane("a", 0, [(0, 62_000)], [call(0, 1_000), call(61_000, 62_000)], None)
    scale = TimeScale([lane])

    assert scale.idle == [(1_000, 61_000)]
    assert scale.at(61_000) - scale.at(1_000) == CUT
    assert "⋯ 60.0 s" in lanes_picture([lane], "d")


def test_a_long_lane_has_few_boxes_and_shows_what_failed() -> None:
    """Of 20,000 calls at most so many are drawn as there are columns; the failed one is seen."""
    calls = [call(number, number + 1) for number in range(20_000)]
    calls[777] = call(777, 778, "failed")
    drawn = lanes_picture([Lane("a", 0, [(0, 20_000)], calls, None)], "d")

    assert 1 < drawn.count("<a ") <= COLUMNS
    assert re.findall(
        '<a href="([^"]*)"[^>]*><title>[^<]*</title><rect[^>]*lane-failed', drawn
    ) == ["#s777"]


def test_a_lane_says_who_started_it() -> None:
    """A dotted line leads from the parent's lane to the start of the child's."""
    lanes = [
        Lane("lead", 0, [(0, 100)], [call(0, 100)], None),
        Lane("left", 1, [(10, 50)], [call(10, 50)], 0),
        Lane("right", 1, [(10, 50), (60, 90)], [], 0),
    ]

    assert lanes_picture(lanes, "d").count('class="lane-start"') == 3


def test_names_are_texts_and_nothing_else() -> None:
    """A hostile name is escaped and made visible, and a run without times has no picture."""
    drawn = lanes_picture([Lane("<script>\x1b", 0, [(0, 1)], [], None)], "<d>")

    assert "<script>" not in drawn
    assert "\x1b" not in drawn
    assert "&lt;d&gt;" in drawn
    assert lanes_picture([Lane("a", 0, [], [], None)], "d") == ""
