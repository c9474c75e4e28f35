"""What model calls took."""

from typing import Final

from tests.queries.classes.scenes.scene import runs, scene
from tests.queries.classes.story import Form, Tokens, asked, said
from tests.queries.together import Scene
from tests.queries.traces import Row

CACHE: Final = "Tokens of a cache, and of reasoning, are read from where each writes them."

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
