"""What a new check makes of an alert."""

import datetime
from dataclasses import replace

import pytest

from tracegrade_watch.alert import Alert, AlertState, Evidence
from tracegrade_watch.regressions import decided
from tracegrade_watch.watched import RuleCheck, Watching, updated_alerts

BEFORE = datetime.datetime(2026, 11, 1)  # noqa: DTZ001 - as tables have it
NOW = datetime.datetime(2026, 11, 2)  # noqa: DTZ001
ABOUT = Watching("success", "support", "production", "success", "1.0", "1.1")
OLD = Evidence("it fell", "the rule", "it rises", ratio=30.0, threshold=20.0, note="ann")
ALERT = Alert(
    ABOUT.alert_id,
    **vars(ABOUT),
    state="firing",
    first_run=BEFORE,
    last_run=BEFORE,
    evidence=OLD,
    notified={"slack env:A": "firing"},
)


def check(ratio: float | None, reason: str | None = None) -> RuleCheck:
    """Return a check whose evidence has a ratio, at a threshold of 20."""
    evidence = Evidence("new", "the rule", "it rises", ratio=ratio) if ratio is not None else None
    return decided(RuleCheck(ABOUT, reason=reason, evidence=evidence), 20)


@pytest.mark.parametrize(
    ("before", "found", "after"),
    [
        ("firing", check(25), "firing"),
        ("firing", check(19), "firing"),  # between a fifth of the threshold and all of it
        ("firing", check(4.1), "firing"),
        ("firing", check(3.9), "resolved"),
        ("firing", check(None, "not comparable"), "firing"),
        ("firing", None, "resolved"),
        ("acknowledged", check(25), "acknowledged"),
        ("acknowledged", check(3.9), "resolved"),
        ("resolved", check(19), "resolved"),
        ("resolved", check(20), "firing"),
        ("resolved", check(None, "too few days"), "resolved"),
        ("resolved", None, "resolved"),
    ],
)
def test_states(before: AlertState, found: RuleCheck | None, after: str) -> None:
    """An alert fires from the threshold on, and until a fifth of it."""
    alert = replace(ALERT, state=before)
    (changed,) = updated_alerts([alert], [found] if found else [], NOW)

    assert changed.state == after
    assert changed.notified == alert.notified
    assert (changed.last_run == NOW) == (changed != alert)
    if found is None or found.reason or (before, after) == ("resolved", "resolved"):
        assert changed.evidence == OLD
    else:
        assert changed.evidence.statement == "new"
        assert changed.evidence.note == ("ann" if before != "resolved" else None)
        assert changed.first_run == (NOW if before == "resolved" else BEFORE)


def test_a_check_below_the_threshold_makes_no_alert() -> None:
    """From the threshold on it makes one."""
    assert updated_alerts([], [check(19.9)], NOW) == []
    (alert,) = updated_alerts([], [check(20)], NOW)
    assert (alert.state, alert.first_run, alert.alert_id) == ("firing", NOW, ABOUT.alert_id)
