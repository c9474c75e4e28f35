"""The dialect that the README adds as an example works as it is written there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tracegrade_collector.lake import Lake

from .traces import Row, land, request_of, rows, span, story

QUERIES = Path(__file__).parents[2] / "queries"
BUILD = (
    "import sys; from tracegrade_collector.lake import Lake; "
    "from tracegrade_queries.build import build; build(Lake.open(sys.argv[1]))"
)
ASKED = {"role": "user", "content": "What is the weather?"}
CALL = {"id": "c1", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
REQUEST = {"role": "assistant", "reasoning_content": "Hm.", "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "22C"}
ANSWER = {"role": "assistant", "content": "It is 22C."}


def acme_spans() -> list[Row]:
    """Return a run as the README says that Acme's agents write it."""

    def call(number: int, at: float, heard: list[Row], said: Row) -> Row:
        texts: Row = {"acme__heard": json.dumps(heard), "acme__said": json.dumps(said)}
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
    """Return a copy of the package to which the README's example was added."""
    example = (QUERIES / "README.md").read_text("utf-8").split("## Adding a dialect")[1]
    (sql,) = re.findall(r"```sql\n(.*?)```", example, re.DOTALL)
    (mark,) = re.findall(r'`"acme": (r"[^"]*")`', example)
    package = folder / "tracegrade_queries"
    shutil.copytree(QUERIES / package.name, package)
    (package / "dialects" / "acme.sql").write_text(sql, "utf-8")
    with (package / "dialect.py").open("a", encoding="utf-8") as declared:
        declared.write(f'DIALECTS = (*DIALECTS, "acme")\nMARKS["acme"] = {mark}\n')
    return folder


def test_example_of_the_readme_reads_its_framework(lake: Lake, tmp_path: Path) -> None:
    """Its SQL and its mark, added to a copy of the package, make steps of Acme's spans."""
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
