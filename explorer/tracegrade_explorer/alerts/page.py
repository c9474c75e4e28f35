"""`/alerts` and `/alerts/ID`: changes that `tracegrade watch` found, and the evidence for each."""

from collections.abc import Sequence
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, PageMissing
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.metrics import METRICS, Metric, Scale
from tracegrade_scoring.pictures.small import bar
from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Alert, DayMean, Side, TaskChange
from tracegrade_watch.phrases import agent, strength
from tracegrade_watch.schema import ALERTS
from tracegrade_watch.stored import evidence_document, read_alerts

MOST_ALERTS: Final = 200
"""Rows on the page; CSV and JSON have all."""
CLASSES: Final = {"firing": "new", "acknowledged": "muted", "resolved": "fixed"}
"""Classes of the style sheet, by state."""
COLUMNS: Final = (
    *("alert_id", "state", "rule", "agent_name", "run_mode", "metric", "base", "candidate"),
    *("dimension", "dimension_value", "statement", "ratio", "threshold", "observed", "limit"),
    *("first_run", "last_run"),
)
SIDES: Final = ("side", "release", "runs", "scored", "mean", "days")


def alerts(request: PageRequest) -> PageResponse:
    """Return all alerts, firing ones first.

    Raises:
        BadFilter: The address has a parameter.
    """
    if request.pairs:
        msg = f"{request.pairs[0][0]} is not known here; the page has all alerts"
        raise BadFilter(msg)
    found = known_alerts(request)
    rows = [_facts(alert) for alert in found]
    view = {
        "alerts": [_row(alert) for alert in found[:MOST_ALERTS]],
        "more": len(found) - MOST_ALERTS,
        "count": len(found),
    }
    return PageContent("alerts", "Alerts", view, {"alerts": rows}, COLUMNS, rows)


def alert(request: PageRequest) -> PageResponse:
    """Return one alert.

    Raises:
        PageMissing: No alert has this id.
    """
    alert_id = request.path["id"]
    chosen = [each for each in known_alerts(request) if each.alert_id == alert_id]
    if not chosen:
        msg = f"no alert has the id '{alert_id}'; /alerts has all of them"
        raise PageMissing(msg)
    (found,) = chosen
    evidence = found.evidence
    title = words.line(evidence.statement) or words.name(found.rule)
    metric = _metric(request, found)
    sides = _sides(found)
    view = {
        **_row(found),
        "title": title,
        "alert_id": found.alert_id,
        "rule_text": evidence.rule_text,
        "resolves": words.line(evidence.resolves),
        "note": evidence.note or "",
        "content": words.line(evidence.content or ""),
        "metric": words.name(found.metric),
        "sides": [_side(row, metric) for row in sides],
        "tasks": [_task(change, metric) for change in evidence.tasks],
        "days": [_day(day, metric, _most(evidence.days)) for day in evidence.days],
        "runs": [(words.run(run), links.run(run)) for run in evidence.run_ids],
        "notified": [*found.notified.items()],
        "labeler": request.labeler,
        "page_token": request.page_token,
    }
    data = {**_facts(found), "evidence": evidence_document(evidence), "notified": found.notified}
    return PageContent("alert", title, view, data, SIDES, sides)


def known_alerts(request: PageRequest) -> Sequence[Alert]:
    """Return the alerts of the lake as they are now, firing ones first."""
    lake = request.snapshot.lake
    key = ("alerts", lake.version(ALERTS.name))
    found: Sequence[Alert] = request.snapshot.cached(key, lambda: read_alerts(lake))
    return found


def _facts(alert: Alert) -> Row:
    """Return an alert as a flat row."""
    return {
        name: getattr(alert, name) if hasattr(alert, name) else getattr(alert.evidence, name)
        for name in COLUMNS
    }


def _row(alert: Alert) -> dict[str, Any]:
    compared = alert.base is not None
    release = words.name(alert.candidate, "")
    return {
        "state": alert.state,
        "style": CLASSES[alert.state],
        "href": links.alert(alert.alert_id),
        "sentence": words.line(alert.evidence.statement) or words.name(alert.rule),
        "strength": strength(alert.evidence),
        "rule": words.name(alert.rule),
        "agent": agent(alert.agent_name, alert.run_mode, alert.metric) or "",
        "release": f"{release} after {words.name(alert.base)}" if compared else release,
        "slice": f"{words.name(alert.dimension)} {words.name(alert.dimension_value)}"
        if alert.dimension is not None
        else "",
        "first_run": alert.first_run,
        "last_run": alert.last_run,
    }


def _metric(request: PageRequest, alert: Alert) -> Metric | None:
    """Return the metric of an alert; None if it is about something else."""
    name = alert.metric or ""
    return METRICS.get(name) or request.snapshot.own_metrics.get(name)


def _sides(alert: Alert) -> list[Row]:
    sides = {"before": alert.evidence.base, "now": alert.evidence.candidate}
    return [_side_facts(name, side) for name, side in sides.items() if side is not None]


def _side_facts(name: str, side: Side) -> Row:
    return {
        "side": name, "release": side.release, "runs": side.runs, "scored": side.scored,
        "mean": side.mean, "days": side.days,
    }  # fmt: skip


def _side(row: Row, metric: Metric | None) -> dict[str, Any]:
    return {
        **row,
        "release": words.name(row["release"], "(no release)"),
        "mean": _amount(row["mean"], metric),
    }


def _task(change: TaskChange, metric: Metric | None) -> dict[str, Any]:
    return {
        "name": words.name(change.task_id, "(no task)"),
        "href": links.task(change.task_id) if change.task_id else "",
        "before": _amount(change.base_mean, metric),
        "before_runs": change.base_scored,
        "now": _amount(change.candidate_mean, metric),
        "now_runs": change.candidate_scored,
    }


def _most(days: Sequence[DayMean]) -> float:
    """Return the value of a full bar: 1, or the highest mean if one is above that."""
    return max((1.0, *(day.mean for day in days)))


def _day(day: DayMean, metric: Metric | None, most: float) -> dict[str, Any]:
    return {
        "date": day.date.isoformat(),
        "release": words.name(day.release, "(no release)"),
        "scored": day.scored,
        "mean": _amount(day.mean, metric),
        "drawn": bar(day.mean / most),
    }


def _amount(value: float | None, metric: Metric | None) -> str:
    return words.amount(value, metric.scale if metric else Scale.NUMBER)
