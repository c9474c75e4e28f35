"""The stored form of a model's answer, for all providers: secrets removed, token counts checked.

The stored form is the one that judges use, so that a judgment from the cache reads the same text.
"""

import json
from typing import Any, Final, NamedTuple

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_queries.costs.answer_cost import TokenCounts

MAX_BYTES: Final = 1_000_000
"""No answer of a few hundred tokens is longer."""

AnswerFields = dict[str, Any]
UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Exceptions that reading an invalid answer raises."""


class JudgeAnswer(NamedTuple):
    """An answer of a model, as it is used and kept."""

    text: str
    """A response of the provider, in JSON."""
    counts: TokenCounts | None
    """None if the endpoint does not count."""


class CompletionRequest(NamedTuple):
    """Facts about an answer that are known before it arrives."""

    model: str
    """The request's own value."""
    most: TokenCounts
    """The tokens that it can have taken, which an answer says that does not count them."""
    number: int
    """Answers before it in the conversation."""


class Pairs(list[tuple[str, Any]]):
    """The entries of an object, equal keys included."""


def clean_text(text: object, redactor: Redactor) -> str | None:
    """Return a text without secrets; None for None."""
    return None if text is None else redactor.redact_text(str(text))


def clean_json(text: str, redactor: Redactor) -> str:
    """Return JSON whose texts have no secrets; what is no JSON is cleaned as a whole.

    A key that stands twice is kept twice: it is not for the reader to choose one.
    """
    try:
        pairs = parsed_pairs(text)
    except (ValueError, RecursionError):
        return redactor.redact_text(text)
    texts = list(_texts(pairs))
    clean = iter(redactor.redact_texts(texts))
    return _dumped(pairs, clean)


def parsed_pairs(text: str) -> Any:
    """Return JSON whose objects keep equal keys.

    Raises:
        RecursionError: It is nested too deeply.
        ValueError: It is not JSON.
    """
    return json.loads(text, object_pairs_hook=Pairs)


def json_of(value: Any) -> str:
    """Return a value of `parsed_pairs` as JSON, equal keys included."""
    return _dumped(value, iter(list(_texts(value))))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Pairs):
        return [text for _, each in value for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return []


def _dumped(value: Any, clean: Any) -> str:
    if isinstance(value, str):
        return json.dumps(next(clean))
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(k)}: {_dumped(v, clean)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_dumped(each, clean) for each in value) + "]"
    return json.dumps(value)
