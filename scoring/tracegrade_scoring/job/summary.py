"""Summarizes what a scoring run did: as lines for people, as JSON for programs."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tracegrade.terminal.visible import visible
from tracegrade_lake.out_files import out_file
from tracegrade_queries.costs.pricing import Costs
from tracegrade_scoring.dimensions.summary import dimension_lines
from tracegrade_scoring.errors import SummaryNotWritten
from tracegrade_scoring.job.counts import CallCounts, Counts
from tracegrade_scoring.job.discovery import Waiting
from tracegrade_scoring.job.replaced import Removal
from tracegrade_scoring.job.run_scoring import ScoreSummary
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.reasons import reason_of
from tracegrade_scoring.schema import SCORER_VERSION

MAX_IDLE_NAMED: Final = 5
"""Tasks without attempts that are named; more are only counted."""

MAX_TRACES_NAMED: Final = 5
"""Traces named that made scoring fail."""

MAX_METRICS_NAMED: Final = 3
"""Metrics named for each reason; more are only counted, and the JSON has them all."""

MAX_SCORED_NAMED: Final = 8
"""Metrics named that have a value for the same number of trajectories; more are only counted."""

MAX_SCOPES_NAMED: Final = 3
"""Scopes named whose traces gave no trajectory; more are only counted, the JSON has them all."""

_STATUSES: Final = ("scored", "not_applicable", "error")


def summary_lines(done: ScoreSummary, *, why: bool = False) -> Iterator[str]:
    """Yield lines on what was scored, how tasks were found, and which metrics have no value.

    Args:
        done: What the run did.
        why: Say of metrics with nothing to measure why that is so; else one line counts them.
    """
    yield from _build_lines(done)
    yield from fault_lines(done)
    verb = "would score" if done.dry_run else "scored"
    yield f"{verb} {done.trajectories:,} trajectories of {done.traces:,} traces"
    yield from _resumed_lines(done.earlier_parts)
    yield from _waiting_lines(done.waiting)
    yield from _specification_lines(done)
    yield from dimension_lines(done.labeling, done.mixed_releases, done.crowded_agents)
    yield from _unread_lines(done.unread)
    yield from _unread_log_lines(done.unread_logs)
    yield from _apart_lines(done.apart)
    yield from _fragment_lines(done)
    yield from _copy_lines(done.copies)
    yield from _task_lines(done.counts)
    yield from _call_lines(done.counts.calls)
    yield from _served_lines(done.counts.served_verdicts)
    yield from _redacted_lines(done.counts.redacted)
    yield from _cost_lines(done.costs)
    yield from _score_lines(done.counts.statuses, why=why)
    yield from _removal_lines(done.removal)


def _build_lines(done: ScoreSummary) -> Iterator[str]:
    """Yield what a dry run would build before it scores."""
    if done.builds_again:
        yield (
            f"would build every trace again, from {done.new_spans:,} spans, and score the runs "
            "that this changes; apart from these:"
        )
    elif done.dry_run:
        yield f"would build steps from {done.new_spans:,} new spans; of those already built:"


def fault_lines(done: ScoreSummary) -> Iterator[str]:
    """Yield which traces, and which metrics of users' own, failed or were not run, and why."""
    for trace, reason in list(done.failed_traces.items())[:MAX_TRACES_NAMED]:
        yield f"trace {trace} made scoring fail and has no scores: {visible(reason)}"
    if len(done.failed_traces) > MAX_TRACES_NAMED:
        yield f"in all {len(done.failed_traces):,} traces failed; see `tracegrade lake status`"
    for name, why in done.failed_metrics.items():
        yield f"metric {name} failed, all others are scored: {visible(why)}"
    for name, rows in done.unmatched_rows.items():
        yield (
            f"rows of metric {name} that name no attempt and are ignored: {rows:,}; attempt_id "
            "must be one of those in attempts"
        )
    idle = [metric.name for metric in done.specification.metrics if not metric.runs]
    if idle:
        yield (
            f"metrics that the lake keeps and that were not run: {', '.join(idle)}; give them "
            "with --metrics, or run the text that the lake keeps with --trust-kept-metrics"
        )
    if done.removal.fault:
        yield (
            "files that earlier runs replaced, or old entries of logs, were not all removed: "
            f"{done.removal.fault}"
        )


def _removal_lines(removal: Removal) -> Iterator[str]:
    """Yield how many files were removed that earlier runs had replaced."""
    files, size = removal.removed
    if files:
        replaced = words.count(files, "file")
        yield f"removed {replaced} that earlier runs replaced, {size / 1e6:.1f} MB"


