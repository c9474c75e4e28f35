"""What attributes of spans that no dialect knows may hold, by the words of their names."""

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracegrade_queries.build.unknown_fields import unknown_fields, words_of
from tracegrade_queries.engine.sql import query

CON = duckdb.connect()
for each in duckdb.extract_statements(
    query("unknown").partition("CREATE OR REPLACE TEMP TABLE")[0]
):
    CON.execute(each)


@given(st.text(st.sampled_from("aBc1._ ÄßЖ\n-"), max_size=12))
@example("HTTPServer.toolName")
def test_words_are_the_same_in_sql(name: str) -> None:
    """Span names and their kinds are split there, names of attributes here."""
    assert CON.execute("SELECT words_of($name)", {"name": name}).fetchall() == [(words_of(name),)]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("acme.toolName", [("tool_name", 0, False)]),
        ("output.messages", [("output", 0, False)]),
        ("request.output.messages", [("output", 0, False), ("input", 1, False)]),
        ("llm.model_name", [("model", 1, True)]),
        ("acme.usage.prompt_tokens", [("input_tokens", 1, True)]),
        ("db.operation", [("kind", 0, False), ("foreign", 0, False)]),
        ("inputs_json", [("input", 7, False)]),
        ("weather", []),
        ("acme.chat_id", [("conversation_id", 2, False)]),
        ("gen_ai.chat.id", []),
        ("llm.response.chatId", []),
    ],
)
def test_roles_of_a_name(name: str, fields: list[tuple[str, int, bool]]) -> None:
    """The words that it ends in, without its form, say what it may hold."""
    found = unknown_fields([name]).to_pylist()

    assert [(row["role"], row["rank"], row["is_of_model"]) for row in found] == fields
