"""Parts of dialects that are plain queries: their headers say what they make, and of what."""

import json

import duckdb
import pytest
from tests.headers import columns_of, header
from tests.needs import kept_without

from tracegrade_queries.build.dialect import dialects
from tracegrade_queries.build.passes import define_macros
from tracegrade_queries.engine.relations import make_relation
from tracegrade_queries.engine.sql import query
from tracegrade_queries.engine.statements import run

SAID = [
    {"role": "user", "parts": [{"type": "text", "content": letter * 3000}]} for letter in "abc"
]
ANTHROPIC = {
    "openinference.span.kind": "LLM",
    "output.value": json.dumps({"content": [{"type": "server_tool_use", "id": "s", "name": "f"}]}),
}
BEEAI = {
    "openinference.span.kind": "LLM",
    "target": "backend.openai.chat.success",
    "output.value": json.dumps([{"content": [{"type": "text", "text": "Hi."}]}]),
}
PLAIN = [{"role": "user", "content": "What is the weather?"}]
HOSTED = [
    {
        "role": "assistant",
        "parts": [
            {"type": "tool_call", "id": "s", "name": "search", "arguments": {}, "builtin": True}
        ],
    }
]
GROUNDED = {"adk.experimental.grounding.query_count": "1"}
PARTS = [
    part
    for dialect in dialects()
    for part in dialect.parts
    if "\nCREATE OR REPLACE " not in query(part)
]


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """A connection with the inputs of four model calls, the second goes on; and three outputs."""
    inputs = [SAID[:2], SAID, PLAIN, HOSTED]
    con = duckdb.connect(config={"threads": 1})
    con.execute(
        "CREATE TEMP TABLE bucket_spans (key BIGINT, trace_id VARCHAR, scope_name VARCHAR, "
        "shape UBIGINT AS (hash(scope_name, map_keys(attributes))), "
        "attributes MAP(VARCHAR, VARCHAR))"
    )
    con.executemany(
        "INSERT INTO bucket_spans VALUES ($1, 't', 's', MAP {'gen_ai.input.messages': $2})",
        [(key, json.dumps(messages)) for key, messages in enumerate(inputs)],
    )
    con.executemany(
        "INSERT INTO bucket_spans "
        "VALUES ($1, 't', $2, cast(cast($3 AS JSON) AS MAP(VARCHAR, VARCHAR)))",
        [
            (4, "openinference.instrumentation.anthropic", json.dumps(ANTHROPIC)),
            (5, "@arizeai/openinference-instrumentation-beeai", json.dumps(BEEAI)),
            (6, "gcp.vertex.agent", json.dumps(GROUNDED)),
        ],
    )
    con.execute(
        "CREATE TEMP TABLE openinference_items (key BIGINT, field VARCHAR, direction VARCHAR)"
    )
    con.execute(
        "CREATE TEMP TABLE bucket_events (key BIGINT, name VARCHAR, "
        "attributes MAP(VARCHAR, VARCHAR))"
    )
    define_macros(con)
    make_relation(con, "shapes", query("shapes"))
    run(con, query("otel_genai_lists"))
    for part in PARTS:
        if part == "otel_genai_hosted":
            run(con, query("otel_genai_messages_read"))
        make_relation(con, part, query(part))
    return con


@pytest.mark.parametrize("name", PARTS)
def test_part_is_as_its_header_says(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """It has rows here, the declared columns, and no rows without those that it needs."""
    assert con.table(name).fetchall()
    assert columns_of(con.table(name)) == header(query(name)).columns
    assert kept_without(con, query(name)) == {}