def _resumed_lines(earlier_parts: int) -> Iterator[str]:
    """Yield how many trajectories are counted as a part of a later one."""
    if earlier_parts:
        verb = "is" if earlier_parts == 1 else "are"
        yield (
            f"  {earlier_parts:,} of them {verb} the earlier part of a run that was resumed, "
            "which counts once"
        )


def _waiting_lines(waiting: Waiting) -> Iterator[str]:
    """Yield how many traces wait for their root, and until when."""
    if waiting.until_ns is not None:
        yield words.waiting(waiting.traces, "trace", waiting.until_ns)


def _specification_lines(done: ScoreSummary) -> Iterator[str]:
    """Yield which tasks are in force and who gave them, and what lost its task for that."""
    tasks, tools = len(done.specification.tasks), len(done.specification.tools)
    counts = f"{words.count(tasks, 'task')} and {words.count(tools, 'tool')}"
    if not tasks and not tools:
        yield "task files in force: none"
    elif done.tasks_stored:
        yield (
            f"task files in force: those given last ({counts}), which the lake keeps; "
            "--tasks replaces them, --forget-tasks drops them"
        )
    else:
        yield f"task files in force: those given now ({counts}), kept for later runs"
    options = done.specification.tool_correctness.model_dump(exclude_defaults=True)
    if options:
        named = ", ".join(f"{name} {value}" for name, value in options.items())
        yield f"tool correctness in force: {named}"
    if done.without_task:
        verb = "would lose" if done.dry_run else "lost"
        yield (
            f"  {done.without_task:,} trajectories {verb} the scores of a task that no task file "
            "in force describes; give all task files together with --tasks"
        )


def _score_lines(
    statuses: Mapping[str, Mapping[tuple[str, str | None], int]], *, why: bool
) -> Iterator[str]:
    """Yield which metrics have a value, then for each reason which ones have none."""
    found: dict[tuple[str, str | None], dict[str, int]] = {}
    for metric, counts in statuses.items():
        for outcome, count in counts.items():
            found.setdefault(outcome, {})[metric] = count
    if scored := found.pop(("scored", None), None):
        yield f"scored: {'; '.join(_by_count(scored))}"
    reasons = {(status, code or ""): metrics for (status, code), metrics in found.items()}
    yield from _unscored("could not be scored:", reasons, "error")
    yield from _unscored("not scored:", reasons, "not_applicable") if why else _folded(reasons)


def _folded(reasons: Mapping[tuple[str, str], Mapping[str, int]]) -> Iterator[str]:
    """Yield one line that counts metrics with nothing to measure, and the reasons."""
    found = [metrics for (status, _), metrics in reasons.items() if status == "not_applicable"]
    if found:
        yield (
            f"not scored: {words.count(len(set().union(*found)), 'metric')} of some trajectories, "
            f"for {words.count(len(found), 'reason')}; --why lists them, and so does "
            "`tracegrade sql --saved why_unscored` for all runs of the lake"
        )


def _by_count(metrics: Mapping[str, int]) -> Iterator[str]:
    """Yield the metrics of each count together, the largest count first."""
    for count in sorted({*metrics.values()}, reverse=True):
        names = [name for name in metrics if metrics[name] == count]
        few = len(names) <= MAX_SCORED_NAMED
        yield f"{', '.join(names) if few else f'{len(names)} metrics'} {count:,}"


def _unscored(
    heading: str, reasons: Mapping[tuple[str, str], Mapping[str, int]], status: str
) -> Iterator[str]:
    """Yield a line for each reason that a user can act on, and one for all others."""
    found = {code: metrics for (its, code), metrics in reasons.items() if its == status}
    if not found:
        return
    yield heading
    plain = []
    for code, metrics in sorted(found.items(), key=lambda each: (-sum(each[1].values()), each[0])):
        meaning, remedy = reason_of(code)
        if remedy:
            yield f"  {_named(metrics)}: {meaning}; {remedy}"
        else:
            plain.append(f"{_named(metrics)} ({meaning})")
    if plain:
        yield f"  not applicable: {'; '.join(plain)}"


def _named(metrics: Mapping[str, int]) -> str:
    """Return the names of the metrics, or their number, and of how many trajectories they are."""
    names = list(metrics)
    first = ", ".join(names) if len(names) <= MAX_METRICS_NAMED else f"{len(names)} metrics"
    return f"{first} of {max(metrics.values()):,}"


def _unread_lines(unread: Mapping[str, int]) -> Iterator[str]:
    """Yield how many built traces gave no trajectory, and the scopes that wrote most of them."""
    if not unread:
        return
    yield (
        f"no trajectory: {sum(unread.values()):,} of the traces have no agent, model or tool span "
        f"({_most(unread, 'scope')}); see `tracegrade sql --saved unread_traces`"
    )


