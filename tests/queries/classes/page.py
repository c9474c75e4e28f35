"""Writes which classes of what may come in are read right in which dialect."""

from collections.abc import Collection, Mapping
from typing import Final

from tests.queries.changes.document import SECOND
from tests.queries.classes.scenes import SCENES
from tests.queries.classes.scenes.scene import ClassScene
from tests.queries.classes.story import Form

_INTRODUCTION: Final = """\
No change of a capture produces the cases in this table. `tests/queries/classes` writes
{scenes} small runs by hand, each in every dialect that can express it, builds them all,
and asserts what must be read from each.

A cell gives the number of a class's runs that are written in that dialect; all of them are read
correctly. A note says why the other runs, or all of them, cannot be written in it.
"""


def page(forms: Collection[Form], held: Collection[tuple[str, ClassScene, Form]]) -> str:
    """Return the part of the document, of the scenes that were read right."""
    columns = sorted({form.dialect for form in forms})
    lines = [
        f"| what comes in | {' | '.join(f'`{each}`' for each in columns)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    notes: dict[str, int] = {}
    for of, scenes in SCENES.items():
        cells = []
        for column in columns:
            right = sum(kind == of and form.dialect == column for kind, _, form in held)
            why = _lacking(scenes, [form for form in forms if form.dialect == column])
            numbers = [notes.setdefault(each, len(notes) + 1) for each in why]
            cells.append(_cell(right, numbers))
        lines.append(f"| {of} | {' | '.join(cells)} |")
    told = [f"{number}. {note}" for note, number in notes.items()]
    introduction = _INTRODUCTION.format(scenes=sum(map(len, SCENES.values())))
    return "\n".join([SECOND, "", introduction, *lines, "", *told, ""])


def _lacking(scenes: list[ClassScene], forms: list[Form]) -> list[str]:
    """Return why scenes cannot be written in any of these forms, each reason once."""
    found: Mapping[str, None] = {
        why: None
        for scene in scenes
        if all(scene.lacking(form) for form in forms)
        for form in forms
        if (why := scene.lacking(form))
    }
    return list(found)


def _cell(right: int, notes: list[int]) -> str:
    noted = f"({', '.join(map(str, sorted(notes)))})" if notes else ""
    return " ".join(filter(None, [str(right) if right else "", noted]))
