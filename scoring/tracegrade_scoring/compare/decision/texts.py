"""A decision in text: at most 25 lines of 80 columns for one agent."""

from collections.abc import Iterator
from typing import Final

from tracegrade_scoring.compare.decision.release_rule import ShipRule
from tracegrade_scoring.compare.decision.view import DecisionView, decision_view
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import (
    Bullets,
    Grid,
    GridColumn,
    Sentence,
    TextBlock,
    columns,
)

WIDTHS: Final = (76, 80)
"""Least and most columns of a decision; a wider screen shows no more of it."""


def decision_width(screen_width: int) -> int:
    """Return how wide a decision is on a screen of so many columns."""
    least, most = WIDTHS
    return min(max(screen_width, least), most)


def decision_blocks(
    comparison: Comparison, of: Comparisons, rule: ShipRule
) -> Iterator[TextBlock]:
    """Yield the decision on one cohort."""
    yield from blocks_of(decision_view(comparison, of, rule), of.base, of.candidate)


def blocks_of(view: DecisionView, base: str, candidate: str) -> Iterator[TextBlock]:
    """Yield a decision in words, of releases with these names."""
    yield Sentence(view.headline, "strong")
    yield Bullets("", [f"{mark} {text}: {fact}" for mark, _, text, fact in view.checks])
    sides = [GridColumn(words.name(name), number=True) for name in (base, candidate)]
    yield Grid("", [GridColumn("metric", name=True), *sides, GridColumn("")], view.rows, ())
    yield Grid("", columns("", "", names=0), view.facts, ())
