"""Alignment finds the cheapest pairs and keeps to its rule of ties."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tracegrade_scoring.scorers.tool_selection.alignment import (
    ALONE,
    NEVER,
    AlignedPair,
    AlignmentProblem,
    Decision,
    Fit,
    FittingPair,
    align,
    decisions,
)

LEAVE_POINT, PAIR, LEAVE_EXPECTATION = range(3)  # in the order that the rule of ties prefers


def problem(
    expected: int, made: int, *pairs: tuple[int, int, Fit], complete: bool = True
) -> AlignmentProblem:
    """Return a problem in which order matters."""
    fitting = tuple(FittingPair(*pair) for pair in pairs)
    return AlignmentProblem(
        expected, complete=complete, free_order=False, made=made, pairs=fitting
    )


def walks(rows: list[list[int]], i: int, j: int) -> list[tuple[int, list[int]]]:
    """Return cost and moves, from the end, of every way to align i points and j expectations."""
    if not i and not j:
        return [(0, [])]
    found = []
    if i:
        found += [(c + ALONE, [LEAVE_POINT, *w]) for c, w in walks(rows, i - 1, j)]
    if i and j and rows[i - 1][j - 1] != NEVER:
        cost = rows[i - 1][j - 1]
        found += [(c + cost, [PAIR, *w]) for c, w in walks(rows, i - 1, j - 1)]
    if j:
        found += [(c + ALONE, [LEAVE_EXPECTATION, *w]) for c, w in walks(rows, i, j - 1)]
    return found


def align_by_force(rows: list[list[int]]) -> list[AlignedPair]:
    """Return the pairs of the best of all alignments; the first walk by the rule of ties."""
    i, j = len(rows), len(rows[0])
    _, best = min(walks(rows, i, j))
    pairs = []
    for move in best:
        i -= move != LEAVE_EXPECTATION
        j -= move != LEAVE_POINT
        if move == PAIR:
            pairs.append(AlignedPair(i, j))
    return pairs[::-1]


@st.composite
def tables_of_costs(draw: st.DrawFn) -> list[list[int]]:
    """Return up to five points beside up to four expectations."""
    width = draw(st.integers(1, 4))
    row = st.lists(st.sampled_from([0, 1, 3, NEVER]), min_size=width, max_size=width)
    return draw(st.lists(row, min_size=1, max_size=5))


@given(tables_of_costs())
@settings(max_examples=400)
def test_alignment_is_the_best_of_all(costs: list[list[int]]) -> None:
    """Dynamic programming finds what trying every alignment finds."""
    assert align(costs) == align_by_force(costs)


def test_exact_pair_beats_other_arguments() -> None:
    """The call with the expected arguments is taken, not the first one of the tool."""
    assert align([[1], [0]]) == [AlignedPair(1, 0)]


def test_of_equal_picks_the_last_is_left_alone() -> None:
    """Between two equal calls for one expectation the earlier one is paired."""
    assert align([[0], [0]]) == [AlignedPair(0, 0)]


def test_another_tool_is_paired_rather_than_two_left_alone() -> None:
    """A wrong pick stands for the expectation that it missed."""
    assert decisions(problem(1, 1)) == (Decision(0, 0, tool_fits=False),)


def test_another_tool_is_not_paired_where_others_are_free() -> None:
    """Without a complete list a call of another tool meets no expectation."""
    assert decisions(problem(1, 1, complete=False)) == (
        Decision(None, 0, tool_fits=False),
        Decision(0, None, tool_fits=False),
    )


def test_order_is_kept() -> None:
    """Calls in the opposite order meet one expectation, not both."""
    assert len(align([[NEVER, 0], [0, NEVER]])) == 1


def test_missed_expectation_stands_after_the_point_that_met_an_earlier_one() -> None:
    """Between the calls for the first and the third expectation stands the second, missed."""
    assert decisions(problem(3, 2, (0, 0, "arguments"), (1, 2, "tool"))) == (
        Decision(0, 0, tool_fits=True),
        Decision(None, 1, tool_fits=False),
        Decision(1, 2, tool_fits=True),
    )


def test_first_point_that_names_an_expectation_stands_for_it() -> None:
    """Named are both, against the order; what names it again is aligned like any other."""
    posed = problem(2, 3, (0, 1, "named"), (1, 0, "named"), (2, 0, "arguments"), (2, 1, "named"))

    assert decisions(posed) == (
        Decision(0, 1, tool_fits=False),
        Decision(1, 0, tool_fits=False),
        Decision(2, None, tool_fits=False),
    )