def _unread_log_lines(unread: Mapping[str, int]) -> Iterator[str]:
    """Yield the number of log records without a span, and the events they belong to."""
    if unread:
        yield (
            f"not read: {words.count(sum(unread.values()), 'log record')} without any span of "
            f"their trace ({_most(unread, 'event')}); runs are read from spans, so have the agent "
            "export traces too"
        )


def _most(counts: Mapping[str, int], what: str) -> str:
    """Return the largest counts with their names, which came from outside, and how many more."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = [f"{count:,} of {visible(name) or f'no named {what}'}" for name, count in most]
    if len(named) > MAX_SCOPES_NAMED:
        named[MAX_SCOPES_NAMED:] = [f"the rest of {len(named) - MAX_SCOPES_NAMED} more {what}s"]
    return ", ".join(named)


_APART: Final = {
    "outside": "outside of every agent of their trace, in no trajectory",
    "evaluator": "of evaluators, in no trajectory",
    "alone": "alone in their trace, each a trajectory (`tracegrade.agent_run` around an agent's "
    "loop makes its calls one run)",
}


def _apart_lines(apart: Mapping[str, int]) -> Iterator[str]:
    """Yield how many model calls belong to no agent's run, and why."""
    parts = [f"{apart[reason]:,} {why}" for reason, why in _APART.items() if reason in apart]
    if parts:
        yield f"model calls of no agent: {'; '.join(parts)}"


def _fragment_lines(done: ScoreSummary) -> Iterator[str]:
    """Yield how many traces are parts of other runs, and whether they are scored."""
    if done.fragments:
        verb = "holds" if done.fragments == 1 else "hold"
        how = "scored" if done.specification.fragments else "in no rate unless with --fragments"
        yield (
            f"{words.count(done.fragments, 'trace')} {verb} tools alone, or model calls alone "
            f"that name or sum up a conversation, and so a part of a run that is elsewhere: {how}"
        )


_COPIES: Final = {
    "replayed": "of replays",
    "exported_twice": "exported twice",
    "polled": "of polls for an answer",
    "second_instrumentation": "of a second instrumentation",
}


def _copy_lines(copies: Mapping[str, int]) -> Iterator[str]:
    """Yield how many spans record a call that another span records, and why."""
    parts = [f"{copies[reason]:,} {why}" for reason, why in _COPIES.items() if reason in copies]
    if parts:
        yield f"spans of calls that others record, each call counted once: {', '.join(parts)}"


_SOURCES: Final = {
    "span": "named by a span",
    "match": "found by match",
    "ambiguous": "matching several tasks (ambiguous)",
    "undescribed": "named by a span but not in any task file",
    "none": "unknown",
}


def _task_lines(counts: Counts) -> Iterator[str]:
    """Yield how the tasks of attempts were found, and which tasks have no attempt."""
    sources = [
        f"{counts.task_sources[s]} {text}"
        for s, text in _SOURCES.items()
        if s in counts.task_sources
    ]
    if sources:
        yield f"tasks of attempts: {', '.join(sources)}"
    idle = counts.idle_tasks
    if idle:
        more = f" and {len(idle) - MAX_IDLE_NAMED} more" if len(idle) > MAX_IDLE_NAMED else ""
        yield f"tasks without attempts: {', '.join(idle[:MAX_IDLE_NAMED])}{more}"


def _call_lines(calls: CallCounts) -> Iterator[str]:
    """Yield how many calls there were, how many failed, and what is unknown about them."""
    if not calls.made:
        return
    yield f"tool calls: {calls.made:,}, {calls.failed:,} of them failed"
    if not calls.failed:
        yield (
            "  none has an error status or a result that begins with an error word; if tools "
            "report errors in another way, declare `tools.NAME.error_pattern`"
        )
    unknown = calls.made - calls.of_known_effect - calls.of_made_up_tools
    if unknown:
        yield (
            f"  {words.count(unknown, 'call')} {'is' if unknown == 1 else 'are'} to tools without "
            "a declared effect: a call repeated after one of these does not count as redundant; "
            "declare `tools.NAME.effect`"
        )


_WITHOUT_EFFECT: Final = {
    "no_such_call": "on a step that is not a call",
    "not_ambiguous": "on a call of one sub-goal at most",
    "no_candidate": "on a sub-goal to which no rule gives the call",
    "could_not_tell": "that could not tell",
}


