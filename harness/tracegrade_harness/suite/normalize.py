"""Patterns for the parts of a request that differ between runs; tapes ignore them."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

import re2
from pydantic import Field

from tracegrade_harness.suite.strict import Strict
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

MAX_RULES: Final = 20


class Normalized(Strict):
    """A pattern, and the text that replaces everything that it matches."""

    pattern: Annotated[str, Field(min_length=1, max_length=1000)]
    """RE2 that is searched in texts and numbers of a call's arguments, and in the path of a
    request: `\\d{4}-\\d\\d-\\d\\d`, `/tmp/\\w+`."""
    with_: Annotated[str, Field(max_length=100)] = Field(alias="with")
    """The text that is compared instead: `DATE`. It is used literally, without groups of the
    pattern."""


Rules = Annotated[list[Normalized], Field(max_length=MAX_RULES)]


def compiled(pattern: str) -> Any:
    """Return a compiled pattern that searches UTF-8.

    Raises:
        ValueError: It is not RE2, or matches the empty text.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(pattern.encode(), options)
    except re2.error as error:
        raise ValueError(error.args[0].decode(errors="replace")) from error
    if found.search(b"") is not None:
        msg = "it matches the empty text"
        raise ValueError(msg)
    return found


def check_normalize(
    source: SourceFile, path: KeyPath, rules: Sequence[Normalized]
) -> Iterator[Problem]:
    """Yield a problem for each pattern that cannot be searched."""
    for i, rule in enumerate(rules):
        at = (*path, i, "pattern")
        try:
            compiled(rule.pattern)
        except ValueError as error:  # also an error of encoding
            fact = f"{dotted(at)} '{rule.pattern}' is not an RE2 pattern for texts: {error}"
            way_out = "correct it (RE2 has no look-around or back-references)"
            yield source.problem(at, fact, way_out)
