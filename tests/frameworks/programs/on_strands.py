"""The weather agent on AWS Strands, which streams; its telemetry is built in."""

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from weather import API_KEY, QUESTION, SYSTEM_PROMPT, export, get_weather, model_url

export()
client = {"base_url": model_url(), "api_key": API_KEY}
agent = Agent(
    model=OpenAIModel(client_args=client, model_id="fake-model"),
    tools=[tool(get_weather)],
    system_prompt=SYSTEM_PROMPT,
    name="weather_agent",
    callback_handler=None,
)
print(agent(QUESTION))
