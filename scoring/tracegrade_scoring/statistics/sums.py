"""Adds scores up by cohort, category, task and metric, exactly, so that sums can be kept.

Doubles are added as whole multiples of 2**-60. No order of rows, no splitting into buckets and no
earlier run changes a bit of the result, and outdated values can be subtracted again. That is how
release scores follow a small change without reading the whole lake.

Such a multiple is four digits of base 2**32, each added up in doubles, which are exact below
2**53; the engine puts them together.

Makes:
    current_sums (from sum_parts): sums of all scores
    sum_parts (from score_sums, trajectory_scores): sums of the lake, and those that a run adds
        and takes off
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake.maintenance.row_selection import TRACE_ID_DIGITS
from tracegrade_queries.engine.relations import append, make_table
from tracegrade_queries.engine.staged import of_traces
from tracegrade_queries.engine.table_views import duckdb_type
from tracegrade_scoring.errors import SumsTooLarge
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import (
    KILLED_RUN,
    SCORE,
    SCORE_SUMS,
    SEVERAL_RUNS,
    TRAJECTORY_SCORES,
)

UNIT: Final = 2**60
"""Sums hold whole multiples of 1 / UNIT, up to 10**38 of them."""

BATCH_ROWS: Final = 50_000
"""Rows that are added up at a time, each of 400 values; of 2**21 a digit's sum could be 2**53."""

Columns: TypeAlias = dict[str, npt.NDArray[Any]]
Doubles: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

_COHORT: Final = ("release", "agent_name", "run_mode", "task_category", "task_id")
_KEYS: Final = (*_COHORT, "metric")
_STATUSES: Final = ("scored", "not_applicable", "error")
_COUNTS: Final = (*_STATUSES, "not_single")
_SUMS: Final = ("numerator", "denominator", "value_sum", "weight", "observations")
_BASE: Final = 2**32
_DIGITS: Final = 4
_LARGEST_DIGIT: Final = 2**10
"""Of the last digit of a bucket's sum; the engine's integers have room for a million of them."""
_HEAVY: Final = 2.0**20
"""Least weight of a trace that may be too large by itself."""


def start_sums(con: duckdb.DuckDBPyConnection, *, are_whole: bool) -> None:
    """Create `sum_parts`: the sums of the lake, less those of the scores that are computed again.

    Args:
        con: Holds `score_sums`, `traces_to_score` and `trajectory_scores`: the scores of these
            traces, or all if the sums are not whole.
        are_whole: Whether the lake's sums are of all its scores. Else they are added up afresh.
    """
    con.execute("CREATE OR REPLACE TABLE sum_parts AS FROM score_sums")
    if not are_whole:
        con.execute("DELETE FROM sum_parts")
        add_scores(con, read_scores(con, f"NOT {_OF_TRACES}"))
        return
    dates = con.sql(
        "SELECT DISTINCT scored_date FROM traces_to_score WHERE scored_date IS NOT NULL"
    ).fetchall()
    if dates:  # as constants they keep the engine from all other files
        listed = ", ".join(f"'{day}'" for (day,) in dates)
        add_scores(con, read_scores(con, f"date IN ({listed}) AND {_OF_TRACES}"), sign=-1)


_OF_TRACES: Final = of_traces(TRAJECTORY_SCORES, "traces_to_score")


def read_scores(con: duckdb.DuckDBPyConnection, condition: str) -> pa.RecordBatchReader:
    """Return the scores of all metrics of a condition on `trajectory_scores`, for `add_scores`."""
    rows = con.sql(f"SELECT * FROM {wide_scores(con)} WHERE {condition}")
    return rows.to_arrow_reader(BATCH_ROWS)


