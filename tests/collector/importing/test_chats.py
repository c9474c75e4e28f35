"""Chats as other people keep them: errors beside results, parts, half logged, odd roles."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collector.importing.imports import Outcome, imported, written, written_lines
from tests.collector.importing.together import Scene
from tests.scenes import built_together

from tracegrade_collector.importing.open_calls import OpenCall, OpenCalls
from tracegrade_collector.importing.roles import parse_roles

Row = dict[str, Any]


def user(*texts: str) -> Row:
    """Return a message of the user, in parts if it has several."""
    parts = [{"type": "text", "text": text} for text in texts]
    return {"role": "user", "content": parts if len(parts) > 1 else texts[0]}


def asks(*calls: tuple[str | None, str], text: str | None = None) -> Row:
    """Return a message of the model that requests tools, by id and name."""
    listed = [
        {"id": call_id, "function": {"name": name, "arguments": "{}"}} for call_id, name in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def reply(call_id: str | None, content: Any, **fields: Any) -> Row:
    """Return a tool's message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def chat(folder: Path, *messages: Row, **options: Any) -> Outcome:
    """Return what becomes of a chat."""
    return imported(folder, written(folder, {"messages": messages}), **options)


def chats(folder: Path, runs: Mapping[str, Sequence[Row]], **options: Any) -> Outcome:
    """Return what becomes of chats, each of the task that it is for."""
    records = [{"task_id": task, "messages": messages} for task, messages in runs.items()]
    return imported(folder, written_lines(folder, records), **options)


def stories(outcome: Outcome) -> dict[str | None, list[str]]:
    """Return the steps of each task's run, as turn, kind, tool, text and status."""
    found = outcome.rows(
        "SELECT task_id, turn, kind, tool_name, coalesce(content, result), status "
        "FROM steps JOIN trajectories USING (trajectory_id) ORDER BY trajectory_id, step_index"
    )
    told: dict[str | None, list[str]] = {}
    for task, *row in found:
        told.setdefault(task, []).append(" ".join(str(e) for e in row if e is not None))
    return told


def told(outcome: Outcome) -> list[str]:
    """Return the steps of the only run."""
    return stories(outcome)[None]


def statuses(outcome: Outcome) -> dict[str | None, list[str]]:
    """Return the status of each call of each task's run."""
    return {
        task: [line.rsplit(" ", 1)[1] for line in lines if " tool_call " in line]
        for task, lines in stories(outcome).items()
    }


NO_IBAN = "ValueError: no such iban"
FAILED = {
    "empty": reply("a", "", error=NO_IBAN),
    "null": reply("a", None, error=NO_IBAN),
    "blank": reply("a", " \n", error={"type": "v", "message": NO_IBAN}),
    "block": reply("a", [{"type": "text", "text": ""}], error=NO_IBAN),
    "other block": reply("a", [{"type": "text", "content": ""}], error=NO_IBAN),
    "item": {"type": "function_call_output", "call_id": "a", "error": NO_IBAN},
    "of the user": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "error": NO_IBAN}],
    },
    "flagged": reply("a", NO_IBAN, isError=True),
    "status": reply("a", NO_IBAN, status="failed"),
    "typed": reply(
        None,
        [
            {
                "type": "tool-result",
                "toolCallId": "a",
                "output": {"type": "error-text", "value": NO_IBAN},
            }
        ],
    ),
}


@built_together
def test_an_error_beside_an_empty_result_is_what_the_tool_said(folder: Path) -> Scene:
    """Wherever a source says that the tool failed, the call did, and the model saw why."""
    runs = {
        name: [user("Pay."), asks(("a", "pay")), failed, asks(text="It failed.")]
        for name, failed in FAILED.items()
    }
    story = [
        f"0 tool_call pay {NO_IBAN} error",
        f"0 observation pay {NO_IBAN}",
        "0 answer It failed.",
    ]
    outcome = yield chats(folder, runs)

    assert stories(outcome) == dict.fromkeys(FAILED, story)


