"""An agent written by hand: ask the model, run the tools that it requests, tell it the results.

What it says to the model, and hears of it, is in the words of a client's API: see `Client`. As
instrumentations of clients know neither agents nor tools, nothing holds the model calls of a run
together, unless the program writes its runs and tools with `tracegrade`: the name of the
instrumentation then ends in `_tracegrade`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

from scenario import AGENT, HELPER, HELPER_KNOWS, INSTRUMENTATION, TOOLS, question

import tracegrade

WRITES_RUNS = INSTRUMENTATION.endswith("_tracegrade")
CLIENT_INSTRUMENTATION = INSTRUMENTATION.removesuffix("_tracegrade")
ANY = {"type": "string"}
STEPS = {"type": "array", "items": {"type": "object"}}

Json = dict[str, Any]
Tools = dict[str, Callable[..., str]]


class Call(NamedTuple):
    """A tool call that the model requests."""

    id: str
    tool: str
    arguments: Json


class Said(NamedTuple):
    """What the model says."""

    text: str | None
    calls: list[Call]
    message: Json
    """As it is repeated to the model."""


class Result(NamedTuple):
    """What a call gave."""

    call: Call
    text: str
    failed: bool


class Client(Protocol):
    """A client of a model's API."""

    def ask(self, agent: str, history: list[Json], tools: list[Json]) -> Said:
        """Return what the model of an agent says to a history, offered tools."""

    def told(self, results: list[Result]) -> list[Json]:
        """Return the messages that tell the model the results of its calls."""


def transfer_to_weather_helper() -> str:
    """Hand over to the helper."""
    return "Transferred."


def definition(name: str, tool: Callable[..., str]) -> Json:
    """Return a tool's definition for a model."""
    names = [name for name in tool.__annotations__ if name != "return"]
    parameters = {name: STEPS if name == "plan" else ANY for name in names}
    return {
        "name": name,
        "description": (tool.__doc__ or HELPER_KNOWS).splitlines()[0],
        "parameters": {"type": "object", "properties": parameters, "required": names},
    }


@contextmanager
def written(agent: str, asked: str) -> Iterator[None]:
    """Write a run down, if the program writes its runs."""
    run = tracegrade.agent_run(agent, user_input=asked) if WRITES_RUNS else nullcontext()
    with run:
        yield


class Loop:
    """The agents of a scenario."""

    def __init__(self, scenario: Json, client: Client) -> None:
        self.scenario = scenario
        self.client = client
        if WRITES_RUNS:
            tracegrade.init()

    def ask(self, asked: str | list[str], history: list[Json]) -> str | None:
        """Return the answer to what the user asked last; the history grows."""
        with written(AGENT, question(asked)):
            return self._run(AGENT, history)

    def _run(self, agent: str, history: list[Json]) -> str | None:
        tools = self._tools(agent)
        offered = [definition(name, tool) for name, tool in tools.items()]
        for _ in range(self.scenario.get("max_steps", 6)):
            said = self.client.ask(agent, history, offered)
            history.append(said.message)
            if not said.calls:
                return said.text
            history += self.client.told([_result(tools, call) for call in said.calls])
            if any(call.tool == transfer_to_weather_helper.__name__ for call in said.calls):
                with written(HELPER, ""):
                    return self._run(HELPER, history)
        return self.client.ask(agent, history, []).text

    def _tools(self, agent: str) -> Tools:
        tools = [*TOOLS]
        if agent == AGENT and self.scenario["name"] == "hand_off":
            tools.append(transfer_to_weather_helper)
        elif agent == AGENT and HELPER in self.scenario["scripts"]:
            tools.append(self.weather_helper)
        return {tool.__name__: tracegrade.tool(tool) if WRITES_RUNS else tool for tool in tools}

    def weather_helper(self, task: str) -> str:
        """Ask the helper, who knows the weather."""
        with written(HELPER, task):
            return self._run(HELPER, [{"role": "user", "content": task}]) or ""


def _result(tools: Tools, call: Call) -> Result:
    if call.tool not in tools:
        return Result(call, f"Error: there is no tool {call.tool}", failed=True)
    try:
        return Result(call, tools[call.tool](**call.arguments), failed=False)
    except ValueError as error:
        return Result(call, f"Error: {error}", failed=True)
