"""The places in the text of a user's rubric, such as `{criterion}`; pure.

A rubric never has a place for a text of a run: these stay quoted in the messages. Its places for
the parts of an answer get the headings of these parts in the messages.
"""

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Final, NamedTuple

ANSWER_PARTS: Final[Mapping[str, str]] = {
    "question": "What the user asked",
    "reference": "The right answer",
    "answer": "The agent's answer",
}
"""Places of a rubric for answers, and headings of the texts that they name."""


class RubricPlaces(NamedTuple):
    """The places of rubrics for one subject."""

    needed: frozenset[str]
    allowed: tuple[str, ...]
    """The needed ones first."""


PLACES: Final[Mapping[str, RubricPlaces]] = {
    "sub_goal": RubricPlaces(frozenset({"criterion"}), ("criterion", "sub_goal", "task")),
    "planning": RubricPlaces(frozenset({"criterion"}), ("criterion", "task")),
    "served": RubricPlaces(
        frozenset({"criterion", "candidates"}), ("criterion", "candidates", "sub_goal", "task")
    ),
    "success": RubricPlaces(frozenset({"answer"}), ("answer", "reference", "question", "task")),
}


class BracesUnusable(Exception):
    """A text has a brace that neither begins nor ends a place."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a checked rubric with values at its places."""
    return "".join(
        before + ("" if name is None else values[name]) for before, name in _parts(text)
    )


def faults_of(text: str, subject: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a rubric for a subject: the fact, and the way out."""
    places = PLACES[subject]
    try:
        found = [name for _, name in _parts(text) if name is not None]
    except BracesUnusable as error:
        yield f"a brace belongs to no place: {error}", "write {{ or }} for a brace in the text"
        return
    known = ", ".join(f"{{{name}}}" for name in places.allowed)
    for name in dict.fromkeys(found):
        if name not in places.allowed:
            yield (
                f"place '{{{name}}}' is unknown to a judge of {subject}",
                f"places: {known}; write {{{{ and }}}} for braces in the text",
            )
    for name in places.allowed:
        if name in places.needed and name not in found:
            yield f"place '{{{name}}}' is missing for a judge of {subject}", "put it into the text"


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each stretch of plain text with the name of the place after it.

    Raises:
        BracesUnusable: A brace belongs to no place.
    """
    try:
        for before, name, form, conversion in Formatter().parse(text):
            ending = f"!{conversion}" if conversion else ""
            ending += f":{form}" if form else ""
            yield before, None if name is None else name + ending
    except ValueError as error:
        raise BracesUnusable(str(error)) from None
