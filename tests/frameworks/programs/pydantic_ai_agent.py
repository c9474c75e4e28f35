"""The scenarios on Pydantic AI; the instrumentation is the number of its format."""

import functools
from typing import Any

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    model_url,
)


def told_of_errors(function: Any) -> Any:
    """Tell the model of the error of a tool, which else ends the run."""

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        try:
            return function(**arguments)
        except ValueError as error:
            raise ModelRetry(str(error)) from error

    return run


def agent(scenario: dict[str, Any], name: str) -> Agent:
    """Return an agent of the scenario, with its helper as a tool if it has one."""
    provider = OpenAIProvider(base_url=model_url(scenario, name), api_key=API_KEY)
    made = Agent(
        OpenAIChatModel("fake-model", provider=provider),
        tools=[told_of_errors(each) for each in TOOLS],
        name=name,
        system_prompt=PROMPT,
        retries=2,
    )
    if name == AGENT and HELPER in scenario["scripts"]:
        helper = agent(scenario, HELPER)

        @made.tool_plain(name=HELPER)
        async def ask(task: str) -> str:
            """Ask the helper, who knows the weather."""
            return (await helper.run(task)).output

    return made


if INSTRUMENTATION == "openinference":
    from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor

    scenario = begin(OpenInferenceSpanProcessor())
    Agent.instrument_all()
else:
    scenario = begin()
    Agent.instrument_all(InstrumentationSettings(version=int(INSTRUMENTATION.removeprefix("v"))))

asked, history = agent(scenario, AGENT), None
for ask in scenario["asks"]:
    if scenario.get("stream"):
        result = asked.run_stream_sync(ask, message_history=history)
        print("".join(result.stream_text(delta=True)))
    else:
        result = asked.run_sync(ask, message_history=history)
        print(result.output)
    history = result.all_messages()
