"""Release scores of cohorts whose sums did not change, for a process that scores again and again.

Rows of a cohort (agent, release, run mode) follow from its sums alone, so they are computed again
only where the digest of the sums is another one.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.relations import put, table
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.schema import RELEASE_SCORES, SCORE_SUMS
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.release import release_scores

_Cohort: TypeAlias = tuple[str | None, str | None, str | None]
"""Release, agent and run mode."""

_NAMES: Final = ("release", "agent_name", "run_mode")
_CHANGED: Final = pa.schema([(name, pa.string()) for name in _NAMES])
_SUMS_OF_CHANGED: Final = "FROM current_sums SEMI JOIN changed_cohorts ON " + " AND ".join(
    f"current_sums.{name} IS NOT DISTINCT FROM changed_cohorts.{name}" for name in _NAMES
)


class CohortScores(NamedTuple):
    """The release scores of one cohort."""

    digest: str
    """Of the sums that they follow from."""
    rows: pa.Table


class KnownCohorts:
    """The release scores that this process computed last."""

    def __init__(self) -> None:
        """Know of no cohort."""
        self._scores: dict[_Cohort, CohortScores] = {}
        self._metrics: Sequence[OwnMetric] = ()

    def release_scores(
        self, con: duckdb.DuckDBPyConnection, metrics: Sequence[OwnMetric] = ()
    ) -> pa.Table:
        """Return the rows of `release_scores`, as the function of that name does.

        Args:
            con: Holds `current_sums`.
            metrics: Of users' own; with others than before, every cohort is computed again.
        """
        known = self._scores if metrics == self._metrics else {}
        found: dict[_Cohort, str] = {
            (release, agent, mode): digest
            for release, agent, mode, digest in con.sql(query("cohort_digests")).fetchall()
        }
        changed = [
            cohort
            for cohort, digest in found.items()
            if cohort not in known or known[cohort].digest != digest
        ]
        made = _by_cohort(_scores_of(con, changed, metrics))
        self._metrics = metrics
        self._scores = {
            cohort: CohortScores(digest, made[cohort]) if cohort in made else known[cohort]
            for cohort, digest in found.items()
        }
        none = RELEASE_SCORES.arrow().empty_table()
        return pa.concat_tables([none, *(each.rows for each in self._scores.values())])


def _scores_of(
    con: duckdb.DuckDBPyConnection, cohorts: Sequence[_Cohort], metrics: Sequence[OwnMetric]
) -> pa.Table:
    """Return the release scores of some cohorts, sorted by key."""
    put(con, "changed_cohorts", table(_CHANGED, cohorts))
    sums = con.sql(_SUMS_OF_CHANGED).to_arrow_table().cast(SCORE_SUMS.arrow())
    with con.cursor() as part:
        put(part, "current_sums", sums)
        return release_scores(part, metrics=metrics)


def _by_cohort(rows: pa.Table) -> dict[_Cohort, pa.Table]:
    """Return the rows of each cohort; they are sorted by it."""
    keys = zip(*(rows[name].to_pylist() for name in _NAMES), strict=True)
    found: dict[_Cohort, pa.Table] = {}
    start = 0
    for cohort, same in groupby(keys):
        size = len(list(same))
        found[cohort] = rows.slice(start, size)
        start += size
    return found
