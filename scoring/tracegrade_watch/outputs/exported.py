"""The samples of a lake: scores of its newest releases, alerts, and what waits to be scored."""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.engine.connection import Limits, connect, connect_pinned
from tracegrade_queries.engine.pinned import pin
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_queries.schema import BUILT_TRACES, TRAJECTORIES
from tracegrade_scoring.issue_marks import stored_marks
from tracegrade_scoring.issues.read import Issue, read_issues
from tracegrade_scoring.job.last_scoring import last_scored_ms
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import MAIN_METRICS, METRICS
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.report.counted import counted_release_scores
from tracegrade_scoring.schema import RELEASE_SCORES, TRAJECTORY_SCORES
from tracegrade_watch.alert import Alert, Evidence
from tracegrade_watch.outputs.prometheus import MetricSample, prometheus_text
from tracegrade_watch.reading import read_rows
from tracegrade_watch.watched import RuleCheck, Watched, Watching

MOST_RELEASES: Final = 5
"""Releases of an agent, the newest."""
MOST_METRICS: Final = 12
READ_FOR_LAG: Final = (RAW_SPANS, BUILT_TRACES, TRAJECTORIES, TRAJECTORY_SCORES)
LAG_LIMITS: Final = Limits("20%", threads=1)
"""Limits for a look that is taken in addition to others."""


class ScoringLag(NamedTuple):
    """How far scores are behind what was received."""

    traces: int
    """Received traces without scores."""
    oldest_at: datetime.datetime | None
    """Receipt of the last span of that which waits longest, UTC without a zone; None if none."""
    last_scored_ms: int | None
    """Time at which scores were last written, ms since 1970; None if they never were."""


def scoring_lag(lake: Lake) -> ScoringLag:
    """Return how far scores are behind, from the newest files of the lake."""
    pinned = pin(lake, [each.name for each in READ_FOR_LAG])
    with connect_pinned(pinned, READ_FOR_LAG, LAG_LIMITS) as con:
        (row,) = read_rows(con, "traces_without_scores")
    written = last_scored_ms(lake.live_files(RELEASE_SCORES.name))
    return ScoringLag(row["traces"], row["oldest_at"], written)


def samples(
    con: DuckDBPyConnection,
    alerts: Sequence[Alert],
    checks: Iterable[RuleCheck],
    issues: Iterable[Issue],
    lag: ScoringLag,
) -> Iterator[MetricSample]:
    """Yield the samples of a lake.

    Args:
        con: Holds its tables and scores; its `release_scores` are exported.
        alerts: Its alerts.
        checks: Results of its rules, if these were checked just now.
        issues: Its issues.
        lag: How far its scores are behind.
    """
    watched = [alert.metric for alert in alerts if alert.metric]
    metrics = _chosen(con, watched)
    rows = read_rows(con, "exported_scores", releases=MOST_RELEASES, metrics=metrics)
    yield from _scores(rows)
    yield from _alerts(alerts, checks)
    yield from _issues(issues)
    yield from _costs(con, rows)
    yield MetricSample("tracegrade_unscored_traces", lag.traces)
    waited = (utc_now() - lag.oldest_at).total_seconds() if lag.oldest_at else 0.0
    yield MetricSample("tracegrade_oldest_unscored_seconds", max(0.0, waited))
    if lag.last_scored_ms is not None:
        yield MetricSample("tracegrade_last_scored_timestamp_seconds", lag.last_scored_ms / 1_000)


def _chosen(con: DuckDBPyConnection, watched: Iterable[str]) -> list[str]:
    """Return the metrics that are exported: those of alerts, the main ones, and users' own."""
    known = con.sql("SELECT DISTINCT metric FROM release_scores ORDER BY metric").fetchall()
    names = [name for (name,) in known]
    own = [name for name in names if name not in METRICS]
    wanted = dict.fromkeys([*sorted(watched), *MAIN_METRICS, *own])
    return [name for name in wanted if name in names][:MOST_METRICS]


def _scores(rows: Sequence[ResultRow]) -> Iterator[MetricSample]:
    key = ("agent_name", "run_mode", "release")
    for names, found in groupby(rows, key=lambda row: tuple(row[name] for name in key)):
        release = [*found]
        labels = dict(zip(("agent", "run_mode", "release"), names, strict=True))
        runs = max(row["trajectories"] for row in release)
        yield MetricSample("tracegrade_runs", runs, labels)
        for row in release:
            with_metric = {**labels, "metric": row["metric"]}
            for family, column in (("", "value"), ("_low", "low"), ("_high", "high")):
                if row[column] is not None:
                    yield MetricSample(f"tracegrade_score{family}", row[column], with_metric)


def _issues(issues: Iterable[Issue]) -> Iterator[MetricSample]:
    counts = Counter((issue.agent_name, issue.run_mode, issue.state.name) for issue in issues)
    for names, count in counts.items():
        labels = dict(zip(("agent", "run_mode", "state"), names, strict=True))
        yield MetricSample("tracegrade_issues", count, labels)


def _costs(con: DuckDBPyConnection, exported: Sequence[ResultRow]) -> Iterator[MetricSample]:
    """Yield the known costs of the releases whose scores are exported."""
    key = ("agent_name", "run_mode", "release")
    known = {tuple(row[name] for name in key) for row in exported}
    for row in read_rows(con, "known_costs"):
        names = tuple(row[name] for name in key)
        if names in known:
            labels = dict(zip(("agent", "run_mode", "release"), names, strict=True))
            yield MetricSample("tracegrade_known_cost_usd", row["cost_usd"], labels)


def _alerts(alerts: Sequence[Alert], checks: Iterable[RuleCheck]) -> Iterator[MetricSample]:
    for alert in alerts:
        if alert.state != "resolved":
            state = {"state": alert.state, "alert_id": alert.alert_id}
            yield MetricSample("tracegrade_alert", 1, {**_labels(alert), **state})
    for check in checks:
        if check.evidence is not None:
            yield from _share(check.about, check.evidence)
    for alert in alerts:
        if alert.state != "resolved":
            yield from _share(alert, alert.evidence)


def _share(about: Alert | Watching, evidence: Evidence) -> Iterator[MetricSample]:
    """Yield the evidence divided by the evidence from which a rule fires; nothing for a fact."""
    if evidence.ratio is not None and evidence.threshold:
        share = evidence.ratio / evidence.threshold
        yield MetricSample("tracegrade_evidence_ratio", share, _labels(about))


def _labels(about: Alert | Watching) -> dict[str, str | None]:
    return {
        "rule": about.rule, "agent": about.agent_name, "run_mode": about.run_mode,
        "metric": about.metric, "base": about.base, "candidate": about.candidate,
        "dimension": about.dimension, "dimension_value": about.dimension_value,
    }  # fmt: skip


def lake_metrics(lake: Lake, watched: Watched) -> str:
    """Return the metrics of a lake after its rules were checked, in the text format."""
    with connect(lake, layers=(SCORES,)) as con:
        issues = read_issues(con, stored_marks(lake))
        with counted_release_scores(con):
            found = samples(con, watched.alerts, watched.checks, issues, scoring_lag(lake))
            return prometheus_text(found)
