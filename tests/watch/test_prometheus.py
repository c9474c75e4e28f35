"""Metrics for Prometheus: the numbers of the lake, few series, and labels that are harmless."""

import os
import stat
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.explorer.lakes import sample
from tests.queries.traces import land
from tests.scoring.job.lakes import run
from tests.scoring.report.build import START, Tables, as_lake
from tests.watch.exposition import parse
from tests.watch.test_stored import BLANK

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.issue_marks import stored_marks
from tracegrade_scoring.issues.read import read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_watch.alert import Alert, Evidence
from tracegrade_watch.errors import ExportNotWritten
from tracegrade_watch.outputs.exported import MOST_METRICS, MOST_RELEASES, samples, scoring_lag
from tracegrade_watch.outputs.files import write_textfile
from tracegrade_watch.outputs.prometheus import FAMILIES, MetricSample, prometheus_text
from tracegrade_watch.watched import RuleCheck, Watching

FALL = replace(
    BLANK,
    agent_name="files",
    metric="replans_per_100_calls",
    candidate="1.1",
    evidence=Evidence("", "", "", ratio=84.0, threshold=20.0),
)


def text_of(lake: Lake, *alerts: Alert, checks: Sequence[RuleCheck] = ()) -> str:
    """Return the metrics of a lake."""
    with closing(connect(lake, layers=(SCORES,))) as con:
        issues = read_issues(con, stored_marks(lake))
        return prometheus_text(samples(con, alerts, checks, issues, scoring_lag(lake)))


def test_scores_are_those_of_the_lake(tmp_path: Path) -> None:
    """Value, interval and runs of each release; the metric of an alert is among them."""
    lake = sample(tmp_path / "lake")
    found = parse(text_of(lake, FALL))
    with closing(connect(lake, layers=(SCORES,))) as con:
        rows = con.sql(
            "SELECT agent_name, release, run_mode, metric, value, low, high, trajectories "
            "FROM release_scores WHERE task_category = ''"
        ).fetchall()
    expected = {
        (f"tracegrade_score{suffix}", *(name or "" for name in row[:4])): row[column]
        for row in rows
        for suffix, column in (("", 4), ("_low", 5), ("_high", 6))
        if row[column] is not None
    }
    given = {
        (each.name, *(each.labels[name] for name in ("agent", "release", "run_mode", "metric"))):
            each.value
        for each in found if each.name.startswith("tracegrade_score")
    }  # fmt: skip
    runs = {each.labels["release"]: each.value for each in found if each.name == "tracegrade_runs"
            and each.labels["agent"] == "files"}  # fmt: skip

    assert given.items() <= expected.items()
    assert {"success", "replans_per_100_calls"} <= {key[4] for key in given}
    assert runs == {row[1]: row[7] for row in rows if row[0] == "files"}


def test_series_are_few(tmp_path: Path) -> None:
    """The newest releases alone, whatever many there are, and so many metrics."""
    metrics = [*METRICS][: MOST_METRICS + 2]
    with closing(Tables()) as tables:
        for number in range(MOST_RELEASES + 3):
            name = tables.run(f"1.{number}", date=START.date() + timedelta(number))
            tables.scored(name, "t")
            for metric in metrics:
                tables.release(metric, 1.0, release=f"1.{number}")
        lake = as_lake(tables, tmp_path / "lake")
    alerts = [
        replace(FALL, alert_id=f"{n:012}", metric=metric) for n, metric in enumerate(metrics)
    ]
    found = parse(text_of(lake, *alerts))
    scores = [each for each in found if each.name == "tracegrade_score"]

    assert {each.labels["release"] for each in scores} == {f"1.{n}" for n in range(3, 8)}
    assert {each.labels["metric"] for each in scores} == {*sorted(metrics)[:MOST_METRICS]}


def test_alerts_and_evidence(tmp_path: Path) -> None:
    """A line that one can watch approach 1; what was resolved is no alert."""
    gone = replace(FALL, alert_id="2" * 12, rule="other", state="resolved")
    known = replace(FALL, alert_id="3" * 12, rule="known", state="acknowledged")
    quiet = RuleCheck(Watching("quiet"), evidence=Evidence("", "", "", ratio=5.0, threshold=20.0))
    lake = sample(tmp_path / "lake")
    found = parse(text_of(lake, FALL, gone, known, checks=[quiet]))

    assert {each.labels["rule"]: each.labels["state"] for each in found
            if each.name == "tracegrade_alert"} == {
        "success": "firing", "known": "acknowledged",
    }  # fmt: skip
    ratios = [each for each in found if each.name == "tracegrade_evidence_ratio"]
    assert {each.labels["rule"]: each.value for each in ratios} == {
        "success": 4.2, "known": 4.2, "quiet": 0.25,
    }  # fmt: skip


def test_what_is_not_scored_is_counted(tmp_path: Path) -> None:
    """Before a build, traces that are received; a lake without runs has zeros."""
    lake = Lake.create(tmp_path / "lake")
    empty = {each.name: each.value for each in parse(text_of(lake))}
    land(lake, run(1, "look"), run(2, "look"))
    found = {each.name: each.value for each in parse(text_of(lake))}
    scored = {each.name: each.value for each in parse(text_of(sample(tmp_path / "scored")))}

    assert empty == {"tracegrade_unscored_traces": 0, "tracegrade_oldest_unscored_seconds": 0}
    assert found["tracegrade_unscored_traces"] == 2
    assert found["tracegrade_oldest_unscored_seconds"] > 0
    assert abs(scored["tracegrade_last_scored_timestamp_seconds"] - time.time()) < 3_600


@given(st.lists(st.tuples(st.text(), st.floats()), max_size=5))
def test_any_label_and_any_value_can_be_parsed(rows: list[tuple[str, float]]) -> None:
    """Quotes, line ends and what acts on a terminal; labels are short."""
    name = FAMILIES[0].name
    found = parse(
        prometheus_text(MetricSample(name, value, {"agent": label}) for label, value in rows)
    )

    assert len(found) <= len(rows)
    assert all(len(each.labels["agent"]) <= 100 for each in found)
    assert all(each.labels["agent"].isprintable() for each in found)


def test_file_is_whole_and_readable_by_others(tmp_path: Path) -> None:
    """Whatever the umask is; a folder that does not exist is an error in one line."""
    file = tmp_path / "tracegrade.prom"
    before = os.umask(0o077)
    try:
        write_textfile(file, "a 1\n")
        write_textfile(file, "b 1\n")
    finally:
        os.umask(before)

    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert file.read_text() == "b 1\n"
    assert [each.name for each in tmp_path.iterdir()] == ["tracegrade.prom"]
    with pytest.raises(ExportNotWritten, match="cannot write the metrics"):
        write_textfile(tmp_path / "none" / "file", "")
