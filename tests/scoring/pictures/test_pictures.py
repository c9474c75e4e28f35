"""Plots: everything is inside the picture and distinguishable, and texts of traces are inert."""

import re

import pytest
from markupsafe import Markup

from tracegrade_scoring.pictures.axes import WIDTH, from_zero
from tracegrade_scoring.pictures.named_rows import Spread, Value, intervals, spreads, strips
from tracegrade_scoring.pictures.of_counts import Meeting, Titles, meetings

RELEASES = [f"release-{number}-with-a-long-name" for number in range(6)]


def x_of(picture: Markup) -> list[float]:
    """Return where texts begin or end, lines and dots stand, from left to right."""
    return [float(x) for x in re.findall(r' (?:x|x1|x2|cx)="([^"]+)"', picture)]


PICTURES = {
    "intervals": intervals(
        [Value("a" * 24, name, place / 5, 0.0, 1.0) for place, name in enumerate(RELEASES)],
        RELEASES,
        "Values.",
    ),
    "one": intervals([Value("a", "1.0", 0.5)], ["1.0"], "A value."),
    "strips": strips([Value(f"task {n}", "1.0", n / 40) for n in range(40)], ["1.0"], "Tasks."),
    "spreads": spreads([Spread("1.0", 0, 1, 2, 3, 5, 9, 123_456)], "calls", "Calls."),
    "meetings": meetings([Meeting("1.0", 90, 0, 1)], ["1.0"], Titles("x", "y", "Runs.")),
}


@pytest.mark.parametrize("name", PICTURES)
def test_everything_stands_inside_the_picture(name: str) -> None:
    """However long names are, and however large numbers."""
    assert all(0 <= x <= WIDTH for x in x_of(PICTURES[name]))


def test_releases_have_colors_of_their_own_and_the_newest_always_the_first() -> None:
    """A release alone has no key; of several each stands in it once."""
    picture = PICTURES["intervals"]
    fills = re.findall(r'<circle[^>]* r="5" fill="([^"]+)"', picture)

    assert len(set(fills)) == len(fills) == len(RELEASES)
    assert fills[-1] == "var(--series-1)"
    assert "1.0</text>" not in PICTURES["one"]


@pytest.mark.parametrize("most", [0, 1, 7, 8, 9, 24, 4_000, 123_456])
def test_an_axis_ends_at_a_mark_that_no_value_exceeds(most: float) -> None:
    """In at most eight steps of 1, 2 or 5 times a power of ten."""
    axis = from_zero(most, 0, 100, "")

    assert 0 < axis.most == axis.ticks[-1] >= most
    assert len(axis.ticks) <= 9
    assert re.fullmatch("[125]0*", str(int(axis.ticks[1])))


def test_a_name_cannot_act() -> None:
    """It is escaped, and characters that change how others are shown are spelled out."""
    picture = strips([Value("<a>\u202e", "\u202e<b>", 1)], ["\u202e<b>", "2"], "<c>\u202e")

    assert not re.search("<[abc]>|\u202e", picture)
    assert "&lt;a&gt;\\u202e" in picture
