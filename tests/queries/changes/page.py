"""Writes the document of what is read of each dialect, whatever happens to its spans."""

from collections.abc import Mapping
from typing import Final

from tests.queries.changes.changes import CHANGES
from tests.queries.changes.reasons import REASONS

_INTRODUCTION: Final = """\
# What is read of each way of writing spans

Frameworks write one story in many ways, which tracegrade calls dialects, and much happens to spans
between an agent and a lake. `tests/queries/changes` takes the {captures} captured traces of real
frameworks, changes each of them as such things do, and compares what is read with what is read of
the trace as it was: steps in their order, statuses, arguments and texts, runs, tokens and answers.

A cell says of how many captures of a dialect all that has to stay does stay, and of how many it
was tried. A note below the table says why of the others it cannot. A capture that two dialects
read counts for both. An empty cell has no capture in which there is anything to change.
"""


def page(dialects: Mapping[str, list[str]], right: Mapping[tuple[str, str], bool]) -> str:
    """Return the document, of each capture's dialects and of what stayed right."""
    columns = sorted({each for names in dialects.values() for each in names})
    notes = list(dict.fromkeys(REASONS.values()))
    lines = [
        f"| what happens | {' | '.join(f'`{each}`' for each in columns)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    for change, (what, *_) in CHANGES.items():
        cells = [
            _cell(
                {
                    name: right[change, name]
                    for name in dialects
                    if (change, name) in right and column in dialects[name]
                },
                change,
                notes,
            )
            for column in columns
        ]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    told = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    introduction = _INTRODUCTION.format(captures=len(dialects))
    return "\n".join([introduction, *lines, "", *told, "", ""])


def _cell(right: Mapping[str, bool], change: str, notes: list[str]) -> str:
    """Return how many captures of how many are right, with the numbers of notes on the others."""
    wrong = [name for name in right if not right[name]]
    numbers = sorted(
        {1 + notes.index(REASONS[change, name]) for name in wrong if (change, name) in REASONS}
    )
    noted = f" ({', '.join(map(str, numbers))})" if numbers else ""
    return f"{len(right) - len(wrong)} of {len(right)}{noted}" if right else ""
