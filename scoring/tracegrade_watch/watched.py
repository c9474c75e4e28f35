"""What a look at a lake found: the state of each rule, and the alerts."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tracegrade_watch.alert import Alert, Evidence, alert_id_of


@dataclass(frozen=True)
class Watching:
    """What one check of a rule is about; it identifies the alert."""

    rule: str
    """Id of the rule."""
    agent_name: str | None = None
    run_mode: str | None = None
    metric: str | None = None
    base: str | None = None
    candidate: str | None = None
    dimension: str | None = None
    dimension_value: str | None = None

    @property
    def alert_id(self) -> str:
        """Id of the alert that the check may raise."""
        return alert_id_of(
            self.rule,
            self.agent_name,
            self.run_mode,
            self.metric,
            self.base,
            self.candidate,
            self.dimension,
            self.dimension_value,
        )


@dataclass(frozen=True)
class RuleCheck:
    """The result of one rule for what it watches."""

    about: Watching
    fires: bool = False
    is_over: bool = True
    """An alert that fires is resolved now; False while the evidence is between both."""
    reason: str | None = None
    """Why nothing can be said, such as too few days; an alert stays as it is then."""
    evidence: Evidence | None = None
    """None where nothing can be said."""


@dataclass(frozen=True)
class Watched:
    """All rules of a lake, and its alerts after them."""

    checks: Sequence[RuleCheck]
    """In the order of the rules."""
    alerts: Sequence[Alert]
    """Firing ones first."""
    until: datetime.datetime | None
    """Time of the newest received run, UTC without a zone."""

    @property
    def firing(self) -> list[Alert]:
        """The alerts that fire and that no person has acknowledged."""
        return [alert for alert in self.alerts if alert.state == "firing"]


def updated_alerts(
    alerts: Sequence[Alert], checks: Sequence[RuleCheck], until: datetime.datetime | None
) -> list[Alert]:
    """Return the alerts of a lake after new checks.

    An alert whose check is no longer made is resolved: a newer release was compared, an issue
    left its state, or the rule was removed.

    Args:
        alerts: The alerts before.
        checks: The result of every rule.
        until: Time of the newest received run.
    """
    by_id = {check.about.alert_id: check for check in checks}
    found = [_updated(alert, by_id.get(alert.alert_id), until) for alert in alerts]
    known = {alert.alert_id for alert in alerts}
    new = [
        _new(check, until)
        for alert_id, check in by_id.items()
        if check.fires and alert_id not in known
    ]
    return [*found, *(alert for alert in new if alert is not None)]


def _new(check: RuleCheck, until: datetime.datetime | None) -> Alert | None:
    if check.evidence is None:
        return None
    about = check.about
    return Alert(
        about.alert_id,
        **vars(about),
        state="firing",
        first_run=until,
        last_run=until,
        evidence=check.evidence,
    )


def _updated(alert: Alert, check: RuleCheck | None, until: datetime.datetime | None) -> Alert:
    if check is None:
        changed = replace(alert, state="resolved")
    elif check.reason is not None or check.evidence is None:
        return alert
    elif alert.state == "resolved":
        if not check.fires:
            return alert
        changed = replace(alert, state="firing", first_run=until, evidence=check.evidence)
    else:
        evidence = replace(check.evidence, note=alert.evidence.note)
        state = "resolved" if check.is_over and not check.fires else alert.state
        changed = replace(alert, state=state, evidence=evidence)
    return alert if changed == alert else replace(changed, last_run=until)
