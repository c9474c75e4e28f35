"""The conditions of `lake delete --where`: they mean what SQL means by them, and nothing else."""

from collections.abc import Iterator
from contextlib import suppress

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Column, Table
from tracegrade_lake.errors import BadCondition
from tracegrade_lake.maintenance.condition import parse_condition

PLACES = Table(
    "places",
    "one place",
    (
        Column("name", pa.string(), "Text."),
        Column("height", pa.int64(), "Number."),
        Column("storeys", pa.int32(), "Small number."),
        Column("open", pa.bool_(), "Flag."),
        Column("tags", pa.map_(pa.string(), pa.string()), "Map."),
    ),
    partition_by=(),
)
TEXTS = ["", "a", "b", "it's", "'", "--", "ж", "a' or 'a' = 'a"]
NUMBERS = [-(2**63), -1, 0, 7, 2**31, 2**63 - 1]
texts = st.sampled_from(TEXTS)
numbers = st.sampled_from(NUMBERS)
rows = st.fixed_dictionaries(
    {
        "name": st.none() | texts,
        "height": st.none() | numbers,
        "storeys": st.none() | st.integers(-3, 3),
        "open": st.none() | st.booleans(),
        "tags": st.none() | st.dictionaries(texts, st.none() | texts).map(lambda d: [*d.items()]),
    }
)


def quoted(text: str) -> str:
    """Return the text as conditions and SQL write it."""
    return "'" + text.replace("'", "''") + "'"


operators = st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">="])
text_columns = st.just("name") | texts.map(lambda key: f"tags[{quoted(key)}]")
number_columns = st.sampled_from(["height", "storeys"])
text_values, number_values = texts.map(quoted), numbers.map(str)


def comparisons_of(
    columns: st.SearchStrategy[str], values: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    """Return all kinds of tests of some columns."""
    lists = st.lists(values, min_size=1, max_size=3).map(", ".join)
    return st.one_of(
        st.tuples(columns, operators, values).map(" ".join),
        st.tuples(columns, st.sampled_from(["in", "NOT IN"]), lists.map(lambda s: f"({s})")).map(
            " ".join
        ),
        st.tuples(columns, st.sampled_from(["is null", "IS NOT NULL"])).map(" ".join),
    )


comparisons = st.one_of(
    comparisons_of(text_columns, text_values),
    comparisons_of(number_columns, number_values),
    st.tuples(
        st.just("open"), st.sampled_from(["=", "!="]), st.sampled_from(["true", "FALSE"])
    ).map(" ".join),
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "OR"]), inner).map(" ".join),
        inner.map(lambda text: f"not ({text})"),
        inner.map(lambda text: f"( {text})"),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with a single thread."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


@given(places=st.lists(rows, max_size=8), condition=conditions)
def test_it_finds_the_rows_that_sql_finds(
    con: duckdb.DuckDBPyConnection, places: list[dict[str, object]], condition: str
) -> None:
    """The same text, asked of DuckDB, gives the same rows; NULL included."""
    numbered = [place | {"number": number} for number, place in enumerate(places)]
    schema = PLACES.arrow().append(pa.field("number", pa.int64()))
    table = pa.Table.from_pylist(numbered, schema)

    found = table.filter(parse_condition(condition, [PLACES]).expression)
    con.register("places", table)
    wanted = con.execute(f"SELECT number FROM places WHERE {condition} ORDER BY 1").fetchall()
    assert [(number,) for number in found["number"].to_pylist()] == wanted


@given(st.text(max_size=40) | st.text("()'= andortskic<>!1[],", max_size=40))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    """No text raises another error."""
    with suppress(BadCondition):
        parse_condition(text, [RAW_SPANS, RAW_LOGS])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "character 1: expected a column, found the end"),
        ("nme = 'x'", "character 1: expected a column of name, height"),
        ("name = 1", "character 8: expected text, since that is what 'name' holds, found '1'"),
        ("height = 'x'", "character 10: expected a whole number"),
        ("height < 9223372036854775808", "character 10: expected a whole number"),
        ("height < " + "9" * 5000, "character 10: expected a whole number"),
        ("open = 1", "character 8: expected true or false"),
        ("name = 'x", "character 8: this quote is never closed"),
        ("name = 'x' height = 1", "character 12: expected 'and', 'or' or the end"),
        ("name like 'x%'", "character 6: expected one of = != < <= > >= in is"),
        ("tags = 'x'", "character 6: expected '['"),
        ("tags[key] = 'x'", "character 6: expected a key, such as 'user.id'"),
        ("(name = 'x'", "character 12: expected ')', found the end"),
        ("name = 'x'; DROP TABLE places", "character 11: this is not part of a condition"),
        ("name not = 'x'", "character 10: expected 'in', found '='"),
        ("name = null", "character 8: expected text"),
        ("(" * 60 + "open = true" + ")" * 60, "at most 50 levels of brackets"),
        ("not " * 60 + "open = true", "at most 50 levels of brackets"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    """The first thing that cannot be, and what could stand there."""
    with pytest.raises(BadCondition) as refused:
        parse_condition(text, [PLACES])

    assert said in str(refused.value)


def test_a_chain_has_a_limit() -> None:
    """Beyond it there is `in`."""
    chain = " or ".join(f"height = {number}" for number in range(600))

    with pytest.raises(BadCondition, match="at most 500 comparisons; 'in' takes many values"):
        parse_condition(chain, [PLACES])


def test_a_long_list_and_a_long_chain_are_fine() -> None:
    """Neither exhausts the stack."""
    chain = " or ".join(f"height = {number}" for number in range(300))
    among = f"height in ({', '.join(map(str, range(20_000)))})"
    table = pa.table({"height": [5, 299, 19_999, 20_000]})

    assert table.filter(parse_condition(chain, [PLACES]).expression).num_rows == 2
    assert table.filter(parse_condition(among, [PLACES]).expression).num_rows == 3
