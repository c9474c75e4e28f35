"""Chats of any provider become spans, each once; what is broken in a file is named by its line."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import Outcome
from tests.collector.importing.together import Scene
from tests.scenes import built_together

from tracegrade import names
from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import Imported, import_files
from tracegrade_collector.importing.known_formats import read_file
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

Row = dict[str, Any]
TAU_BENCH = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def add(lake: Lake, *files: Path, **paths: str) -> tuple[Imported, list[str]]:
    """Import files of chats; return the counts and the notes."""
    notes: list[str] = []
    return import_files(lake, files, notes.append, reading=ReadOptions("auto", paths)), notes


def rows(lake: Lake, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query finds in the steps built from the lake."""
    build(lake)
    with connect(lake) as con:
        return con.sql(sql).fetchall()


def steps(lake: Lake) -> list[tuple[Any, ...]]:
    """Return (kind, tool, arguments, text, status) of every step in order."""
    return rows(
        lake,
        "SELECT kind, tool_name, arguments, coalesce(content, result), status FROM steps "
        "ORDER BY trajectory_id, step_index",
    )


def chat(*, city: str = "Paris", **fields: Any) -> Row:
    """Return a run in OpenAI's messages: one call, its result, the answer."""
    call = {"id": "c1", "type": "function"}
    function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"Weather in {city}?"},
        {"role": "assistant", "content": None, "tool_calls": [call | {"function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": "22C"},
        {"role": "assistant", "content": "It is 22C."},
    ]
    return {"messages": messages, **fields}


def lines(*records: Any) -> str:
    """Return records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


WEATHER_STEPS = [
    ("tool_call", "get_weather", '{"city":"Paris"}', "22C", "ok"),
    ("observation", "get_weather", None, "22C", None),
    ("answer", None, None, "It is 22C.", None),
]


def test_tau_bench_has_its_calls_and_errors(lake: Lake, shared_data: Path) -> None:
    """200 real runs: 1,164 calls, 73 errors that only the texts tell, 84 successes of 50 tasks."""
    file = shared_data / "tau-bench" / "gpt-4o-airline.json"
    imported, notes = add(lake, file, **TAU_BENCH)
    again, _ = add(lake, file, **TAU_BENCH)

    assert notes == []
    assert imported.understood["trajectories"] == 200
    assert imported.ignored == {"messages of the user that no model call follows": 149}
    assert again.added == Counter({Signal.TRACES: 0})
    build(lake)
    with connect(lake) as con:
        told = con.sql(
            "SELECT count(*), sum(tool_call_count), sum(error_count), count(DISTINCT task_id), "
            "count_if(outcome = 'success') FROM trajectories"
        ).fetchall()
        errors = con.sql(
            "SELECT status_source, count(*) FROM steps WHERE status = 'error' GROUP BY ALL"
        ).fetchall()
    assert told == [(200, 1164, 73, 50, 84)]
    assert errors == [("text", 73)]


def openai_items() -> list[Row]:
    """Return the run as items of OpenAI Responses."""
    return [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather in Paris?"}]},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "get_weather",
            "arguments": '{"city": "Paris"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "22C"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It is 22C."}],
        },
    ]


def anthropic() -> list[Row]:
    """Return the run as Anthropic's messages."""
    call = {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Paris"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "text", "text": "22C"}],
    }
    return [
        {"role": "user", "content": "Weather in Paris?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is 22C."}]},
    ]


def google() -> list[Row]:
    """Return the run as Google's contents."""
    call = {"name": "get_weather", "args": {"city": "Paris"}}
    return [
        {"role": "user", "parts": [{"text": "Weather in Paris?"}]},
        {"role": "model", "parts": [{"functionCall": call}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "get_weather", "response": "22C"}}],
        },
        {"role": "model", "parts": [{"text": "It is 22C."}]},
    ]


def langchain() -> list[Row]:
    """Return the run as LangChain's messages."""
    call = {"id": "c1", "name": "get_weather", "args": {"city": "Paris"}}
    return [
        {"type": "human", "content": "Weather in Paris?"},
        {"type": "ai", "content": "", "tool_calls": [call]},
        {"type": "tool", "tool_call_id": "c1", "content": "22C"},
        {"type": "ai", "content": "It is 22C."},
    ]


