"""Validates the arguments of calls against the JSON Schemas of their tools.

A trace brings its own schemas, so references out of a schema are refused, one that applies too
many to one value is not used, and patterns run in linear time. A schema that refers to itself
twice for a property still takes time that doubles with each level of the arguments.

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

from tracegrade_queries.build.nesting import MAX_DEPTH, is_too_deep
from tracegrade_scoring.relations import define, materialise, put
from tracegrade_scoring.scorers.tool_selection.schema_size import applies_too_many
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
    """Return what is first found wrong with arguments, or None; of None nothing is known.

    With a schema that cannot be used (None), only arguments that are not JSON are wrong.
    """
    if arguments is None:
        return None
    if is_too_deep(arguments):
        return f"they are nested deeper than {MAX_DEPTH} levels"
    try:
        value = _read(arguments)
    except UnicodeEncodeError:
        return "they hold half a character"
    except ValueError:
        return "they are not JSON"
    if validator is None or validator.is_valid(value):
        return None
    return _message(validator, value)[:MAX_MESSAGE_CHARS]


def _message(validator: jsonschema_rs.Validator, value: Any) -> str:
    """Return what is first found wrong; an error would hold integers that Python cannot read."""
    try:
        return next(iter(validator.iter_errors(value))).message
    except ValueError:
        return str(validator.evaluate(value).errors()[0]["error"])


def _read(arguments: str) -> Any:
    """Return the value of a JSON text; numbers that are no double or short integer stay exact.

    Raises:
        UnicodeEncodeError: A text or key of it has no UTF-8, so not every reader takes it.
        ValueError: It is not JSON.
    """
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        value = json.loads(
            arguments, parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse_constant
        )
        json.dumps(value, default=str, ensure_ascii=False).encode()
        return value


def _refuse_constant(constant: str) -> Any:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _validator(schema: str) -> jsonschema_rs.Validator | None:
    try:
        read = orjson.loads(schema)
        return None if applies_too_many(read) else _make_validator(read)
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
