"""The result of `tracegrade watch` as text and as JSON."""

import json
from collections.abc import Iterator
from typing import Any

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_watch import phrases
from tracegrade_watch.alert import Alert, Evidence
from tracegrade_watch.outputs.formats import LAKE, agent_of, summary
from tracegrade_watch.phrases import strength
from tracegrade_watch.stored import evidence_document
from tracegrade_watch.watched import RuleCheck, Watched


def as_text(watched: Watched) -> Iterator[str]:
    """Yield the lines: alerts that fire, checks without, and what could not be checked."""
    for alert in watched.alerts:
        if alert.state != "resolved":
            yield from _alert_lines(alert)
    quiet = [check for check in watched.checks if not check.fires and check.reason is None]
    unknown = [check for check in watched.checks if check.reason is not None]
    for check in quiet:
        yield f"quiet  {_named(check)}: {_standing(check.evidence)}"
    for check in unknown:
        yield f"unknown  {_named(check)}: {check.reason}"
    yield summary(watched)


def _alert_lines(alert: Alert) -> Iterator[str]:
    evidence = alert.evidence
    whose = phrases.agent(alert.agent_name, alert.run_mode, alert.metric) or LAKE
    heading = (alert.state.upper(), alert.alert_id, visible(alert.rule), whose + _value(alert))
    yield "  ".join(heading)
    yield f"  {visible(evidence.statement)}"
    if evidence.content:
        yield f"  {visible(evidence.content)}"
    if evidence.ratio is not None:
        yield f"  {strength(evidence)}"
    for task in evidence.tasks:
        yield (
            f"  task {words.name(task.task_id, '(no task)')}: {task.base_mean:.3g} -> "
            f"{task.candidate_mean:.3g} ({task.base_scored:,} and "
            f"{words.count(task.candidate_scored, 'run')})"
        )
    if evidence.run_ids:
        yield f"  runs: {', '.join(map(visible, evidence.run_ids))}"
    yield f"  rule: {visible(evidence.rule_text)}"
    yield f"  resolved by: {visible(evidence.resolves)}"
    if evidence.note:
        yield f"  note: {visible(evidence.note)}"


def _value(alert: Alert) -> str:
    if alert.dimension is None:
        return ""
    return f", {words.name(alert.dimension)}={words.name(alert.dimension_value)}"


def _named(check: RuleCheck) -> str:
    about = check.about
    whose = agent_of(check)
    cohort = f" {whose}" if whose else ""
    value = f" {words.name(about.dimension)}={words.name(about.dimension_value)}"
    return f"{about.rule}{cohort}{value if about.dimension else ''}"


def _standing(evidence: Evidence | None) -> str:
    if evidence is None:
        return "nothing found"
    ratio = f"; {strength(evidence)}" if evidence.ratio is not None else ""
    return f"{visible(evidence.statement)}{ratio}"


def as_json(watched: Watched) -> str:
    """Return alerts and checks as one JSON object, ending in a new line."""
    document = {
        "until": watched.until.isoformat() if watched.until else None,
        "alerts": [alert_document(alert) for alert in watched.alerts],
        "checks": [_check_document(check) for check in watched.checks],
    }
    return json.dumps(document, indent=2) + "\n"


def alert_document(alert: Alert) -> dict[str, Any]:
    """Return an alert as JSON has it."""
    times = {name: getattr(alert, name) for name in ("first_run", "last_run")}
    return {
        **vars(alert),
        **{name: time.isoformat() if time else None for name, time in times.items()},
        "evidence": evidence_document(alert.evidence),
        "notified": dict(alert.notified),
    }


def _check_document(check: RuleCheck) -> dict[str, Any]:
    return {
        "alert_id": check.about.alert_id,
        **vars(check.about),
        "fires": check.fires,
        "reason": check.reason,
        "evidence": evidence_document(check.evidence) if check.evidence else None,
    }
