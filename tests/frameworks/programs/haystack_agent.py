"""The scenarios on Haystack's agent, a component of a pipeline."""

from typing import Any

from haystack import Pipeline, tracing
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool, tool
from haystack.utils import Secret
from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
from opentelemetry import trace
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
)


def agent(scenario: dict[str, Any], name: str) -> Agent:
    """Return an agent of the scenario, with its helper as a tool if it has one."""
    tools: list[Tool] = [tool(each) for each in TOOLS]
    if name == AGENT and HELPER in scenario["scripts"]:
        tools.append(tool(ask_helper, name=HELPER, description=HELPER_KNOWS))
    model = OpenAIChatGenerator(
        model="fake-model",
        api_base_url=model_url(scenario, name),
        api_key=Secret.from_token(API_KEY),
    )
    return Agent(chat_generator=model, tools=tools, system_prompt=PROMPT)


def ask_helper(task: str) -> str:
    """Ask the helper, who knows the weather."""
    told = agent(scenario, HELPER).run([ChatMessage.from_user(task)])
    return str(told["last_message"].text)


def message(asked: str | list[str]) -> ChatMessage:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return ChatMessage.from_user(asked)
    return ChatMessage.from_user(content_parts=asked)


def print_piece(chunk: Any) -> None:
    """Print a piece of a streamed answer."""
    print(chunk.content, end="")


scenario = begin()
if INSTRUMENTATION == "own":
    tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("travel")))
elif INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.haystack", "HaystackInstrumentor")
else:
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")

pipeline = Pipeline()
pipeline.add_component(AGENT, agent(scenario, AGENT))
history: list[ChatMessage] = []
streaming = {"streaming_callback": print_piece} if scenario.get("stream") else {}
for ask in scenario["asks"]:
    history.append(message(ask))
    told = pipeline.run({AGENT: {"messages": history, **streaming}})[AGENT]
    history = told["messages"]
    print(told["last_message"].text)
