"""Alignment finds the cheapest pairs and keeps to its rule of ties."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tracegrade_scoring.alignment import ALONE, COSTS, Pair, align

LEAVE_POINT, PAIR, LEAVE_EXPECTATION = range(3)  # in the order that the rule of ties prefers


def walks(rows: list[str], i: int, j: int) -> list[tuple[int, list[int]]]:
    """Return cost and moves, from the end, of every way to align i points and j expectations."""
    if not i and not j:
        return [(0, [])]
    found = []
    if i:
        found += [(c + ALONE, [LEAVE_POINT, *w]) for c, w in walks(rows, i - 1, j)]
    if i and j and rows[i - 1][j - 1] in COSTS:
        cost = COSTS[rows[i - 1][j - 1]]
        found += [(c + cost, [PAIR, *w]) for c, w in walks(rows, i - 1, j - 1)]
    if j:
        found += [(c + ALONE, [LEAVE_EXPECTATION, *w]) for c, w in walks(rows, i, j - 1)]
    return found


def align_by_force(problem: str) -> list[Pair]:
    """Return the pairs of the best of all alignments; the first walk by the rule of ties."""
    rows = problem.split(",")
    i, j = len(rows), len(rows[0])
    _, best = min(walks(rows, i, j))
    pairs = []
    for move in best:
        i -= move != LEAVE_EXPECTATION
        j -= move != LEAVE_POINT
        if move == PAIR:
            pairs.append(Pair(i, j))
    return pairs[::-1]


@st.composite
def problems(draw: st.DrawFn) -> str:
    """Return up to five points beside up to four expectations."""
    width = draw(st.integers(1, 4))
    row = st.text("013x", min_size=width, max_size=width)
    return ",".join(draw(st.lists(row, min_size=1, max_size=5)))


@given(problems())
@settings(max_examples=400)
def test_alignment_is_the_best_of_all(problem: str) -> None:
    """Dynamic programming finds what trying every alignment finds."""
    assert align(problem) == align_by_force(problem)


def test_exact_pair_beats_other_arguments() -> None:
    """The call with the expected arguments is taken, not the first one of the tool."""
    assert align("1,0") == [Pair(1, 0)]


def test_of_equal_picks_the_last_is_left_alone() -> None:
    """Between two equal calls for one expectation the earlier one is paired."""
    assert align("0,0") == [Pair(0, 0)]


def test_another_tool_is_paired_rather_than_two_left_alone() -> None:
    """A wrong pick stands for the expectation that it missed."""
    assert align("3") == [Pair(0, 0)]


def test_another_tool_is_not_paired_where_others_are_free() -> None:
    """Without a complete list a call of another tool meets no expectation."""
    assert align("x") == []


def test_order_is_kept() -> None:
    """Calls in the opposite order meet one expectation, not both."""
    assert len(align("x0,0x")) == 1
