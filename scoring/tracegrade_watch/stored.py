"""Reads and writes the alerts of a lake."""

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import date
from typing import Any, Final

import pyarrow as pa

from tracegrade_lake import Lake
from tracegrade_lake.tables import rows_of
from tracegrade_watch.alert import Alert, DayMean, Evidence, Side, TaskChange
from tracegrade_watch.schema import ALERTS

_STATES: Final = ("firing", "acknowledged", "resolved")


def read_alerts(lake: Lake) -> list[Alert]:
    """Return the alerts of a lake: firing ones first, then by rule and id."""
    return _sorted(_alert(row) for row in rows_of(lake, ALERTS).to_pylist())


def write_alerts(lake: Lake, alerts: Iterable[Alert]) -> bool:
    """Replace the alerts of a lake in one commit; return False, and write nothing, if equal.

    Call it under the lock `watch` of the lake.
    """
    new = _sorted(alerts)
    if new == read_alerts(lake):
        return False
    lake.replace(ALERTS, pa.Table.from_pylist([_row(alert) for alert in new], ALERTS.arrow()))
    return True


def evidence_document(evidence: Evidence) -> dict[str, Any]:
    """Return evidence as JSON has it."""
    document = asdict(evidence)
    for day in document["days"]:
        day["date"] = day["date"].isoformat()
    return document


def _sorted(alerts: Iterable[Alert]) -> list[Alert]:
    return sorted(alerts, key=lambda each: (_STATES.index(each.state), each.rule, each.alert_id))


def _row(alert: Alert) -> dict[str, Any]:
    row = {each.name: getattr(alert, each.name) for each in fields(alert)}
    row["evidence"] = json.dumps(evidence_document(alert.evidence), sort_keys=True)
    row["notified"] = json.dumps(dict(alert.notified), sort_keys=True)
    return row


def _alert(row: dict[str, Any]) -> Alert:
    return Alert(**{
        **row,
        "evidence": _evidence(json.loads(row["evidence"])),
        "notified": json.loads(row["notified"]),
    })  # fmt: skip


def _evidence(document: dict[str, Any]) -> Evidence:
    days = [{**day, "date": date.fromisoformat(day["date"])} for day in document["days"]]
    return Evidence(**{
        **document,
        "base": Side(**document["base"]) if document["base"] else None,
        "candidate": Side(**document["candidate"]) if document["candidate"] else None,
        "tasks": tuple(TaskChange(**task) for task in document["tasks"]),
        "days": tuple(DayMean(**day) for day in days),
        "run_ids": tuple(document["run_ids"]),
    })  # fmt: skip
