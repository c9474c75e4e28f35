"""Writes the result of `tracegrade watch` as JUnit XML, and as annotations of GitHub."""

from collections.abc import Iterator
from typing import Final

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.junit import JunitCase, junit_xml
from tracegrade_scoring.rendering.markup import code, escape, table
from tracegrade_watch import phrases
from tracegrade_watch.alert import Alert
from tracegrade_watch.notify.message import run_links, sentence, title
from tracegrade_watch.phrases import strength
from tracegrade_watch.watched import RuleCheck, Watched, Watching

MOST_ANNOTATIONS: Final = 10
"""Errors that GitHub shows of one step."""
MOST_ROWS: Final = 200
"""Alerts in the summary of a step, which may have 1 MB."""
SUITE: Final = "tracegrade watch"
LAKE: Final = "lake"
"""Group of a rule about the whole lake."""


def as_junit(watched: Watched) -> str:
    """Return each check of a rule as a test case, which an alert fails."""
    alerts = {alert.alert_id: alert for alert in watched.alerts}
    cases = [_case(check, alerts.get(check.about.alert_id)) for check in watched.checks]
    return junit_xml(SUITE, cases)


def _case(check: RuleCheck, alert: Alert | None) -> JunitCase:
    about = check.about
    group = agent_of(check) or LAKE
    name = _case_name(about)
    if alert is not None and alert.state == "firing":
        return JunitCase(group, name, "failure", _evidence(alert))
    if alert is not None and alert.state == "acknowledged":
        return JunitCase(group, name, "skipped", f"acknowledged: {_evidence(alert)}")
    if check.reason is not None:
        return JunitCase(group, name, "skipped", words.line(check.reason))
    return JunitCase(group, name)


def agent_of(check: RuleCheck) -> str | None:
    """Return the agent of a check in its run mode; None of one about the whole lake."""
    about = check.about
    if about.agent_name is None and check.evidence is None:  # the rule has nothing to look at
        return None
    return phrases.agent(about.agent_name, about.run_mode, about.metric)


def _case_name(about: Watching) -> str:
    """Return what tells the checks of an agent apart."""
    parts = [about.rule, about.metric if about.metric != about.rule else None, about.candidate]
    if about.dimension is not None:
        parts.append(f"{about.dimension}={about.dimension_value}")
    return " ".join(words.name(part) for part in parts if part)


def as_annotations(watched: Watched) -> str:
    """Return an error of GitHub for each firing alert, at most ten, and the summary as text."""
    firing = watched.firing
    lines = [
        f"::error title={_property(title(alert))}::{_data(_evidence(alert))}"
        for alert in firing[:MOST_ANNOTATIONS]
    ]
    left_out = len(firing) - MOST_ANNOTATIONS
    if left_out > 0:
        lines.append(f"{words.count(left_out, 'more alert')}; the step's summary has all of them")
    return "".join(f"{line}\n" for line in (*lines, summary(watched)))


def step_summary(watched: Watched, page_url: str | None) -> str:
    """Return the firing alerts as a table of Markdown, in which no name acts."""
    rows = [
        (
            escape(title(alert)),
            escape(sentence(alert)),
            escape(strength(alert.evidence)),
            ", ".join(_links(alert, page_url)),
        )
        for alert in watched.firing[:MOST_ROWS]
    ]
    lines = ["## tracegrade watch", "", escape(summary(watched))]
    lines += table("", ("alert", "change", "evidence", "runs"), rows)
    return "\n".join(lines) + "\n\n"


def _links(alert: Alert, page_url: str | None) -> Iterator[str]:
    for run in run_links(alert, page_url):
        yield f"[{escape(run.name)}]({run.url})" if run.url else code(run.name)


def summary(watched: Watched) -> str:
    """Return one line with the numbers of alerts and checks."""
    resolved = sum(alert.state == "resolved" for alert in watched.alerts)
    unknown = sum(check.reason is not None for check in watched.checks)
    return (
        f"{words.count(len(watched.firing), 'alert')} firing, {resolved:,} resolved; "
        f"{words.count(len(watched.checks), 'check')}, {unknown:,} without enough to go by"
    )


def _evidence(alert: Alert) -> str:
    return "; ".join(filter(None, (sentence(alert), strength(alert.evidence))))


def _data(text: str) -> str:
    """Return a text as the message of a command of GitHub."""
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    """Return a text as a property of a command of GitHub."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
