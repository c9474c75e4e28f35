"""Plans in words are read as lists."""

import json
from collections.abc import Iterator

import duckdb
import pytest

from tracegrade_queries.engine.sql import query


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that can read plans."""
    with duckdb.connect() as connection:
        connection.execute(query("plan_in"))
        yield connection


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Here is my plan:\n1. Look it up.\n2) Tell it.", ["Look it up.", "Tell it."]),
        ("Step 1: look\nSTEP 2: tell", ["look", "tell"]),
        ("The plan\n- look\n* tell", ["look", "tell"]),
        ("## 1. Facts\n1. A fact.\n## 2. Plan\n1. Look.\n2. Tell.", ["Look.", "Tell."]),
        ("1. Look.\n2. Plan the trip.\n3. Tell.", ["Look.", "Plan the trip.", "Tell."]),
        ("1. Look.\n2. Tell.\nThat is the plan.", ["Look.", "Tell."]),
        ('My plan: [{"step": "look"}]', [{"step": "look"}]),
        ('```json\n[{"step": "look"}]\n```', [{"step": "look"}]),
        ("My plan:\n1. Look.\n2. Tell.\nIs this plan good?\nSay so.", ["Look.", "Tell."]),
        ("The plan, in short:\n\nFirst:\n- look\n- tell", ["look", "tell"]),
        ("In Paris it is 22C, since:\n1. It is summer.\n2. The sky is clear.", None),
        ("Facts:\n- It is summer.\nSo it is warm.", None),
        ("There are 3 plants:\n1. A rose.", None),
        ("The temperatures are [22, 23].", None),
        ("I will look it up and tell it.", None),
        ("", None),
    ],
)
def test_list_in_a_plan_is_its_steps(
    con: duckdb.DuckDBPyConnection, text: str, steps: list[object] | None
) -> None:
    """JSON, else numbered items or bullets, below the line that speaks of it or first."""
    ((plan,),) = con.execute("SELECT plan_in_text($1)", [text]).fetchall()
    assert (None if plan is None else json.loads(plan)) == steps
