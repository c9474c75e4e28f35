"""Calls that failed, wait, or were not recorded."""

import json
from typing import Any, Final

from tests.queries.classes.scenes.scene import calls, runs, scene
from tests.queries.classes.story import Call, Form, Tokens, asked, replied, requested, said
from tests.queries.together import Scene
from tests.queries.traces import Row

IN_BAND: Final = "A call has failed if its result, its reply or its exit code reports a failure."
SPEAKS: Final = "A result that merely mentions errors is not a failure."
PAUSE: Final = "A call that waits for a person is interrupted: neither it nor its run has failed."
REFUSED: Final = "A call that a user refused is not a success."
OFF: Final = "Calls whose content was not recorded are not nothing: the run is flagged."
UNSEEN: Final = "If a model's output was not recorded, a flag says that its thoughts are missing."
DROPPED: Final = "Attributes that an exporter dropped flag the run."

SEND: Final = Call("send", {"to": "bob"})
LOOK: Final = Call("look", {}, "c2")
QUESTION: Final = asked("Write to Bob.")


def _ran(form: Form, result: object, **attributes: int) -> list[Row]:
    text = result if isinstance(result, str) else json.dumps(result)
    tool = form.tool(3, 1, call=SEND, at=3, result=text)
    tool["attributes"] += [
        {"key": key.replace("__", "."), "value": {"intValue": str(value)}}
        for key, value in attributes.items()
    ]
    return [form.agent(1), form.model(2, 1, heard=[QUESTION], said=requested(SEND)), tool]


@scene(IN_BAND)
def is_error(form: Form) -> Scene:
    """As Anthropic's tools and MCP's SDK for Python say it."""
    lake = yield _ran(form, {"content": [{"type": "text", "text": "no"}], "is_error": True})
    assert calls(lake, "status") == [("error",)]


@scene(IN_BAND)
def is_error_inside(form: Form) -> Scene:
    """As MCP's own messages say it, in a wrapper."""
    lake = yield _ran(form, {"result": {"content": [], "isError": True}})
    assert calls(lake, "status") == [("error",)]


@scene(IN_BAND)
def exit_code(form: Form) -> Scene:
    """The conventions of processes tell it."""
    lake = yield _ran(form, "ls: cannot access", process__exit__code=2)
    assert calls(lake, "status") == [("error",)]


@scene(IN_BAND, "requests", "replies", "failed replies")
def failed_reply(form: Form) -> Scene:
    """The execution ended well, and the model got a failure."""
    heard = [QUESTION, requested(SEND), replied(SEND, "no", failed=True)]
    lake = yield [*_ran(form, "no"), form.model(4, 1, at=6, heard=heard, said=said("Sorry."))]
    assert calls(lake, "status") == [("error",)]


@scene(SPEAKS)
def found_an_error(form: Form) -> Scene:
    """It says that it went well."""
    lake = yield _ran(form, {"is_error": False, "content": "an error was found and mended"})
    assert calls(lake, "status") == [("ok",)]


@scene(SPEAKS)
def exit_code_of_success(form: Form) -> Scene:
    """Its process ended with 0."""
    lake = yield _ran(form, "Nothing is wrong.", process__exit__code=0)
    assert calls(lake, "status") == [("ok",)]


@scene(SPEAKS)
def exit_code_among_fields(form: Form) -> Scene:
    """A search that found nothing ends with 1."""
    lake = yield _ran(form, {"exit_code": 1, "returncode": 1, "stdout": "", "stderr": ""})
    assert calls(lake, "status") == [("ok",)]


@scene(SPEAKS)
def no_success(form: Form) -> Scene:
    """It is the answer to what was asked."""
    lake = yield _ran(form, {"success": False, "reason": "The flight is full."})
    assert calls(lake, "status") == [("ok",)]


@scene(PAUSE, "pauses")
def paused(form: Form) -> Scene:
    """The framework stops the tool until a user allows it."""
    lake = yield [
        form.agent(1),
        form.model(2, 1, heard=[QUESTION], said=requested(SEND), offered=["send"]),
        form.paused(3, 1, call=SEND, at=3),
    ]
    assert {status for (status,) in calls(lake, "status")} == {"interrupted"}
    found = runs(lake, "interrupted, coalesce(root_failed, FALSE), error_count")
    assert found == [(True, False, 0)]


@scene(PAUSE, "requests", "offers")
def unanswered(form: Form) -> Scene:
    """One of two calls was executed; the run ended well, and without an answer."""
    lake = yield [
        form.agent(1),
        form.model(2, 1, heard=[QUESTION], said=requested(SEND, LOOK), offered=["send", "look"]),
        form.tool(3, 1, call=LOOK, at=3, result="r"),
    ]
    assert sorted(calls(lake, "tool_name, status")) == [("look", "ok"), ("send", "interrupted")]
    assert runs(lake, "interrupted, error_count") == [(True, 0)]