def old_functions() -> list[Row]:
    """Return the run as OpenAI wrote it when a call had no id."""
    call = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    return [
        {"role": "user", "content": "Weather in Paris?"},
        {"role": "assistant", "content": None, "function_call": call},
        {"role": "function", "name": "get_weather", "content": "22C"},
        {"role": "assistant", "content": "It is 22C."},
    ]


@built_together
def test_every_provider_gives_the_same_steps(folder: Path) -> Scene:
    """The same run, however its messages are written, is the same list of steps."""
    lake = Lake.create(folder / "lake")
    written = [openai_items(), anthropic(), google(), langchain(), old_functions()]
    runs = [{"messages": messages} for messages in (*written, chat()["messages"])]
    (folder / "runs.jsonl").write_text(lines(*runs))
    imported, notes = add(lake, folder / "runs.jsonl")

    assert notes == []
    assert not imported.ignored
    outcome = yield Outcome(lake, Imported(), [])
    assert outcome.steps() == WEATHER_STEPS * len(runs)


def requests(file: Path) -> list[Any]:
    """Return the requests of spans that a file is; their places in it may differ."""
    found: list[Any] = [part.request for part in read_file(file, ReadOptions())]
    for request in found:
        for span in request.resource_spans[0].scope_spans[0].spans if request else ():
            for attribute in span.attributes:
                if attribute.key == names.IMPORT_PLACE:
                    attribute.value.string_value = ""
    return found


def test_every_layout_of_a_file_gives_the_same_spans(tmp_path: Path) -> None:
    """A list, lines, one object, a bare list of messages, and lines of messages; or gzipped."""
    run = chat()
    layouts = {
        "list": json.dumps([run], indent=1),
        "one line": json.dumps([run]),
        "lines": lines(run),
        "object": json.dumps(run, indent=2),
        "bare": json.dumps(run["messages"], indent=2),
        "bare lines": lines(
            run["messages"],
        ),
        "messages": lines(*run["messages"]),
    }
    file = tmp_path / "file"
    file.write_text(layouts.pop("list"))
    first = requests(file)
    assert len(first[0].resource_spans[0].scope_spans[0].spans) == 4
    for name, text in layouts.items():
        for content in (text.encode(), gzip.compress(text.encode())):
            file.write_bytes(content)

            assert requests(file) == first, name


@built_together
def test_fields_stand_where_the_map_says(folder: Path) -> Scene:
    """Dotted paths; a key that holds dots counts as it is; the agent is the service, too."""
    lake = Lake.create(folder / "lake")
    record = {
        "log": {"messages": chat()["messages"]},
        "info": {"task": "t-1", "runs": [{"n": 3, "again": 2}]},
        "is.good": True,
        "who": "weather",
        "v": "2.0",
        "day": "2026-01-02T03:04:05Z",
    }
    (folder / "runs.jsonl").write_text(lines(record))
    paths = {
        "messages": "log.messages",
        "task": "info.task",
        "trial": "info.runs.0.n",
        "retries": "info.runs.0.again",
        "success": "is.good",
        "agent": "who",
        "release": "v",
        "time": "day",
    }
    _, notes = add(lake, folder / "runs.jsonl", **paths)

    assert notes == []
    outcome = yield Outcome(lake, Imported(), [])
    assert outcome.rows(
        "SELECT task_id, trial, outcome, agent_name, release, user_input, final_answer, "
        "start_time::VARCHAR, flags FROM trajectories"
    ) == [
        ("t-1", 3, "success", "weather", "2.0", "Weather in Paris?", "It is 22C.",
         "2026-01-02 03:04:05", ["retried"]),
    ]  # fmt: skip


OUTCOMES: list[tuple[Any, str | None]] = [
    (True, "success"),
    (1, "success"),
    (0.9999999999, "success"),
    ("passed", "success"),
    ("1.0", "success"),
    (False, "failure"),
    (0, "failure"),
    (0.5, "failure"),
    ("no", "failure"),
    ("invalid", "invalid"),
    (None, None),
    ("perhaps", None),
    ([1], None),
    (float("nan"), None),
]


