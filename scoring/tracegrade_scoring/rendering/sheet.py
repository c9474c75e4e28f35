"""Rows as CSV that neither a terminal nor a spreadsheet acts on.

Texts from traces are made visible, and a text that a spreadsheet would take for a formula gets an
apostrophe before it. JSON has the texts unchanged. Numbers are unrounded, and unknown values are
empty.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from tracegrade.terminal.visible import visible
from tracegrade_queries.engine.csv_cells import FORMULA_STARTS


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV with a header; lists are joined by `|`."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, (list, tuple)):
        value = "|".join(map(str, value))
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown
