"""No code of the host is run to look at a value, wherever it is given."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracegrade
from tracegrade.content import json_of
from tracegrade.settings import Content, Settings

from ..conftest import Spans
from .traps import NAME, WRITTEN, sprung, trap, trapped

PLAIN = Settings(content=Content.FULL)


@pytest.fixture(autouse=True)
def unsprung() -> Iterator[None]:
    """Nothing of a trap is run in any of these tests."""
    sprung.clear()
    yield
    assert sprung == []


@pytest.mark.parametrize("name", WRITTEN)
def test_value_is_written_without_its_methods(name: str) -> None:
    """By those of the type that it is derived from, or as the name of its class."""
    value, written = WRITTEN[name]

    assert json.loads(json_of(value, PLAIN).text) == written


class Holder(NamedTuple):
    """What a value is to be made of; hypothesis looks at what it draws, so traps come later."""

    kind: str
    inside: Any = ()


HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "plain list": list,
    "plain tuple": tuple,
    "plain dict": lambda items: dict(enumerate(items)),
    "list of the program": lambda items: trapped(list, items),
    "dict of the program": lambda items: trapped(dict, {"a": items}),
    "tuple of the program": lambda items: trapped(tuple, items),
}
DRAWN = st.recursive(
    st.sampled_from([*WRITTEN]).map(Holder),
    lambda inner: st.builds(Holder, st.sampled_from([*HOLDERS]), st.lists(inner)),
    max_leaves=10,
)


def made(drawn: Holder) -> Any:
    """Return a value with traps in it."""
    if drawn.kind in HOLDERS:
        return HOLDERS[drawn.kind]([made(part) for part in drawn.inside])
    return WRITTEN[drawn.kind][0]


@given(DRAWN)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_value_in_others_is_written_without_its_methods(drawn: Holder) -> None:
    """However deep it stands."""
    json.loads(json_of(made(drawn), PLAIN).text)

    assert sprung == []


@tracegrade.tool
def plain(*args: Any, **kwargs: Any) -> Any:
    """Return what it is given."""
    return args[0]


@tracegrade.tool
def yielding(value: Any) -> Iterator[Any]:
    """Yield what it is given."""
    yield value


@tracegrade.tool
async def waiting(value: Any) -> Any:
    """Return what it is given."""
    return value


@tracegrade.tool
async def streaming(value: Any) -> AsyncIterator[Any]:
    """Yield what it is given."""
    yield value


@tracegrade.tool
def raising(value: Any) -> None:
    """Raise an exception that holds what it is given."""
    raise LookupError(value, "not found")


async def _streamed(value: Any) -> None:
    async for _ in streaming(value):
        pass


def _step(coroutine: Any) -> None:
    """Run a coroutine that waits for nothing; an event loop would look at what it returns."""
    with suppress(StopIteration):
        coroutine.send(None)


def _raised(value: Any) -> None:
    try:
        raising(value)
    except LookupError:
        return


def _rolled_back(name: Any, undo: Any) -> None:
    with tracegrade.agent_run("a") as run:
        run.rollback(name, undo=undo)


def _defaulted(value: Any) -> None:
    def offered(at: Any = value, *, why: Any = value) -> None: ...

    with tracegrade.agent_run("a", tools=[offered, {"type": "function", "name": value}]):
        pass


def _run(**given: Any) -> None:
    with tracegrade.agent_run(given.pop("agent", "a"), **given) as run:
        if "said" in given:
            run.outcome(given["said"])


def _outcome(value: Any) -> None:
    with tracegrade.agent_run("a") as run:
        run.outcome(value)
        with run.sub_goal(value), run.decision(value):
            run.thought("x")


ENTRIES: dict[str, Callable[[Any], object]] = {
    "argument": lambda value: plain(1, value),
    "argument by name": lambda value: plain(1, key=value),
    "result": plain,
    "inside": lambda value: plain([{"a": (value, {1: value})}]),
    "yielded": lambda value: list(yielding(value)),
    "awaited": lambda value: _step(waiting(value)),
    "streamed": lambda value: _step(_streamed(value)),
    "raised": _raised,
    "thought": tracegrade.thought,
    "observation": tracegrade.observe,
    "answer": tracegrade.answer,
    "plan": tracegrade.plan,
    "plan's step": lambda value: tracegrade.plan([value]),
    "plan's value": lambda value: tracegrade.plan([{"id": value, "effect": value}]),
    "user's input": lambda value: _run(user_input=value),
    "agent": lambda value: _run(agent=value),
    "task": lambda value: _run(task=value, category=value, conversation=value),
    "trial": lambda value: _run(trial=value, mode=value),
    "offered tools": lambda value: _run(tools=value),
    "offered tool": lambda value: _run(tools=[value]),
    "definition": _defaulted,
    "outcome, sub-goal and decision": _outcome,
    "sub-goal of the current run": tracegrade.sub_goal,
    "decision of the current run": tracegrade.decision,
    "rollback": lambda value: _rolled_back(value, {"delete": "a"}),
    "undo": lambda value: _rolled_back("a", value),
    "undo's value": lambda value: _rolled_back("a", {"delete": value}),
    "undo's words": lambda value: _rolled_back("a", {"command": ["ls", value]}),
    "undo's body": lambda value: _rolled_back(
        "a", {"http": "POST /x", "at": "http://x", "body": {"a": value}}
    ),
    "tool's name": lambda value: tracegrade.tool(name=value, effect=value, cost=value)(len)("ab"),
    "init": lambda value: tracegrade.init(value, value, value, objects=value),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_of_a_value_is_run_wherever_it_is_given(
    entry: str, spans: Spans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every kind of value."""
    monkeypatch.chdir(tmp_path)
    for value, _ in WRITTEN.values():
        ENTRIES[entry](value)
    spans()

    assert sprung == []


def test_call_that_takes_a_trap_is_written(spans: Spans) -> None:
    """With the name of its class, in the error, too."""
    with suppress(LookupError):
        raising(trap())

    span = spans()[0]
    message = f"('{NAME}', 'not found')"
    assert (span.attributes or {})["gen_ai.tool.call.arguments"] == f'{{"value":"{NAME}"}}'
    assert span.status.description == message
    trace = str((span.events[0].attributes or {})["exception.stacktrace"])
    assert trace.splitlines()[-1] == f"LookupError: {message}"
