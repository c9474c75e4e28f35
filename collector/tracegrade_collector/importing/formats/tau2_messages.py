"""Reads the messages of a simulation of tau2-bench, also from the ticks of one by voice.

Tool results may be in one message together. What a model thought is in `raw_data`, as LiteLLM
returned it. A simulation by voice has ticks instead of messages, each with a chunk of what either
side said in it and with its calls. The content of a chunk of audio may be the audio itself; the
script of what a side says, or a tick's transcript of the user, then has the text.
"""

from collections.abc import Iterator
from typing import Any, Final

from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.spellings import as_list, as_object

_SIDES: Final = (("agent", "assistant"), ("user", "user"))


def chat_of(simulation: JsonObject) -> list[Any]:
    """Return the messages of a simulation in order, one for each tool result."""
    if messages := as_list(simulation.get("messages")):
        return [each for message in messages for each in _single(message)]
    return list(_joined_chunks(simulation.get("ticks")))


def _single(message: Any) -> Iterator[Any]:
    """Yield the results that a message holds together, and else the message with its thought."""
    results = as_object(message).get("tool_messages")
    if isinstance(results, list):
        yield from results
        return
    raw = as_object(as_object(as_object(message).get("raw_data")).get("message"))
    thought = raw.get("reasoning_content")
    is_new = isinstance(message, dict) and "reasoning_content" not in message
    yield {**message, "reasoning_content": thought} if thought and is_new else message


def _joined_chunks(ticks: Any) -> Iterator[JsonObject]:
    """Yield the messages that ticks are: chunks of one side until the other speaks or calls."""
    last: dict[str, Any] = {}
    for part in _tick_parts(ticks):
        is_text = part["role"] != "tool" and not part.get("tool_calls")
        if is_text and last and last["role"] == part["role"]:
            last = {**last, "content": f"{last['content']}{part['content']}"}
            continue
        if last:
            yield last
        last = part if is_text else {}
        if not is_text:
            yield part
    if last:
        yield last


def _tick_parts(ticks: Any) -> Iterator[dict[str, Any]]:
    """Yield what each side said, then its calls and their results, tick by tick."""
    for tick in map(as_object, as_list(ticks)):
        for side, role in _SIDES:
            chunk = as_object(tick.get(f"{side}_chunk"))
            time = chunk.get("timestamp") or tick.get("timestamp")
            text, calls = _text(tick, side), as_list(tick.get(f"{side}_tool_calls"))
            if isinstance(text, str) and text:
                yield {"role": role, "content": text, "timestamp": time}
            if calls:
                yield {"role": role, "content": "", "tool_calls": calls, "timestamp": time}
            for result in as_list(tick.get(f"{side}_tool_results")):
                yield {**as_object(result), "role": "tool", "requestor": role}


def _text(tick: JsonObject, side: str) -> Any:
    """Return the words that a side said in a tick; None if only their audio is there."""
    chunk = as_object(tick.get(f"{side}_chunk"))
    if chunk.get("is_audio") is not True:
        return chunk.get("content")
    return tick.get(f"{side}_transcript") or chunk.get("audio_script_gold")


def is_audio_alone(simulation: JsonObject) -> bool:
    """Return whether what was said in a simulation is there as audio and not as text."""
    ticks = map(as_object, as_list(simulation.get("ticks")))
    chunks = (as_object(tick.get(f"{side}_chunk")) for tick in ticks for side, _ in _SIDES)
    return any(chunk.get("is_audio") is True for chunk in chunks)
