"""`/acknowledge-alert`: a person notes that an alert is known."""

from typing import Final

from tracegrade_explorer import links
from tracegrade_explorer.alerts.page import known_alerts
from tracegrade_explorer.errors import FormRefused
from tracegrade_explorer.responses import PageRequest, PageResponse, Redirect

MOST_NOTE: Final = 500
"""Characters of a note."""


def acknowledge_alert(request: PageRequest) -> PageResponse:
    """Store the note in a form, and show the alert again.

    Raises:
        FormRefused: The caller may not write here, or the alert does not fire.
    """
    fields = dict(request.pairs)
    if not request.labeler or request.labels is None:
        msg = (
            "you may not acknowledge here; `tracegrade ui --label-as NAME` lets you on your own "
            "machine"
        )
        raise FormRefused(msg)
    alert_id = fields.get("alert", "")
    firing = {each.alert_id for each in known_alerts(request) if each.state != "resolved"}
    if alert_id not in firing:
        msg = "the note was not saved: its alert does not fire"
        raise FormRefused(msg)
    note = fields.get("note", "").strip()[:MOST_NOTE]
    signed = f"{request.labeler}: {note}" if note else request.labeler
    request.labels.acknowledge_alert(alert_id, signed)
    return Redirect(links.alert(alert_id))
