"""Parts of dialects that are plain queries: their headers say what they make, and of what."""

import json

import duckdb
import pytest
from tests.headers import columns_of, header
from tests.needs import kept_without

from tracegrade_queries.engine.sql import QUERIES, query
from tracegrade_queries.graph import headers
from tracegrade_queries.relations import RELATIONS

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
THINKING = {"copilot_chat.reasoning_content": "I look."}
PARTS = [
    name
    for name, path in QUERIES.paths.items()
    if path.parents[1].name == "dialects" and not headers.created(query(name))
]


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """A connection with the inputs of four model calls, the second goes on; and four outputs."""
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
            (7, "copilot-chat", json.dumps(THINKING)),
        ],
    )
    con.execute(
        "CREATE TEMP TABLE openinference_items (key BIGINT, field VARCHAR, direction VARCHAR)"
    )
    con.execute(
        "CREATE TEMP TABLE bucket_events (key BIGINT, name VARCHAR, "
        "attributes MAP(VARCHAR, VARCHAR))"
    )
    given = ("bucket_events", "bucket_spans", "openinference_items")
    con.execute("CREATE TEMP VIEW mended_spans AS FROM bucket_spans")
    wanted = {*PARTS, *(name for part in PARTS for name in headers.reads(query(part)))}
    RELATIONS.run(con, wanted, (*given, "mended_spans"))
    return con


@pytest.mark.parametrize("name", PARTS)
def test_part_is_as_its_header_says(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """It has rows here, the declared columns, and no rows without those that it needs."""
    assert con.table(name).fetchall()
    assert columns_of(con.table(name)) == header(query(name)).columns
    assert kept_without(con, query(name)) == {}
