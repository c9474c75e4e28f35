"""Runs of several model calls, and which call has which result."""

from typing import Any, Final

from tests.queries.classes.scenes.scene import calls, runs, scene
from tests.queries.classes.story import (
    Call,
    Form,
    Hosted,
    asked,
    replied,
    requested,
    said,
    told,
)  # fmt: skip
from tests.queries.together import Scene
from tests.queries.traces import Row, rows, story

RUN: Final = "A question, a call, its result and the answer are one run."
REUSED: Final = "An id that each round uses again is of that round alone."
HOSTED: Final = "A tool that the model's provider ran is a call, with its result."
USERS: Final = "A simulated user's call, or a reply without a call, is not a call of the agent."
RESUMED: Final = "A run that continues with another run's call has the call and its result."

LOOK: Final = Call("look", {"city": "Paris"})
QUESTION: Final = asked("How warm is it in Paris?")


@scene(RUN)
def run(form: Form) -> Scene:
    """The form is one that its dialect reads."""
    heard = [told("Be brief."), QUESTION, requested(LOOK), replied(LOOK, "22C")]
    lake = yield [
        form.agent(1, heard=QUESTION.text, answer="22C."),
        form.model(2, 1, heard=heard[:2], said=requested(LOOK)),
        form.tool(3, 1, call=LOOK, at=3, result="22C"),
        form.model(4, 1, at=6, heard=heard, said=said("22C.")),
    ]
    call, observation, answer = story(lake)
    assert (call, answer) == ('tool_call look {"city":"Paris"} ok', "answer 22C.")
    assert form.plain(observation.removeprefix("observation ")) == "22C"
    assert form.dialect in runs(lake, "dialects")[0][0]
    assert runs(lake, "user_input, final_answer, complete") == [(QUESTION.text, "22C.", True)]


def _results(form: Form, lake: Any) -> list[tuple[str, str | None]]:
    return [(status, form.plain(result)) for status, result in calls(lake, "status, result")]


def _rounds(form: Form, refused: str | None) -> list[Row]:
    """Return three rounds with one id; the second was refused."""
    asking = [Call("run", {"command": f"c{number}"}, "call_0") for number in range(3)]
    told_then = ["r0", refused, "r2"]
    heard = [QUESTION]
    spans = [form.agent(1)]
    for number, call in enumerate(asking):
        at = 10 * number
        spans.append(form.model(2 + number, 1, at=at, heard=heard, said=requested(call)))
        text = told_then[number]
        heard = [*heard, requested(call), *([replied(call, text)] if text else [])]
        if number != 1:
            spans.append(form.tool(10 + number, 1, call=call, at=at + 5, result=text))
    return [*spans, form.model(5, 1, at=30, heard=heard, said=said("done"))]


@scene(REUSED, "requests", "replies")
def refused(form: Form) -> Scene:
    """The model's input shows that the second was refused."""
    lake = yield _rounds(form, "denied")
    assert _results(form, lake) == [("ok", "r0"), ("not_executed", None), ("ok", "r2")]
    seen = rows(lake, "SELECT content FROM steps WHERE kind = 'observation' ORDER BY step_index")
    assert [form.plain(row["content"]) for row in seen] == ["r0", "denied", "r2"]


@scene(REUSED, "requests")
def unanswered(form: Form) -> Scene:
    """The model gets no result of it."""
    lake = yield _rounds(form, None)
    assert _results(form, lake) == [("ok", "r0"), ("not_executed", None), ("ok", "r2")]


@scene(HOSTED, "tools of providers")
def hosted(form: Form) -> Scene:
    """The last model call searched, or ran code, and answered."""
    is_code = form.dialect == "google_adk"
    name, given = ("code_execution", {"code": "1"}) if is_code else ("web_search", {"query": "x"})
    ran = Hosted(name, given, "1 hit", "Found it.")
    lake = yield [form.agent(1), form.hosted(2, 1, ran=ran)]
    ((found, by, status),) = calls(lake, "tool_name, executed_by, status")
    assert (found, by) == (name, "provider")
    assert status in {"ok", "unknown"}
    assert story(lake)[-1] == "answer Found it."


@scene(HOSTED, "tools of providers", "results of providers")
def hosted_result(form: Form) -> Scene:
    """Its result is recorded, too."""
    is_code = form.dialect == "google_adk"
    name, given = ("code_execution", {"code": "1"}) if is_code else ("web_search", {"query": "x"})
    lake = yield [form.agent(1), form.hosted(2, 1, ran=Hosted(name, given, "1 hit", "Found it."))]
    assert calls(lake, "status, result") == [("ok", "1 hit")]


@scene(USERS, "replies")
def reply_to_no_call(form: Form) -> Scene:
    """A result without a call."""
    lake = yield [
        form.agent(1),
        form.model(2, 1, heard=[QUESTION, replied(LOOK, "22C")], said=said("22C.")),
    ]
    assert calls(lake) == []


@scene(USERS, "requests", "replies", "requests of users")
def requested_by_the_user(form: Form) -> Scene:
    """A message of the user requests it, and its execution has a span."""
    toggle = Call("toggle", {}, "u1")
    lake = yield [
        form.agent(1),
        form.model(2, 1, at=1, heard=[QUESTION], said=requested(LOOK)),
        form.tool(3, 1, at=3, call=LOOK, result="22C"),
        form.tool(4, 1, at=5, call=toggle, result="on"),
        form.model(
            5, 1, at=7,
            heard=[
                QUESTION, requested(LOOK), replied(LOOK, "22C"),
                requested(toggle, role="user"), replied(toggle, "on"),
            ],
            said=said("Done."),
        ),
    ]  # fmt: skip
    assert calls(lake, "tool_name") == [("look",)]


@scene(USERS)
def marked_as_the_users(form: Form) -> Scene:
    """The execution says who requested it, as tau2-bench does."""
    toggle = form.tool(4, 1, at=5, call=Call("toggle", {}, "u1"), result="on")
    toggle["attributes"].append({"key": "requestor", "value": {"stringValue": "user"}})
    lake = yield [
        form.agent(1),
        form.model(2, 1, at=1, heard=[QUESTION], said=requested(LOOK)),
        form.tool(3, 1, at=3, call=LOOK, result="22C"),
        toggle,
    ]
    assert calls(lake, "tool_name") == [("look",)]


@scene(RESUMED, "requests", "replies")
def resumed(form: Form) -> Scene:
    """The history holds the question, the request and the result that came meanwhile."""
    ask = Call("ask_client", {"q": "date"})
    heard = [asked("Book a room."), requested(ask), replied(ask, "3 May")]
    lake = yield [form.agent(1), form.model(2, 1, heard=heard, said=said("Booked."))]
    assert calls(lake) == [("ask_client", '{"q":"date"}', "ok")]
    assert _results(form, lake) == [("ok", "3 May")]
    assert runs(lake, "user_input, final_answer") == [("Book a room.", "Booked.")]