@built_together
def test_success_is_read_as_a_verifier_says_it(folder: Path) -> Scene:
    """A number is a success from 1 on; what says nothing is unknown, and counted."""
    lake = Lake.create(folder / "lake")
    runs = [chat(success=value, task=f"t{i:02}") for i, (value, _) in enumerate(OUTCOMES)]
    (folder / "runs.jsonl").write_text(lines(*runs))
    imported, _ = add(lake, folder / "runs.jsonl")

    outcome = yield Outcome(lake, Imported(), [])
    found = outcome.rows("SELECT outcome FROM trajectories ORDER BY task_id")
    assert [outcome for (outcome,) in found] == [outcome for _, outcome in OUTCOMES]
    assert imported.ignored == {"outcomes that say neither success nor failure": 3}


@built_together
def test_a_grown_file_adds_only_what_is_new(folder: Path) -> Scene:
    """Runs that stood in the file stay as they are; one that went on gets its new spans."""
    lake = Lake.create(folder / "lake")
    file = folder / "runs.jsonl"
    short = chat()
    short["messages"] = short["messages"][:4]
    file.write_text(lines(chat(), short))
    first, _ = add(lake, file)
    file.write_text(lines(chat(), chat(), chat(city="Rome")))
    grown, _ = add(lake, file)
    again, _ = add(lake, file)

    added = [each.added[Signal.TRACES] for each in (first, grown, again)]
    assert added == [4 + 3, 2 + 4, 0]  # of the second run its last message, and the run itself
    outcome = yield Outcome(lake, Imported(), [])
    assert outcome.rows("SELECT final_answer, count(*) FROM trajectories GROUP BY ALL") == [
        ("It is 22C.", 3)
    ]


@built_together
def test_turns_thoughts_failures_and_open_calls(folder: Path) -> Scene:
    """Thoughts stand before what they led to; a flagged error is one; an open call is none."""
    lake = Lake.create(folder / "lake")
    call = {"type": "tool_use", "id": "c1", "name": "pay", "input": {}}
    refused = {"type": "tool_result", "tool_use_id": "c1", "content": "card?", "is_error": True}
    messages = [
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Now."}, call]},
        {"role": "user", "content": [refused]},
        {"role": "assistant", "content": "Which card?"},
        {"role": "user", "content": "Blue."},
        {"role": "assistant", "content": [call | {"id": "c2"}]},
    ]
    (folder / "run.json").write_text(json.dumps({"messages": messages}))
    add(lake, folder / "run.json")

    outcome = yield Outcome(lake, Imported(), [])
    assert outcome.rows(
        "SELECT kind, turn, coalesce(content, tool_name), status FROM steps ORDER BY step_index",
    ) == [
        ("thought", 0, "Now.", None),
        ("tool_call", 0, "pay", "error"),
        ("observation", 0, "card?", None),
        ("answer", 0, "Which card?", None),
        ("message", 1, "Blue.", None),
        ("tool_call", 1, "pay", "unknown"),
    ]


