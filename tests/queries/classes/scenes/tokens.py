"""What model calls took, and texts that are not whole."""

from typing import Final

from tests.queries.classes.scenes.scene import calls, runs, scene
from tests.queries.classes.story import Call, Form, Tokens, asked, requested, said
from tests.queries.together import Scene
from tests.queries.traces import Row, story

CACHE: Final = "Tokens of a cache, and of reasoning, are read from where each writes them."

HALVES: Final = "Half a character in a message or a result is lost, and nothing else with it."

_USED: Final = (
    "model_usage[1].fresh_input_tokens, model_usage[1].cache_read_tokens, "
    "model_usage[1].cache_write_tokens"
)


def _told(form: Form, tokens: Tokens) -> list[Row]:
    return [
        form.agent(1),
        form.model(2, 1, heard=[asked("Hi.")], said=said("Hello."), tokens=tokens),
    ]


@scene(CACHE, "counts of what is written to a cache")
def cached(form: Form) -> Scene:
    """Whether it counts the cache's part in the input or beside it."""
    lake = yield _told(form, Tokens())
    assert runs(lake, _USED) == [(10, 800, 190)]


@scene(CACHE)
def read_from_a_cache(form: Form) -> Scene:
    """Nothing was written to it."""
    lake = yield _told(form, Tokens(200, 800, 0))
    assert runs(lake, _USED) == [(200, 800, 0)]


@scene(CACHE, "counts of reasoning")
def reasoning(form: Form) -> Scene:
    """It is part of the output."""
    lake = yield _told(form, Tokens())
    used = "model_usage[1].visible_output_tokens, model_usage[1].reasoning_tokens"
    assert runs(lake, used) == [(20, 30)]


@scene(CACHE)
def none_cached(form: Form) -> Scene:
    """Reverse: a cache had nothing."""
    lake = yield _told(form, Tokens(1000, 0, 0))
    assert runs(lake, _USED) == [(1000, 0, 0)]


HALF: Final = "\ud83d"
"""What Python's `json` writes as an escape that no reader of JSON takes."""


@scene(HALVES)
def half_in_a_text(form: Form) -> Scene:
    """A text was cut within an emoji; a whole one stays."""
    text = f"Hi \U0001f600 {HALF}!"
    lake = yield [form.agent(1), form.model(2, 1, heard=[asked("Hi.")], said=said(text))]
    assert story(lake) == ["answer Hi \U0001f600 \ufffd!"]


@scene(HALVES, "requests")
def half_beside_a_call(form: Form) -> Scene:
    """It stands in what the user said, and the request is read all the same."""
    call = Call("look", {"q": "a"})
    lake = yield [
        form.agent(1),
        form.model(2, 1, heard=[asked(f"Look {HALF}")], said=requested(call)),
        form.tool(3, 1, call=call, at=3, result="r"),
    ]
    assert calls(lake) == [("look", '{"q":"a"}', "ok")]