def wide_scores(con: duckdb.DuckDBPyConnection) -> str:
    """Return the text after FROM for `trajectory_scores` with a column for each own metric.

    Args:
        con: Holds `trajectory_scores` and `custom_scores`.
    """
    names = con.sql("SELECT DISTINCT metric FROM custom_scores ORDER BY metric").fetchall()
    if not names:
        return "trajectory_scores"
    columns = ", ".join(
        f"any_value(score) FILTER (WHERE metric = {_text(name)}) AS {_quoted(name)}"
        for (name,) in names
    )
    return (
        f"(FROM trajectory_scores LEFT JOIN (SELECT trajectory_id, date, {columns} "
        "FROM custom_scores GROUP BY trajectory_id, date) USING (trajectory_id, date))"
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def metrics_in(schema: pa.Schema) -> list[str]:
    """Return the columns that are scores, also if they are in a dictionary."""
    types = {field.name: field.type for field in schema}
    values = {
        name: type_.value_type if pa.types.is_dictionary(type_) else type_
        for name, type_ in types.items()
    }
    return [name for name, type_ in values.items() if pa.types.is_struct(type_)]


def add_scores(
    con: duckdb.DuckDBPyConnection, scores: Iterable[pa.RecordBatch], sign: int = 1
) -> None:
    """Add scores to `sum_parts`; a sign of -1 takes them off.

    Args:
        con: Holds `sum_parts`.
        scores: Rows with the columns of `trajectory_scores` and of own metrics, at most BATCH_ROWS
            in each; scores as dictionaries take less time.
        sign: 1 or -1.
    """
    parts = [_added_up(rows) for rows in scores]  # all are read before `con` writes
    if parts:
        add_sums(con, pa.concat_tables(parts), sign)


def add_sums(con: duckdb.DuckDBPyConnection, sums: pa.Table, sign: int = 1) -> None:
    """Add to `sum_parts` what `sums_of` made; a sign of -1 takes it off."""
    append(con, "sum_parts", sums, _put_together(sign))


def sums_of(scores: pa.Table) -> pa.Table:
    """Return the sums of scores, in counts and digits, for `add_sums`.

    Args:
        scores: At least one row, with the columns of `trajectory_scores`; scores as dictionaries
            take less time.
    """
    return pa.concat_tables(map(_added_up, scores.to_batches(BATCH_ROWS)))


def check_sums(sums: pa.Table, scores: pa.Table) -> None:
    """Check that the lake's sums have room for sums that `sums_of` made.

    Args:
        sums: The sums.
        scores: The scores that they are of, with the columns of `trajectory_scores`.

    Raises:
        SumsTooLarge: They have not: a span can claim that its trace stands for 10**13 others.
    """
    if name := _too_large(sums):
        msg = f"the sum of {name}s, weighted by sampling, is too large to be added up exactly"
        error = SumsTooLarge(msg)
        error.traces = [*_too_large_traces(scores)]
        raise error


def _too_large(sums: pa.Table) -> str | None:
    """Return the name of the first sum for which there is no room; None if there is none."""
    for name in _SUMS:
        largest = pc.max(pc.abs(sums[f"{name}_{_DIGITS - 1}"])).as_py()
        if largest is not None and not largest < _LARGEST_DIGIT:
            return name
    return None


def _too_large_traces(scores: pa.Table) -> Iterator[str]:
    heavy = scores.filter(pc.greater_equal(scores["sample_weight"].cast(pa.float64()), _HEAVY))
    traces = pc.utf8_slice_codeunits(heavy["trajectory_id"].cast(pa.string()), 0, TRACE_ID_DIGITS)
    for trace in pc.unique(traces).to_pylist():
        if _too_large(sums_of(heavy.filter(pc.equal(traces, trace)))):
            yield trace


def _put_together(sign: int) -> str:
    """Return the columns of `sum_parts` as the engine reads them of counts and digits."""
    sums = {name: f"{name}::BIGINT" for name in _COUNTS}
    for name in _SUMS:
        digits = (
            f"{name}_{digit_index}::HUGEINT * {_BASE**digit_index}"
            for digit_index in range(_DIGITS)
        )
        sums[name] = f"({' + '.join(digits)})"
    return ", ".join((*_KEYS, *(f"{sign} * {sum_} AS {name}" for name, sum_ in sums.items())))


class _Rows(NamedTuple):
    """Groups and weights of scores, by the kinds of rows."""

    kinds: Places
    """Kind of each row."""
    groups: Places
    """For each kind, the number of its cohort, category and task."""
    weights: Doubles
    """Weight of each kind."""


def _added_up(scores: pa.RecordBatch) -> pa.Table:
    """Return the sums of every metric for each cohort, category and task."""
    columns = {name: scores[name] for name in _COHORT}
    columns["task_category"] = columns["task_category"].fill_null("")
    groups, first = _numbered(columns.values())
    keys = pa.table(columns).take(pa.array(first))
    weights = scores["sample_weight"]
    kinds, first = _numbered((pa.array(groups), weights))
    rows = _Rows(kinds, groups[first], _doubles(weights)[first])
    names = metrics_in(scores.schema)
    cells = [_cell(scores[metric], rows, len(keys)) for metric in names]
    sums = {name: np.concatenate([cell[name] for cell in cells]) for name in cells[0]}
    every = keys.take(pa.array(np.tile(np.arange(len(keys)), len(names))))
    metrics = pa.array([metric for metric in names for _ in range(len(keys))], pa.string())
    return pa.table({**{name: every[name] for name in _COHORT}, "metric": metrics, **sums})


def _numbered(columns: Iterable[pa.Array]) -> tuple[Places, Places]:
    """Return a number for each row, equal rows the same, and the first row of each number."""
    numbers: Places = np.zeros(1, dtype=np.int64)
    for column in columns:
        found = column.dictionary_encode("encode")
        pairs = pa.array(numbers * len(found.dictionary) + found.indices.to_numpy())
        numbers = pairs.dictionary_encode().indices.to_numpy().astype(np.int64)
    first = np.empty(numbers.max(initial=-1) + 1, dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of several the last to be set counts
    return numbers, first


def _cell(score: pa.Array, rows: _Rows, size: int) -> Columns:
    """Return the counts of one metric for each group, and the digits of its sums.

    Equal scores of rows of one kind are added up at once. Runs that are not attempts do not count.
    """
    cases, numbers = _cases(score)
    pairs = pa.array(rows.kinds * len(cases) + numbers).value_counts()
    kind, case = np.divmod(pairs.field("values").to_numpy(), len(cases))
    times, group, weight = pairs.field("counts").to_numpy(), rows.groups[kind], rows.weights[kind]
    fields = dict(zip(SCORE.names, cases.flatten(), strict=True))
    status = pc.index_in(fields["status"], pa.array(_STATUSES))
    of_none = pc.is_in(fields["reason"], pa.array([KILLED_RUN, SEVERAL_RUNS]))
    status = pc.if_else(of_none, None, status).fill_null(len(_STATUSES)).to_numpy()[case]
    by_status = np.bincount(status * size + group, times, (len(_STATUSES) + 1) * size)
    value, numerator, denominator = (
        _doubles(fields[name])[case] for name in ("value", "numerator", "denominator")
    )
    single = (denominator == 1) & ((numerator == 0) | (numerator == 1)) & (weight == 1)
    added = (weight * numerator, weight * denominator, weight * value, weight, denominator)
    scored = times * (status == 0)
    return {
        **dict(zip(_STATUSES, by_status.reshape(-1, size), strict=False)),
        "not_single": np.bincount(group, scored * ~single, size),
        **_digits(np.stack(added), scored, group, size),
    }


def _cases(score: pa.Array) -> tuple[pa.StructArray, Places]:
    """Return the scores that there are, and which of them each row has."""
    if isinstance(score, pa.DictionaryArray):
        return score.dictionary, score.indices.to_numpy()
    return score, np.arange(len(score))


def _doubles(numbers: pa.DoubleArray) -> Doubles:
    """Return numbers for numpy, NaN in place of NULL."""
    found: Doubles = numbers.to_numpy(zero_copy_only=False)
    return found


def _digits(numbers: Doubles, times: Places, groups: Places, size: int) -> Columns:
    """Return the exact sums for each group of rows of numbers, one for each of `_SUMS`."""
    rest = np.where(np.isnan(numbers), 0, np.rint(numbers * float(UNIT)))
    digits = []
    for _ in range(_DIGITS - 1):
        above = np.floor(rest / _BASE)
        digits.append(rest - above * _BASE)
        rest = above
    return {
        f"{name}_{digit_index}": np.bincount(groups, times * digit, size)
        for digit_index, rows in enumerate((*digits, rest))
        for name, digit in zip(_SUMS, rows, strict=True)
    }


def total_sums(con: duckdb.DuckDBPyConnection) -> None:
    """Create `current_sums` of all parts, without sums of nothing."""
    sums = ", ".join(
        f"sum({column.name})::{duckdb_type(column.type)} AS {column.name}"
        for column in SCORE_SUMS.columns
        if column.name not in _KEYS
    )
    rows = (
        f"SELECT {', '.join(_KEYS)}, {sums} FROM sum_parts GROUP BY ALL "
        "HAVING sum(scored + not_applicable + error) > 0"
    )
    make_table(con, "current_sums", rows)


def sums_are_whole(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the lake's sums are of all its scores: some may have been erased since."""
    scored, summed = con.execute(
        "SELECT (FROM trajectory_scores SELECT count(*) "
        "WHERE coalesce(success.reason NOT IN ($killed, $beside), TRUE)), "
        "(FROM score_sums SELECT sum(scored + not_applicable + error) WHERE metric = $one)",
        {"one": next(iter(METRICS)), "killed": KILLED_RUN, "beside": SEVERAL_RUNS},
    ).fetchall()[0]
    return bool((summed or 0) == scored)
