"""Reads a YAML file and remembers on which line each of its values stands.

Its own module because PyYAML's loaders drop positions, and an error without a line does not help
in a file of a hundred tasks. Example: `read("a.yaml", text).line(("tasks", "x"))`.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import yaml

KeyPath: TypeAlias = tuple[str | int, ...]
"""The keys and list positions that lead to a value, from the outermost inwards."""

MAX_VALUES: Final = 500_000
"""More are refused: aliases of aliases make a small file endless."""

MAX_DEPTH: Final = 60
"""Deeper nesting is refused; the deepest real schema has about twenty levels."""


class Problem(NamedTuple):
    """One error or note about a file; `str()` of it is the line that the user reads."""

    file: str
    line: int
    fact: str
    way_out: str
    graph_of: str | None = None
    """The task whose sub-goal graph has the error; None if the whole file cannot be used."""
    is_note: bool = False
    """It may be meant so, and keeps the file from nothing."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.fact}; {self.way_out}"


class SourceFile(NamedTuple):
    """A file as plain values, with the line of each."""

    file: str
    values: Any
    lines: dict[KeyPath, int]
    problems: list[Problem]

    def line(self, path: Sequence[str | int]) -> int:
        """Return the line of a key or list item, or of the nearest thing around it that exists."""
        found = tuple(path)
        while found not in self.lines and found:
            found = found[:-1]
        return self.lines.get(found, 1)

    def problem(
        self, path: Sequence[str | int], fact: str, way_out: str, graph_of: str | None = None
    ) -> Problem:
        """Return the problem with the line of `path`."""
        return Problem(self.file, self.line(path), fact, way_out, graph_of)


class _Loader(yaml.SafeLoader):
    """YAML whose plain values are those of JSON: `no`, `12:30`, `007` and dates stay text."""


_Loader.yaml_implicit_resolvers = {}
for _type, _pattern, _starts in (
    ("null", r"(?:~|null|)$", ["~", "n", ""]),
    ("bool", r"(?:true|false)$", ["t", "f"]),
    ("int", r"-?(?:0|[1-9]\d*)$", list("-0123456789")),
    ("float", r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$", list("-0123456789")),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_type}", re.compile(_pattern, re.ASCII), _starts
    )


def read_file(
    path: Path, kind: str, way_out: str, error: Callable[[str], Exception]
) -> SourceFile:
    """Return a file's values, lines and YAML errors.

    Args:
        path: The file.
        kind: The noun for it in messages: `task file`.
        way_out: The advice at the end of the message.
        error: Makes the exception from the message.

    Raises:
        Exception: What `error` makes: the file does not exist, or is not text.
    """
    try:
        return read(str(path), path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as cause:
        msg = f"cannot read {kind} '{path}': {unreadable(cause)}; {way_out}"
        raise error(msg) from cause


def unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Return in words why a text file cannot be read."""
    return str(error.strerror) if isinstance(error, OSError) else "it is not UTF-8 text"


def read(file: str, text: str) -> SourceFile:
    """Return the file's values, lines and YAML errors; values are None if it cannot be parsed."""
    source = SourceFile(file, None, {}, [])
    try:
        values = _values(text, source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        fact = f"not valid YAML: {error.problem or error.context}"
        return source._replace(problems=[Problem(file, line, fact, "correct the syntax")])
    except yaml.YAMLError as error:
        fact = "not valid YAML: " + " ".join(str(error).split())
        return source._replace(problems=[Problem(file, 1, fact, "correct the syntax")])
    except RecursionError:
        fact = f"not valid YAML: nested far deeper than {MAX_DEPTH} levels"
        return source._replace(problems=[Problem(file, 1, fact, "correct the syntax")])
    return source._replace(values=values)


def _values(text: str, source: SourceFile) -> Any:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(loader, node, (), source)
    finally:
        loader.dispose()


def _value(loader: _Loader, node: yaml.Node, path: KeyPath, source: SourceFile) -> Any:
    source.lines.setdefault(path, node.start_mark.line + 1)
    if len(path) > MAX_DEPTH:
        msg = f"nested deeper than {MAX_DEPTH} levels, or an alias that contains itself"
        raise yaml.MarkedYAMLError(problem=msg, problem_mark=node.start_mark)
    if len(source.lines) > MAX_VALUES:
        msg = f"more than {MAX_VALUES:,} values, including those of aliases"
        raise yaml.MarkedYAMLError(problem=msg, problem_mark=node.start_mark)
    if isinstance(node, yaml.MappingNode):
        return dict(_entries(loader, node, path, source))
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*path, i), source) for i, item in enumerate(node.value)]
    return _scalar(loader, node)


def _scalar(loader: _Loader, node: yaml.Node) -> Any:
    """Return a plain value that JSON has too."""
    try:
        value = loader.construct_object(node)
    except ValueError as error:  # Python reads no integer of more than 4,300 digits
        msg = "a number of so many digits cannot be read"
        raise yaml.MarkedYAMLError(problem=msg, problem_mark=node.start_mark) from error
    if value is not None and not isinstance(value, (str, int, float)):
        raise yaml.MarkedYAMLError(problem=f"{node.tag} is not JSON", problem_mark=node.start_mark)
    if isinstance(value, str):
        _refuse_half_characters(value, node)
    if isinstance(value, float) and not math.isfinite(value):
        raise yaml.MarkedYAMLError(
            problem=f"{value} is not a number", problem_mark=node.start_mark
        )
    return value


def _entries(
    loader: _Loader, node: yaml.MappingNode, path: KeyPath, source: SourceFile
) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a mapping; of equal keys the first, the others are problems."""
    seen: set[str] = set()
    for key_node, value_node in node.value:
        key = _key(key_node)
        if key in seen:
            first = source.line((*path, key))
            fact = f"key '{key}' stands twice, first on line {first}"
            line = key_node.start_mark.line + 1
            source.problems.append(Problem(source.file, line, fact, "remove or rename one"))
            continue
        seen.add(key)
        source.lines[(*path, key)] = key_node.start_mark.line + 1
        yield key, _value(loader, value_node, (*path, key), source)


def _key(node: yaml.Node) -> str:
    """Return a key as its text: `1` and `yes` are keys as written, like in JSON."""
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.MarkedYAMLError(
            problem="a key must be a plain value", problem_mark=node.start_mark
        )
    _refuse_half_characters(node.value, node)
    return str(node.value)


def _refuse_half_characters(text: str, node: yaml.Node) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = "a text with half a character (a lone surrogate) is not valid"
        raise yaml.MarkedYAMLError(problem=msg, problem_mark=node.start_mark) from error
