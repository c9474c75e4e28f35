"""Release scores of unchanged cohorts are taken over, and are those of the definition."""

from collections.abc import Iterator
from random import Random

import duckdb
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import arrow, without_scores
from tests.scoring.job.test_release import random_run, row

from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.statistics.known_cohorts import KnownCohorts
from tracegrade_scoring.statistics.release import release_scores
from tracegrade_scoring.statistics.sums import add_scores, start_sums, total_sums

COHORT = ("release", "agent_name", "run_mode")


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection on which nothing was scored before."""
    with without_scores() as con:
        yield con


@settings(max_examples=4, phases=[Phase.generate])
@given(seed=st.integers(min_value=0))
def test_rows_are_those_of_all_sums(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    """However runs come and go; each bit is the same, and so is the order."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    known = KnownCohorts()
    start_sums(con, are_whole=True)
    landed = []
    for number in range(6):
        runs = [random_run(random) for _ in range(random.randrange(12))]
        landed += [row(100 * number + i, run) for i, run in enumerate(runs)]
        add_scores(
            con, arrow(TRAJECTORY_SCORES, landed[-len(runs) :] if runs else []).to_batches()
        )
        if number == 4:
            add_scores(con, arrow(TRAJECTORY_SCORES, landed[:5]).to_batches(), sign=-1)
        total_sums(con)
        assert known.release_scores(con).equals(release_scores(con))


def test_only_changed_cohorts_are_computed(con: duckdb.DuckDBPyConnection) -> None:
    """The rows of the others are the same objects as before."""
    random = Random(7)  # noqa: S311
    known = KnownCohorts()
    start_sums(con, are_whole=True)
    runs = [random_run(random) for _ in range(60)]
    add_scores(
        con, arrow(TRAJECTORY_SCORES, [row(i, run) for i, run in enumerate(runs)]).to_batches()
    )
    total_sums(con)
    known.release_scores(con)
    before = {cohort: each.rows for cohort, each in known._scores.items()}
    add_scores(con, arrow(TRAJECTORY_SCORES, [row(99, runs[0])]).to_batches())
    total_sums(con)
    known.release_scores(con)
    changed = [cohort for cohort, each in known._scores.items() if each.rows is not before[cohort]]
    assert changed == [tuple(row(99, runs[0])[name] for name in COHORT)]
    assert len(before) > 1
