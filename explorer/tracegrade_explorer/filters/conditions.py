"""Filters as conditions of SQL over the index; every value is a parameter.

Makes:
    matching_runs (from run_index): the runs of a filter, with `sort_key` for its order (then seq),
        and `measured`, a number that a page shows
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_explorer.filters.grammar import (
    LISTS,
    NAMED,
    NUMBERS,
    STARTED,
    TEXTS,
    Filter,
    Range,
)
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.run_states import CONDITIONS, TIMELESS, RunState

ENUMS: Final = ("agent_name", "release", "task_id", "task_category", "run_mode", "outcome")
"""Columns of a type of their own, named `<column>_name`, which has the names that there are."""
ENUM_LISTS: Final = ("models", "tools")
"""Columns of lists of such names."""
INDEX_COLUMNS: Final = (
    *("seq", "trajectory_id", "date", "agent_name", "release", "task_id", "task_category"),
    *("run_mode", "outcome", "conversation_id", "failures", "dialects", "models", "tools"),
    *("reason", "killed", "dimensions"),
)
"""Columns of `matching_runs` besides its own; planning with all of the index takes longer."""


class MatchingRuns(NamedTuple):
    """A query, condition or count of runs, and the values that it needs."""

    text: str
    values: Mapping[str, object] = {}


UNORDERED: Final = MatchingRuns("0::DOUBLE")
NOT_MEASURED: Final = MatchingRuns("NULL::DOUBLE")


def matching_runs(run_filter: Filter, measured: str | None = None) -> MatchingRuns:
    """Return the runs of a filter, wherever its list begins.

    Args:
        run_filter: The filter.
        measured: A key of `NUMBERS`, or a metric of users' own, for the values of `measured`; None
            for NULL.
    """
    found = [*_conditions(run_filter)]
    where = " AND ".join(each.text for each in found) or "TRUE"
    order = sort_key(run_filter)
    measure = number(measured, "measured") if measured else NOT_MEASURED
    parts = (*found, order, measure)
    values = {name: value for each in parts for name, value in each.values.items()}
    text = (
        f"SELECT {', '.join(INDEX_COLUMNS)}, {order.text} AS sort_key, {measure.text} AS measured "
        f"FROM run_index WHERE {where}"
    )
    return MatchingRuns(text, values)


def keep_requests(con: DuckDBPyConnection, text: str) -> None:
    """Keep which requests contain a text: they are read once for all that a page counts.

    Args:
        con: A cursor; only this cursor sees the requests.
        text: A text in the request, in any case.
    """
    con.execute(
        f"CREATE TEMP TABLE IF NOT EXISTS {_requests_table(text)} AS "
        "SELECT seq FROM request_texts WHERE contains(text, lower($request))",
        {"request": text},
    )


def _requests_table(text: str) -> str:
    return f"requests_{hashlib.sha256(text.encode()).hexdigest()}"


def number(key: str, parameter: str) -> MatchingRuns:
    """Return a number of a run, NULL without a value.

    Args:
        key: A key of `NUMBERS`, else the name of a metric of users' own, which is a value.
        parameter: Name for that value.
    """
    if key in NUMBERS:
        return MatchingRuns(f"{NUMBERS[key]}::DOUBLE")
    return MatchingRuns(f"own_values[${parameter}::VARCHAR]", {parameter: key})


def sort_key(run_filter: Filter) -> MatchingRuns:
    """Return the expression whose rising values are the order; without a value a run is last."""
    if run_filter.sort == STARTED:
        return MatchingRuns("-seq::DOUBLE") if run_filter.descending else UNORDERED
    sign = "-" if run_filter.descending else ""
    found = number(run_filter.sort, "sort")
    return found._replace(text=f"coalesce({sign}{found.text}, 'NaN'::DOUBLE)")


def _conditions(run_filter: Filter) -> Iterator[MatchingRuns]:
    for key, column in TEXTS.items():
        if key in run_filter.names:
            yield _named(key, column, run_filter.names[key])
    for key, column in LISTS.items():
        if key in run_filter.names:
            yield _listed(key, column, run_filter.names[key])
    others = [key for key in run_filter.names if key not in NAMED]
    yield from (
        _of_dimension(f"dimension_{position}", key, run_filter.names[key])
        for position, key in enumerate(others)
    )
    yield from (
        condition
        for position, (key, ends) in enumerate(run_filter.ranges.items())
        for condition in _range(key, ends, f"range_{position}")
    )
    yield from _settings(run_filter)


def _range(key: str, ends: Range | None, parameter: str) -> Iterator[MatchingRuns]:
    column, values = number(key, parameter)
    if ends is None:
        yield MatchingRuns(f"{column} IS NULL", values)
        return
    yield MatchingRuns(f"{column} IS NOT NULL", values)
    for end, sign, value in (("low", ">=", ends.low), ("high", "<=", ends.high)):
        if value is not None:
            name = f"{parameter}_{end}"
            yield MatchingRuns(f"{column} {sign} ${name}::DOUBLE", {**values, name: value})


def _settings(run_filter: Filter) -> Iterator[MatchingRuns]:
    if run_filter.since is not None:
        yield MatchingRuns("start_time >= $since", {"since": run_filter.since})
    if run_filter.until is not None:
        yield MatchingRuns("start_time < $until", {"until": run_filter.until})
    if run_filter.received is not None:
        first, last = run_filter.received
        yield MatchingRuns(
            "date BETWEEN $first_date AND $last_date", {"first_date": first, "last_date": last}
        )
    if run_filter.request:
        yield MatchingRuns(f"seq IN (SELECT seq FROM {_requests_table(run_filter.request)})", {})
    if run_filter.level != "all":
        absent = "IS NULL" if run_filter.level == "root" else "IS NOT NULL"
        yield MatchingRuns(f"parent_trajectory_id {absent}", {})
    if run_filter.counted is not None:
        yield MatchingRuns("NOT killed AND NOT superseded" if run_filter.counted
                           else "(killed OR superseded)", {})  # fmt: skip
    yield from _ends(run_filter)


def _ends(run_filter: Filter) -> Iterator[MatchingRuns]:
    """Yield what asks for runs by whether they have ended."""
    if run_filter.complete is not None:
        yield MatchingRuns("complete" if run_filter.complete else "NOT complete")
    if run_filter.state is not None:
        yield _of_state(run_filter.state)


def _of_state(state: RunState) -> MatchingRuns:
    return MatchingRuns(CONDITIONS[state], {} if state in TIMELESS else {"now": utc_now()})


def _named(key: str, column: str, names: tuple[str | None, ...]) -> MatchingRuns:
    values = _known(key, names)
    given = [*_given(column, values)]
    parts = [f"{column} IN ({', '.join(given)})"] if given else []
    parts += [f"{column} IS NULL"] if None in names else []
    return MatchingRuns(f"({' OR '.join(parts)})", values)


def _known(key: str, names: tuple[str | None, ...]) -> dict[str, object]:
    """Return the names that are known, by the parameter for each."""
    known = [name for name in names if name is not None]
    return {f"{key}_{position}": name for position, name in enumerate(known)}


def _given(column: str, parameters: Iterable[str]) -> Iterator[str]:
    """Yield parameters as values of a column; NULL for a name that no run has."""
    for name in parameters:
        is_enum = column in ENUMS or column in ENUM_LISTS
        yield f"try_cast(${name} AS {column}_name)" if is_enum else f"${name}"


def _of_dimension(parameter: str, dimension: str, names: tuple[str | None, ...]) -> MatchingRuns:
    """Return the condition on a dimension of the mapping file."""
    known = [name for name in names if name is not None]
    column = f"dimensions[${parameter}::VARCHAR]"
    unknown = f" OR {column} IS NULL" if None in names else ""
    text = f"(coalesce(list_contains(${parameter}_names::VARCHAR[], {column}), FALSE){unknown})"
    return MatchingRuns(text, {parameter: dimension, f"{parameter}_names": known})


def _listed(key: str, column: str, names: tuple[str | None, ...]) -> MatchingRuns:
    values = _known(key, names)
    parts = [f"list_contains({column}, {name})" for name in _given(column, values)]
    parts += [f"coalesce(len({column}), 0) = 0"] if None in names else []
    return MatchingRuns(f"({' OR '.join(parts)})", values)
