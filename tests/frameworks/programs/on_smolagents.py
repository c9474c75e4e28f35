"""The weather agent on smolagents, a tool-calling agent that answers through a tool."""

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from weather import API_KEY, QUESTION, export, get_weather, model_url

SmolagentsInstrumentor().instrument(tracer_provider=export())
agent = ToolCallingAgent(
    tools=[tool(get_weather)],
    model=OpenAIServerModel(model_id="fake-model", api_base=model_url(), api_key=API_KEY),
    name="weather_agent",
    description="Tells the weather.",
    max_steps=3,
    verbosity_level=0,
)
print(agent.run(QUESTION))