def _served_lines(verdicts: Mapping[str, int]) -> Iterator[str]:
    """Yield how many verdicts say which sub-goal a call serves, and why others change nothing."""
    if not verdicts:
        return
    lost = [
        f"{verdicts[reason]:,} {why}"
        for reason, why in _WITHOUT_EFFECT.items()
        if reason in verdicts
    ]
    without = f"; without effect: {', '.join(lost)}" if lost else ""
    yield f"verdicts on which sub-goal a call serves: {verdicts.get('counted', 0):,}{without}"


def _redacted_lines(redacted: Mapping[str, int]) -> Iterator[str]:
    """Yield how many values of the steps were redacted, if any were."""
    if redacted:
        by_rule = ", ".join(f"{count:,} {rule}" for rule, count in redacted.items())
        yield (
            f"redacted in the steps: {by_rule}; "
            "such a value equals no other, so scores that need it are errors"
        )


def _cost_lines(costs: Costs) -> Iterator[str]:
    """Yield for how many trajectories the cost is known, if for any, or if prices were given."""
    given = costs.prices and not costs.list_date
    if not costs.priced and not given:
        return
    stated = f", {costs.stated:,} of them in part from the trace itself" if costs.stated else ""
    listed = f", by list prices of {costs.list_date}" if costs.list_date else ""
    yield f"cost known for {costs.priced:,} trajectories{listed}{stated}"
    for model, reason, trajectories in costs.unpriced:
        why = _WHY_UNPRICED[reason].format(model=f"'{model}'" if model else "an unnamed model")
        yield f"cost unknown for {trajectories:,} trajectories: {why}"


_WHY_UNPRICED: Final = {
    "no_price": "no price covers {model}",
    "no_tokens": "a call of {model} has no token counts",
    "not_counted": "they were built by an earlier version; rebuild them with --full",
}


def write_summary(path: Path, done: ScoreSummary) -> None:
    """Write the summary as JSON to a file, whole or not at all, or to stdout for `-`.

    Raises:
        SummaryNotWritten: The file cannot be written.
    """
    text = json.dumps(summary_object(done), indent=2) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        with out_file(path) as file:
            file.write(text)
    except OSError as error:
        msg = f"cannot write the summary to {path}: {error.strerror}; choose another file"
        raise SummaryNotWritten(msg) from error


def summary_object(done: ScoreSummary) -> dict[str, Any]:
    """Return the summary of a run as values of JSON; README.md says what each key means."""
    return {
        "scorer_version": SCORER_VERSION,
        "specification_hash": done.specification.hash,
        "specification": {
            "tasks": len(done.specification.tasks),
            "tools": len(done.specification.tools),
            "kept": done.tasks_stored,
            "without_task": done.without_task,
        },
        "dimensions": _dimensions(done),
        "dry_run": done.dry_run,
        "busy": done.busy,
        "new_spans": done.new_spans,
        "traces": done.traces,
        "trajectories": done.trajectories,
        "earlier_parts": done.earlier_parts,
        "waiting": done.waiting._asdict(),
        "metrics": {name: _statuses(found) for name, found in done.counts.statuses.items()},
        "calls": done.counts.calls._asdict(),
        "redacted": dict(done.counts.redacted),
        "served_verdicts": dict(done.counts.served_verdicts),
        "failed_traces": dict(done.failed_traces),
        "failed_metrics": dict(done.failed_metrics),
        "unmatched_metric_rows": dict(done.unmatched_rows),
        "task_sources": dict(done.counts.task_sources),
        "idle_tasks": done.counts.idle_tasks,
        "unread": dict(done.unread),
        "unread_logs": dict(done.unread_logs),
        "model_calls_apart": dict(done.apart),
        "fragments": done.fragments,
        "copies": dict(done.copies),
        "removed_files": done.removal.removed.files,
        "removed_bytes": done.removal.removed.size,
        "costs": {
            **done.costs._asdict(),
            "unpriced": [each._asdict() for each in done.costs.unpriced],
        },
    }


def _dimensions(done: ScoreSummary) -> dict[str, Any]:
    mapping = done.labeling.mapping
    return {
        "names": [*mapping.dimensions] if mapping else None,
        "unread_attributes": [*done.labeling.unread],
        "runs_without_labels": done.labeling.unlabeled,
        "mixed_releases": done.mixed_releases,
        "agents_with_many_releases": dict(done.crowded_agents),
    }


def _statuses(found: Mapping[tuple[str, str | None], int]) -> dict[str, Any]:
    counts = {name: 0 for name in _STATUSES}
    reasons: dict[str, int] = {}
    for (status, reason), count in found.items():
        counts[status] += count
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + count
    return {**counts, "reasons": reasons}
