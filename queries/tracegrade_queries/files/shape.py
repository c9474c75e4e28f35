"""Turns pydantic's errors about a file into problems with a line and a way out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tracegrade.suggestions import did_you_mean
from tracegrade_queries.files.yaml_source import Problem, SourceFile

File = TypeVar("File", bound=BaseModel)


def parse_as(
    kind: type[File], keys: Mapping[str, type[BaseModel]], source: SourceFile
) -> tuple[File | None, list[Problem]]:
    """Return a file of any kind as objects, or None and the problems of its shape.

    Args:
        kind: The class of the whole file.
        keys: The class of the mappings under each key, and under each tag of a union: `[NAME]`,
            which is not in any file.
        source: The file.
    """
    if not isinstance(source.values, dict):
        fact = "the file is not a mapping" if source.values is not None else "the file is empty"
        return None, [source.problem((), fact, "start it with 'version: 1'")]
    try:
        return kind.model_validate(source.values, by_alias=True, by_name=False), []
    except ValidationError as error:
        return None, list(_problems(source, error.errors(include_url=False), kind, keys))


def _problems(
    source: SourceFile,
    errors: Sequence[ErrorDetails],
    kind: type[BaseModel],
    keys: Mapping[str, type[BaseModel]],
) -> Iterator[Problem]:
    # A misspelt key is also missing: it is named first.
    for error in sorted(errors, key=lambda error: error["type"] != "extra_forbidden"):
        path = tuple(part for part in error["loc"] if not _is_tag(part, keys))
        if error["type"] == "extra_forbidden":
            names = [part for part in error["loc"][:-1] if part in keys]
            allowed = _known_keys(keys[str(names[-1])] if names else kind)
            fact = f"unknown key '{path[-1]}' in {dotted(path[:-1]) or 'the file'}"
            yield source.problem(path, fact, _suggestion(str(path[-1]), allowed))
        else:
            yield source.problem(path, *_fact_and_way_out(path, error))


def _is_tag(part: str | int, keys: Mapping[str, type[BaseModel]]) -> bool:
    """Return whether a part of pydantic's path is not in the file."""
    return part == "[key]" or (part in keys and str(part).startswith("["))


def _known_keys(kind: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in kind.model_fields.items()]


def _fact_and_way_out(path: Sequence[str | int], error: ErrorDetails) -> tuple[str, str]:
    parent = dotted(path[:-1]) or "the file"
    if error["type"] == "missing":
        return f"key '{path[-1]}' is missing in {parent}", "add it"
    if error["type"] == "value_error":
        fact, _, way_out = str(error["ctx"]["error"]).partition("; ")
        return f"{dotted(path)}: {fact}", way_out
    return f"{dotted(path)} is {_shortened(error['input'])}", _requirement(error["msg"])


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as people write it: `tasks.refund.expected[0].tool`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _suggestion(name: str, allowed: Sequence[str]) -> str:
    return did_you_mean(name, allowed) or f"known keys: {', '.join(allowed)}"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _requirement(message: str) -> str:
    """Return pydantic's sentence as a way out: `Input should be 'a'` as `it should be 'a'`."""
    return message.replace("Input should", "it should", 1).replace(" instance", "")
