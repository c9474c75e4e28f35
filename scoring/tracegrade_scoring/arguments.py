"""Validates the arguments of calls against JSON Schema, each distinct pair once.

No schema can reach the network or stall the scorer: references out of a schema are refused and
patterns run in linear time, because a trace brings its own schemas.
"""

import json
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

import duckdb
import jsonschema_rs
import orjson
import pyarrow as pa

from tracegrade_scoring.relations import materialise, put

MAX_MESSAGE_CHARS: Final = 500
"""A message quotes what is wrong, which may be megabytes."""

_DISTINCT = """
  SELECT DISTINCT schema, arguments FROM call_schemas WHERE arguments IS NOT NULL
"""


class Validity(NamedTuple):
    """Whether arguments satisfy a schema."""

    valid: bool | None
    """None if the schema itself cannot be used."""
    message: str | None
    """The first thing wrong with the arguments."""


def validate_arguments(con: duckdb.DuckDBPyConnection) -> None:
    """Create `call_validity`, and `offers`, `offered_tools`, `call_schemas` on the way."""
    materialise(con, "offers")
    materialise(con, "offered_tools")
    materialise(con, "call_schemas")
    pairs = con.sql(_DISTINCT).to_arrow_table()
    validators: dict[str, jsonschema_rs.Validator | None] = {}
    found = [
        validity(schema, arguments, validators)
        for schema, arguments in zip(*(column.to_pylist() for column in pairs), strict=True)
    ]
    table = pairs.append_column("valid", pa.array([v.valid for v in found], pa.bool_()))
    messages = pa.array([v.message for v in found], pa.string())
    put(con, "validated_arguments", table.append_column("message", messages))
    materialise(con, "call_validity")


def validity(
    schema: str, arguments: str, validators: dict[str, jsonschema_rs.Validator | None]
) -> Validity:
    """Return whether the arguments (JSON) satisfy the schema (JSON).

    Args:
        schema: JSON Schema of any draft; the newest where it names none.
        arguments: JSON.
        validators: Those already made, by schema; one is added where it is missing.
    """
    if schema not in validators:
        validators[schema] = _validator(schema)
    validator = validators[schema]
    if validator is None:
        return Validity(None, None)
    try:
        error = next(iter(validator.iter_errors(_read(arguments))), None)
    except (RecursionError, ValueError):
        return Validity(False, "they are nested too deeply, or hold half a character")
    return Validity(error is None, None if error is None else error.message[:MAX_MESSAGE_CHARS])


def _read(arguments: str) -> Any:
    """Return the value of a JSON text; numbers beyond the range of doubles stay exact."""
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return json.loads(arguments, parse_float=Decimal)


def _validator(schema: str) -> jsonschema_rs.Validator | None:
    try:
        return _make_validator(orjson.loads(schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _refuse(uri: str) -> Any:
    msg = f"reference to {uri} is outside the schema"
    raise ValueError(msg)


_make_validator = partial(
    jsonschema_rs.validator_for,
    retriever=_refuse,
    pattern_options=jsonschema_rs.RegexOptions(),
)
