"""Validates the arguments of calls against the JSON Schemas of their tools.

No schema can reach the network or stall the scorer: references out of a schema are refused and
patterns run in linear time, because a trace brings its own schemas.

Makes:
    validated_arguments (from argument_schemas, call_schemas): calls checked against the schema of
        their tool
"""

import json
from decimal import Decimal
from functools import partial
from typing import Any, Final

import duckdb
import jsonschema_rs
import orjson
import pyarrow as pa

from tracegrade_scoring.relations import define, materialise, put
from tracegrade_scoring.sql import unordered

MAX_MESSAGE_CHARS: Final = 500
"""A message quotes what is wrong, which may be megabytes."""


def validate_arguments(con: duckdb.DuckDBPyConnection) -> None:
    """Create `call_validity`, and `offers`, `offered_tools`, `argument_schemas` on the way."""
    for name in ("offers", "offered_tools", "argument_schemas"):
        materialise(con, name)
    schemas = con.sql("SELECT schema_index, schema FROM argument_schemas").fetchall()
    validators = {index: _validator(schema) for index, schema in schemas}
    calls = con.sql(unordered("call_schemas")).to_arrow_table()
    used = [validators[index] for index in calls["schema_index"].to_pylist()]
    texts = calls["arguments"].to_pylist()
    faults = [first_fault(*pair) for pair in zip(used, texts, strict=True)]
    judged = (
        calls.drop_columns(["schema_index", "arguments"])
        .append_column("usable", pa.array([v is not None for v in used], pa.bool_()))
        .append_column("message", pa.array(faults, pa.string()))
    )
    put(con, "validated_arguments", judged)
    define(con, "call_validity")


def first_fault(validator: jsonschema_rs.Validator | None, arguments: str | None) -> str | None:
    """Return what is first found wrong with arguments (JSON; None if they are none), or None.

    With a schema that cannot be used (None), only arguments that are not JSON are wrong.
    """
    if arguments is None:
        return "they are not JSON"
    if validator is None:
        return None
    try:
        value = _read(arguments)
        if validator.is_valid(value):
            return None
        return next(iter(validator.iter_errors(value))).message[:MAX_MESSAGE_CHARS]
    except (RecursionError, ValueError):
        return "they are nested too deeply, or hold half a character"


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
