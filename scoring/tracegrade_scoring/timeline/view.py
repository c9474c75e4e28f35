"""A run as a reader sees it: facts, steps and what was found in them, as text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from tracegrade.terminal.visible import visible_text
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import StepText, StepView
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.run_states import end_of_running, end_of_silence
from tracegrade_scoring.timeline.model import (
    Mark,
    RunScore,
    RunSubGoal,
    Step,
    Timeline,
    TimelineRun,
)
from tracegrade_scoring.timeline.unknown_outcome import NO_ATTEMPT, unknown_outcome
from tracegrade_scoring.timeline.verdict_sentences import success_sentences, verdict_rows

FAILED_CALL: Final = "failed_call"
FAILED_BY: Final = {
    "status": "the call failed",
    "result": "the call failed (by its result)",
    "error_pattern": "the call failed (its result matches the tool's error pattern)",
}
OUTCOMES: Final = {
    "recovered": "and was recovered by a later call",
    "retried": "and succeeded when repeated",
    "lost": "and was not recovered within five calls",
    "": "and its recovery is unknown",
}
OF_VERDICTS: Final = ("human", "verifier", "evaluation", "judge")
"""Sources of success that are verdicts."""
JUDGED_BY: Final = {"a": "tool", "b": "arguments", "c": "whether a better tool was offered"}
"""The object of each criterion of tool selection."""
NOT_KNOWN: Final = "Not known whether it succeeded:"
AS_RETURNED: Final = "as returned"
"""In place of what the agent saw of a call, where that is what the call returned."""
LOOSE_TITLE: Final = "Found in the run as a whole"
SUB_AGENTS_TITLE: Final = "Found at steps of its sub-agents"
UNTIMED: Final = "synthetic_time"
"""Flag of a step whose time was synthesized."""
FLAGS: Final = {
    "dropped_attributes": "attributes dropped by the exporter",
    "invalid_unicode": "U+FFFD replaces invalid Unicode",
    "large_integer": "an integer beyond 64 bits is stored as digits",
    "redacted": "redacted",
    "result_redacted": "result redacted",
    "result_truncated": "result cut by the sender",
    "salvaged": "salvaged from cut text",
    UNTIMED: "no time was recorded",
    "truncated": "arguments cut by the sender",
    "unparsed_arguments": "arguments are not JSON",
}
"""The meaning of a flag of a step."""
RUN_FLAGS: Final = {
    "unrecorded_calls": "tool calls were made, or may have been, that were not recorded",
    "dropped_attributes": "the exporter dropped attributes",
    "retried": "it was restarted after errors",
}
"""The meaning of a flag of a run."""


class SubAgentMark(NamedTuple):
    """A finding at a step of a sub-agent."""

    trajectory_id: str
    """The sub-agent's run."""
    step_index: int
    agent: str
    sentence: str

    @property
    def line(self) -> str:
        """Return it with whose step it is."""
        return f"{self.agent}, run {words.run(self.trajectory_id)}, step {self.step_index}: " + (
            self.sentence
        )


@dataclass(frozen=True)
class TimelineView:
    """One run in words."""

    title: str
    headline: str
    """Why it failed, or what else went wrong; '' if nothing did."""
    facts: tuple[tuple[str, str], ...]
    """Name and value."""
    request: str
    answer: str
    steps: tuple[StepView, ...]
    more_steps: int
    """Steps that are not shown."""
    loose_marks: tuple[str, ...]
    """Marks that belong to no step, as calls that were not made."""
    sub_agent_marks: tuple[SubAgentMark, ...]
    """Marks at steps of its sub-agents."""
    scores: tuple[tuple[str, str, str], ...]
    """Metric, value, and what it was counted from; what could not be measured, and why."""
    unscored: tuple[str, ...]
    """For each reason, the metrics that do not apply."""
    sub_goals: tuple[tuple[str, str, str], ...]
    """Sub-goal, critical or '', and how far it got."""
    verdicts: tuple[tuple[str, str, str], ...]
    """Subject, content and source of each verdict on a part of the run."""
    children: tuple[str, ...]


