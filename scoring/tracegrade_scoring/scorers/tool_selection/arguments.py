"""Validates the arguments of calls against the JSON Schemas of their tools.

A trace brings its own schemas, so references out of a schema are refused, and patterns run in
linear time. A schema that applies too many schemas to one value is not used. Where a schema could
multiply with what is in the arguments, the steps of a check are counted before, and too many are
not taken.
"""

import json
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

import jsonschema_rs
import orjson
import pyarrow as pa

from tracegrade_queries.build.nesting import MAX_DEPTH, is_too_deep
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.scorers.tool_selection.schema_size import applies_too_many
from tracegrade_scoring.scorers.tool_selection.schema_steps import MAX_STEPS, count_steps

MAX_MESSAGE_CHARS: Final = 500
"""A message quotes the faulty part, which may be megabytes."""


MAX_STEPS_TOLD: Final = 10_000
"""A message comes from a slower way through the schema, which quotes the value at each step."""

_MAX_PRODUCT: Final = 1_000_000_000
"""A tree of a schema takes fewer steps than its length times that of the arguments."""


class _Schema(NamedTuple):
    validator: jsonschema_rs.Validator
    read: Any
    length: int
    refers: bool
    """It has references, so it can apply more than its own text."""


class Verdict(NamedTuple):
    """The result of checking the arguments of a call."""

    usable: bool
    """They were checked against a schema."""
    message: str | None
    """What is first found wrong; None if nothing is."""
    too_many_steps: bool = False
    """They were not checked, since that would take more than `MAX_STEPS` steps."""


@relation("validated_arguments", reads=("argument_schemas", "call_schemas"))
def _validated_arguments(run: Run) -> pa.Table:
    """Return the calls, checked against the schema of their tool."""
    listed = run.con.sql("SELECT schema_index, schema FROM argument_schemas").fetchall()
    schemas = {index: _read_schema(text) for index, text in listed}
    calls = run.table("call_schemas")
    used = [schemas[index] for index in calls["schema_index"].to_pylist()]
    texts = calls["arguments"].to_pylist()
    verdicts = [_judge(*pair) for pair in zip(used, texts, strict=True)]
    return (
        calls.drop_columns(["schema_index", "arguments"])
        .append_column("usable", pa.array([v.usable for v in verdicts], pa.bool_()))
        .append_column("message", pa.array([v.message for v in verdicts], pa.string()))
        .append_column(
            "too_many_steps", pa.array([v.too_many_steps for v in verdicts], pa.bool_())
        )
    )


def _judge(schema: _Schema | None, arguments: str | None) -> Verdict:
    """Return the result of checking arguments; for None it is unknown.

    With a schema that cannot be used (None), only arguments that are not JSON are wrong.
    """
    if arguments is None:
        return Verdict(schema is not None, None)
    if is_too_deep(arguments):
        fault = f"they are nested deeper than {MAX_DEPTH} levels"
        return Verdict(schema is not None, fault)
    try:
        value = _read(arguments)
    except UnicodeEncodeError:
        return Verdict(schema is not None, "they hold half a character")
    except ValueError:
        return Verdict(schema is not None, "they are not JSON")
    return _check(schema, value, len(arguments)) if schema else Verdict(False, None)


def _check(schema: _Schema, value: Any, length: int) -> Verdict:
    is_counted = schema.refers or schema.length * length > _MAX_PRODUCT
    steps = count_steps(schema.read, value) if is_counted else 0
    if steps > MAX_STEPS:
        return Verdict(False, None, too_many_steps=True)
    if schema.validator.is_valid(value):
        return Verdict(True, None)
    if steps > MAX_STEPS_TOLD:
        return Verdict(True, "they break it; where would take too many steps to tell")
    return Verdict(True, _message(schema.validator, value)[:MAX_MESSAGE_CHARS])


def _message(validator: jsonschema_rs.Validator, value: Any) -> str:
    """Return what is first found wrong; an error would hold integers that Python cannot read."""
    try:
        return next(iter(validator.iter_errors(value))).message
    except ValueError:
        return str(validator.evaluate(value).errors()[0]["error"])


def _read(arguments: str) -> Any:
    """Return the value of a JSON text; numbers that are not doubles or short integers stay exact.

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


def _read_schema(text: str) -> _Schema | None:
    """Return a schema with its validator; None if it cannot be used."""
    try:
        read = orjson.loads(text)
        if applies_too_many(read):
            return None
        return _Schema(_make_validator(read), read, len(text), 'Ref":' in text or '$ref":' in text)
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
