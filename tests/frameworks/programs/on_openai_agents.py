"""The weather agent on OpenAI's Agents SDK."""

from agents import Agent, Runner, function_tool, set_default_openai_client
from agents.exceptions import ModelBehaviorError
from openai import AsyncOpenAI
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
if INSTRUMENTATION == "openinference":
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument()
else:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
    from opentelemetry.instrumentation.genai.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument()
    OpenAIInstrumentor().instrument()

client = AsyncOpenAI(base_url=model_url(), api_key=API_KEY)
set_default_openai_client(client, use_for_tracing=False)
agent = Agent(
    name="weather_agent",
    model="fake-model",
    instructions=SYSTEM_PROMPT,
    tools=[function_tool(get_weather)],
)
try:
    print(Runner.run_sync(agent, QUESTION).final_output)
except ModelBehaviorError as error:  # a tool that does not exist ends the run
    print(error)
