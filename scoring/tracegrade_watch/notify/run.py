"""Notifies destinations of alerts, and notes in the alerts' rows what each received.

The rows of alerts are written before: where a process is killed in between, the next run finds
them without a note, and sends them. So a destination receives each change at least once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from tracegrade_collector.edge.json_http import JsonHttp
from tracegrade_collector.errors import ServerUnreachable
from tracegrade_lake import Lake
from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Alert
from tracegrade_watch.notify.declared import ALERTMANAGER, GITHUB, OpenedDestination
from tracegrade_watch.notify.message import sendable
from tracegrade_watch.notify.payloads import NotifyContext, Payload, payloads
from tracegrade_watch.stored import read_alerts, write_alerts

TIMEOUT_SECS: Final = 10.0
TRIES: Final = 3
SENT_STATES: Final = ("firing", "resolved")
"""States that a destination is sent. An acknowledged alert is sent to Alertmanager alone, as one
that fires, since it ends there without."""
REFUSED_BODY: Final = (400, 413, 422)
"""Statuses that are about one body, not about the destination."""
NOT_SENT: Final = "not sent"
SENT_BEFORE: Final = "; "
"""Between the state that was sent last, and why the newer one was not."""


class NotifyFault(NamedTuple):
    """A destination that did not accept everything."""

    destination: str
    fault: str
    alerts: int
    """Alerts that it lacks."""

    def __str__(self) -> str:
        missing = words.count(self.alerts, "alert")
        return f"{self.destination} did not accept {missing}: {self.fault}"


def notify(
    lake: Lake, destinations: Sequence[OpenedDestination], page_url: str | None
) -> list[NotifyFault]:
    """Send each destination what it lacks; the rows note the answers.

    Call it under the lock `watch` of the lake, after the alerts were written.
    """
    alerts = {alert.alert_id: alert for alert in read_alerts(lake)}
    context = NotifyContext(page_url, datetime.now(UTC))
    faults = []
    try:
        for destination in destinations:
            notes = _send(destination, [*alerts.values()], context)
            name = destination.declared.name
            for alert_id, note in notes.items():
                alert = alerts[alert_id]
                alerts[alert_id] = replace(alert, notified={**alert.notified, name: note})
            failed = [note for note in notes.values() if note not in SENT_STATES]
            if failed:
                faults.append(NotifyFault(name, _fault(failed[0]), len(failed)))
    finally:
        write_alerts(lake, alerts.values())
    return faults


def _send(
    destination: OpenedDestination, alerts: Sequence[Alert], context: NotifyContext
) -> Mapping[str, str]:
    """Return the note of each alert that was due.

    Where a destination refuses one body, it is sent the others; after any other failure it is sent
    nothing more.
    """
    name = destination.declared.name
    with_content = destination.declared.with_content
    due = [
        sendable(alert, with_content=with_content)
        for alert in alerts
        if _is_due(alert, destination)
    ]
    http = JsonHttp(_headers(destination), TIMEOUT_SECS, TRIES - 1)
    notes: dict[str, str] = {}
    fault: str | None = None
    is_down = False
    for payload in payloads(destination.declared, due, context):
        if not is_down:
            fault, is_down = _post(http, destination, payload)
        for alert in payload.alerts:
            before = last_sent(alert.notified.get(name, ""))
            failed = f"{before or NOT_SENT}{SENT_BEFORE}{fault}"
            notes[alert.alert_id] = _sent_state(alert) if fault is None else failed
    return notes


def _sent_state(alert: Alert) -> str:
    return "resolved" if alert.state == "resolved" else "firing"


def last_sent(note: str) -> str | None:
    """Return the state that a destination was sent last; None if it received none."""
    state = note.partition(SENT_BEFORE)[0]
    return state if state in SENT_STATES else None


def _fault(note: str) -> str:
    return note.partition(SENT_BEFORE)[2]


def _is_due(alert: Alert, destination: OpenedDestination) -> bool:
    """Return whether a destination lacks an alert, or must be reminded of it."""
    note = alert.notified.get(destination.declared.name, "")
    if alert.state == "firing":
        return note != "firing" or destination.declared.kind == ALERTMANAGER
    is_due = alert.state == "resolved" or destination.declared.kind == ALERTMANAGER
    return is_due and last_sent(note) == "firing"


def _post(
    http: JsonHttp, destination: OpenedDestination, payload: Payload
) -> tuple[str | None, bool]:
    """Send one request; return why it was not accepted, and whether others would not be either."""
    try:
        answer = http.post(destination.url, payload.body)
    except ServerUnreachable as error:
        return destination.without_secrets(f"{error}, {TRIES} tries"), True
    if 200 <= answer.status < 300:
        return None, False
    if 300 <= answer.status < 400:
        return f"status {answer.status}; it redirects: give the final address", True
    whole = answer._replace(text=destination.without_secrets(answer.text))  # before it is cut
    return destination.without_secrets(whole.excerpt()), answer.status not in REFUSED_BODY


def _headers(destination: OpenedDestination) -> dict[str, str]:
    headers = {"User-Agent": "tracegrade"}
    if destination.token is not None:
        headers["Authorization"] = f"Bearer {destination.token}"
    if destination.declared.kind == GITHUB:
        headers |= {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    return headers
