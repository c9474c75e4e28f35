"""A report in text: on a terminal, and as Markdown for a pull request or a wiki."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.decision.texts import blocks_of, decision_width
from tracegrade_scoring.compare.differences import change_sentence
from tracegrade_scoring.compare.view import CohortView
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import (
    MARKDOWN,
    TERMINAL,
    Advice,
    Brief,
    Briefs,
    Bullets,
    Grid,
    GridColumn,
    Own,
    Part,
    Remark,
    Sentence,
    TextBlock,
    Title,
    columns,
)
from tracegrade_scoring.rendering.evidence import spelled_out
from tracegrade_scoring.rendering.markdown import write_markdown
from tracegrade_scoring.rendering.markup import code
from tracegrade_scoring.rendering.screen import section
from tracegrade_scoring.rendering.terminal import write_terminal
from tracegrade_scoring.report.attempts_view import CURVE_TITLE
from tracegrade_scoring.report.findings import expected, findings, picked, why
from tracegrade_scoring.report.kills_view import KILL_HEADINGS
from tracegrade_scoring.report.missing import missing
from tracegrade_scoring.report.model import Release, Report
from tracegrade_scoring.report.parts import more_rows, parts_of
from tracegrade_scoring.report.reasons_view import REASON_HEADINGS
from tracegrade_scoring.report.rules import rule_sentences
from tracegrade_scoring.report.score_table import score_lines, score_tables
from tracegrade_scoring.report.scorecard import CARD_HEADINGS, card_row
from tracegrade_scoring.report.standing import selection_sentence, standing
from tracegrade_scoring.report.view import MODE_HEADINGS, AgentView, agent_views, release_label

EVIDENCE_ROWS = 12
"""Rows of evidence for each release on a terminal; the HTML report has them all."""
MARKDOWN_ROWS = 50
"""The same limit in Markdown."""
TABLE_ROWS = 40
"""Rows of estimates, categories and tasks on a terminal."""


def render_terminal(report: Report, *, width: int, color: bool) -> str:
    """Return the report as text, at most `width` columns wide, with colors or plain."""
    return write_terminal(_blocks(report), width=width, color=color)


def render_short(report: Report, details: str, *, width: int, color: bool) -> str:
    """Return the decision on each agent's newest release as text, and the command for the rest.

    An agent of one release has its scores there.

    Args:
        report: What to show.
        details: The command.
        width: Columns of the screen.
        color: Whether escapes may choose colors.
    """
    return write_terminal(_short_blocks(report, details), width=decision_width(width), color=color)


def render_short_markdown(report: Report, details: str) -> str:
    """Return the same as GitHub-flavored Markdown."""
    return write_markdown(_short_blocks(report, details))


def render_markdown(report: Report) -> str:
    """Return the report as GitHub-flavored Markdown."""
    return write_markdown(_blocks(report))


def _short_blocks(report: Report, details: str) -> Iterator[TextBlock]:
    yield from _head(report)
    agents = agent_views(report)
    for agent in agents:
        yield Part(agent.name)
        if agent.decision:
            yield from blocks_of(agent.decision, *agent.labels[-2:])
            continue
        yield Sentence(agent.answer, "strong")
        yield from _cards(agent)
        yield Bullets("Main findings", [*map(spelled_out, findings(agent))])
        yield _scores(agent)
    if not any(agent.decision for agent in agents):
        yield from (Advice(fact, commands) for fact, commands in missing(report))
    yield Sentence(f"All of it: {details}")


def _head(report: Report) -> Iterator[TextBlock]:
    yield Title([report.lake], "Agent report: ", f"Report on {visible(report.lake)}")
    if selection := selection_sentence(report):
        yield Sentence(selection)
    yield from (Sentence(sentence, "warning") for sentence in standing(report))
    yield from map(Sentence, rule_sentences(report))


def _blocks(report: Report) -> Iterator[TextBlock]:
    yield from _head(report)
    for agent in agent_views(report):
        yield from _agent(agent)
    yield from (Advice(fact, commands) for fact, commands in missing(report))


def _agent(agent: AgentView) -> Iterator[TextBlock]:
    yield Part(agent.name)
    if agent.decision:
        yield from blocks_of(agent.decision, *agent.labels[-2:])
    yield Sentence(agent.answer, "strong")
    yield Bullets("", ())
    if agent.change:
        yield from _change(agent.change)
    yield from _cards(agent)
    yield Bullets("Main findings", [*map(spelled_out, findings(agent))])
    yield _scores(agent)
    if agent.change_note:
        yield Bullets("", [agent.change_note])
    yield Grid(
        "Reliability over repeated attempts",
        [
            *(GridColumn("release", name=True), GridColumn("k", ours=True)),
            GridColumn("at least one of k succeeds", "one of k succeeds", ours=True),
            *columns("all k succeed", "from", names=0, ours=True),
        ],
        [
            (row.release, str(row.k), row.at_least_one, row.every_one, row.basis)
            for row in agent.passes
        ],
        (),
    )
    if agent.pass_notes:
        yield Bullets("", agent.pass_notes)
    yield from _reasons(agent)
    yield from _breakdown(agent)
    yield from _modes(agent)
    yield from _kills(agent)
    for release in agent.releases:
        yield from _evidence(release)
    yield Own(score_lines("More metrics", agent, agent.more_rows))
    yield Bullets("Small samples", agent.cautions)
    yield from _unmeasured(agent)
    if agent.more_rows:
        more = words.count(len(agent.more_rows), "more metric")
        yield Own(terminal=lambda _: [Text(f"{more}: --format html", style="dim")])


def _change(change: CohortView) -> Iterator[TextBlock]:
    """Yield what is surely better and worse, and what broke."""
    yield Bullets("Better, beyond chance", [*map(change_sentence, change.better)])
    yield Bullets("Worse, beyond chance", [*map(change_sentence, change.worse)])
    broke = [*map(spelled_out, change.broke)] or [change.nothing_broke]
    yield Bullets("What broke", broke)
    yield Bullets("Also", [*map(spelled_out, change.also)])


def _scores(agent: AgentView) -> Own:
    return Own(score_lines("Scores", agent, agent.rows), lambda width: score_tables(agent, width))


def _cards(agent: AgentView) -> Iterator[TextBlock]:
    """Yield scores and axes; a terminal has remarks below them."""
    rows = [card_row(found) for found in agent.cards]
    yield Grid("Readiness", columns(*CARD_HEADINGS), rows, only={MARKDOWN})
    *known, tier, note = range(len(CARD_HEADINGS))
    valued = [index for index in known if {row[index] for row in rows} != {words.NOTHING}]
    remarks = ["; ".join(filter(None, (row[tier], row[note]))) for row in rows]
    if len(rows) > 1:
        named = zip(agent.cards, remarks, strict=True)
        remarks = [f"{found.release}: {sentence}" for found, sentence in named]
    shown = [[row[index] for index in valued] for row in rows]
    headings = columns(*(CARD_HEADINGS[index] for index in valued))
    yield Grid("Readiness", headings, shown, (), {TERMINAL}, remarks=remarks, gap=2)


def _reasons(agent: AgentView) -> Iterator[TextBlock]:
    """Yield why runs failed; on a terminal, of each release, the reasons of most runs."""
    rows, shown = agent.reasons, _first_of_each(agent.reasons)
    title = "Why runs failed"
    yield Grid(title, columns(*REASON_HEADINGS), [row.cells for row in rows], only={MARKDOWN})
    briefs = [
        Brief((row.release, row.runs), row.why, below="; ".join(
            filter(None, (row.sentence, f"first in {_short(row.example)}"))))
        for row in shown
    ]  # fmt: skip
    yield Briefs(title, briefs, more_rows(len(rows), len(shown), len(rows)))


def _modes(agent: AgentView) -> Iterator[TextBlock]:
    title = "Failure modes"
    cells = [row.cells for row in agent.modes]
    yield Grid(title, columns(*MODE_HEADINGS), cells, only={MARKDOWN})
    briefs = [
        Brief((row.release, row.rate), row.mode, f"{row.runs}, first {_short(row.example)}",
              row.detail)
        for row in agent.modes
    ]  # fmt: skip
    yield Briefs(title, briefs)
    yield Remark(agent.mode_note)


def _kills(agent: AgentView) -> Iterator[TextBlock]:
    """Yield the kills; on a terminal, of each release, the worst."""
    shown = _first_of_each(agent.kills)
    heads = [GridColumn(each, name=each in {"release", "task", "judge"}) for each in KILL_HEADINGS]
    yield Grid("Killed on purpose", heads, [row.cells for row in agent.kills], only={MARKDOWN})
    briefs = [
        Brief((row.release, row.after_recovery), row.killed,
              f"task {row.task}, by {row.judge}, {row.at_once} at once", row.evidence)
        for row in shown
    ]  # fmt: skip
    total = sum(release.kill_rows for release in agent.releases)
    yield Briefs("Killed on purpose", briefs, more_rows(total, len(shown), len(agent.kills)))


def _first_of_each(rows: Iterable[Any]) -> list[Any]:
    """Return the first rows of each release."""
    by_release = groupby(rows, key=lambda row: row.release)
    return [row for _, found in by_release for row in [*found][:EVIDENCE_ROWS]]


def _short(example: str) -> str:
    run, comma, step = example.partition(", ")
    return f"{words.run(run)}{comma}{step}"


def _breakdown(agent: AgentView) -> Iterator[TextBlock]:
    """Yield reliability by k, and success by category, task, turn and conversation."""
    yield Own(terminal=lambda _: section(CURVE_TITLE, _curves(agent)))
    for found in agent.estimates:
        rest = more_rows(len(found.rows), TABLE_ROWS, len(found.rows))
        first, *others = found.headings
        heads = [*columns(first), *(GridColumn(each, titled=True) for each in others)]
        yield Grid(found.title, heads, found.rows, (), most=TABLE_ROWS, rest=rest)
    curves = [line for label, lines in agent.curve
              for line in ("", code(label), "", "```text", *lines, "```")]  # fmt: skip
    yield Own(["", f"### {CURVE_TITLE}", *curves] if curves else [])
    for part in parts_of(agent):
        heads = columns(*part.headings, names=part.names, ours=True)
        yield from _first(part.title, heads, part.rows, part.total)


def _first(
    title: str, heads: Sequence[GridColumn], rows: Sequence[Sequence[str]], total: int
) -> Iterator[TextBlock]:
    """Yield the first rows of a table, and how many more there are."""
    rest = [more_rows(total, min(len(rows), most), len(rows))
            for most in (TABLE_ROWS, MARKDOWN_ROWS)]  # fmt: skip
    yield Grid(title, heads, rows, (), {TERMINAL}, most=TABLE_ROWS, rest=rest[0])
    yield Grid(title, heads, rows[:MARKDOWN_ROWS], only={MARKDOWN})
    if rest[1]:
        yield Sentence(rest[1], only={MARKDOWN})


def _curves(agent: AgentView) -> RenderableType | None:
    curves = [Text("\n".join((label, *lines))) for label, lines in agent.curve]
    return Group(*curves) if curves else None


def _evidence(release: Release) -> Iterator[TextBlock]:
    yield from _decisions(release)
    label = release_label(release)
    goals = [
        (words.name(goal.task_id), words.name(goal.sub_goal),
         f"{goal.skipped:,} of {words.count(goal.attempts, 'run')}",
         words.name(goal.trajectory_id))
        for goal in release.skipped_critical
    ]  # fmt: skip
    example = GridColumn("example", name=True, run=True)
    heads = [*columns("task", "sub-goal", names=2), GridColumn("skipped in"), example]
    yield from _proof("Critical sub-goals skipped", label, heads, goals)
    replans = [
        (words.name(row.task_id), *map(words.number, (row.planned_runs, row.failures,
                                                       row.answered, row.replans)))
        for row in release.eventful_replanning
    ]  # fmt: skip
    failed = GridColumn("failed calls", "failed calls in them")
    heads = [
        *columns("task", "runs with a plan"),
        failed,
        *columns("replanned at once", "replans", names=0),
    ]
    yield from _proof("Failures and replans", label, heads, replans)


def _proof(
    title: str, label: str, heads: Sequence[GridColumn], rows: Sequence[Sequence[str]]
) -> Iterator[TextBlock]:
    """Yield the first rows of what a release shows; a terminal says how many more there are."""
    rest = more_rows(len(rows), EVIDENCE_ROWS, len(rows))
    yield Grid(title, heads, rows, (), {TERMINAL}, label, most=EVIDENCE_ROWS, rest=rest)
    yield Grid(title, heads, rows[:MARKDOWN_ROWS], only={MARKDOWN}, of=label)


def _decisions(release: Release) -> Iterator[TextBlock]:
    title, label, found = "Wrong decisions", release_label(release), release.wrong_decisions
    briefs = []
    for row in found[:EVIDENCE_ROWS]:
        instead = f", expected {expected(row)}" if row.expected_tool else ""
        names = (words.name(row.task_id), words.name(row.decision, ""))
        origin = "task " + " / ".join(filter(None, names)) if row.task_id else "no task"
        briefs.append(Brief([f"{row.times:,}\u00d7"], f"{picked(row)}{instead}", origin, why(row)))
    rest = more_rows(release.wrong_decision_rows, EVIDENCE_ROWS, len(found))
    yield Briefs(title, briefs, rest, label, gap=1)
    rows = [
        (words.name(row.task_id), words.name(row.decision), picked(row), expected(row), why(row),
         words.number(row.times))
        for row in found[:MARKDOWN_ROWS]
    ]  # fmt: skip
    heads = columns("task", "decision", "picked", "expected", "why", "times", names=4)
    yield Grid(title, heads, rows, only={MARKDOWN}, of=label)


def _unmeasured(agent: AgentView) -> Iterator[TextBlock]:
    title, rows = "Not scored, and why", agent.unmeasured
    remarks = ((f"{row.runs}: {row.why} ({row.some_metrics})", row.remedy) for row in rows)
    yield Bullets(title, ["; ".join(filter(None, row)) for row in remarks], {TERMINAL})
    heads = [*columns("runs", "why", "what to do", names=0), GridColumn("metrics", ours=True)]
    cells = [(row.runs, row.why, row.remedy, row.some_metrics) for row in rows]
    yield Grid(title, heads, cells, only={MARKDOWN})