def timeline_view(timeline: Timeline) -> TimelineView:
    """Return a run in words."""
    run = timeline.run
    span = _span_ms(timeline)
    results: dict[int | None, str | None] = {
        step.step_index: step.result or step.error for step in timeline.steps
    }
    return TimelineView(
        title=words.name(run.agent_name, "(no agent name)"),
        headline=_headline(timeline),
        facts=tuple(_facts(timeline)),
        request=visible_text(run.user_input or ""),
        answer=visible_text(run.final_answer or ""),
        steps=tuple(_step(timeline, step, span, results) for step in timeline.steps),
        more_steps=timeline.total_steps - len(timeline.steps),
        loose_marks=tuple(map(mark_sentence, timeline.marks_at(None))),
        sub_agent_marks=tuple(map(_sub_agent_mark, timeline.marks_of_sub_agents())),
        scores=tuple(_scores(timeline)),
        unscored=tuple(_unscored(timeline)),
        sub_goals=tuple(map(_sub_goal, timeline.sub_goals)),
        verdicts=tuple(verdict_rows(timeline.verdicts, timeline.total_verdicts)),
        children=tuple(map(words.name, run.children)),
    )


def failed_steps(view: TimelineView) -> frozenset[int]:
    """Return the indexes of the steps that failed."""
    return frozenset(step.index for step in view.steps if step.failed)


def _headline(timeline: Timeline) -> str:
    """Return the first two reasons of different kinds, behind how the run came out."""
    lead = headline_lead(timeline)
    sentence = "; ".join(words.line(reason.sentence) for reason in timeline.headline)
    if lead and not sentence and (unknown := unknown_outcome(timeline)):
        return f"{lead} {unknown.missing}"
    return f"{lead} {sentence}" if lead else ""


def headline_lead(timeline: Timeline) -> str:
    """Return the outcome of the run, as shown before its reasons.

    It is '' if nothing went wrong, unless nobody knows whether the run succeeded.
    """
    success = timeline.score("success")
    if unknown_outcome(timeline):
        return NOT_KNOWN
    if not timeline.headline or success is None:
        return ""
    if success.value is None:
        return NOT_KNOWN
    return "Succeeded, but:" if success.value else "Failed:"


def mark_sentence(mark: Mark) -> str:
    """Return what was found at a step, in one sentence."""
    if mark.what == FAILED_CALL:
        by, then = FAILED_BY.get(mark.name or ""), OUTCOMES.get(mark.detail or "", "")
        return f"{by or 'the call failed'} {then}"
    if mark.what not in {"wrong_decision", "missed_decision"}:
        return _mode_sentence(mark)
    if mark.what == "missed_decision":
        at = f" at the decision {words.name(mark.name)}" if mark.name else ""
        return f"never called {words.name(mark.expected_tool)}{at}"
    where = f" ({words.name(mark.name)})" if mark.name else ""
    failed = "; ".join(words.CRITERIA.get(criterion, criterion) for criterion in mark.criteria)
    why = words.line(mark.detail) if mark.detail else failed or "no reason was recorded"
    wrong = "wrong arguments" if mark.criteria == ["b"] else "wrong decision"
    return f"{wrong}{where}: {why}"


def _mode_sentence(mark: Mark) -> str:
    """Return what shows a failure mode, as the reasons of runs say it, then its name."""
    if not mark.detail:
        return f"failure mode {words.mode(mark.what)}"
    verb = "called " if mark.what == "loop_trap" else ""
    return f"{verb}{words.line(mark.detail.replace('`', ''))} ({words.mode(mark.what)})"


def _sub_agent_mark(mark: Mark) -> SubAgentMark:
    agent = words.name(mark.step_agent, "a sub-agent")
    return SubAgentMark(
        mark.step_trajectory_id or "", mark.step_index or 0, agent, mark_sentence(mark)
    )


def _facts(timeline: Timeline) -> Iterator[tuple[str, str]]:
    run = timeline.run
    ending = timeline.score("termination")
    success = timeline.score("success")
    is_killed = success is not None and success.reason in NO_ATTEMPT
    unended = "" if is_killed else _unended(timeline, utc_now())
    found = (
        ("run", words.name(run.trajectory_id)),
        ("called by", words.name(run.parent_trajectory_id, "")),
        ("resumed by", words.name(run.continued_by, "")),
        ("resumes", ", ".join(map(words.name, run.continues))),
        ("release", words.name(run.release, "(no release)")),
        ("task", words.name(run.task_id, "unknown")),
        ("trial", "" if run.trial is None else str(run.trial)),
        ("mode", words.name(run.run_mode, "")),
        ("outcome", _outcome(timeline)),
        ("ended", "" if unended else words.name(ending and ending.label, "").replace("_", " ")),
        ("state", unended),
        ("steps", words.number(run.step_count)),
        ("tool calls", words.number(run.tool_call_count)),
        *_times(timeline),
        *_usage(run),
        ("note", "; ".join(_notes(run))),
    )
    return ((name, value) for name, value in found if value)


