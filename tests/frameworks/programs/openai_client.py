"""The scenarios on an agent written by hand on OpenAI's client."""

import json
from typing import Any

from by_hand import CLIENT_INSTRUMENTATION, Call, Json, Loop, Result, Said
from openai import OpenAI
from scenario import API_KEY, PROMPT, begin, instrument, model_url


class ChatCompletions:
    """OpenAI's client, and its messages."""

    def __init__(self, scenario: Json) -> None:
        self.scenario = scenario

    def ask(self, agent: str, history: list[Json], tools: list[Json]) -> Said:
        """Return what the model of an agent says to a history, offered tools."""
        client = OpenAI(base_url=model_url(self.scenario, agent), api_key=API_KEY)
        request: Any = {
            "model": "fake-model",
            "messages": [{"role": "system", "content": PROMPT}, *history],
        }
        if tools:
            request["tools"] = [{"type": "function", "function": tool} for tool in tools]
        if self.scenario.get("stream"):
            options = {"include_usage": True}
            chunks = client.chat.completions.create(**request, stream=True, stream_options=options)
            message = _joined(chunks)
        else:
            message = client.chat.completions.create(**request).choices[0].message.model_dump()
        kept = {key: message[key] for key in ("role", "content", "tool_calls") if message.get(key)}
        calls = [_call(each) for each in message.get("tool_calls") or []]
        return Said(message.get("content"), calls, kept)

    def told(self, results: list[Result]) -> list[Json]:
        """Return the messages that tell the model the results of its calls."""
        return [
            {"role": "tool", "tool_call_id": result.call.id, "content": result.text}
            for result in results
        ]


def _call(said: Json) -> Call:
    function = said["function"]
    return Call(said["id"], function["name"], json.loads(function["arguments"]))


def _joined(chunks: Any) -> Json:
    """Return the message that a stream's chunks make; each of its calls comes in one piece."""
    texts, calls = [], []
    for chunk in chunks:
        for choice in chunk.choices:
            texts.append(choice.delta.content or "")
            calls += [
                call.model_dump(include={"id", "type", "function"})
                for call in choice.delta.tool_calls or []
            ]
    return {"role": "assistant", "content": "".join(texts), "tool_calls": calls}


def message(asked: str | list[str]) -> Json:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return {"role": "user", "content": asked}
    return {"role": "user", "content": [{"type": "text", "text": part} for part in asked]}


scenario = begin()
if CLIENT_INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.openai", "OpenAIInstrumentor")
elif CLIENT_INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
elif CLIENT_INSTRUMENTATION in ("contrib", "events"):
    instrument("opentelemetry.instrumentation.openai_v2", "OpenAIInstrumentor")
else:
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")

loop, history = Loop(scenario, ChatCompletions(scenario)), []
for ask in scenario["asks"]:
    history.append(message(ask))
    print(loop.ask(ask, history))
