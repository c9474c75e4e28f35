"""What a model gave a tool, and whose arguments those are."""

from typing import Any, Final

from tests.queries.classes.scenes.scene import calls, scene
from tests.queries.classes.story import LEFT_OUT, Call, Form, asked, requested
from tests.queries.together import Scene
from tests.queries.traces import Row

EMPTY: Final = "Arguments that are an empty text, null or missing are an empty object."
GLUED: Final = "Two objects glued together yield to what the tool got."
NESTED: Final = "Equal calls inside one another, with other results, are two."


def _called(form: Form, call: Call) -> list[Row]:
    return [
        form.agent(1),
        form.model(2, 1, heard=[asked("What time is it?")], said=requested(call), offered=["now"]),
        form.tool(3, 1, call=call._replace(arguments={}), at=5, result="12"),
    ]


def _is_empty(form: Form, arguments: object) -> Any:
    lake = yield _called(form, Call("now", arguments))
    assert calls(lake) == [("now", "{}", "ok")]


@scene(EMPTY, "requests", "texts as arguments")
def empty_text(form: Form) -> Scene:
    """The model wrote nothing."""
    yield from _is_empty(form, "")


@scene(EMPTY, "requests")
def null(form: Form) -> Scene:
    """It wrote null."""
    yield from _is_empty(form, None)


@scene(EMPTY, "requests")
def left_out(form: Form) -> Scene:
    """A key is missing."""
    yield from _is_empty(form, LEFT_OUT)


@scene(EMPTY)
def empty_object(form: Form) -> Scene:
    """As most write it."""
    yield from _is_empty(form, {})


@scene(GLUED, "requests", "texts as arguments")
def glued(form: Form) -> Scene:
    """A provider put two parts of a stream together."""
    call = Call("price", '{}{"stock":"MSFT"}')
    got = Call("price", {"stock": "MSFT"})
    lake = yield [
        form.agent(1),
        form.model(2, 1, heard=[asked("How much?")], said=requested(call)),
        form.tool(3, 1, call=got, at=5, result="12"),
    ]
    assert calls(lake) == [("price", '{"stock":"MSFT"}', "ok")]


@scene(NESTED, "calls without ids")
def nested(form: Form) -> Scene:
    """Two parallel calls; the second has the first as its parent."""
    call = Call("find", {"q": "a"}, "")
    lake = yield [
        form.agent(1),
        form.tool(2, 1, call=call, at=1, ms=5, result="ra"),
        form.tool(3, 2, call=call, at=2, result="rb"),
    ]
    assert [form.plain(result) for (result,) in calls(lake, "result")] == ["ra", "rb"]
