"""Writes the result of a run as text, JSON, JUnit XML, and annotations of GitHub."""

import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, Final

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.junit import JunitCase, junit_xml
from tracegrade_scoring.rendering.markup import code, escape, table
from tracegrade_watch.alert import Alert
from tracegrade_watch.notify.message import document, sentence, title
from tracegrade_watch.outputs.report import CheckedRule, WatchReport, strength, summary

MOST_ANNOTATIONS: Final = 10
"""Errors that GitHub shows of one step."""
MOST_ROWS: Final = 200
"""Alerts in the summary of a step, which may have 1 MB."""
SUITE: Final = "tracegrade watch"
LAKE: Final = "lake"
"""Group of a rule about the whole lake."""


def as_text(report: WatchReport) -> str:
    """Return alerts that fire or are acknowledged, each with its evidence, and a summary."""
    return "".join(f"{line}\n" for line in _text_lines(report))


def _text_lines(report: WatchReport) -> Iterator[str]:
    for alert in (*report.in_state("firing"), *report.in_state("acknowledged")):
        yield title(alert)
        yield f"  {sentence(alert)}"
        if numbers := strength(alert):
            yield f"  {numbers}"
        if runs := [run.url or run.name for run in report.runs(alert)]:
            yield f"  runs: {', '.join(runs)}"
        yield f"  id {alert.alert_id}; {words.line(alert.evidence.resolves)}"
    for each in report.checked:
        if each.skipped is not None:
            yield f"no answer: {_name(each)}: {words.line(each.skipped)}"
    yield from map(visible, report.faults)
    yield summary(report)


def as_json(report: WatchReport) -> str:
    """Return everything, every number unrounded."""
    found: dict[str, Any] = {
        "lake": report.lake,
        "firing": len(report.in_state("firing")),
        "alerts": [document(alert, report.page_url) for alert in report.alerts],
        "checked": [{**vars(each), "share": _finite(each.share)} for each in report.checked],
        "faults": [*report.faults],
    }
    return json.dumps(found, indent=2, allow_nan=False) + "\n"


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def as_junit(report: WatchReport) -> str:
    """Return each rule over each agent as a test case, which an alert fails."""
    alerts = {alert.alert_id: alert for alert in report.alerts}
    cases = [_case(each, alerts) for each in report.checked]
    found = {each.alert_id for each in report.checked}
    others = [alert for alert in report.in_state("firing") if alert.alert_id not in found]
    cases += [JunitCase(LAKE, title(alert), "failure", sentence(alert)) for alert in others]
    return junit_xml(SUITE, cases)


def _case(each: CheckedRule, alerts: Mapping[str, Alert]) -> JunitCase:
    group, name = words.line(each.about) or LAKE, words.name(each.rule)
    if each.skipped is not None:
        return JunitCase(group, name, "skipped", words.line(each.skipped))
    alert = alerts.get(each.alert_id or "")
    if alert is None or alert.state == "resolved":
        return JunitCase(group, name)
    if alert.state == "acknowledged":
        return JunitCase(group, name, "skipped", f"acknowledged: {sentence(alert)}")
    return JunitCase(group, name, "failure", sentence(alert))


def as_annotations(report: WatchReport) -> str:
    """Return an error of GitHub for each firing alert, at most ten, and the summary as text."""
    firing = report.in_state("firing")
    lines = [
        f"::error title={_property(title(alert))}::{_data(_evidence(alert))}"
        for alert in firing[:MOST_ANNOTATIONS]
    ]
    left_out = len(firing) - MOST_ANNOTATIONS
    if left_out > 0:
        lines.append(f"{words.count(left_out, 'more alert')}; the step's summary has all of them")
    return "".join(f"{line}\n" for line in (*lines, *map(_data, report.faults), summary(report)))


def step_summary(report: WatchReport) -> str:
    """Return the alerts as a table of Markdown, in which no name acts."""
    firing = report.in_state("firing")
    rows = [
        (
            escape(title(alert)),
            escape(sentence(alert)),
            escape(strength(alert)),
            _links(report, alert),
        )
        for alert in firing[:MOST_ROWS]
    ]
    lines = ["## tracegrade watch", "", escape(summary(report))]
    lines += table("", ("alert", "what changed", "evidence", "runs"), rows)
    return "\n".join(lines) + "\n\n"


def _links(report: WatchReport, alert: Alert) -> str:
    return ", ".join(
        f"[{escape(run.name)}]({run.url})" if run.url else code(run.name)
        for run in report.runs(alert)
    )


def _evidence(alert: Alert) -> str:
    return "; ".join(filter(None, (sentence(alert), strength(alert))))


def _name(each: CheckedRule) -> str:
    about = words.line(each.about)
    return f"{words.name(each.rule)} ({about})" if about else words.name(each.rule)


def _data(text: str) -> str:
    """Return a text as the message of a command of GitHub."""
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    """Return a text as a property of a command of GitHub."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Final[Mapping[str, Callable[[WatchReport], str]]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "github": as_annotations,
}
"""What writes each format."""
