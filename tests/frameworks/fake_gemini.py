"""Gemini's API, `generateContent` and `streamGenerateContent`, as the fake model speaks it."""

import json
from collections.abc import Iterator
from typing import Any

from .model_turn import Turn, words

Json = dict[str, Any]


def is_gemini(path: str) -> bool:
    """Return whether a request's path is one of this API."""
    return "enerateContent" in path


def streams(path: str) -> bool:
    """Return whether a request's path asks for a stream."""
    return ":streamGenerateContent" in path


def as_offered(request: Json) -> Json:
    """Return a request with its tools as the other APIs offer them."""
    declared = [
        each for tool in request.get("tools", []) for each in tool.get("functionDeclarations", [])
    ]
    tools = [
        {"name": each["name"], "parameters": each["parameters_json_schema"]} for each in declared
    ]
    return {**request, "tools": tools}


def generated(turn: Turn) -> Json:
    """Return the body of an answer; its calls have no ids, as most of Gemini's have none."""
    parts: list[Json] = []
    if turn.thought:
        parts.append({"text": turn.thought, "thought": True})
    if turn.text:
        parts.append({"text": turn.text})
    parts += [
        {"functionCall": {"name": tool, "args": json.loads(arguments)}}
        for tool, arguments in turn.calls
    ]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "modelVersion": "gemini-fake",
        "responseId": f"gen-{turn.name}",
        # thoughts are counted beside what else is said
        "usageMetadata": {
            "promptTokenCount": 50,
            "candidatesTokenCount": 6,
            "thoughtsTokenCount": 4,
            "totalTokenCount": 60,
        },
    }


def chunks(answer: Json) -> Iterator[Json]:
    """Yield an answer in the pieces of a stream: a part each, texts word by word."""
    (candidate,) = answer["candidates"]
    pieces = [piece for part in candidate["content"]["parts"] for piece in _pieces(part)]
    for place, piece in enumerate(pieces, 1):
        chunk = {**answer, "candidates": [{"content": {"role": "model", "parts": [piece]}}]}
        if place == len(pieces):
            chunk["candidates"][0]["finishReason"] = candidate["finishReason"]
        yield chunk


def _pieces(part: Json) -> list[Json]:
    """Return a part, its text cut after each of its blanks."""
    if "text" not in part:
        return [part]
    return [{**part, "text": text} for text in words(part["text"])]
