"""The samples of a lake: scores of its newest releases, alerts, and what waits to be scored."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_lake import Lake
from tracegrade_queries.build.discovery import Unbuilt
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.issues.read import Issue
from tracegrade_scoring.job.last_scoring import last_scored_ms
from tracegrade_scoring.metrics import MAIN_METRICS, METRICS
from tracegrade_scoring.schema import RELEASE_SCORES
from tracegrade_watch.alert import Alert, Evidence
from tracegrade_watch.outputs.prometheus import MetricSample
from tracegrade_watch.sql import query

MOST_RELEASES: Final = 5
"""Releases of an agent, the newest."""
MOST_METRICS: Final = 12
NANOSECONDS: Final = 1_000_000_000


class ScoringLag(NamedTuple):
    """How far scores are behind what was received."""

    traces: int
    """Received traces whose runs have no scores."""
    first_ns: int | None
    """Receipt time of the first of these traces, ns since 1970; None without any."""
    last_scored_ms: int | None
    """Time at which scores were last written, ms since 1970; None if they never were."""


def scoring_lag(lake: Lake, con: DuckDBPyConnection, unbuilt: Unbuilt) -> ScoringLag:
    """Return how far scores are behind.

    Args:
        lake: The lake.
        con: Holds its tables and scores.
        unbuilt: What a build of it would find new.
    """
    (row,) = _rows(con, "unscored_runs")
    firsts = [each for each in (row["first_ns"], unbuilt.first_ns) if each is not None]
    written = last_scored_ms(lake.live_files(RELEASE_SCORES.name))
    return ScoringLag(row["traces"] + unbuilt.traces, min(firsts, default=None), written)


def samples(
    con: DuckDBPyConnection, alerts: Sequence[Alert], issues: Iterable[Issue], lag: ScoringLag
) -> Iterator[MetricSample]:
    """Yield the samples of a lake.

    Args:
        con: Holds its tables and scores.
        alerts: Its alerts.
        issues: Its issues.
        lag: How far its scores are behind.
    """
    watched = [alert.metric for alert in alerts if alert.metric]
    metrics = _chosen(con, watched)
    rows = _rows(con, "exported_scores", releases=MOST_RELEASES, metrics=metrics)
    yield from _scores(rows)
    for alert in alerts:
        yield from _alert(alert)
    yield from _issues(issues)
    yield from _costs(con, rows)
    yield MetricSample("tracegrade_unscored_traces", lag.traces)
    waited = 0.0 if lag.first_ns is None else time.time() - lag.first_ns / NANOSECONDS
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
    for row in _rows(con, "known_costs"):
        names = tuple(row[name] for name in key)
        if names in known:
            labels = dict(zip(("agent", "run_mode", "release"), names, strict=True))
            yield MetricSample("tracegrade_known_cost_usd", row["cost_usd"], labels)


def _alert(alert: Alert) -> Iterator[MetricSample]:
    labels = {
        "rule": alert.rule, "agent": alert.agent_name, "run_mode": alert.run_mode,
        "metric": alert.metric, "base": alert.base, "candidate": alert.candidate,
        "dimension": alert.dimension, "dimension_value": alert.dimension_value,
    }  # fmt: skip
    if alert.state != "resolved":
        state = {"state": alert.state, "alert_id": alert.alert_id}
        yield MetricSample("tracegrade_alert", 1, {**labels, **state})
    share = evidence_share(alert.evidence)
    if share is not None:
        yield MetricSample("tracegrade_evidence_ratio", share, labels)


def evidence_share(evidence: Evidence) -> float | None:
    """Return the evidence divided by the evidence from which a rule fires; None for a fact."""
    if evidence.ratio is None or not evidence.threshold:
        return None
    return evidence.ratio / evidence.threshold


def _rows(con: DuckDBPyConnection, name: str, **parameters: object) -> list[ResultRow]:
    result = con.execute(query(name), parameters)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
