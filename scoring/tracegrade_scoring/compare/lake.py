"""Opens a lake for a comparison, all its tables as one scoring run left them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_lake import Lake
from tracegrade_queries.dimensions.stored import stored_mapping
from tracegrade_queries.engine.connection import connect_whole, open_lake
from tracegrade_scoring.compare.attempts import KNOWN_ALONE, AttemptCounting, DeclaredTask
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, ShipRule
from tracegrade_scoring.compare.fail_on_rules import IssueRule, Rule
from tracegrade_scoring.compare.judge_corrections import measured_judges
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import RuledComparison, apply_rules
from tracegrade_scoring.compare.sides import ComparedSides, compared, sides_of
from tracegrade_scoring.issue_marks import stored_marks
from tracegrade_scoring.issues.read import Issue, ReleaseIssue, read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.own_metrics import note_unreadable
from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.t_score import DEFAULT, PRESETS, Weights
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.stored import known_specification


def declared_tasks(lake: Lake) -> Iterator[DeclaredTask]:
    """Yield the tasks that the lake was scored against last."""
    for name, task in known_specification(lake, Specification()).tasks.items():
        agent_name = task.match.agent_name if task.match else None
        yield DeclaredTask(name, agent_name, task.category)


class ReleaseSelection(NamedTuple):
    """A reader's choice of releases and agent."""

    base: str
    candidate: str
    agent: str | None = None
    level: float = LEVEL
    counting: AttemptCounting = KNOWN_ALONE
    weights: Weights = PRESETS[DEFAULT]


def read_sides(
    location: str | Path, base: str, candidate: str, by: str | None, where: str | None
) -> ComparedSides | None:
    """Return the sides that a reader's texts name; arguments as of `sides_of`."""
    if by is None and where is None and "=" not in base + candidate:
        return None
    mapping = stored_mapping(Lake.open(location)).mapping
    return sides_of(base, candidate, by, where, mapping.dimensions if mapping else ())


def read_comparison(
    location: str | Path,
    note: Callable[[str], object],
    selection: ReleaseSelection,
    rules: Sequence[Rule] = (),
    release_rule: ShipRule = DEFAULT_RULE,
    sides: ComparedSides | None = None,
) -> RuledComparison:
    """Return both releases, or both sides, as the lake is now.

    `note` gets a line if reading it is slow, and one of metrics whose definition cannot be read.

    Raises:
        LakeMissing: There is no lake.
        NothingToCompare: No agent, or not this one, has both releases.
    """
    with opened_comparison(location, note, selection, rules, release_rule, sides) as (_, ruled):
        return ruled


def with_issues(found: Comparisons, issues: Sequence[Issue]) -> Comparisons:
    """Return a comparison with the issues that the candidate shows in each cohort."""
    return replace(
        found,
        cohorts=tuple(
            replace(comparison, issues=(*_candidate_issues(comparison, found.candidate, issues),))
            for comparison in found.cohorts
        ),
    )


def _candidate_issues(
    comparison: Comparison, candidate: str, issues: Sequence[Issue]
) -> Iterator[ReleaseIssue]:
    cohort = (comparison.cohort.agent_name, comparison.cohort.run_mode)
    for issue in issues:
        shown = (
            issue.in_release(candidate) if (issue.agent_name, issue.run_mode) == cohort else None
        )
        if shown:
            yield shown


@contextmanager
def opened_comparison(
    location: str | Path,
    note: Callable[[str], object],
    selection: ReleaseSelection,
    rules: Sequence[Rule],
    release_rule: ShipRule = DEFAULT_RULE,
    sides: ComparedSides | None = None,
) -> Iterator[tuple[DuckDBPyConnection, RuledComparison]]:
    """Yield what reads a lake as one scoring run left it, and the judgment; raise as above."""
    lake = open_lake(location, note)
    if selection.counting.trials:
        selection = selection._replace(
            counting=selection.counting._replace(declared=tuple(declared_tasks(lake)))
        )
    con, pinned = connect_whole(lake, (SCORES,))
    with con:
        note_unreadable(con, note)
        with compared(con, sides):
            found = read_comparisons(
                con,
                str(location),
                *selection,
                measured=measured_judges(lake),
                compared=sides.keys if sides else (),
                pinned=None if sides else pinned,
            )
        if sides is None and any(isinstance(rule, IssueRule) for rule in rules):
            found = with_issues(found, read_issues(con, stored_marks(lake)))
        yield con, apply_rules(found, rules, release_rule)