def test_hostile_records_are_named_and_the_rest_is_read(lake: Lake, tmp_path: Path) -> None:
    """Deep, broken, no text, of other types, too many digits: a line each, and nothing is lost."""
    file = tmp_path / "runs.jsonl"
    hostile = [
        b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"messages": [{"role": "user", "content": "a"}',
        b'{"messages": 5, "secret": "s"}',
        b'"only text"',
        b'{"messages": [1, null, {"no": "role"}]}',
        b'\xff\xfe{"messages": []}',
        b'{"n": ' + b"9" * 5000 + b"}",
        b"null",
    ]
    file.write_bytes(lines(chat()).encode() + b"\n".join(hostile) + b"\n" + lines(chat()).encode())
    imported, notes = add(lake, file)

    assert [note.split(": ")[0] for note in notes] == [f"{file}:{n}" for n in range(2, 10)]
    assert "nested too deeply" in notes[0]
    assert notes[2].endswith("no messages in it; found: messages, secret; "
                             "--map messages=PATH says where they stand")  # fmt: skip
    assert all(len(note) < 300 for note in notes)
    assert imported.faults == 8
    assert imported.understood["trajectories"] == 2


def test_a_line_that_is_too_long_is_passed_over(lake: Lake, tmp_path: Path) -> None:
    """It is never in memory as a whole."""
    file = tmp_path / "runs.jsonl"
    with file.open("w") as out:
        out.write(lines(chat()) + '{"messages": "')
        for _ in range(65):
            out.write("x" * 2**20)
        out.write('"}\n' + lines(chat()))
    imported, notes = add(lake, file)

    assert notes == [f"{file}:2: a record of more than 67108864 bytes"]
    assert imported.understood["trajectories"] == 2


def test_a_broken_element_of_a_list_is_passed_over(lake: Lake, tmp_path: Path) -> None:
    """Brackets in texts count for nothing; a broken object ends where its brackets do."""
    file = tmp_path / "runs.json"
    tricky = chat(city='a"]}[{\\')
    file.write_text(f"[\n{json.dumps(tricky)},\n{{bad}},\n{json.dumps(chat())}\n, 7]")
    imported, notes = add(lake, file)

    assert [note.split(": ")[0] for note in notes] == [f"{file}:3", f"{file}:5"]
    assert imported.understood["trajectories"] == 2


@built_together
def test_odd_characters_and_members_are_kept_or_counted(folder: Path) -> Scene:
    """Half a character, NaN, images and unknown blocks: none of them costs the rest of the run."""
    lake = Lake.create(folder / "lake")
    run = chat()
    run["messages"][1]["content"] = [
        {"type": "text", "text": "half \ud800 here"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "<script>"},
    ]
    run["messages"][2]["tool_calls"][0]["function"]["arguments"] = {"city": float("nan")}
    (folder / "run.json").write_text(json.dumps(run))
    imported, notes = add(lake, folder / "run.json")

    assert notes == []
    assert imported.ignored == {
        "content blocks of type 'image_url'": 1,
        "content blocks of type unknown": 1,
    }
    outcome = yield Outcome(lake, Imported(), [])
    assert outcome.steps()[0][2] == '{"city":"NaN"}'
    assert outcome.rows("SELECT user_input FROM trajectories") == [("half � here",)]


@built_together
def test_secrets_are_redacted_in_what_is_imported(folder: Path) -> Scene:
    """An import goes the way of every span."""
    lake = Lake.create(folder / "lake")
    run = chat(city="AKIAIOSFODNN7EXAMPLE")
    (folder / "run.json").write_text(json.dumps(run))
    add(lake, folder / "run.json")

    outcome = yield Outcome(lake, Imported(), [])
    assert "AKIAIOSFODNN7EXAMPLE" not in str(outcome.rows("FROM raw_spans"))
    assert "[redacted:api_key]" in str(outcome.steps())


@built_together
def test_react_steps_become_thoughts_calls_and_observations(folder: Path) -> Scene:
    """A list of thought, action, action_input and observation is a trajectory as well."""
    lake = Lake.create(folder / "lake")
    record = {
        "question": "Weather in Paris?",
        "steps": [
            {
                "thought": "I look.",
                "action": "get_weather",
                "action_input": {"city": "Paris"},
                "observation": "22C",
            }
        ],
        "final_answer": "It is 22C.",
    }
    (folder / "run.json").write_text(json.dumps(record))
    add(lake, folder / "run.json")

    outcome = yield Outcome(lake, Imported(), [])
    assert outcome.steps() == [("thought", None, None, "I look.", None), *WEATHER_STEPS]


@built_together
def test_a_tool_that_the_framework_did_not_know_was_not_executed(folder: Path) -> Scene:
    """LangChain's answer that a tool does not exist is not a result of that tool."""
    lake = Lake.create(folder / "lake")
    answer = "sleep is not a valid tool, try one of [get_weather]."
    record = {"steps": [{"action": "sleep", "action_input": {"s": 60}, "observation": answer}]}
    (folder / "run.json").write_text(json.dumps(record))
    add(lake, folder / "run.json")

    outcome = yield Outcome(lake, Imported(), [])
    found = outcome.rows("SELECT tool_name, status FROM steps WHERE kind = 'tool_call'")
    assert found == [("sleep", "not_executed")]


@pytest.mark.slow
def test_real_react_runs_are_read(lake: Lake, shared_data: Path) -> None:
    """WorkBench: 388 of 400 runs have steps; 26 calls name a tool that does not exist."""
    file = shared_data / "workbench" / "runs.jsonl.gz"
    imported, notes = add(lake, file)
    unknown = rows(lake, "SELECT count(*) FROM steps WHERE status = 'not_executed'")

    assert (imported.understood["trajectories"], imported.faults) == (388, 12)
    assert len(notes) == 12
    assert unknown == [(26,)]
