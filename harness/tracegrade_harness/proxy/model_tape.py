"""Tapes of models: replies keyed by conversation, not by API; some come from spans.

A span does not hold a whole request, so the key here is the conversation in it. The key has no
options, offered tools or ids, and no instructions if the tape has none.
"""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from tracegrade_harness.conversations.apis import ModelRequest, NotAModelRequest, model_request
from tracegrade_harness.conversations.conversation import (
    INSTRUCTIONS,
    ModelTurn,
    Part,
    is_instruction,
    key_arguments,
)
from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.model_answers import ModelAnswer
from tracegrade_harness.proxy.upstream import UpstreamHandler
from tracegrade_harness.tape.entries import TapeEntry, TapeKey, key_of, redacted_json
from tracegrade_harness.tape.player import TapeMiss, TapePlayer
from tracegrade_queries.costs.answer_cost import TokenCounts

CONVERSATION: Final = "conversation"
"""Name of a model call on a tape."""
NOT_COMPARED: Final = "model: its instructions are not on the tape, and were not compared"


def model_channel(name: str) -> str:
    """Return the channel of an upstream that is a model."""
    return f"model:{name}"


def conversation_key(name: str, parts: tuple[Part, ...], *, instructed: bool = True) -> TapeKey:
    """Return the key of a conversation with a model on a tape."""
    compared = key_arguments(parts, instructed=instructed)
    return key_of(model_channel(name), CONVERSATION, compared)


def conversation_entry(name: str, parts: tuple[Part, ...], answer: ModelTurn) -> TapeEntry:
    """Return a line of a tape: the messages to a model, and its answer."""
    return TapeEntry(conversation_key(name, parts), redacted_json(answer.as_json()))


def conversing(
    name: str,
    player: TapePlayer,
    instead: UpstreamHandler | None = None,
    on_played: Callable[[ModelAnswer], None] | None = None,
) -> UpstreamHandler:
    """Return a model that answers from a tape.

    Args:
        name: Name of the upstream.
        player: The tape.
        instead: The upstream that answers if the tape has no answer; without it, that is an error.
        on_played: Called with the usage of each answer from the tape.
    """

    def ask(request: ProxiedRequest) -> ProxiedReply:
        try:
            found = model_request(request.method, request.path, request.body)
        except NotAModelRequest as error:
            return instead(request) if instead else _refused(player.record_miss(f"model: {error}"))
        key = _key(name, player, found)
        if instead is not None and not player.has(key):
            return instead(request)
        try:
            answer = ModelTurn.from_json(player.take(key))
        except TapeMiss as miss:
            return _refused(miss)
        if on_played is not None:
            on_played(_measured(answer))
        kind, chunks = found.answered(answer)
        return ProxiedReply(HTTPStatus.OK, (("content-type", kind),), chunks)

    return ask


def _measured(answer: ModelTurn) -> ModelAnswer:
    read, written = answer.input_tokens, answer.output_tokens
    if read is None or written is None:
        return ModelAnswer(answer.model, None)
    return ModelAnswer(answer.model, TokenCounts(read, written))


def _key(name: str, player: TapePlayer, found: ModelRequest) -> TapeKey:
    """Return the key of a request, without instructions if the tape has none."""
    whole = conversation_key(name, found.parts)
    if not any(map(is_instruction, found.parts)) or player.knows(whole):
        return whole
    bare = conversation_key(name, found.parts, instructed=False)
    if not player.knows(bare) and any(map(_is_instructed, player.calls(whole.channel))):
        return whole
    player.note(NOT_COMPARED)
    return bare


def _is_instructed(key: TapeKey) -> bool:
    return INSTRUCTIONS in json.loads(key.arguments)


def _refused(miss: TapeMiss) -> ProxiedReply:
    """Return an error after which clients do not retry."""
    error = {"message": str(miss), "type": "tracegrade_replay_miss", "code": "tape_miss"}
    body = json.dumps({"type": "error", "error": error}).encode()
    headers = (("content-type", "application/json"),)
    return ProxiedReply(HTTPStatus.BAD_REQUEST, headers, (body,))
