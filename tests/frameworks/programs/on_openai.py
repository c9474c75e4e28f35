"""The weather agent written by hand on OpenAI's client, which early instrumentations know."""

import json

from openai import OpenAI
from opentelemetry import trace
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
if INSTRUMENTATION == "events":
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk._events import EventLoggerProvider

    OpenAIInstrumentor().instrument(event_logger_provider=EventLoggerProvider())
else:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Tell it.", "parameters": PARAMETERS},
}
client = OpenAI(base_url=model_url(), api_key=API_KEY)


def observe(name: str, arguments: str) -> str:
    """Return the model's message about its call."""
    if name != "get_weather":
        return f"Error: no tool {name}"
    try:
        return get_weather(**json.loads(arguments))
    except ValueError as error:
        return f"Error: {error}"


with trace.get_tracer("weather").start_as_current_span("weather_agent"):
    messages = [
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": QUESTION},
    ]
    while True:
        completion = client.chat.completions.create(
            model="fake-model", messages=messages, tools=[TOOL]
        )
        said = completion.choices[0].message
        if not said.tool_calls:
            break
        messages.append(said.model_dump(include={"role", "content", "tool_calls"}))
        for call in said.tool_calls:
            told = observe(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": told})
    print(said.content)
