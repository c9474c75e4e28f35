"""What both kinds of smolagents' agents do in the scenarios: they differ in how they act."""

from typing import Any

from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    instrument,
    model_url,
    question,
)
from smolagents import MultiStepAgent, OpenAIServerModel, tool


def run(
    scenario: dict[str, Any], kind: type[MultiStepAgent], form: str = "calls", **options: Any
) -> None:
    """Have agents of a kind do a scenario; their model answers in a form of the fake one's."""
    _instrument()
    asked = _agent(scenario, kind, AGENT, form, options)
    for number, ask in enumerate(scenario["asks"]):
        print(asked.run(question(ask), reset=number == 0))


def _instrument() -> None:
    if INSTRUMENTATION == "openinference":
        instrument("openinference.instrumentation.smolagents", "SmolagentsInstrumentor")
    else:
        instrument("opentelemetry.instrumentation.genai.smolagents", "SmolagentsInstrumentor")
        instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")


def _agent(
    scenario: dict[str, Any],
    kind: type[MultiStepAgent],
    name: str,
    form: str,
    options: dict[str, Any],
) -> MultiStepAgent:
    """Return an agent, with its helper if the scenario has one."""
    has_helper = name == AGENT and HELPER in scenario["scripts"]
    url = model_url(scenario, name, form)
    made = kind(
        tools=[tool(each) for each in TOOLS],
        model=OpenAIServerModel(model_id="fake-model", api_base=url, api_key=API_KEY),
        name=name,
        description=HELPER_KNOWS,
        managed_agents=[_agent(scenario, kind, HELPER, form, options)] if has_helper else [],
        planning_interval=scenario.get("planning"),
        max_steps=scenario.get("max_steps", 6),
        stream_outputs=scenario.get("stream", False),
        verbosity_level=0,
        **options,
    )
    made.prompt_templates["system_prompt"] = PROMPT  # its own is longer than all that is said
    return made
