"""The dialect that CONTRIBUTING.md adds as an example works as it is written there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.dialect_header import dialects
from tracegrade_queries.engine.sql import Queries
from tracegrade_queries.errors import BadDialect

from .traces import Row, land, request_of, rows, span, story

QUERIES = Path(__file__).parents[2] / "queries"
BUILD = (
    "import sys; from tracegrade_lake import Lake; "
    "from tracegrade_queries.build.build import build; build(Lake.open(sys.argv[1]))"
)
ASKED = {"role": "user", "content": "What is the weather?"}
CALL = {"id": "c1", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
REQUEST = {"role": "assistant", "reasoning_content": "Hm.", "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "22C"}
ANSWER = {"role": "assistant", "content": "It is 22C."}


def acme_spans() -> list[Row]:
    """Return a run as CONTRIBUTING.md says that Acme's agents write it."""

    def call(number: int, at: float, input_: list[Row], output: Row) -> Row:
        texts: Row = {"acme__input": json.dumps(input_), "acme__output": json.dumps(output)}
        return span(number, 1, at=at, acme__kind="llm", acme__tokens__in=7, **texts)

    done: Row = {
        "acme__call": "c1",
        "acme__arguments": '{"city": "Paris"}',
        "acme__result": '"22C"',
    }
    return [
        span(1, ms=100, acme__kind="run", acme__agent="weather"),
        call(2, 1, [ASKED], REQUEST),
        span(3, 1, at=5, acme__kind="tool", acme__tool="get_weather", **done),
        call(4, 9, [ASKED, REQUEST, TOLD], ANSWER),
    ]


def with_example(folder: Path) -> Path:
    """Return a copy of the package to which the example was added."""
    example = (
        (QUERIES.parent / "CONTRIBUTING.md")
        .read_text("utf-8")
        .split("## Add a dialect")[1]
        .split("\n## ")[0]
    )
    (text,) = re.findall(r"```sql\n(.*?)```", example, re.DOTALL)
    package = folder / "tracegrade_queries"
    shutil.copytree(QUERIES / package.name, package)
    (package / "dialects" / "acme.sql").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("-- A.\n-- Marks:\n--   ^a", "dialect 'a' has no rank; write a whole number under"),
        ("-- A.\n-- Rank:\n--   first", "dialect 'a' has no rank; write a whole number under"),
        ("-- A.\n-- Rank:\n--   7", "dialects 'a' and 'b' have one rank, 7; give each its own"),
    ],
)
def test_dialect_without_a_rank_of_its_own_is_refused(
    tmp_path: Path, header: str, said: str
) -> None:
    """The error names the dialect and what its header lacks."""
    folder = tmp_path / "dialects"
    folder.mkdir()
    (folder / "a.sql").write_text(header, "utf-8")
    (folder / "b.sql").write_text("-- B.\n-- Rank:\n--   7\nSELECT 1;", "utf-8")

    with pytest.raises(BadDialect, match=said):
        dialects(Queries(tmp_path))


def test_example_of_the_guide_reads_its_framework(lake: Lake, tmp_path: Path) -> None:
    """Its SQL, the one file added to a copy of the package, make steps of Acme's spans."""
    land(lake, request_of(acme_spans()))
    path = os.pathsep.join([str(with_example(tmp_path / "copy")), *sys.path])
    place = str(tmp_path / "lake")
    subprocess.run(
        [sys.executable, "-c", BUILD, place], env=os.environ | {"PYTHONPATH": path}, check=True
    )

    assert story(lake) == [
        "thought Hm.",
        'tool_call get_weather {"city":"Paris"} ok',
        "observation 22C",
        "answer It is 22C.",
    ]
    said = "SELECT agent_name, input_tokens, dialects FROM trajectories"
    assert rows(lake, said) == [
        {"agent_name": "weather", "input_tokens": 14, "dialects": ["acme"]}
    ]
