"""Whether arguments satisfy the schema of their tool, for any content of a trace."""

import json

import pytest
from tests.scoring.build import (
    Case,
    all_scores,
    call,
    connection,
    scored,
    scores,
    specification,
    trajectory,
)

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_queries.build.nesting import MAX_DEPTH

from .selection import REASON, at_once, picks, run


def test_schema_of_the_run_comes_before_the_registry() -> None:
    """Arguments are judged by the schema that the trace itself carries."""
    tools = "tools: {read: {parameters: {type: object, required: [path]}}}"
    offered = json.dumps([{"name": "read", "parameters": {"type": "object"}}])

    assert scores(run("{}", picks("read"), tools=tools))["parameter_validity"].value == 0.0
    con = run("{}", picks("read"), tools=tools, offered_tools=offered)
    assert scores(con)["parameter_validity"].value == 1.0


def test_broken_arguments_are_told_in_the_reason() -> None:
    """A pick whose arguments break the schema is wrong by b, and the reason says how."""
    tools = "tools: {read: {parameters: {type: object, required: [path]}}}"

    con = run("{expected: [{tool: read}]}", picks("read"), tools=tools)
    assert con.sql(REASON).fetchall() == [
        (
            None, "read", False, ["b"],
            'arguments of read violate its schema: "path" is a required property',
        )
    ]  # fmt: skip


def test_arguments_that_are_no_json_are_invalid_and_lost_ones_are_not() -> None:
    """Text that does not parse breaks the schema; text that was not captured is an error."""
    tools = "tools: {read: {parameters: {type: object}}}"

    broken = scores(run("{}", picks("read", arguments="{oops"), tools=tools))
    assert broken["parameter_validity"].value == 0.0
    lost = scores(run("{}", picks("read", arguments=None), tools=tools))["parameter_validity"]
    assert (lost.status, lost.reason) == ("error", "content_missing")


def nested(levels: int) -> str:
    """Return arguments of so many levels."""
    return '{"a":1,"b":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


STRANGE: list[tuple[str, float, str | None]] = [
    ('{"a":1e999}', 1.0, None),
    ('{"a":-1e999}', 0.0, "is less than the minimum"),
    ('{"a":"' + "x" * 9 + '"}', 0.0, 'is not of type "number"'),
    ('{"a":' + "9" * 40 + "}", 1.0, None),
    ('{"a":' + "9" * 5000 + "}", 1.0, None),
    ('{"a":-' + "9" * 5000 + "}", 0.0, "-99999"),
    ('{"a":NaN}', 0.0, "they are not JSON"),
    ('{"a":1,"b":"\\ud800"}', 0.0, "they hold half a character"),
    (nested(MAX_DEPTH), 1.0, None),
    (nested(MAX_DEPTH + 1), 0.0, "they are nested deeper than 200 levels"),
    (nested(2000), 0.0, "they are nested deeper than 200 levels"),
    ('{"a":1,"b":"' + "[" * 2000 + '"}', 1.0, None),
]
"""Arguments, whether they are valid, and what is said of them."""


@pytest.fixture(scope="module")
def strange() -> list[tuple[float | None, str | None]]:
    """Validity and message of all STRANGE."""
    schema = "{type: object, properties: {a: {type: number, minimum: 0}}}"
    ids = [f"t{i}" for i in range(len(STRANGE))]
    calls = [
        call(name, 0, "read", arguments=text)
        for name, (text, *_) in zip(ids, STRANGE, strict=True)
    ]
    spec = specification(f"tools: {{read: {{parameters: {schema}}}}}")
    runs = [trajectory(name) for name in ids]
    with scored(connection(calls, runs), spec, until="tool_correctness") as con:
        found = all_scores(con)
        said = dict(con.sql("SELECT attempt_id, message FROM call_validity").fetchall())
    return [(found[name]["parameter_validity"].value, said[name]) for name in ids]


@pytest.mark.parametrize("case", range(len(STRANGE)), ids=lambda i: STRANGE[i][0][:40])
def test_arguments_that_few_readers_hold_are_judged(
    strange: list[tuple[float | None, str | None]], case: int
) -> None:
    """Numbers beyond doubles count as what they are; depth is a limit of ours, not of a reader."""
    (value, message), (_, valid, fault) = strange[case], STRANGE[case]

    assert value == valid
    assert (fault or "") in (message or "")
    assert (message is None) == (fault is None)


@pytest.mark.parametrize("draft", ["", "$schema: 'http://json-schema.org/draft-04/schema#', "])
def test_integer_is_a_number(draft: str) -> None:
    """A parameter declared as a number takes an integer, in any draft, in lists and unions too."""
    number = "{type: number}"
    kinds = f"{{anyOf: [{number}, {{type: array, items: {number}}}, {{type: 'null'}}]}}"
    schema = f"{{{draft}type: object, properties: {{a: {kinds}, b: {{type: [number, string]}}}}}}"
    values = ["5", "5.0", "-3", "1e3", "[1,2.5]", "null"]
    arguments = [canonical_json(f'{{"a": {value}, "b": 7}}') for value in values]

    cases = [Case(picks("read", arguments=each), {}) for each in arguments]
    found = at_once(cases, f"tools: {{read: {{parameters: {schema}}}}}")
    valid = {
        value: each["parameter_validity"].value for value, each in zip(values, found, strict=True)
    }
    assert valid == dict.fromkeys(values, 1.0)


def test_schema_of_a_trace_cannot_stall_or_reach_out() -> None:
    """A pattern that backtracks runs in linear time.

    A schema that refers outside, or a trillion times to one value, is not used.
    """
    hostile = {
        "type": "object",
        "properties": {"p": {"type": "string", "pattern": "^(a+)+$"}},
    }
    outside = {"$ref": "http://127.0.0.1:9/schema.json"}
    doubling = {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
        | {"d40": {"type": "object"}},
    }
    calls = picks("read", arguments=json.dumps({"p": "a" * 50_000 + "!"}))

    for schema, value in ((hostile, 0.0), (outside, None), (doubling, None)):
        offered = json.dumps([{"name": "read", "parameters": schema}])
        assert scores(run("{}", calls, offered_tools=offered))["parameter_validity"].value == value