def _unended(timeline: Timeline, now: datetime) -> str:
    """Return a note on a run without an end; '' if it has one.

    A page may be read long after it was written, so the note contains the time of the last span.
    """
    run = timeline.run
    if run.complete or run.imported or run.last_received is None:
        return ""
    last = f"{run.last_received:%d %B %Y, %H:%M:%S} UTC"
    since = words.duration(max(0.0, (now - run.last_received).total_seconds() * 1_000))
    if now < end_of_running(run.last_received, _longest_gap(timeline.steps)):
        return f"running, its last span came {since} before this was written, on {last}"
    if now < end_of_silence(run.last_received):
        return f"no end yet, and no span for {since}, since {last}"
    return f"cut off: its end never came, and no span for {since}, since {last}"


def _longest_gap(steps: Sequence[Step]) -> timedelta:
    """Return the longest time between two of these steps, or from the start to the first."""
    timed = (
        (step.offset_ms or 0.0) + (step.duration_ms or 0.0)
        for step in steps
        if step.offset_ms is not None
    )
    moments = sorted([0.0, *timed])
    return timedelta(milliseconds=max((b - a for a, b in pairwise(moments)), default=0.0))


def _notes(run: TimelineRun) -> Iterator[str]:
    if not run.complete:
        yield "its root span has not arrived"
    if run.continued_by:
        yield "it counts as a part of the run that continues it"
    elif run.interrupted:
        yield "interrupted: it waits for an approval, an answer or a result"
    yield from (RUN_FLAGS[flag] for flag in run.flags if flag in RUN_FLAGS)


def _timed(timeline: Timeline) -> bool:
    """Return whether any step has a real time: an import may have had to synthesize them."""
    return not timeline.steps or any(UNTIMED not in step.flags for step in timeline.steps)


def _times(timeline: Timeline) -> Iterator[tuple[str, str]]:
    run, timed = timeline.run, _timed(timeline)
    if run.start_time:
        yield "started", f"{run.start_time:%d %B %Y, %H:%M:%S} UTC"
    if timed and run.duration_ms is not None:
        yield "took", words.duration(run.duration_ms)
    if not timed:
        yield "times", "its steps have none" if run.start_time else "none were recorded"


def _usage(run: TimelineRun) -> Iterator[tuple[str, str]]:
    if run.input_tokens is not None or run.output_tokens is not None:
        tokens = (words.number(run.input_tokens), words.number(run.output_tokens))
        yield "tokens", f"{tokens[0]} in, {tokens[1]} out"
    if run.cost_usd is not None:
        yield "cost", f"{run.cost_usd:.4f} USD"


def _outcome(timeline: Timeline) -> str:
    success = timeline.score("success")
    if success is None:
        return "not scored"
    if success.reason in NO_ATTEMPT:
        return words.reason(success.reason)
    if unknown := unknown_outcome(timeline):
        return f"unknown: {unknown.missing}"
    if success.value is None:
        return f"unknown: {words.reason(success.reason)}"
    sentence = "succeeded" if success.value else "failed"
    if success.source in OF_VERDICTS and (given := success_sentences(timeline.verdicts)):
        return f"{sentence}; {'; '.join(given)}"
    return f"{sentence} ({words.name(success.source)})" if success.source else sentence


def _span_ms(timeline: Timeline) -> float:
    """Return how long the shown steps took; 0 if no step has a time."""
    ends = [
        step.offset_ms + max(step.duration_ms or 0.0, 0.0)
        for step in timeline.steps
        if step.offset_ms is not None and UNTIMED not in step.flags
    ]
    return max(ends, default=0.0)


def _step(
    timeline: Timeline, step: Step, span: float, results: Mapping[int | None, str | None]
) -> StepView:
    start = max(step.offset_ms or 0.0, 0.0)
    length = max(step.duration_ms or 0.0, 0.0)
    timed = UNTIMED not in step.flags
    return StepView(
        index=step.step_index,
        kind=words.name(step.kind).replace("_", " "),
        title=words.name(step.tool_name or step.role or step.agent_name, ""),
        failed=step.status in {"error", "not_executed"}
        or any(mark.what == FAILED_CALL for mark in timeline.marks_at(step.step_index)),
        facts=tuple(_step_facts(step, timed=_timed(timeline), named=timeline.has_several_agents)),
        texts=tuple(_texts(step, results.get(step.call_step))),
        marks=tuple(map(mark_sentence, timeline.marks_at(step.step_index))),
        offset=f"+{words.duration(start)}" if timed and step.offset_ms is not None else "",
        duration=words.duration(length) if timed and step.duration_ms is not None else "",
        start_share=round(100 * min(start / span, 1.0), 2) if span else 0.0,
        width_share=round(100 * min(length / span, 1.0), 2) if span else 0.0,
    )


