"""The result of a run of `tracegrade watch`, as its formats write it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Alert
from tracegrade_watch.notify.message import AlertRun, run_links


@dataclass(frozen=True)
class CheckedRule:
    """One rule over one agent, or over one value of a dimension."""

    rule: str
    """Id of the rule."""
    about: str = ""
    """What it was checked on, such as `support, production, release 1.4`; '' for the lake."""
    alert_id: str | None = None
    """The alert that it found; None if it found none."""
    skipped: str | None = None
    """Why nothing could be said, such as too few days; None if something could."""
    share: float | None = None
    """Evidence divided by the evidence from which it fires; None for a fact."""


@dataclass(frozen=True)
class WatchReport:
    """Rules that were checked, and the alerts of the lake afterwards."""

    lake: str
    """Its name for the reader."""
    checked: Sequence[CheckedRule]
    alerts: Sequence[Alert]
    """Firing ones first."""
    page_url: str | None = None
    """Address of the explorer; None if nothing links to it."""
    faults: Sequence[str] = ()
    """Destinations that did not accept an alert, and why."""

    def in_state(self, state: str) -> list[Alert]:
        """Return the alerts in a state."""
        return [alert for alert in self.alerts if alert.state == state]

    def runs(self, alert: Alert) -> list[AlertRun]:
        """Return the runs that show an alert."""
        return run_links(alert, self.page_url)


def strength(alert: Alert) -> str:
    """Return how strong the evidence is against what the rule needs; '' without numbers."""
    evidence = alert.evidence
    if evidence.ratio is not None and evidence.threshold is not None:
        ratio, needed = words.number(evidence.ratio), words.number(evidence.threshold)
        return f"evidence {ratio}, needs {needed}"
    if evidence.observed is not None and evidence.limit is not None:
        return f"{words.number(evidence.observed)}, limit {words.number(evidence.limit)}"
    return ""


def summary(report: WatchReport) -> str:
    """Return one line with the numbers of rules and alerts."""
    skipped = sum(each.skipped is not None for each in report.checked)
    parts = [
        f"{words.count(len(report.checked), 'check')} made",
        f"{len(report.in_state('firing'))} firing",
        f"{len(report.in_state('acknowledged'))} acknowledged",
    ]
    return ", ".join([*parts, *([f"{skipped} without an answer"] if skipped else [])])
