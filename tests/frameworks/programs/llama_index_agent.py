"""The scenarios on LlamaIndex: agents that call functions, alone or in a workflow of several."""

import asyncio
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from llama_index.observability.otel import LlamaIndexOpenTelemetry
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    described,
    fork,
    instrument,
    model_url,
)


def agent(scenario: dict[str, Any], name: str, helpers: list[Any]) -> FunctionAgent:
    """Return an agent of the scenario."""
    model = OpenAILike(
        model="fake-model",
        api_base=model_url(scenario, name),
        api_key=API_KEY,
        is_chat_model=True,
        is_function_calling_model=True,
    )
    return FunctionAgent(
        name=name,
        description=HELPER_KNOWS,
        system_prompt=PROMPT,
        llm=model,
        tools=[*map(FunctionTool.from_defaults, TOOLS), *helpers],
        streaming=scenario.get("stream", False),
        early_stopping_method="generate",
    )


def with_helper(scenario: dict[str, Any]) -> FunctionAgent | AgentWorkflow:
    """Return the agent that is asked, with a helper as its tool or beside it."""
    if HELPER not in scenario["scripts"]:
        return agent(scenario, AGENT, [])
    helper = agent(scenario, HELPER, [])
    if scenario["name"] == "hand_off":
        return AgentWorkflow(agents=[agent(scenario, AGENT, []), helper], root_agent=AGENT)

    async def ask(task: str) -> str:
        """Ask the helper, who knows the weather."""
        return str(await helper.run(task))

    return agent(scenario, AGENT, [FunctionTool.from_defaults(ask, name=HELPER)])


def message(asked: str | list[str]) -> ChatMessage:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return ChatMessage(role="user", content=asked)
    return ChatMessage(role="user", blocks=[TextBlock(text=part) for part in asked])


def observe(scenario: dict[str, Any]) -> None:
    """Let the framework write spans itself."""
    LlamaIndexOpenTelemetry(
        span_exporter=OTLPSpanExporter(),
        span_processor="simple",
        service_name_or_resource=Resource.create(described(scenario)),
    ).start_registering()


async def main() -> None:
    """Ask all that the user asks."""
    asked, history = with_helper(scenario), []
    for ask in scenario["asks"]:
        answered = await asked.run(
            message(ask), chat_history=history, max_iterations=scenario.get("max_steps")
        )
        print(answered)
        history += [message(ask), answered.response]


scenario = fork() if INSTRUMENTATION == "own" else begin()
if INSTRUMENTATION == "own":
    observe(scenario)
elif INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.llama_index", "LlamaIndexInstrumentor")
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
else:
    instrument("opentelemetry.instrumentation.llamaindex", "LlamaIndexInstrumentor")
asyncio.run(main())
