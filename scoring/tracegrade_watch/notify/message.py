"""The texts of an alert that leave this machine: each is visible, on one line, and short."""

from dataclasses import replace
from math import isfinite
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Alert
from tracegrade_watch.stored import evidence_document

MOST_NAME: Final = 100
"""Characters of a name."""
MOST_SENTENCE: Final = 600
"""Characters of a sentence or of the text of a rule."""


class AlertRun(NamedTuple):
    """A run that shows a change."""

    name: str
    url: str | None
    """None without the address of the explorer."""


def visible_excerpt(text: str, most: int = MOST_NAME) -> str:
    """Return a text as it may leave: visible, and cut."""
    return words.clip(visible(text), most)


def title(alert: Alert) -> str:
    """Return a line that names the alert, such as `firing: success of support 1.4.2`."""
    about = [alert.agent_name, alert.run_mode]
    if alert.candidate is not None:
        about.append(f"release {alert.candidate}")
    if alert.dimension is not None:
        about.append(f"{alert.dimension} {alert.dimension_value or '(none)'}")
    names = ", ".join(visible_excerpt(name) for name in about if name)
    return f"{alert.state}: {visible_excerpt(alert.rule)}" + (f" ({names})" if names else "")


def sentence(alert: Alert) -> str:
    """Return the evidence of the alert in one sentence."""
    return visible_excerpt(alert.evidence.statement, MOST_SENTENCE)


def alert_url(alert: Alert, page_url: str | None) -> str | None:
    """Return the address of the alert's page; None without the address of the explorer."""
    return f"{page_url}/alerts/{quote(alert.alert_id, safe='')}" if page_url else None


def run_links(alert: Alert, page_url: str | None) -> list[AlertRun]:
    """Return the runs that show the change, at most three."""
    return [
        AlertRun(words.run(run), f"{page_url}/runs/{quote(run, safe='')}" if page_url else None)
        for run in alert.evidence.run_ids[:3]
    ]


def sendable(alert: Alert, *, with_content: bool) -> Alert:
    """Return an alert as it may leave: with words out of traces in its sentence, or without."""
    evidence = alert.evidence
    if not evidence.content:
        return alert
    statement = f"{evidence.statement}: {evidence.content}" if with_content else evidence.statement
    return replace(alert, evidence=replace(evidence, statement=statement, content=None))


def document(alert: Alert, page_url: str | None) -> dict[str, Any]:
    """Return the alert as JSON for programs."""
    evidence = evidence_document(alert.evidence)
    names = ("rule", "agent_name", "run_mode", "metric", "base", "candidate")
    return {
        "alert_id": alert.alert_id,
        "state": alert.state,
        **{name: _name(getattr(alert, name)) for name in names},
        "dimension": _name(alert.dimension),
        "dimension_value": _name(alert.dimension_value),
        "first_run": alert.first_run and f"{alert.first_run.isoformat()}Z",
        "last_run": alert.last_run and f"{alert.last_run.isoformat()}Z",
        "url": alert_url(alert, page_url),
        "evidence": _cut(evidence),
        "runs": [link._asdict() for link in run_links(alert, page_url)],
    }


def _name(text: str | None) -> str | None:
    return None if text is None else visible_excerpt(text)


def _cut(value: Any, name: str = "") -> Any:
    """Return a document with each text visible and cut; numbers that JSON lacks are None."""
    match value:
        case str():
            return visible_excerpt(
                value, MOST_NAME if name in {"release", "task_id"} else MOST_SENTENCE
            )
        case dict():
            return {key: _cut(each, key) for key, each in value.items()}
        case list() | tuple():
            return [_cut(each, name) for each in value]
        case float():
            return value if isfinite(value) else None
        case _:
            return value
