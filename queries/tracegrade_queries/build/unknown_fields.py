"""Guesses the meaning of attributes that no dialect knows, from the words of their names.

Each name is examined once, no matter how many spans have it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation

ENDINGS: Final = {
    "tool_name": "tool_name tool",
    "function_name": "function_name tool_id",
    "call_id": "tool_call_id tool_use_id call_id",
    "input": (
        "input_messages messages arguments args tool_input user_input input inputs parameters "
        "params arg_values kwargs prompt prompts user_message query question request task goal"
    ),
    "output": (
        "output_messages tool_output final_answer answer output outputs response_messages result "
        "results completion completions response assistant_message return_value observation reply"
    ),
    "tool_calls": "tool_calls function_calls",
    "offered_tools": "tool_definitions available_tools tools functions",
    "model": "response_model model_name model_id request_model model",
    "input_tokens": (
        "input_tokens prompt_tokens input_token_count prompt_token_count tokens_input "
        "tokens_prompt tokens_in token_count_prompt token_count_input"
    ),
    "output_tokens": (
        "output_tokens completion_tokens output_token_count completion_token_count tokens_output "
        "tokens_completion tokens_out token_count_completion token_count_output"
    ),
    "cached": "cache_read_input_tokens cache_read_tokens cached_input_tokens cached_tokens",
    "written": "cache_creation_input_tokens cache_write_input_tokens cache_write_tokens",
    "reasoning": "reasoning_tokens reasoning_token_count",
    "total": "total_tokens total_token_count tokens_total token_count_total",
    "cost": "usage_cost total_cost cost_usd",
    "agent_name": "agent_name agent",
    "conversation_id": "conversation_id session_id chat_id chat_thread_id",
    "error_message": "error_message exception_message error",
    "is_error": "is_error failed",
    "status": "tool_status success status",
}
"""By role, the words that end its names; the first ones count most."""

_ROLES: Final = defaultdict[str, list[tuple[str, int]]](list)
for _role, _endings in ENDINGS.items():
    for _rank, _ending in enumerate(_endings.split()):
        _ROLES[_ending].append((_role, _rank))

_HUMP: Final = re.compile("([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])")
_BETWEEN_WORDS: Final = re.compile("[^A-Za-z0-9]+")
_FORM: Final = re.compile("_(value|json|text|content)$")
_SENT: Final = re.compile("(^|_)(inputs?|prompts?|request)(_|$)")
_RECEIVED: Final = re.compile("(^|_)(outputs?|response|completion)_")
_KIND: Final = re.compile(
    "(^|_)((span|run|step|node|event|observation|operation)_(kind|type|name)|kind|operation)$"
    "|^type$"
)
_FOREIGN: Final = re.compile(
    "(db|faas|graphql|messaging|rpc)_|http_(request_)?method|http_url|url_full"
)
_MODEL: Final = re.compile("(^|_)(gen_ai|llm)_")
_COMPLETION: Final = re.compile("(^|_)(gen_ai|llm|response)_(.+_)?chat_id$")


class Field(NamedTuple):
    """A possible meaning of an attribute."""

    role: str
    """One of ENDINGS; 'kind': its value is the span's kind; 'foreign': of another domain."""
    rank: int
    """If several attributes have a role, the one with the lowest rank counts."""
    is_of_model: bool
    """Only spans of model calls have it."""


@relation("unknown_fields", reads=("names_sent",))
def _unknown_fields(run: Run) -> pa.Table:
    """Return what each attribute of the bucket may be, as `unknown_fields` has it."""
    return unknown_fields(run.table("names_sent")["name"].drop_null().to_pylist())


def unknown_fields(names: Iterable[str]) -> pa.Table:
    """Return what attributes may be.

    Args:
        names: Distinct names of attributes.

    Returns:
        A row for each name and role that it fits: name and the fields of `Field`.
    """
    schema = pa.schema(
        {"name": pa.string(), "role": pa.string(), "rank": pa.int32(), "is_of_model": pa.bool_()}
    )
    return table(schema, ((name, *field) for name in names for field in _fields(name)))


def words_of(name: str) -> str:
    """Return a name in lower case with an underscore between words, as the SQL macro does."""
    return _BETWEEN_WORDS.sub("_", _HUMP.sub(r"\1\3_\2\4", name)).lower().strip("_")


@lru_cache(maxsize=1 << 14)
def _fields(name: str) -> tuple[Field, ...]:
    words = _FORM.sub("", words_of(name))
    ranks: dict[str, int] = {}
    for role, rank in (found for ending in _endings_of(words) for found in _ROLES.get(ending, ())):
        ranks[role] = min(rank, ranks.get(role, rank))
    if _RECEIVED.search(words) and not _SENT.search(words):  # `output.messages`
        ranks.pop("input", None)
    if _COMPLETION.search(words):  # `gen_ai.chat.id`, the id of one answer
        ranks.pop("conversation_id", None)
    if _KIND.search(words):
        ranks["kind"] = 0
    if _FOREIGN.match(words):
        ranks["foreign"] = 0
    return tuple(Field(role, rank, _is_of_model(role, words)) for role, rank in ranks.items())


def _endings_of(words: str) -> list[str]:
    parts = words.split("_")
    return ["_".join(parts[i:]) for i in range(len(parts))]


def _is_of_model(role: str, words: str) -> bool:
    is_named = role == "model" and _MODEL.search(words) is not None
    return is_named or role in {"input_tokens", "output_tokens"}
