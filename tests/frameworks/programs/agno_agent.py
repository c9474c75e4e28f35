"""The scenarios on Agno."""

from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.message import Message
from agno.models.openai import OpenAIChat
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
)


def agent(scenario: dict[str, Any], name: str) -> Agent:
    """Return an agent of the scenario, with its helper as a tool if it has one."""
    model = OpenAIChat(id="fake-model", base_url=model_url(scenario, name), api_key=API_KEY)
    tools: list[Any] = [*TOOLS]
    if name == AGENT and HELPER in scenario["scripts"]:
        helper = agent(scenario, HELPER)

        def weather_helper(task: str) -> str:
            """Ask the helper, who knows the weather."""
            return str(helper.run(task).content)

        tools.append(weather_helper)
    return Agent(
        name=name,
        model=model,
        tools=tools,
        instructions=PROMPT,
        db=InMemoryDb(),
        add_history_to_context=True,
        tool_call_limit=scenario.get("max_steps"),
        telemetry=False,
    )


def message(asked: str | list[str]) -> str | Message:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return asked
    return Message(role="user", content=[{"type": "text", "text": part} for part in asked])


scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.agno", "AgnoInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.agno", "AgnoInstrumentor")
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
else:
    instrument("opentelemetry.instrumentation.agno", "AgnoInstrumentor")
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")

asked = agent(scenario, AGENT)
for ask in scenario["asks"]:
    if scenario.get("stream"):
        pieces = [each.content for each in asked.run(message(ask), stream=True, session_id="one")]
        print("".join(filter(None, pieces)))
    else:
        print(asked.run(message(ask), session_id="one").content)
