"""The weather agent on Pydantic AI; the instrumentation is the number of its format."""

from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from weather import (
    API_KEY,
    INSTRUMENTATION,
    QUESTION,
    SYSTEM_PROMPT,
    export,
    get_weather,
    model_url,
)

export()
Agent.instrument_all(InstrumentationSettings(version=int(INSTRUMENTATION.removeprefix("v"))))

provider = OpenAIProvider(base_url=model_url(), api_key=API_KEY)
agent = Agent(
    OpenAIChatModel("fake-model", provider=provider),
    tools=[get_weather],
    name="weather_agent",
    system_prompt=SYSTEM_PROMPT,
)
try:
    print(agent.run_sync(QUESTION).output)
except ValueError as error:  # a tool's error ends the run
    print(error)
