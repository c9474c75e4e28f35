"""The page that says which test covers which class of runs, for each imported format."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from docgen.pages import code, page

FILE: Final = (
    Path(__file__).parents[1] / "tests" / "collector" / "importing" / "source_classes.toml"
)
CLASSES: Final = (
    *("plain", "parallel", "failed", "sub_agent", "streamed", "interrupted"),
    *("resumed", "images", "long", "empty"),
)
"""Classes of runs that a source may write."""


def source_classes() -> Mapping[str, Any]:
    """Return the table of formats, and the reasons for classes without a test."""
    return tomllib.loads(FILE.read_text("utf-8"))


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    found = source_classes()
    numbers = {reason: number for number, reason in enumerate(found["reasons"], start=1)}
    text = page(
        "Sources and their tests",
        "Each format of `tracegrade import` is tested by classes of runs. A number in "
        "brackets says why a class has no test. "
        "`tests/collector/importing/source_classes.toml` names the tests, and a test holds it to "
        "the code. The pages of frameworks for [Python](../frameworks/more-python-frameworks.md), "
        "[JavaScript](../frameworks/more-javascript-frameworks.md) and [other languages]"
        "(../frameworks/other-languages.md) list the sources of dialects, and "
        "[the matrix](framework-matrix.md) the frameworks that were run.",
        "\n".join(_rows(found["formats"], numbers)),
        "\n".join(f"{number}. {found['reasons'][reason]}" for reason, number in numbers.items()),
    )
    return {"internals/source-tests.md": text}


def _rows(formats: Mapping[str, Mapping[str, Any]], numbers: Mapping[str, int]) -> Iterator[str]:
    yield f"| format | {' | '.join(name.replace('_', '-') for name in CLASSES)} |"
    yield "|---" * (1 + len(CLASSES)) + "|"
    for name, tested in formats.items():
        cells = (_cell(tested[each], numbers) for each in CLASSES)
        yield f"| [{code(name)}](../{tested['page']}) | {' | '.join(cells)} |"


def _cell(value: str, numbers: Mapping[str, int]) -> str:
    return "tested" if "::" in value else f"({numbers[value]})"
