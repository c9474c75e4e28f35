"""The scenarios on Google's Agent Development Kit, whose model is Gemini."""

import asyncio
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import Client
from google.genai.types import Content, HttpOptions, Part
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

USER = "user"


def told_of_errors(*, error: Exception, **_: Any) -> dict[str, str]:
    """Tell the model of the error of a tool, which else ends the run."""
    return {"error": str(error)}


def agent(scenario: dict[str, Any], name: str, **more: Any) -> LlmAgent:
    """Return an agent of the scenario."""
    url, _, version = model_url(scenario, name).rpartition("/")
    client = Client(api_key=API_KEY, http_options=HttpOptions(base_url=url, api_version=version))
    return LlmAgent(
        name=name,
        description=HELPER_KNOWS if name == HELPER else "",
        instruction=PROMPT,
        model=Gemini(model="gemini-fake", client=client),
        tools=[*TOOLS, *more.pop("helpers", [])],
        on_tool_error_callback=told_of_errors,
        **more,
    )


def with_helper(scenario: dict[str, Any]) -> LlmAgent:
    """Return the agent that is asked, with its helper if it has one."""
    if HELPER not in scenario["scripts"]:
        return agent(scenario, AGENT)
    helper = agent(scenario, HELPER)
    if scenario["name"] == "hand_off":
        return agent(scenario, AGENT, sub_agents=[helper])
    return agent(scenario, AGENT, helpers=[AgentTool(helper)])


def message(asked: str | list[str]) -> Content:
    """Return a message of the user, in parts if it has several."""
    parts = [asked] if isinstance(asked, str) else asked
    return Content(role="user", parts=[Part(text=each) for each in parts])


async def main() -> None:
    """Ask all that the user asks."""
    runner = InMemoryRunner(with_helper(scenario), app_name="travel")
    session = await runner.session_service.create_session(app_name="travel", user_id=USER)
    mode = StreamingMode.SSE if scenario.get("stream") else StreamingMode.NONE
    for ask in scenario["asks"]:
        events = runner.run_async(
            user_id=USER,
            session_id=session.id,
            new_message=message(ask),
            run_config=RunConfig(streaming_mode=mode),
        )
        async for event in events:
            if event.is_final_response() and event.content:
                print(event.content.parts[-1].text)


scenario = begin()
if INSTRUMENTATION.endswith("openinference"):
    instrument("openinference.instrumentation.google_adk", "GoogleADKInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.google_genai", "GoogleGenAiSdkInstrumentor")
elif INSTRUMENTATION == "traceloop":
    instrument(
        "opentelemetry.instrumentation.google_generativeai", "GoogleGenerativeAiInstrumentor"
    )
# The kit's own telemetry is built in.
asyncio.run(main())