@built_together
def test_an_empty_error_is_none(folder: Path) -> Scene:
    """Sources that have the field have it for every result."""
    empty: list[Any] = [None, "", {}, [], False, 0]
    runs = {
        repr(error): [user("Pay."), asks(("a", "pay")), reply("a", "paid", error=error)]
        for error in empty
    }
    outcome = yield chats(folder, runs)

    assert set(map(tuple, statuses(outcome).values())) == {("ok",)}


@built_together
def test_an_empty_observation_is_a_result(folder: Path) -> Scene:
    """A step that has the field says that something came of it; one without it does not."""
    steps = [
        {"thought": "Quietly.", "action": "pay", "observation": ""},
        {"thought": "Again.", "action": "pay", "tool_output": ""},
        {"thought": "Once more.", "action": "pay"},
    ]
    outcome = yield imported(folder, written(folder, {"steps": steps}))

    assert [line for line in told(outcome) if "tool_call" in line] == [
        "0 tool_call pay  ok",
        "0 tool_call pay  ok",
        "0 tool_call pay unknown",
    ]


@built_together
def test_an_error_of_a_step_is_its_observation(folder: Path) -> Scene:
    """ReAct logs have such a field as well."""
    steps = [
        {"action": "pay", "action_input": {}, "observation": "", "error": "no card"},
        {"action": "pay", "action_input": {}, "observation": "paid", "error": None},
    ]
    outcome = yield imported(folder, written(folder, {"steps": steps}))

    assert told(outcome) == [
        "0 tool_call pay no card error",
        "0 observation pay no card",
        "0 tool_call pay paid ok",
        "0 observation pay paid",
    ]


@built_together
def test_what_the_user_says_in_parts_or_in_a_row_is_one_turn(folder: Path) -> Scene:
    """No part is lost, and a turn is all that is said before the model answers."""
    outcome = yield chat(
        folder,
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "Guten Tag!"},
        user("Ich brauche", "zwei Fahrkarten."),
        user("Nach Köln."),
        {"role": "assistant", "content": "Wann?"},
        user("Morgen."),
        user("請問", "幾點?"),
        {"role": "assistant", "content": [{"type": "text", "text": "Um"}, {"text": " neun."}]},
    )

    assert outcome.rows("SELECT user_input, final_answer FROM trajectories") == [
        ("Ich brauche\nzwei Fahrkarten.\nNach Köln.", "Um neun.")
    ]
    assert told(outcome) == [
        "0 message Guten Tag!",
        "0 answer Wann?",
        "1 message Morgen.\n請問\n幾點?",
        "1 answer Um neun.",
    ]


@built_together
def test_a_call_whose_reply_was_not_logged_is_unknown(folder: Path) -> Scene:
    """Only a tool that was not offered was surely not executed (docs/metrics.md, section 0.7)."""
    messages = [
        user("Pay both."),
        asks(("a", "look"), ("b", "pay")),
        reply("b", "paid"),
        asks(("c", "pay"), ("d", "fly")),
        {"role": "assistant", "content": "Done."},
    ]
    tools = [{"type": "function", "function": {"name": name}} for name in ("look", "pay")]
    file = written(folder, {"messages": messages, "tools": tools})
    outcome = yield imported(folder, file)

    assert outcome.calls() == [
        ("look", "{}", "unknown"),
        ("pay", "{}", "ok"),
        ("pay", "{}", "unknown"),
        ("fly", "{}", "not_executed"),
    ]
    assert outcome.rows("SELECT error_count FROM trajectories") == [(1,)]


@built_together
def test_replies_without_ids_find_their_calls(folder: Path) -> Scene:
    """By the name that they have, else to the last message that requested something."""
    replies = {
        "unknown ok unknown": [reply(None, "b", name="pay")],
        "unknown unknown ok": [reply(None, "c", name="look")],
        "unknown unknown  ok": [reply("c", "c")],
        "unknown ok ok": [reply(None, "?"), reply(None, "?")],
    }
    asked = [user("Go."), asks((None, "look")), asks((None, "pay"), ("c", "look"))]
    runs = {expected: [*asked, *given] for expected, given in replies.items()}

    outcome = yield chats(folder, runs)

    assert statuses(outcome) == {name: name.split() for name in replies}


