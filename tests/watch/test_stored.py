"""Alerts as rows of a lake."""

import datetime
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracegrade_lake import Lake
from tracegrade_watch.alert import Alert, DayMean, Evidence, Side, TaskChange, alert_id_of
from tracegrade_watch.stored import read_alerts, write_alerts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
MAYBE = st.none() | TEXTS
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 2**40)
TIMES = st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2200, 1, 1))  # noqa: DTZ001
SIDES = st.builds(Side, MAYBE, COUNTS, COUNTS, NUMBERS, COUNTS)
EVIDENCE = st.builds(
    Evidence,
    TEXTS,
    TEXTS,
    TEXTS,
    ratio=st.none() | NUMBERS,
    threshold=st.none() | NUMBERS,
    base=st.none() | SIDES,
    candidate=st.none() | SIDES,
    tasks=st.lists(st.builds(TaskChange, MAYBE, COUNTS, NUMBERS, COUNTS, NUMBERS), max_size=2).map(
        tuple
    ),
    days=st.lists(st.builds(DayMean, st.dates(), MAYBE, COUNTS, NUMBERS), max_size=2).map(tuple),
    run_ids=st.lists(TEXTS, max_size=3).map(tuple),
    note=MAYBE,
)
ALERTS = st.builds(
    Alert,
    alert_id=st.text("0123456789abcdef", min_size=12, max_size=12),
    rule=TEXTS,
    **dict.fromkeys(
        ("agent_name", "run_mode", "metric", "base", "candidate", "dimension", "dimension_value"),
        MAYBE,
    ),
    state=st.sampled_from(["firing", "acknowledged", "resolved"]),
    first_run=st.none() | TIMES,
    last_run=st.none() | TIMES,
    evidence=EVIDENCE,
    notified=st.dictionaries(TEXTS, TEXTS, max_size=2),
)

BLANK = Alert(
    alert_id="0" * 12,
    rule="success",
    agent_name=None,
    run_mode=None,
    metric=None,
    base=None,
    candidate=None,
    dimension=None,
    dimension_value=None,
    state="firing",
    first_run=None,
    last_run=None,
    evidence=Evidence("", "", ""),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(alerts=st.lists(ALERTS, max_size=3, unique_by=lambda alert: alert.alert_id))
def test_alerts_are_equal_after_they_were_stored(tmp_path: Path, alerts: list[Alert]) -> None:
    """No column changes an alert on its way into the lake and back."""
    lake = Lake.create(tmp_path / "lake")

    write_alerts(lake, alerts)
    stored = read_alerts(lake)

    assert {alert.alert_id: alert for alert in stored} == {
        alert.alert_id: alert for alert in alerts
    }


def test_equal_alerts_are_not_written_again(tmp_path: Path) -> None:
    """The second write of the same alerts makes no commit."""
    lake = Lake.create(tmp_path / "lake")
    evidence = Evidence("fell", "metric: success", "it rises")
    alert = replace(BLANK, evidence=evidence)

    assert not write_alerts(lake, [])
    assert write_alerts(lake, [alert])
    version = lake.version("alerts")
    assert not write_alerts(lake, [alert])

    assert lake.version("alerts") == version


@given(st.lists(st.tuples(TEXTS, *[MAYBE] * 7), min_size=2, max_size=2, unique=True))
def test_other_alerts_have_other_ids(parts: list[tuple[str, *tuple[str | None, ...]]]) -> None:
    """Each part counts, and so does where it is."""
    first, second = (alert_id_of(*each) for each in parts)

    assert first != second
