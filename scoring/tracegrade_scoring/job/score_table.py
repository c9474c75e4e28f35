"""Joins the scores of all scorers: one row for each trajectory, one column for each metric.

Its own module because it is columns that are moved here, not rows: scores are too many values to
go through a join. Each scorer gives one row for attempts that are alike; `call_scores` has all
trajectories in its rows, since sub-agents are judged by their own calls, too.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake.columns import TEXT
from tracegrade_queries.engine.staged import in_full
from tracegrade_scoring.job.unrecorded_calls import OF_OWN_CALLS, with_unrecorded_calls
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.own_metrics.bucket import OwnScores
from tracegrade_scoring.schema import (
    CUSTOM_SCORES,
    KILLED_RUN,
    SCORE,
    SCORER_VERSION,
    SEVERAL_RUNS,
    TRAJECTORY_SCORES,
)

SCORERS: Final = tuple(sorted({metric.relation for metric in METRICS.values()}))
"""Relations (trajectory_ids, and a score for each of their metrics): those who have equal ones."""

CHILD: Final = {"status": "not_applicable", "reason": "child_trajectory"}
"""Every other score of a sub-agent's run: it belongs to the run that called it."""
KILLED: Final = {"status": "not_applicable", "reason": KILLED_RUN}
"""Every score of a run that was killed on purpose, and of its sub-agents'."""
BESIDE: Final = {"status": "not_applicable", "reason": SEVERAL_RUNS}
"""Every score of a run in addition to the run of its trial, and of its sub-agents."""

CONTENT_MISSING: Final = "content_missing"
LOST: Final = ("content_redacted", "content_truncated")
"""Reasons for an attempt whose content was redacted, or cut."""


def score_table(
    con: duckdb.DuckDBPyConnection, own: Mapping[str, OwnScores] = MappingProxyType({})
) -> pa.Table:
    """Return the rows of `trajectory_scores` by date; needs `scored_trajectories` and all scorers.

    Few scores are different: they are dictionaries, each once, with a number for each trajectory.

    Args:
        con: Holds them.
        own: By name, metrics of users' own: more columns.

    Raises:
        KeyError: A scorer left out an attempt.
    """
    rows = scores_by(con, SCORERS, own)
    return rows.select([*TRAJECTORY_SCORES.arrow().names, *own])


def scores_by(
    con: duckdb.DuckDBPyConnection,
    scorers: Sequence[str],
    own: Mapping[str, OwnScores] = MappingProxyType({}),
) -> pa.Table:
    """Return what `score_table` does, with the metrics of some scorers alone, in any order."""
    known = con.sql(
        "FROM scored_trajectories INNER JOIN trajectory_ids USING (trajectory_id) "
        "ORDER BY date, trajectory_id"
    ).to_arrow_table()
    columns = {name: known[name] for name in known.column_names}
    columns["trajectory_id"] = known["id"]
    columns["scorer_version"] = pa.repeat(SCORER_VERSION, len(known))
    for scorer in scorers:
        columns |= _scores(scorer, con.table(scorer).to_arrow_table(), known)
    for name, own_scores in own.items():
        columns |= _scores(name, own_scores.scores.rename_columns(["trajectory_ids", name]), known)
    return pa.table(columns)


def _scores(scorer: str, rows: pa.Table, known: pa.Table) -> dict[str, pa.DictionaryArray]:
    """Return the scores of one scorer in the order of the known trajectories."""
    found = rows.combine_chunks()
    alike = found["trajectory_ids"].combine_chunks()
    places = pc.index_in(known["trajectory_id"], alike.flatten())
    if missing := pc.sum(pc.and_(places.is_null(), known["is_root"])).as_py():
        msg = f"{scorer} has no row of {missing} of the attempts that are scored"
        raise KeyError(msg)
    cases = pc.list_parent_indices(alike).cast(pa.int32()).take(places)
    of_none = pc.if_else(known["is_extra_run"], len(found) + 2, len(found) + 1)
    of_no_attempt = pc.if_else(known["killed"], of_none, len(found))
    indices = pc.coalesce(cases, of_no_attempt.cast(pa.int32())).combine_chunks()
    lost = known["content_lost"].combine_chunks()
    reasons = {
        name: _with_loss_reasons(
            pa.DictionaryArray.from_arrays(indices, _cases(found[name])), lost
        )
        for name in found.column_names
        if name != "trajectory_ids"
    }
    unrecorded = known["calls_unrecorded"].combine_chunks()
    own = known["own_unrecorded"].combine_chunks()
    return {
        name: with_unrecorded_calls(name, scores, own if name in OF_OWN_CALLS else unrecorded)
        for name, scores in reasons.items()
    }


def _cases(found: pa.ChunkedArray) -> pa.StructArray:
    """Return the scores that a scorer found, then the scores of runs that are not attempts."""
    others = pa.array([CHILD, KILLED, BESIDE], SCORE)
    return pa.concat_arrays([*found.cast(SCORE).chunks, others])


def _with_loss_reasons(scores: pa.DictionaryArray, lost: pa.Int32Array) -> pa.DictionaryArray:
    """Return the scores, telling content that is missing by what was lost of the attempt."""
    cases = scores.dictionary
    reasons = cases.field("reason")
    is_missing = pc.equal(reasons, CONTENT_MISSING).fill_null(False)
    if not (pc.max(lost).as_py() and pc.any(is_missing).as_py()):
        return scores
    others = [
        pa.StructArray.from_arrays(
            [
                pc.if_else(is_missing, reason, reasons) if each.name == "reason" else part
                for each, part in zip(SCORE, cases.flatten(), strict=True)
            ],
            fields=list(SCORE),
        )
        for reason in LOST
    ]
    kind = pc.if_else(is_missing.take(scores.indices), lost, 0)
    indices = pc.add(scores.indices, pc.multiply(kind, len(cases)).cast(pa.int32()))
    return pa.DictionaryArray.from_arrays(indices, pa.concat_arrays([cases, *others]))


def custom_rows(
    scores: pa.Table, own: Mapping[str, OwnScores], metrics: Sequence[OwnMetric]
) -> pa.Table:
    """Return the rows of `custom_scores`: one for each trajectory and metric of a user's own.

    Args:
        scores: As `score_table` has them.
        own: By name, what the metrics say.
        metrics: The metrics.
    """
    parts = [_custom_rows(scores, own[metric.name], metric) for metric in metrics]
    return pa.concat_tables([CUSTOM_SCORES.arrow().empty_table(), *parts])


def _custom_rows(scores: pa.Table, own_scores: OwnScores, metric: OwnMetric) -> pa.Table:
    ids = scores["trajectory_id"].combine_chunks()
    schema, size = CUSTOM_SCORES.arrow(), len(scores)
    evidence = pa.nulls(size, schema.field("evidence").type)
    if own_scores.evidence is not None and len(own_scores.evidence):
        places = pc.index_in(ids, own_scores.evidence["trajectory_id"].combine_chunks())
        evidence = (
            own_scores.evidence["evidence"].combine_chunks().cast(evidence.type).take(places)
        )
    columns = {
        "trajectory_id": ids,
        "metric": pa.repeat(metric.name, size),
        "score": in_full(scores[metric.name]),
        "metric_hash": pa.repeat(pa.scalar(metric.hash if metric.runs else None, TEXT), size),
        "evidence": evidence,
        "date": scores["date"],
    }
    return pa.table({name: columns[name] for name in schema.names}).cast(schema)
