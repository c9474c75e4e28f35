"""Marks of firing alerts on pages about something else."""

from collections.abc import Callable
from typing import NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.alerts.page import known_alerts
from tracegrade_explorer.responses import PageRequest
from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Alert


class AlertMark(NamedTuple):
    """A link to an alert."""

    text: str
    href: str


def alert_marks(request: PageRequest, fits: Callable[[Alert], bool]) -> list[AlertMark]:
    """Return links to the alerts that fire and fit, each with its evidence."""
    return [
        AlertMark(
            words.line(alert.evidence.statement) or words.name(alert.rule),
            links.alert(alert.alert_id),
        )
        for alert in known_alerts(request)
        if alert.state == "firing" and fits(alert)
    ]
