"""Compares values with a suite's expectations, by the rule that scores task files.

Values are canonical JSON. The engine finds them by their paths and compares them with the macro
`matches_expected`, so that a value means the same in a suite as in a task file.
"""

import json
from functools import cache
from threading import Lock
from typing import Any, Final

import duckdb

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.verifying.result import shortened
from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks.engine import closed_engine
from tracegrade_scoring.tasks.expected_value import expected_values

_FITS: Final = "SELECT matches_expected($found, $value, $pattern, $low, $high, $optional)"
_FIND: Final = "SELECT json_extract($text, path)::VARCHAR FROM (VALUES ($path)) AS paths (path)"
_IS_JSON: Final = "SELECT json_valid($text)"  # the engine reads no half characters
_ONE_AT_A_TIME: Final = Lock()
MAX_VALUE_CHARS: Final = 200


def json_of(text: str) -> str | None:
    """Return a text as canonical JSON; None if it is not JSON or too deep."""
    canonical = canonical_json(text)
    return canonical if canonical is not None and _ask(_IS_JSON, {"text": canonical}) else None


def canonical(found: object) -> str | None:
    """Return a plain value as canonical JSON."""
    return canonical_json(json.dumps(found, ensure_ascii=False))


def short(text: str) -> str:
    """Return a value in the form for evidence."""
    return shortened(text, MAX_VALUE_CHARS)


def fits(found: str | None, expected: Any) -> bool:
    """Return whether a value fits an expected one, or a rule without faults.

    Args:
        found: Canonical JSON; None for no value.
        expected: The expectation in the suite; it binds nothing.

    Raises:
        VerifierFailed: The engine cannot compare them.
    """
    return any(
        _ask(_FITS, {**_columns(each), "found": found}) for each in expected_values(expected)
    )


def at(text: str, path: str) -> str | None:
    """Return the value at a JSON path of canonical text, as canonical JSON, or None.

    Raises:
        VerifierFailed: The engine cannot read the text.
    """
    return canonical_json(_ask(_FIND, {"text": text, "path": path}))


def difference(found: str | None, expected: Any) -> str:
    """Return in words how a value differs from the expected one."""
    is_ = "nothing" if found is None else short(found)
    return f"is {is_}, expected {short(json.dumps(expected, ensure_ascii=False))}"


def _columns(expected: Any) -> dict[str, Any]:
    return {
        name: getattr(expected, name) for name in ("value", "pattern", "low", "high", "optional")
    }


def _ask(sql: str, given: dict[str, Any]) -> Any:
    try:
        with _ONE_AT_A_TIME:
            row = _engine().execute(sql, given).fetchone()
    except duckdb.Error as error:
        msg = f"a value cannot be compared: {' '.join(str(error).split())}; give another rule"
        raise VerifierFailed(msg) from error
    return row and row[0]


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    con = closed_engine()
    con.execute(query("matches_expected"))
    return con
