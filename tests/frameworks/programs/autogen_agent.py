"""The scenarios on AutoGen; its telemetry is built in, another library reports model calls."""

import asyncio
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff, TaskRunner
from autogen_agentchat.conditions import TextMessageTermination
from autogen_agentchat.messages import MultiModalMessage
from autogen_agentchat.teams import Swarm
from autogen_agentchat.tools import AgentTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
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

ABILITIES = {
    "vision": True,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}
ROUNDS = 8


def agent(scenario: dict[str, Any], name: str, **more: Any) -> AssistantAgent:
    """Return an agent of the scenario."""
    streams = scenario.get("stream", False)
    model = OpenAIChatCompletionClient(
        model="fake-model",
        base_url=model_url(scenario, name),
        api_key=API_KEY,
        model_info=ABILITIES,
        **({"stream_options": {"include_usage": True}} if streams else {}),
    )
    return AssistantAgent(
        name,
        model_client=model,
        description=HELPER_KNOWS,
        system_message=PROMPT,
        tools=[*TOOLS, *more.pop("helpers", [])],
        max_tool_iterations=ROUNDS,
        model_client_stream=streams,
        **more,
    )


def with_helper(scenario: dict[str, Any]) -> TaskRunner:
    """Return what is asked: an agent, with a helper as its tool or as another of its team."""
    if HELPER not in scenario["scripts"]:
        return agent(scenario, AGENT)
    helper = agent(scenario, HELPER)
    if scenario["name"] == "hand_off":
        asked = agent(scenario, AGENT, handoffs=[Handoff(target=HELPER)])
        return Swarm([asked, helper], termination_condition=TextMessageTermination(HELPER))
    return agent(scenario, AGENT, helpers=[AgentTool(helper)])


def message(asked: str | list[str]) -> str | MultiModalMessage:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return asked
    return MultiModalMessage(content=asked, source="user")


async def main() -> None:
    """Ask all that the user asks."""
    asked = with_helper(scenario)
    if isinstance(asked, Swarm):  # its agents would make a trace each
        with trace.get_tracer(__name__).start_as_current_span("run_team"):
            print((await asked.run(task=scenario["asks"][0])).messages[-1])
        return
    for ask in scenario["asks"]:
        if scenario.get("stream"):
            async for event in asked.run_stream(task=message(ask)):
                last = event
            print(last.messages[-1])
        else:
            print((await asked.run(task=message(ask))).messages[-1])


scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.autogen_agentchat", "AutogenAgentChatInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
elif INSTRUMENTATION == "traceloop":
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")
asyncio.run(main())
