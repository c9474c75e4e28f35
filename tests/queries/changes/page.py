"""Writes the document that compares each dialect's traces before and after changes."""

from collections.abc import Mapping
from typing import Final

from tests.queries.changes.changes import CHANGES
from tests.queries.changes.reasons import REASONS

_INTRODUCTION: Final = """\
# Dialects: what is read from each framework's spans

Frameworks write the same run in different ways, which tracegrade calls dialects, and exporters and
pipelines change spans on their way to a lake. `tests/queries/changes` applies such changes to the
{captures} captured traces of real frameworks, reads each trace before and after a change, and
compares the two: steps in their order, statuses, arguments and texts, runs, tokens and answers.

A cell gives the number of a dialect's captures that keep everything that must stay, and the number
of captures that were changed. A note below the table says why the others cannot be
read as before. A capture that two dialects read counts for both. A cell is empty if no capture of
the dialect has anything to change.
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
