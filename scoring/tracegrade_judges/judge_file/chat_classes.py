"""Loads the LangChain class that a judge file names, and makes the chat model.

LangChain is imported only when a judge asks for it. The file's author chooses which package's
code runs here; no text of a trace reaches this module.
"""

import os
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from tracegrade_judges.errors import JudgeFileInvalid
from tracegrade_judges.judge_file.model import JudgeModel, is_variable

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

OUTPUT_LIMITS: Final = (
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "num_predict",
)
"""The names that classes use for the most tokens of an answer; the first match is set."""
RETRIES: Final = "max_retries"
"""Set to 0, because tracegrade repeats requests within the budget."""


class ChatClassUnusable(Exception):
    """A class cannot be imported, or is not a chat model; the message says why."""


def chat_class(path: str) -> "type[BaseChatModel]":
    """Return the class that `package:Name` names.

    Raises:
        ChatClassUnusable: It cannot be imported or is not a `BaseChatModel`.
    """
    from langchain_core.language_models import BaseChatModel  # noqa: PLC0415

    package, name = path.split(":")
    try:
        found = getattr(import_module(package), name, None)
    except Exception as error:  # noqa: BLE001 - the package's own code runs
        msg = f"package {package} cannot be imported: {type(error).__name__}"
        raise ChatClassUnusable(msg) from None
    if not isinstance(found, type) or not issubclass(found, BaseChatModel):
        msg = f"{path} is not a LangChain BaseChatModel"
        raise ChatClassUnusable(msg)
    return found


def chat_model(judge: str, model: JudgeModel) -> "BaseChatModel":
    """Return the chat model of a judge, which repeats no request by itself.

    Raises:
        JudgeFileInvalid: A variable is not set, or the class refuses the options.
    """
    try:
        kind = chat_class(model.class_ or "")
    except ChatClassUnusable as unusable:
        msg = f"judge '{judge}' has no model: {unusable}"
        raise JudgeFileInvalid(msg) from None
    options = {key: _value(judge, each) for key, each in model.options.items()}
    known = _option_names(kind)
    if RETRIES in known:
        options[RETRIES] = 0
    limit = output_limit(known)
    if limit and not options.keys() & set(OUTPUT_LIMITS):
        options[limit] = model.max_output_tokens
    try:
        return kind(**options)
    except Exception as error:  # noqa: BLE001 - the class may raise anything
        msg = f"{model.class_} of judge '{judge}' refuses its options: {_reason(error)}"
        raise JudgeFileInvalid(msg) from None


def output_limit(names: Collection[str]) -> str | None:
    """Return the option with which a class limits its answers; None if it has none."""
    return next((name for name in OUTPUT_LIMITS if name in names), None)


def bounds_answers(model: "BaseChatModel") -> bool:
    """Return whether the class of a model takes a limit for the tokens of an answer."""
    return output_limit(_option_names(type(model))) is not None


def _option_names(kind: "type[BaseChatModel]") -> frozenset[str]:
    fields = kind.model_fields.items()
    return frozenset(text for name, field in fields for text in (name, field.alias) if text)


def _value(judge: str, given: Any) -> Any:
    """Return an option with the environment's values for the variables in it."""
    if isinstance(given, Mapping):
        return {key: _value(judge, each) for key, each in given.items()}
    if isinstance(given, list):
        return [_value(judge, each) for each in given]
    if not isinstance(given, str) or not is_variable(given):
        return given
    found = os.environ.get(given[1:])
    if not found:
        msg = f"variable {given[1:]} is not set, which judge '{judge}' has in options; set it"
        raise JudgeFileInvalid(msg)
    return found


def _reason(error: Exception) -> str:
    """Return why a class refused its options, without their values: one may be a key."""
    if isinstance(error, ValidationError):
        places = sorted({".".join(map(str, each["loc"])) or "options" for each in error.errors()})
        return f"{type(error).__name__} at {', '.join(places)}"
    return type(error).__name__
