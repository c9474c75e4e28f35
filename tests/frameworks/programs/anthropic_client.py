"""The scenarios on an agent written by hand on Anthropic's client."""

from typing import Any

from anthropic import Anthropic
from by_hand import CLIENT_INSTRUMENTATION, Call, Json, Loop, Result, Said
from scenario import API_KEY, PROMPT, begin, instrument, model_url


class Messages:
    """Anthropic's client, and its messages."""

    def __init__(self, scenario: Json) -> None:
        self.scenario = scenario

    def ask(self, agent: str, history: list[Json], tools: list[Json]) -> Said:
        """Return what the model of an agent says to a history, offered tools."""
        address = model_url(self.scenario, agent).removesuffix("/v1")
        client = Anthropic(base_url=address, api_key=API_KEY)
        request: Any = {
            "model": "fake-model",
            "max_tokens": 2048,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "system": PROMPT,
            "messages": history,
        }
        if tools:
            request["tools"] = [_offered(tool) for tool in tools]
        if self.scenario.get("stream"):
            with client.messages.stream(**request) as stream:
                said = stream.get_final_message()
        else:
            said = client.messages.create(**request)
        texts = [block.text for block in said.content if block.type == "text"]
        calls = [
            Call(block.id, block.name, block.input)
            for block in said.content
            if block.type == "tool_use"
        ]
        return Said("".join(texts), calls, {"role": "assistant", "content": said.content})

    def told(self, results: list[Result]) -> list[Json]:
        """Return the message that tells the model the results of its calls."""
        content = [
            {
                "type": "tool_result",
                "tool_use_id": result.call.id,
                "content": result.text,
                "is_error": result.failed,
            }
            for result in results
        ]
        return [{"role": "user", "content": content}]


def _offered(tool: Json) -> Json:
    return {
        "name": tool["name"],
        "description": tool["description"],
        "input_schema": tool["parameters"],
    }


def message(asked: str | list[str]) -> Json:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return {"role": "user", "content": asked}
    return {"role": "user", "content": [{"type": "text", "text": part} for part in asked]}


scenario = begin()
if CLIENT_INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.anthropic", "AnthropicInstrumentor")
elif CLIENT_INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.anthropic", "AnthropicInstrumentor")
elif CLIENT_INSTRUMENTATION == "traceloop":
    instrument("opentelemetry.instrumentation.anthropic", "AnthropicInstrumentor")
# Else the client's own spans.

loop, history = Loop(scenario, Messages(scenario)), []
for ask in scenario["asks"]:
    history.append(message(ask))
    print(loop.ask(ask, history))
