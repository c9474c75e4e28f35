"""Arguments that are empty, missing or glued together, and whose they are."""

import json
from pathlib import Path

from tests.queries.traces import Row, agent, built_apart, message, model, rows, span, tool

BARE = {"type": "object", "properties": {}}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MISSING = object()


def called(
    requested: object, executed: str | None, schema: Row | None = None, name: str = "now"
) -> list[Row]:
    """Return a run with one call of a tool, requested and executed with these arguments."""
    part: Row = {"type": "tool_call", "id": "c1", "name": name}
    if requested is not MISSING:
        part["arguments"] = requested
    told: Row = {}
    if schema is not None:
        definition = {"type": "function", "name": name, "parameters": schema}
        told["gen_ai__tool__definitions"] = json.dumps([definition])
    ran: Row = {"gen_ai__tool__call__result": "12"}
    if executed is not None:
        ran["gen_ai__tool__call__arguments"] = executed
    return [
        agent(1),
        model(2, 1, said=[message("assistant", part)], **told),
        tool(3, 1, at=5, tool_name=name, gen_ai__tool__call__id="c1", **ran),
    ]


def of_each(folder: Path, runs: list[list[Row]], columns: str) -> list[Row]:
    """Return these columns of the call of each run."""
    lake = built_apart(folder, runs)
    order = "FROM steps WHERE kind = 'tool_call' ORDER BY trace_id, step_index"
    return rows(lake, f"SELECT {columns} {order}")


EMPTY = [
    ("", "", None),
    (None, "null", None),
    (MISSING, "", None),
    ("", None, None),
    (None, None, None),
    ('""', None, None),
    # As PHP writes an object without keys.
    ([], "[]", None),
    (MISSING, "[ ]", CITY),
    (MISSING, None, BARE),
    (MISSING, None, {"type": "object", "additionalProperties": False}),
    # Wrong, and no less empty.
    ("", "", CITY),
    # What the model gave goes before what a framework added.
    ({}, '{"context": "x"}', None),
]
UNTOLD = [
    None,
    CITY,
    {},
    {"type": "object"},
    BARE | {"additionalProperties": True},
    {"$ref": "#/a"},
]
GLUED = ['{}{"stock":"MSFT"}', '{"stock":"MSFT"}{"stock":"MSFT"}']


def test_no_arguments_are_an_empty_object(tmp_path: Path) -> None:
    """Whether the request or the execution says so, or the schema."""
    found = of_each(tmp_path, [called(*case) for case in EMPTY], "arguments, flags")

    assert found == len(EMPTY) * [{"arguments": "{}", "flags": []}]


def test_what_no_record_tells_is_not_captured_unless_the_tool_takes_none(tmp_path: Path) -> None:
    """A schema that lets arguments be given tells nothing of them."""
    found = of_each(tmp_path, [called(MISSING, None, schema) for schema in UNTOLD], "arguments")

    assert found == len(UNTOLD) * [{"arguments": None}]


def test_glued_arguments_yield_to_those_of_the_execution(tmp_path: Path) -> None:
    """Without an execution they stay as they are."""
    runs = [called(text, executed) for text in GLUED for executed in ('{"stock": "MSFT"}', None)]
    found = of_each(tmp_path, runs, "arguments, flags")

    told = {"arguments": '{"stock":"MSFT"}', "flags": ["unparsed_request"]}
    alone = [{"arguments": text, "flags": ["unparsed_arguments"]} for text in GLUED]
    assert found == [told, alone[0], told, alone[1]]


OPENAI = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "now", "arguments": ""}}],
}
GEMINI = {"role": "model", "content": [{"functionCall": {"name": "now"}}]}
VERCEL = [{"toolCallId": "c1", "toolName": "now", "input": None}]
BLOCK = "tool_calls.0.tool_call.function."


FORMS: list[Row] = [
        {"gen_ai__operation__name": "chat", "gen_ai__output__messages": json.dumps([OPENAI])},
        {"gen_ai__operation__name": "chat", "gen_ai__output__messages": json.dumps([GEMINI])},
        {"ai__operationId": "ai.generateText.doGenerate",
         "ai__response__toolCalls": json.dumps(VERCEL)},
        {"openinference__span__kind": "LLM", "llm.output_messages.0.message.role": "assistant",
         f"llm.output_messages.0.message.{BLOCK}name": "now",
         f"llm.output_messages.0.message.{BLOCK}arguments": ""},
        {"llm__request__type": "chat", "gen_ai.completion.0.role": "assistant",
         "gen_ai.completion.0.tool_calls.0.name": "now",
         "gen_ai.completion.0.tool_calls.0.arguments": ""},
    ]  # fmt: skip


def test_a_call_without_arguments_is_read_in_each_form(tmp_path: Path) -> None:
    """An empty text, null and, of Gemini, a missing key."""
    runs = [[agent(1), span(2, 1, **told)] for told in FORMS]
    found = of_each(tmp_path, runs, "arguments, flags")

    assert found == len(FORMS) * [{"arguments": "{}", "flags": []}]
