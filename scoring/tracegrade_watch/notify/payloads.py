"""The body of a request to each kind of destination: a function of alerts alone.

Formats: Block Kit of Slack, API v2 of Alertmanager, repository dispatch of the REST API of GitHub.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Alert
from tracegrade_watch.notify.declared import (
    ALERTMANAGER,
    GITHUB,
    SLACK,
    WEBHOOK,
    DeclaredDestination,
)
from tracegrade_watch.notify.message import (
    MOST_SENTENCE,
    alert_url,
    document,
    run_links,
    sentence,
    title,
    visible_excerpt,
)

MOST_BYTES: Final = 16_000
"""Of a body."""
MOST_HEADER: Final = 150
"""Characters of a header of Slack."""
EVENT_TYPE: Final = "tracegrade-alert"
"""`repository_dispatch` event that a workflow of GitHub waits for."""
SCHEDULES: Final = 3
"""After so many schedules without a message, an alert of Alertmanager ends by itself."""


class NotifyContext(NamedTuple):
    """The facts that bodies depend on, in addition to alerts."""

    page_url: str | None
    """Address of the explorer without a `/` at its end; None if nothing links to it."""
    now: datetime
    """UTC, with its zone."""


class Payload(NamedTuple):
    """One request."""

    alerts: tuple[Alert, ...]
    body: bytes


def payloads(
    declared: DeclaredDestination, alerts: Sequence[Alert], context: NotifyContext
) -> Iterator[Payload]:
    """Yield the requests that carry alerts to a destination; each has at most `MOST_BYTES`."""
    if declared.kind == ALERTMANAGER:
        yield from _batches(declared, alerts, context)
        return
    for alert in alerts:
        yield Payload((alert,), _fitting(BODIES[declared.kind], alert, context))


def _slack(alert: Alert, context: NotifyContext, _: Mapping[str, Any]) -> dict[str, Any]:
    """Return blocks; names are plain text, which Slack neither formats nor links."""
    links = [
        f"<{_mrkdwn(link.url)}|{_mrkdwn(link.name)}>" if link.url else _mrkdwn(link.name)
        for link in run_links(alert, context.page_url)
    ]
    page = alert_url(alert, context.page_url)
    below = [*([f"<{_mrkdwn(page)}|alert>"] if page else []), *(f"run {link}" for link in links)]
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(words.clip(title(alert), MOST_HEADER))},
        {"type": "section", "text": _plain(sentence(alert))},
    ]
    if below:
        elements = [{"type": "mrkdwn", "text": " · ".join(below)}]
        blocks.append({"type": "context", "elements": elements})
    return {"text": _mrkdwn(f"{title(alert)}. {sentence(alert)}"), "blocks": blocks}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _mrkdwn(text: str) -> str:
    """Return a text in which Slack sees no link, no mention and no command."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _webhook(alert: Alert, _: NotifyContext, found: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": f"{title(alert)}. {sentence(alert)}", "alert": found}


def _github(alert: Alert, _: NotifyContext, found: Mapping[str, Any]) -> dict[str, Any]:
    text = f"{title(alert)}. {sentence(alert)}"
    return {"event_type": EVENT_TYPE, "client_payload": {"text": text, "alert": found}}


BODIES: Final[
    Mapping[str, Callable[[Alert, NotifyContext, Mapping[str, Any]], dict[str, Any]]]
] = {SLACK: _slack, WEBHOOK: _webhook, GITHUB: _github}
"""Bodies about one alert, by kind, from the alert and its document."""


def _fitting(
    body: Callable[[Alert, NotifyContext, Mapping[str, Any]], dict[str, Any]],
    alert: Alert,
    context: NotifyContext,
) -> bytes:
    """Return a body without those parts of the evidence for which it is too long."""
    found = document(alert, context.page_url)
    data = _encoded(body(alert, context, found))
    for part in ("days", "tasks"):
        if len(data) > MOST_BYTES:
            found["evidence"][part] = []
            data = _encoded(body(alert, context, found))
    return data


def _batches(
    declared: DeclaredDestination, alerts: Sequence[Alert], context: NotifyContext
) -> Iterator[Payload]:
    """Yield lists of alerts as Alertmanager reads them."""
    batch: list[Alert] = []
    parts: list[bytes] = []
    for alert in alerts:
        part = _encoded(_alertmanager(alert, declared, context))
        if batch and sum(map(len, parts)) + len(part) + len(parts) + 2 > MOST_BYTES:
            yield Payload(tuple(batch), b"[" + b",".join(parts) + b"]")
            batch, parts = [], []
        batch.append(alert)
        parts.append(part)
    if batch:
        yield Payload(tuple(batch), b"[" + b",".join(parts) + b"]")


def _alertmanager(
    alert: Alert, declared: DeclaredDestination, context: NotifyContext
) -> dict[str, Any]:
    """Return an alert whose labels identify it; nothing in them changes while it fires."""
    names = (
        *("rule", "agent_name", "run_mode", "metric", "base", "candidate"),
        *("dimension", "dimension_value", "alert_id"),
    )
    labels = {name: visible_excerpt(value) for name in names if (value := getattr(alert, name))}
    firing = alert.state != "resolved"
    ends = context.now + timedelta(hours=SCHEDULES * declared.every_hours * firing)
    found: dict[str, Any] = {
        "labels": {"alertname": "tracegrade", **labels},
        "annotations": {
            "summary": title(alert),
            "description": sentence(alert),
            "resolves": visible_excerpt(alert.evidence.resolves, MOST_SENTENCE),
            "rule": visible_excerpt(alert.evidence.rule_text, MOST_SENTENCE),
        },
        "startsAt": _start(alert, context.now).isoformat(),  # else Alertmanager takes `endsAt`
        "endsAt": ends.isoformat(),
    }
    if url := alert_url(alert, context.page_url):
        found["generatorURL"] = url
    return found


def _start(alert: Alert, now: datetime) -> datetime:
    """Return when an alert began, in the time of the lake, but not after now."""
    return min(alert.first_run.replace(tzinfo=UTC), now) if alert.first_run else now


def _encoded(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