names = st.sampled_from(["look", "pay"])
ids = st.sampled_from([None, "a", "b"])


@given(
    st.lists(st.tuples(st.integers(0, 3), ids, names), max_size=8).map(
        lambda calls: sorted(calls, key=lambda call: call[0])
    ),
    st.lists(st.tuples(ids, names | st.none()), max_size=8),
)
def test_each_reply_finds_the_call_that_fits_best(
    calls: list[tuple[int, str | None, str]], replies: list[tuple[str | None, str | None]]
) -> None:
    """As the plain definition does that looks at all open calls."""
    opened = OpenCalls()
    for place, (message, call_id, name) in enumerate(calls):
        opened.add(message, OpenCall(call_id, name, None, str(place), 0, synthetic=False))
    left = dict(enumerate(calls))
    for wanted, named in replies:
        fitting = {
            place: (call_id != wanted, -message, place)
            for place, (message, call_id, name) in left.items()
            if (call_id == wanted and wanted is not None)
            or (None in (call_id, wanted) and named in (None, name))
        }
        best = min(fitting, key=lambda place: fitting[place], default=None)
        found = opened.take(wanted, named)
        assert (None if found is None else int(found.part)) == best
        left.pop(best, None) if best is not None else None


@built_together
def test_results_in_blocks_of_one_message_are_results_each(folder: Path) -> Scene:
    """Google's function role, and tool messages that hold several."""
    answered = [
        {"functionResponse": {"name": name, "response": {"result": name}}}
        for name in ("look", "pay")
    ]
    outcome = yield chat(
        folder,
        user("Go."),
        asks((None, "look"), (None, "pay")),
        {"role": "function", "parts": answered},
    )

    assert [status for *_, status in outcome.calls()] == ["ok", "ok"]
    assert '0 observation pay {"result": "pay"}' in told(outcome)


