"""Computes users' own metrics for one bucket, in addition to the built-in ones.

A metric that fails harms no other: all its attempts are in error, and the summary says why.

Makes:
    own_metric_rows: what one metric returned
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.relations import count, put
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics import readable
from tracegrade_scoring.own_metrics.run_apart import MetricAnswer, run_metrics
from tracegrade_scoring.sql import query

FAILED: Final = "metric_failed"
"""Why no attempt has a score of a metric that failed."""
NOT_TRUSTED: Final = "metric_not_trusted"
"""The same for a metric that comes from the lake and is not trusted."""

_ALL_IN_ERROR: Final = (
    "SELECT list(attempt_id) AS trajectory_ids, "
    "score_of(NULL, NULL, NULL, $reason, NULL, 'own') AS score FROM attempts HAVING count(*) > 0"
)
_UNMATCHED: Final = (
    "own_metric_rows WHERE attempt_id IS NULL OR attempt_id NOT IN ("
    "SELECT trajectory_ids.id FROM trajectory_ids INNER JOIN attempts "
    "ON trajectory_ids.trajectory_id = attempts.attempt_id)"
)
_EVIDENCE: Final = (
    "SELECT attempt_id AS trajectory_id, any_value(evidence) AS evidence FROM own_metric_rows "
    "WHERE len(evidence) > 0 GROUP BY attempt_id HAVING count(*) = 1"
)


class OwnScores(NamedTuple):
    """The scores of one metric of a user's own for a bucket."""

    scores: pa.Table
    """`trajectory_ids`, and their `score`: all attempts, in one row those whose are equal."""
    evidence: pa.Table | None
    """`trajectory_id` and `evidence` of the attempts that have any; None if the metric failed."""
    failure: str | None
    """Why it failed; None if it did not."""
    unmatched: int = 0
    """Rows that it returned for no attempt of the bucket, which are ignored."""


def relations_wanted(metrics: Sequence[OwnMetric]) -> set[str]:
    """Return the relations of a bucket that metrics read."""
    return {readable.RELATIONS[name] for name in _read(metrics)}


def own_scores(
    con: duckdb.DuckDBPyConnection, metrics: Sequence[OwnMetric]
) -> dict[str, OwnScores]:
    """Return the scores of a bucket by metric.

    Args:
        con: Holds the bucket's attempts and what `relations_wanted` names.
        metrics: Metrics without faults.
    """
    rows = readable.rows_of(con, _read(metrics)) if metrics else {}
    answers = run_metrics([each for each in metrics if each.runs], rows)
    return {metric.name: _scores(con, metric, answers.get(metric.name)) for metric in metrics}


def _read(metrics: Sequence[OwnMetric]) -> set[str]:
    return {name for each in metrics if each.runs for name in each.reads}


def _scores(
    con: duckdb.DuckDBPyConnection, metric: OwnMetric, answer: MetricAnswer | None
) -> OwnScores:
    if answer is None or isinstance(answer, str):
        reason = {"reason": NOT_TRUSTED if answer is None else FAILED}
        return OwnScores(con.sql(_ALL_IN_ERROR, params=reason).to_arrow_table(), None, answer)
    put(con, "own_metric_rows", answer)
    unmatched = count(con, _UNMATCHED)
    bounds = {"low": metric.low, "high": metric.high}
    scores = con.sql(query("own_metric_scores"), params=bounds).to_arrow_table()
    evidence = con.sql(_EVIDENCE).to_arrow_table()
    return OwnScores(scores, evidence, None, unmatched)
