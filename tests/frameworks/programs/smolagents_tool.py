"""The scenarios on smolagents' agent that requests tools; it answers through one."""

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
    question,
)
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

scenario = begin()


def agent(name: str, *helpers: ToolCallingAgent) -> ToolCallingAgent:
    """Return an agent of the scenario."""
    made = ToolCallingAgent(
        tools=[tool(each) for each in TOOLS],
        model=OpenAIServerModel(
            model_id="fake-model", api_base=model_url(scenario, name), api_key=API_KEY
        ),
        name=name,
        description=HELPER_KNOWS,
        managed_agents=[*helpers],
        planning_interval=scenario.get("planning"),
        max_steps=scenario.get("max_steps", 6),
        stream_outputs=scenario.get("stream", False),
        verbosity_level=0,
    )
    made.prompt_templates["system_prompt"] = PROMPT  # its own is longer than all that is said
    return made


if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.smolagents", "SmolagentsInstrumentor")
else:
    instrument("opentelemetry.instrumentation.genai.smolagents", "SmolagentsInstrumentor")
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")

helpers = [agent(HELPER)] if HELPER in scenario["scripts"] else []
asked = agent(AGENT, *helpers)
for number, ask in enumerate(scenario["asks"]):
    print(asked.run(question(ask), reset=number == 0))