@built_together
def test_functions_that_are_named_without_an_object_are_called(folder: Path) -> Scene:
    """Some benchmarks keep a call as `function` and `args`."""
    call = {"function": "get_balance", "args": {"of": "me"}, "id": "a", "placeholder_args": None}
    outcome = yield chat(
        folder,
        {"role": "user", "content": [{"type": "text", "content": "How much?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        reply("a", [{"type": "text", "content": "1810.0"}], tool_call=call, error=None),
    )

    assert outcome.calls() == [("get_balance", '{"of":"me"}', "ok")]
    assert "0 observation get_balance 1810.0" in told(outcome)
    assert outcome.rows("SELECT user_input FROM trajectories") == [("How much?",)]


SPANISH = [
    {"speaker": "Usuario", "text": "¿Qué tiempo hace?"},
    {"speaker": "Asistente", "text": "Miro."},
    {"speaker": "Entorno", "text": "22 °C"},
    {"speaker": "Asistente", "text": "22 grados."},
]


@built_together
def test_roles_of_any_name_are_mapped(folder: Path) -> Scene:
    """In any case; a file of such messages alone is one run too."""
    roles = parse_roles(["usuario=user,asistente=assistant", " entorno = tool"])
    files = [
        written(folder, {"chat": SPANISH}, "record.json"),
        written_lines(folder, SPANISH, "lines.jsonl"),
        written(folder, SPANISH, "bare.json"),
    ]
    outcome = yield imported(folder, *files, roles=roles)

    assert outcome.notes == []
    assert (
        outcome.rows("SELECT user_input, final_answer FROM trajectories")
        == [("¿Qué tiempo hace?", "22 grados.")] * 3
    )


@built_together
def test_swapped_roles_are_turned_round(folder: Path) -> Scene:
    """What the user of the log did are then the agent's steps."""
    swapped = [asks(text="Pay."), asks(("a", "pay")) | {"role": "user"}, reply("a", "paid")]
    before = chat(folder, *swapped)
    roles = parse_roles(["user=assistant,assistant=user"])
    (folder / "other").mkdir()
    outcome = yield chat(folder / "other", *swapped, roles=roles)

    assert before.imported.ignored == {
        "tool calls in messages of role user": 1,
        "replies to tools that the user called": 1,
    }
    assert outcome.notes == []
    assert outcome.calls() == [("pay", "{}", "ok")]
    assert outcome.rows("SELECT user_input FROM trajectories") == [("Pay.",)]


def strange(count: int) -> list[Row]:
    """Return messages of an unknown role."""
    return [{"role": "critic", "content": "Hm."}] * count


@pytest.mark.parametrize(("known", "unknown"), [(2, 3), (0, 2)])
def test_a_run_that_is_mostly_not_understood_is_no_run(
    tmp_path: Path, known: int, unknown: int
) -> None:
    """It is named with the roles that it has; others of the file are imported."""
    odd = [*[user("Hi.")] * known, *strange(unknown)]
    good = [user("Hi."), asks(text="Hello."), *strange(2)]
    file = written_lines(tmp_path, [{"messages": odd}, {"messages": good}])
    outcome = imported(tmp_path, file)

    assert outcome.notes == [
        f"{file}:1: {unknown} of {known + unknown} messages are not understood "
        f"({unknown} messages of role 'critic'); --role NAME=ROLE says whose they are"
        + (", --allow-partial takes the others" if known else "")
    ]
    assert outcome.imported.understood["trajectories"] == 1
    assert outcome.imported.ignored["messages of role 'critic'"] == unknown + 2


@built_together
def test_most_of_a_run_may_be_left_out_if_asked_for(folder: Path) -> Scene:
    """What is understood is imported then, and the rest counted."""
    odd = [user("Hi."), asks(text="Hello."), *strange(3)]
    outcome = yield chat(folder, *odd, allow_partial=True)

    assert (outcome.notes, outcome.imported.ignored) == ([], {"messages of role 'critic'": 3})
    assert told(outcome) == ["0 answer Hello."]


@built_together
def test_constants_count_for_bare_lists(folder: Path) -> Scene:
    """A list of messages, lines of lists, and lines of messages have no fields of their own."""
    messages = [user("Hi."), asks(text="Hello.")]
    files = [
        written(folder, messages, "list.json"),
        written_lines(folder, [messages], "lists.jsonl"),
        written_lines(folder, messages, "messages.jsonl"),
    ]
    paths = {"task": "=t-1", "release": "=2.0", "agent": "=desk", "trial": "=3"}
    outcome = yield imported(folder, *files, paths=paths)

    assert outcome.notes == []
    assert (
        outcome.rows("SELECT task_id, release, agent_name, trial FROM trajectories")
        == [("t-1", "2.0", "desk", 3)] * 3
    )
    assert outcome.imported.unnamed_runs == 0


def test_a_misspelt_path_is_answered_with_the_one_there_is(tmp_path: Path) -> None:
    """Of messages and of other fields, in nested objects too; odd keys are not repeated."""
    record = {"trajj\x1b[2J": 1, "logs": {"traj": [user("Hi.")]}, "info": {"task": {"id": "t"}}}
    file = written(tmp_path, record)
    wrong = imported(tmp_path, file, paths={"messages": "log.trajj"}, format_="messages")
    (tmp_path / "other").mkdir()
    paths = {"messages": "logs.traj", "task": "info.taks.id"}
    right = imported(tmp_path / "other", file, paths=paths)

    assert wrong.notes == [
        f"{file}:1: no messages at 'log.trajj'; found: a key of 9 characters, logs, info; "
        "did you mean 'logs.traj'?",
        f"{file}: no record has anything at 'log.trajj', which is mapped to messages; "
        "did you mean 'logs.traj'?",
    ]
    assert right.notes == [
        f"{file}: no record has anything at 'info.taks.id', which is mapped to task; "
        "did you mean 'info.task.id'?"
    ]
    assert right.imported.understood["trajectories"] == 1


@built_together
def test_the_model_of_a_record_is_that_of_its_messages(folder: Path) -> Scene:
    """Unless they name their own; a field that no chat has is reported, not looked for."""
    messages = [user("Hi."), asks(text="Hello.") | {"model": "small"}, asks(text="Bye.")]
    file = written(folder, {"messages": messages, "meta": {"model": "large"}, "actions": []})
    outcome = yield imported(folder, file, paths={"model": "meta.model", "expected": "actions"})

    assert outcome.rows("SELECT model FROM steps ORDER BY step_index") == [("small",), ("large",)]
    assert outcome.notes == [f"{file}: field 'expected', which --map names, is none of chats"]
    assert outcome.imported.faults == 0


@built_together
def test_half_a_character_in_json_in_a_text_stops_nothing(folder: Path) -> Scene:
    """Messages, and what other tools kept, may be JSON in a text; halves are marks there too."""
    text = json.dumps([user("a \ud800"), asks(text="b")])
    observation = {"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-01-01"}
    spoken = {"input": text, "output": "{'c': '\\ud800'}"}
    files = [
        written(folder, {"messages": text}, "messages.json"),
        written(folder, [observation | spoken], "langfuse.json"),
    ]
    outcome = yield imported(folder, *files)

    assert outcome.imported.faults == 0
    assert outcome.rows("SELECT user_input FROM trajectories ORDER BY ALL") == [("a �",)] * 2


def test_texts_of_a_chat_are_texts_wherever_they_end_up(tmp_path: Path) -> None:
    """No path, SQL, code or address out of a chat is used as one."""
    nasty = ["../../etc/passwd", "'; DROP TABLE steps; --", "$(touch x)", "file:///etc/passwd"]
    messages = [
        {"role": text, "content": text, "name": text} if number % 2 else user(text)
        for number, text in enumerate(nasty)
    ]
    messages += [asks((text, text), text=text) for text in nasty]
    messages += [reply(text, text, error=text, name=text) for text in nasty]
    record = {"messages": messages, "task_id": nasty[0], "agent": nasty[1], "release": nasty[2]}
    before = {path for path in tmp_path.parent.rglob("*") if "lake" not in path.parts}
    outcome = imported(tmp_path, written(tmp_path, record), code_calls=True)

    assert [tool for tool, *_ in outcome.calls()] == nasty
    assert outcome.rows("SELECT task_id, agent_name, release FROM trajectories") == [
        tuple(nasty[:3])
    ]
    after = {path for path in tmp_path.parent.rglob("*") if "lake" not in path.parts}
    assert {path.name for path in after - before} == {"export.json"}


@pytest.mark.slow
def test_calls_that_nobody_answers_cost_no_time_each(tmp_path: Path) -> None:
    """A log of very many open calls, and replies to none of them, is read in one pass."""
    calls = asks(*[(f"c{number}", "pay") for number in range(20_000)])
    replies = [reply(f"r{number}", "paid", name="fly") for number in range(20_000)]
    outcome = chat(tmp_path, user("Pay."), calls, *replies)

    assert outcome.imported.understood["tool results"] == 20_000


@built_together
def test_calls_may_be_among_what_langchain_adds(folder: Path) -> Scene:
    """Its messages have them in `additional_kwargs` if nothing has parsed them."""
    asked = asks(("c1", "search"))
    calls = asked.pop("tool_calls")
    told = [user("Go."), {**asked, "additional_kwargs": {"tool_calls": calls}}, reply("c1", "x")]
    outcome = yield chat(folder, *told)

    assert outcome.imported.understood["tool calls"] == 1
    assert outcome.calls() == [("search", "{}", "ok")]
