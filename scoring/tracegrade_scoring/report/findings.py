"""The main findings of a report, one sentence each: the first things a reader should know."""

from collections.abc import Iterator

from tracegrade.terminal.visible import visible
from tracegrade_scoring.metrics import FAILURE_MODES, Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.evidence import RunEvidence
from tracegrade_scoring.rendering.served_share import served_remarks
from tracegrade_scoring.report.model import Release, WrongDecision
from tracegrade_scoring.report.scorecard import late_ra_warning
from tracegrade_scoring.report.view import AgentView, release_label

NEAR_ZERO_SHARE = 0.05
"""At most this share of failures answered by a replan counts as hardly any."""


def findings(agent: AgentView) -> list[RunEvidence]:
    """Return what stands out in each release of an agent, at most one sentence per kind."""
    if len(agent.releases) == 1:
        return [
            found._replace(sentence=found.sentence[0].upper() + found.sentence[1:])
            for found in _of_release(agent.releases[0])
        ]
    return [
        found._replace(sentence=f"{release_label(release)}: {found.sentence}")
        for release in agent.releases
        for found in _of_release(release)
    ]


def picked(decision: WrongDecision) -> str:
    """Return what the agent did at a decision point."""
    if decision.missed:
        return "no call"
    tool = words.name(decision.picked_tool, "an unnamed tool")
    return f"{tool}, with wrong arguments" if has_wrong_arguments(decision) else tool


def has_wrong_arguments(decision: WrongDecision) -> bool:
    """Return whether the tool was right, and nothing but its arguments was wrong."""
    return decision.failed_criteria == ("b",)


def expected(decision: WrongDecision) -> str:
    """Return the tool the task expected there."""
    return words.name(decision.expected_tool)


def why(decision: WrongDecision) -> str:
    """Return why a decision was wrong: its own sentence, else the criteria that failed."""
    if decision.reason:
        return words.clip(visible(decision.reason), 400)
    if decision.missed:
        return "the task expects a call here and there was none"
    failed = [words.CRITERIA.get(criterion, criterion) for criterion in decision.failed_criteria]
    return visible("; ".join(failed)) or "no reason was recorded"


def _of_release(release: Release) -> Iterator[RunEvidence]:
    if warning := late_ra_warning(release):
        yield RunEvidence(warning)
    if release.wrong_decisions:
        yield _worst_decision(release.wrong_decisions[0])
    if release.skipped_critical:
        worst = max(release.skipped_critical, key=lambda goal: (goal.skipped, goal.attempts))
        yield RunEvidence(
            f"never worked on the critical sub-goal '{words.name(worst.sub_goal, '?')}' of task "
            f"'{words.name(worst.task_id, '?')}' in "
            f"{worst.skipped:,} of {words.count(worst.attempts, 'run')}",
            _known(worst.trajectory_id),
        )
    yield from _hardly_replans(release)
    yield from _made_up_tools(release)
    yield from _worst_mode(release)
    yield from _disputes(release)
    yield from map(RunEvidence, served_remarks(release.remarks.calls))
    yield from _fewer_tasks(release)


def _known(trajectory_id: str | None) -> tuple[str, ...]:
    return () if trajectory_id is None else (trajectory_id,)


def _worst_decision(decision: WrongDecision) -> RunEvidence:
    task = f"task '{words.name(decision.task_id)}'" if decision.task_id else "no task"
    where = f"decision '{words.name(decision.decision)}', {task}" if decision.decision else task
    if decision.missed:
        did = f"made no call where {expected(decision)} was expected"
    elif has_wrong_arguments(decision):
        did = f"called {picked(decision)}: {why(decision)}"
    else:
        did = f"picked {picked(decision)}" + (
            f" where {expected(decision)} was expected"
            if decision.expected_tool not in {None, decision.picked_tool}
            else " wrongly"
        )
    return RunEvidence(
        f"most frequent mistake: {did} ({where}), {words.count(decision.times, 'time')}",
        _known(decision.trajectory_id),
    )


def _hardly_replans(release: Release) -> Iterator[RunEvidence]:
    """Near-zero replanning is a finding only where failures occurred.

    Source: docs/metrics.md, section 4.6.
    """
    score = release.metrics.get("replan_given_failure")
    if score and score.value is not None and score.value <= NEAR_ZERO_SHARE and score.denominator:
        yield RunEvidence(
            f"hardly ever changed its plan after a failure: after "
            f"{words.number(score.numerator)} of {words.number(score.denominator)} failed calls"
        )


def _worst_mode(release: Release) -> Iterator[RunEvidence]:
    shown = [row for row in release.failure_modes if row.mode in FAILURE_MODES]
    if shown:
        worst = max(shown, key=lambda row: row.runs)
        yield RunEvidence(
            f"most frequent failure mode: {words.mode(worst.mode)}, in "
            f"{words.count(worst.runs, 'run')}",
            _known(worst.trajectory_id),
        )


def _made_up_tools(release: Release) -> Iterator[RunEvidence]:
    score = release.metrics.get("tool_allowed_rate")
    if score and score.value is not None and score.value < 1:
        share = words.amount(1 - score.value, Scale.SHARE)
        yield RunEvidence(f"called tools that it was not offered: {share} of calls")


def _disputes(release: Release) -> Iterator[RunEvidence]:
    """Yield disputed success: all verdicts of one rank must say yes (docs/metrics.md, 8.3)."""
    remarks = release.remarks
    of = [
        text
        for number, text in (
            (remarks.disputed, f"the success of {words.count(remarks.disputed, 'run')}"),
            (remarks.disputed_sub_goals, words.count(remarks.disputed_sub_goals, "sub-goal")),
        )
        if number
    ]
    if of:
        yield RunEvidence(
            f"verdicts disagree on {' and '.join(of)}: all must say yes, so these failed"
        )
    if remarks.people_differ:
        yield RunEvidence(
            f"people disagree on the success of {words.count(remarks.people_differ, 'run')}: most "
            "decide, and an even split leaves it unknown"
        )


def _fewer_tasks(release: Release) -> Iterator[RunEvidence]:
    """A release that crashes more must not look better for what is missing of it."""
    found = release.reliability
    if found and found.uncounted:
        yield RunEvidence(
            f"reliability and tier are without {words.count(found.uncounted, 'task')} that count "
            "for another release, for want of attempts; `--missing as-failure --trials N` counts "
            "what is missing as failed"
        )
