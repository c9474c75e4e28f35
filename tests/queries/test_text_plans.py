"""Plans in words are read as lists."""

import json

import duckdb
import pytest

from tracegrade_queries.engine.sql import query


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
        ("I will look it up and tell it.", None),
        ("", None),
    ],
)
def test_list_in_a_plan_is_its_steps(text: str, steps: list[object] | None) -> None:
    """A list in JSON, else the numbered items or the bullets, below the line that speaks of it."""
    with duckdb.connect() as con:
        con.execute(query("plan_in"))
        ((plan,),) = con.execute("SELECT plan_in_text($1)", [text]).fetchall()
    assert (None if plan is None else json.loads(plan)) == steps
