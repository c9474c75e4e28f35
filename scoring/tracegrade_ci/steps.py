"""Reads the steps of runs that show what went wrong, for a comment."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade.terminal.visible import visible_text
from tracegrade_ci.check import CheckResult, RunSteps
from tracegrade_ci.pairing import PairedRuns
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.compare.decision.view import decision_view
from tracegrade_scoring.compare.model import Comparison
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import StepView
from tracegrade_scoring.schema import FAILURES, RUN_REASONS, TRAJECTORY_SCORES
from tracegrade_scoring.timeline.read import Window, read_timeline
from tracegrade_scoring.timeline.view import timeline_view

MOST_RUNS: Final = 3
STEPS_BEFORE: Final = 6
"""Steps before the one that shows what went wrong."""
MOST_STEPS: Final = 12
MOST_CHARACTERS: Final = 300
"""Of one text of a step."""


class RunAtStep(NamedTuple):
    """A run whose steps are worth a look."""

    sentence: str
    trajectory_id: str
    """The attempt's run, or that of the sub-agent that has the step."""
    step_index: int | None


def run_steps(con: DuckDBPyConnection, result: CheckResult) -> Iterator[RunSteps]:
    """Yield steps of the candidate's runs that show what went wrong.

    Args:
        con: Holds the tables of the candidate's lake.
        result: The result; without a comparison there are none.
    """
    if result.ruled is None or result.paired is None:
        return
    for each in [*_first_of_each(result.ruled, result.paired)][:MOST_RUNS]:
        first = max(0, (each.step_index or 0) - STEPS_BEFORE)
        window = Window(first, MOST_STEPS, MOST_CHARACTERS)
        found = timeline_view(read_timeline(con, "", each.trajectory_id, window))
        lines = tuple(line for step in found.steps for line in _lines(step, each.step_index))
        yield RunSteps(each.trajectory_id, each.sentence, lines)


def _first_of_each(ruled: RuledComparison, paired: PairedRuns) -> Iterator[RunAtStep]:
    """Yield the runs of all cohorts, each once: of failure modes, then of the decision."""
    known = {*paired.candidate_rows[TRAJECTORY_SCORES]["trajectory_id"].to_pylist()}
    seen: set[str] = set()
    for comparison in ruled.comparisons.cohorts:
        for each in (*_of_modes(comparison, paired), *_of_decision(comparison, ruled, paired)):
            if each.trajectory_id in known and each.trajectory_id not in seen:
                seen.add(each.trajectory_id)
                yield each


def _of_modes(comparison: Comparison, paired: PairedRuns) -> Iterator[RunAtStep]:
    for mode in comparison.failure_modes:
        if mode.trajectory_id is not None and (mode.is_new or (mode.rose and mode.is_sure)):
            rows = _rows(paired, FAILURES.name, mode.trajectory_id)
            row = next((row for row in rows if row["mode"] == mode.mode), None)
            yield _at_step(f"shows {words.mode(mode.mode)}", mode.trajectory_id, row)


def _of_decision(
    comparison: Comparison, ruled: RuledComparison, paired: PairedRuns
) -> Iterator[RunAtStep]:
    found, rule = ruled.comparisons, ruled.release_rule
    for example in decision_view(comparison, found, rule).examples:
        if example.step_index is not None:
            yield RunAtStep(*example)
            continue
        rows = _rows(paired, RUN_REASONS.name, example.trajectory_id)
        row = next((row for row in rows if row["rank_in_run"] == 1), None)
        yield _at_step(example.sentence, example.trajectory_id, row)


def _rows(paired: PairedRuns, name: str, trajectory_id: str) -> list[ResultRow]:
    """Return the rows of a run of the candidate in a table."""
    (rows,) = (found for table, found in paired.candidate_rows.items() if table.name == name)
    return [row for row in rows.to_pylist() if row["trajectory_id"] == trajectory_id]


def _at_step(sentence: str, trajectory_id: str, row: ResultRow | None) -> RunAtStep:
    """Return a run with the step that a row names, if it names one."""
    if row is None:
        return RunAtStep(sentence, trajectory_id, None)
    return RunAtStep(sentence, row["step_trajectory_id"] or trajectory_id, row["step_index"])


def _lines(step: StepView, shows_it: int | None) -> Iterator[str]:
    facts = "; ".join(step.facts)
    mark = "→" if step.index == shows_it else " "
    head = " ".join(filter(None, (f"{mark}{step.index:>4}", step.kind, step.title)))
    yield f"{head}{': ' if facts else ''}{facts}"
    yield from (f"      ✗ {finding}" for finding in step.marks)
    for text in step.texts:
        title = f"{text.title}: " if text.title else ""
        shown = words.clip(visible_text(text.text), MOST_CHARACTERS)
        yield from (f"      {line}" for line in f"{title}{shown}".split("\n"))
