"""A comparison in text: on a terminal, and as Markdown for a pull request."""

from collections.abc import Iterator, Sequence

from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.decision.texts import decision_blocks, decision_width
from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.compare.reasons_view import REASONS_NOTE
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.compare.view import (
    CohortView,
    cohort_view,
    mocked_headings,
    rule_rows,
    task_headings,
)
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import (
    MARKDOWN,
    TERMINAL,
    Bullets,
    Grid,
    GridColumn,
    Part,
    Remark,
    Sentence,
    TextBlock,
    Title,
    columns,
)
from tracegrade_scoring.rendering.markdown import write_markdown
from tracegrade_scoring.rendering.terminal import write_terminal

LEAST_WIDTH = 76
REASON_ROWS = 12
"""Reasons why runs failed on a terminal; the other formats have them all."""


def render_terminal(ruled: RuledComparison, *, width: int, color: bool) -> str:
    """Return the comparison as text, with colors or plain.

    It is at most `width` columns wide, but never narrower than 76, where numbers would be cut.
    """
    return write_terminal(_blocks(ruled), width=max(width, LEAST_WIDTH), color=color)


def render_decision(ruled: RuledComparison, details: str, *, width: int, color: bool) -> str:
    """Return the decision on each cohort as text, and the command that shows all of it.

    Args:
        ruled: The comparison.
        details: The command.
        width: Columns of the screen.
        color: Whether escapes may choose colors.
    """
    found = ruled.comparisons
    blocks = [
        block
        for comparison, outcomes in ruled.cohorts
        for block in (
            *decision_blocks(comparison, found, ruled.release_rule),
            Grid("Rules", columns("rule", "", "found"), rule_rows(outcomes)),
        )
    ]
    last = Sentence(f"All of it: {details}")
    return write_terminal([*blocks, last], width=decision_width(width), color=color)


def render_markdown(ruled: RuledComparison) -> str:
    """Return the comparison as GitHub-flavored Markdown."""
    return write_markdown(_blocks(ruled))


def _blocks(ruled: RuledComparison) -> Iterator[TextBlock]:
    found = ruled.comparisons
    names = [words.name(found.base), words.name(found.candidate)]
    yield Title(names, on_terminal=f"{' → '.join(names)} in {visible(found.lake)}")
    for comparison, outcomes in ruled.cohorts:
        view = cohort_view(comparison, found)
        yield Part(view.title)
        yield from decision_blocks(comparison, found, ruled.release_rule)
        yield from cohort_blocks(view, outcomes)


def cohort_blocks(view: CohortView, outcomes: Sequence[RuleOutcome]) -> Iterator[TextBlock]:
    """Yield one cohort without its decision: the answer, the rules, then every number."""
    basis, example = GridColumn("from", below=""), GridColumn("e.g. run", below="e.g. ")
    metrics = [GridColumn("metric", name=True), *_sides(view), *_verdict(view), basis]
    before_after = [*_sides(view, "before", "after"), *_verdict(view)]
    changed = [row for row in view.more_rows if row.verdict in {"better", "worse", "changed"}]
    more = len(view.reasons) - REASON_ROWS
    yield Sentence(view.answer, "strong")
    yield Bullets("", view.findings)
    yield Grid("Rules", columns("rule", "", "found"), rule_rows(outcomes))
    yield Grid(view.scores_title, metrics, view.rows, view.sure)
    yield Grid(
        "Why runs failed",
        [
            *(
                GridColumn("why", "reason", name=True),
                *_sides(view),
                GridColumn("change", number=True),
            ),
            *(GridColumn("in that run", below=""), example),
        ],
        [row.cells for row in view.reasons],
        (),
        note=REASONS_NOTE,
        most=REASON_ROWS,
        rest=f"{words.count(more, 'more reason')}: --format html lists them." if more > 0 else "",
    )
    modes = [GridColumn("failure mode", name=True), *before_after, example, basis]
    yield Grid("Failure modes", modes, view.modes, ())
    yield Remark(view.mode_note)
    categories = [GridColumn("category", name=True), *before_after, basis]
    yield Grid("Success by task category", categories, view.categories, view.sure)
    yield Grid("Tasks that changed most", columns(*task_headings(view)), view.tasks)
    yield Grid("Mocked and live calls compared", columns(*mocked_headings()), view.mocked)
    yield Grid("More metrics that changed", metrics, changed, view.sure, {TERMINAL})
    yield Bullets("Cautions", view.cautions)
    yield Grid("More metrics", metrics, view.more_rows, only={MARKDOWN})


def _sides(view: CohortView, base: str = "", candidate: str = "") -> list[GridColumn]:
    """Return the columns of both releases, under these headings where there is room."""
    sides = ((base, view.base), (candidate, view.candidate))
    return [GridColumn(heading or name, name, number=True) for heading, name in sides]


def _verdict(view: CohortView) -> list[GridColumn]:
    numbers = ("change", f"{view.level} interval")
    return [*(GridColumn(each, number=True) for each in numbers), GridColumn("")]