@scene(REFUSED)
def refused(form: Form) -> Scene:
    """The model gets this result, and continues."""
    heard = [QUESTION, requested(SEND, LOOK), replied(LOOK, "r"), replied(SEND, "Refused.")]
    lake = yield [
        form.agent(1),
        form.model(2, 1, heard=heard[:1], said=heard[1], offered=["send", "look"]),
        form.tool(3, 1, call=LOOK, at=3, result="r"),
        *form.refused(4, 1, call=SEND, at=4),
        form.model(5, 1, at=9, heard=heard, said=said("As you wish.")),
    ]
    found = dict(calls(lake, "tool_name, status"))
    assert found["look"] == "ok"
    assert found["send"] in {"error", "not_executed"}
    assert runs(lake, "error_count, interrupted") == [(1, False)]


def _flags(lake: Any) -> list[list[str]]:
    found = (flags for (flags,) in runs(lake, "flags"))
    return [[flag for flag in flags if flag != "unrecorded_thoughts"] for flags in found]


def _hides_thoughts(lake: Any) -> bool:
    ((flags,),) = runs(lake, "flags")
    return "unrecorded_thoughts" in flags


@scene(UNSEEN)
def silent_before_its_call(form: Form) -> Scene:
    """The content of model calls is off; the call has a span of its own."""
    lake = yield [
        form.agent(1, heard=QUESTION.text),
        form.model(2, 1, at=1, tokens=Tokens(), stopped="tool_use"),
        form.tool(3, 1, at=3, call=SEND, result="r"),
    ]
    assert _hides_thoughts(lake)


@scene(UNSEEN, "requests")
def spoken_before_its_call(form: Form) -> Scene:
    """Reverse: the model only asked for the call, and thought nothing aloud."""
    lake = yield [
        form.agent(1, heard=QUESTION.text),
        form.model(2, 1, at=1, heard=[QUESTION], said=requested(SEND)),
        form.tool(3, 1, at=3, call=SEND, result="r"),
    ]
    assert not _hides_thoughts(lake)


@scene(UNSEEN, "requests")
def silent_after_its_call(form: Form) -> Scene:
    """Reverse: what is missing was said too late to be a plan of what was done."""
    lake = yield [
        form.agent(1, heard=QUESTION.text),
        form.model(2, 1, at=1, heard=[QUESTION], said=requested(SEND)),
        form.tool(3, 1, at=3, call=SEND, result="r"),
        form.model(4, 1, at=6, tokens=Tokens(), stopped="end_turn"),
    ]
    assert not _hides_thoughts(lake)


@scene(OFF)
def nothing_told(form: Form) -> Scene:
    """A model call has neither output nor stop reason."""
    lake = yield [form.agent(1), form.model(2, 1, tokens=Tokens())]
    assert _flags(lake) == [["unrecorded_answer", "unrecorded_calls"]]


@scene(OFF, "reasons to stop")
def stopped_for_tools(form: Form) -> Scene:
    """A model stopped for tools, but there are none."""
    lake = yield [
        form.agent(1),
        form.model(2, 1, at=1, tokens=Tokens(), stopped="tool_use"),
        form.model(3, 1, at=5, tokens=Tokens(), stopped="end_turn"),
    ]
    assert _flags(lake) == [["unrecorded_answer", "unrecorded_calls"]]


@scene(OFF)
def executions_alone(form: Form) -> Scene:
    """Reverse: the spans of tools tell them. What the last model call said is not known."""
    lake = yield [
        form.agent(1),
        form.model(2, 1, at=1, tokens=Tokens(), stopped="tool_use"),
        form.tool(3, 1, at=3, call=LOOK, result="r"),
        form.model(4, 1, at=5, tokens=Tokens(), stopped="end_turn"),
    ]
    assert _flags(lake) == [["unrecorded_answer"]]


@scene(DROPPED)
def lost_output(form: Form) -> Scene:
    """What the model said was not among what was kept."""
    lost = form.model(2, 1, heard=[QUESTION], tokens=Tokens()) | {"droppedAttributesCount": 19}
    lake = yield [form.agent(1, heard=QUESTION.text), lost]
    assert _flags(lake) == [["dropped_attributes", "unrecorded_answer", "unrecorded_calls"]]


@scene(DROPPED)
def lost_of_a_tool(form: Form) -> Scene:
    """The call itself is known."""
    lost = form.tool(3, 1, call=LOOK, at=3) | {"droppedAttributesCount": 1}
    lake = yield [
        form.agent(1), form.model(2, 1, heard=[QUESTION], said=requested(LOOK)), lost
    ]  # fmt: skip
    assert _flags(lake) == [["dropped_attributes"]]
