"""A report as Markdown, for a pull request or a wiki.

Names out of traces stand in code spans, where neither markup nor links work; sentences are
escaped. No HTML is written and none gets through.
"""

from collections.abc import Iterator, Sequence

from tracegrade_scoring.compare.differences import change_sentence
from tracegrade_scoring.compare.view import CohortView
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.evidence import spelled_out
from tracegrade_scoring.rendering.markup import bullets, code, codes, escape, table
from tracegrade_scoring.report.attempts_view import CURVE_TITLE
from tracegrade_scoring.report.findings import expected, findings, picked, why
from tracegrade_scoring.report.kills_view import KILL_HEADINGS, KillRow
from tracegrade_scoring.report.missing import missing
from tracegrade_scoring.report.model import Release, Report
from tracegrade_scoring.report.parts import more_rows, parts_of
from tracegrade_scoring.report.reasons_view import REASON_HEADINGS
from tracegrade_scoring.report.rules import rule_sentences
from tracegrade_scoring.report.scorecard import CARD_HEADINGS, card_row
from tracegrade_scoring.report.standing import selection_sentence, standing
from tracegrade_scoring.report.view import (
    MODE_HEADINGS,
    AgentView,
    Cell,
    MetricRow,
    agent_views,
    release_label,
)

EVIDENCE_ROWS = 50
"""Rows of evidence for each release; the HTML report has them all."""


def render_markdown(report: Report) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# Agent report: {code(report.lake)}"
    if asked := selection_sentence(report):
        yield from ("", escape(asked))
    for sentence in standing(report):
        yield from ("", f"**{escape(sentence)}**")
    for sentence in rule_sentences(report):
        yield from ("", escape(sentence))
    for agent in agent_views(report):
        yield from _agent_lines(agent)
    for fact, commands in missing(report):
        yield from ("", f"> {escape(fact)}", ">")
        yield from (f"> {code(command)}" for command in commands)


def _agent_lines(agent: AgentView) -> Iterator[str]:
    yield from ("", f"## {code(agent.name)}", "", f"**{escape(agent.answer)}**")
    if agent.change:
        yield from _change(agent.change)
    cards = [_first_as_code(card_row(found)) for found in agent.cards]
    yield from table("Readiness", CARD_HEADINGS, cards)
    yield from bullets("What stands out", list(map(spelled_out, findings(agent))))
    yield from table("Scores", _metric_headings(agent), map(_metric_cells, agent.rows))
    if agent.change_note:
        yield from ("", f"- {escape(agent.change_note)}")
    yield from table(
        "Reliability over repeated attempts",
        ("release", "k", "at least one of k succeeds", "all k succeed", "from"),
        [
            (code(row.release), str(row.k), row.at_least_one, row.every_one, row.basis)
            for row in agent.passes
        ],
    )  # fmt: skip
    if agent.pass_notes:
        yield from ("", *(f"- {escape(note)}" for note in agent.pass_notes))
    reasons = [_first_as_code(row.cells) for row in agent.reasons]
    yield from table("Why runs failed", REASON_HEADINGS, reasons)
    yield from _breakdown(agent)
    modes = [_first_as_code(row.cells) for row in agent.modes]
    yield from table("Failure modes", MODE_HEADINGS, modes)
    if agent.mode_note:
        yield from ("", escape(agent.mode_note))
    yield from table("Killed on purpose", KILL_HEADINGS, map(_kill_cells, agent.kills))
    for release in agent.releases:
        yield from _evidence(release)
    yield from table("More metrics", _metric_headings(agent), map(_metric_cells, agent.more_rows))
    yield from bullets("Small samples", agent.cautions)
    yield from table(
        "Not scored, and why",
        ("runs", "why", "what to do", "metrics"),
        [
            (escape(row.runs), escape(row.why), escape(row.remedy), row.some_metrics)
            for row in agent.unmeasured
        ],
    )


def _breakdown(agent: AgentView) -> Iterator[str]:
    """Yield reliability by k, and success by category, task, turn and conversation."""
    for found in agent.estimates:
        yield from table(found.title, found.headings, map(_first_as_code, found.rows))
    if agent.curve:
        yield from ("", f"### {CURVE_TITLE}")
    for label, lines in agent.curve:
        yield from ("", code(label), "", "```text", *lines, "```")
    for part in parts_of(agent):
        shown = part.rows[:EVIDENCE_ROWS]
        names = part.names
        yield from table(
            part.title,
            part.headings,
            [(*codes(*row[:names]), *row[names:]) for row in shown],
        )
        if more := more_rows(part.total, len(shown), len(part.rows)):
            yield from ("", escape(more))


def _kill_cells(row: KillRow) -> tuple[str, ...]:
    *names, killed, at_once, after, evidence, judge = row
    return (*codes(*names), escape(killed), at_once, after, escape(evidence), *codes(judge))


def _change(change: CohortView) -> Iterator[str]:
    """Yield what is surely better and worse, and what broke."""
    yield from bullets("Better, beyond chance", list(map(change_sentence, change.better)))
    yield from bullets("Worse, beyond chance", list(map(change_sentence, change.worse)))
    broke = list(map(spelled_out, change.broke)) or [change.nothing_broke]
    yield from bullets("What broke", broke)
    yield from bullets("Also", list(map(spelled_out, change.also)))


def _first_as_code(row: Sequence[str]) -> tuple[str, ...]:
    """Return a row whose first cell is a name, the others sentences."""
    first, *others = row
    return (code(first), *map(escape, others))


def _metric_headings(agent: AgentView) -> tuple[str, ...]:
    compared = (escape(agent.compared),) if agent.compared else ()
    return ("metric", *(code(label) for label in agent.labels), *compared)


def _metric_cells(row: MetricRow) -> tuple[str, ...]:
    cells = (escape(row.metric.label), *map(_cell, row.cells))
    if len(row.cells) == 1:
        return cells
    verdict = f" ({row.verdict})" if row.verdict else ""
    return (*cells, f"{row.difference}{verdict}")


def _cell(cell: Cell) -> str:
    interval = f"[{cell.interval}]" if cell.interval else ""
    details = ", ".join(part for part in (cell.counts, cell.scored) if part)
    return " ".join(
        filter(None, (f"**{cell.value}**", interval, f"({details})" if details else ""))
    )


def _evidence(release: Release) -> Iterator[str]:
    label = code(release_label(release))
    yield from table(
        f"Wrong decisions, {label}",
        ("task", "decision", "picked", "expected", "why", "times"),
        [
            (*codes(row.task_id, row.decision), code(picked(row)), code(expected(row)),
             escape(why(row)), words.number(row.times))
            for row in release.wrong_decisions[:EVIDENCE_ROWS]
        ],
    )  # fmt: skip
    yield from table(
        f"Critical sub-goals skipped, {label}",
        ("task", "sub-goal", "skipped in", "example"),
        [
            (*codes(goal.task_id, goal.sub_goal),
             f"{goal.skipped:,} of {words.count(goal.attempts, 'run')}",
             *codes(goal.trajectory_id))
            for goal in release.skipped_critical[:EVIDENCE_ROWS]
        ],
    )  # fmt: skip
    yield from table(
        f"Failures and replans, {label}",
        ("task", "runs with a plan", "failed calls", "replanned at once", "replans"),
        [
            (*codes(row.task_id), *map(words.number, (row.planned_runs, row.failures,
                                                       row.answered, row.replans)))
            for row in release.eventful_replanning[:EVIDENCE_ROWS]
        ],
    )  # fmt: skip