def _step_facts(step: Step, *, timed: bool, named: bool) -> Iterator[str]:
    """Yield the facts of a step.

    Args:
        step: The step.
        timed: Other steps have times, so that a missing one counts.
        named: Steps are of several agents, so that it counts whose this one is.
    """
    if named and step.agent_name:
        yield f"by {words.name(step.agent_name)}"
    if step.status and step.status != "ok":
        yield words.name(step.status).replace("_", " ")
    if step.error:
        yield words.line(step.error)
    if step.effect:
        yield words.name(step.effect)
    if step.sub_goal:
        yield f"serves {words.name(step.sub_goal)}"
    if step.decision:
        yield f"decision {words.name(step.decision)}"
    if step.input_tokens is not None or step.output_tokens is not None:
        yield f"{words.number(step.input_tokens)} + {words.number(step.output_tokens)} tokens"
    flags = [flag for flag in step.flags if timed or flag != UNTIMED]
    yield from (FLAGS.get(flag, words.name(flag).replace("_", " ")) for flag in flags)


def _texts(step: Step, returned: str | None) -> Iterator[StepText]:
    """Yield the texts of a step. `returned`: what the call returned that this step observes."""
    if step.kind == "observation" and returned == (step.content or step.result):
        yield StepText("", AS_RETURNED)
        return
    for title, text in (("arguments", step.arguments), ("result", step.result)):
        if text:
            yield StepText(title, _cut(step, text))
    if step.content:
        yield StepText("", _cut(step, step.content))


def _cut(step: Step, text: str) -> str:
    """Return a text as shown, marked where it was cut."""
    whole = len(text) == step.longest or len(text) < _longest_stored(step)
    end = f"\n… cut here; the longest text of this step has {step.longest:,} characters"
    return visible_text(text) + ("" if whole else end)


def _longest_stored(step: Step) -> int:
    """Return the length of the longest text as it was read."""
    return max(len(text or "") for text in (step.arguments, step.result, step.content))


def _scores(timeline: Timeline) -> Iterator[tuple[str, str, str]]:
    by_name = {score.metric: score for score in timeline.scores}
    for metric in (*main_metrics(by_name), *more_metrics(by_name, timeline.own_metrics)):
        score = by_name[metric.name]
        if score.status == "scored":
            yield metric.label, *_value(score, metric)
        elif score.status == "error":
            yield metric.label, "error", words.reason(score.reason)


def _value(score: RunScore, metric: Metric) -> tuple[str, str]:
    """Return a score's value and what it was counted from; a score of one run may be yes or no."""
    label = words.name(score.label, "") if score.label else ""
    if score.metric == "tsa" and label:
        label = f"judged by {', '.join(JUDGED_BY.get(each, each) for each in label.split(', '))}"
    if metric.unit == "runs":
        return "yes" if score.value else "no", label
    counts = words.ratio(score.numerator, score.denominator, metric)
    value = words.amount(score.value, metric.scale)
    return value, "; ".join(filter(None, (counts, label)))


def _unscored(timeline: Timeline) -> Iterator[str]:
    """Yield each reason why metrics do not apply to the run, with these metrics."""
    by_name = {score.metric: score for score in timeline.scores}
    found: dict[str, list[str]] = {}
    for metric in (*main_metrics(by_name), *more_metrics(by_name, timeline.own_metrics)):
        score = by_name[metric.name]
        if score.status not in {"scored", "error"}:
            found.setdefault(words.reason(score.reason), []).append(metric.label)
    for why, metrics in found.items():
        yield f"{why}: {', '.join(metrics)}"


def _sub_goal(goal: RunSubGoal) -> tuple[str, str, str]:
    state = "completed" if goal.completed else "worked on, not completed"
    if goal.attempted is None:
        state = "unknown"
    elif not goal.attempted:
        state = "skipped"
    if goal.regressed:
        state += ", undone later"
    if goal.dependency_violation:
        state += ", before one of its prerequisites"
    return words.name(goal.sub_goal), "critical" if goal.critical else "", state
