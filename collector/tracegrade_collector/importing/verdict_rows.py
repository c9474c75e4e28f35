"""Verdicts → the table of verdicts, each once; a new one replaces the same source's earlier one.

A verdict is identified by its run, subject, sub-goal, step, span, kill point, question, source and
the time it was made. Importing the same file again changes nothing. A verdict with the same
identity and other content replaces the earlier one. A verdict made at another time is added, and
readers take the newest.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_lake import VERDICTS, Lake

BATCH_ROWS: Final = 100_000
KEY: Final = (
    *("trajectory_id", "subject", "sub_goal", "step_index", "kill_point", "question", "source"),
    *("span_id", "made_at"),
)
CONTENT: Final = ("value", "label", "evidence", "tag", "withdrawn")
FREE_TEXTS: Final = ("label", "evidence", "tag")
"""Columns of free text."""

VerdictRecord: TypeAlias = Mapping[str, Any]
VerdictKey: TypeAlias = tuple[Any, ...]


def add_verdicts(
    lake: Lake, verdicts: Sequence[VerdictRecord], redactor: Redactor, *, replace: bool = True
) -> dict[str, int]:
    """Write the verdicts that the lake lacks; return how many were added, replaced and known.

    Without `replace`, an existing verdict with other content stays and counts as known.
    """
    return add_clean_verdicts(lake, list(_clean(verdicts, redactor)), replace=replace)


def add_clean_verdicts(
    lake: Lake, verdicts: Sequence[VerdictRecord], *, replace: bool = True
) -> dict[str, int]:
    """Do as `add_verdicts`, with verdicts that need no redaction."""
    by_key = {_key(verdict): verdict for verdict in verdicts}
    found = dict(_found(lake, by_key))
    known = {
        key
        for key, (_, row) in found.items()
        if not replace or _content_of(row) == _content_of(by_key[key])
    }
    changed = {key: date for key, (date, _) in found.items() if key not in known}
    for date in sorted(set(changed.values())):
        _replace(lake, date, {key: by_key[key] for key in changed if changed[key] == date})
    new = [verdict for key, verdict in by_key.items() if key not in found]
    if new:
        lake.append(VERDICTS, _table(new, datetime.datetime.now(datetime.UTC).date()))
    rest = len(verdicts) - len(new) - len(changed)
    return {"added": len(new), "replaced": len(changed), "known": rest}


def distinct_rows(verdicts: Sequence[VerdictRecord]) -> pa.Table:
    """Return the rows of a table that had none: of verdicts with one identity, the last."""
    by_key = {_key(verdict): verdict for verdict in verdicts}
    return _table([*by_key.values()], datetime.datetime.now(datetime.UTC).date())


def _clean(verdicts: Sequence[VerdictRecord], redactor: Redactor) -> Iterator[VerdictRecord]:
    """Yield the verdicts without secrets in their free texts."""
    texts = [str(verdict.get(key) or "") for verdict in verdicts for key in FREE_TEXTS]
    clean = iter(redactor.redact_texts(texts))
    for verdict in verdicts:
        yield {**verdict, **{key: next(clean) or None for key in FREE_TEXTS}}


def _found(
    lake: Lake, by_key: Mapping[VerdictKey, VerdictRecord]
) -> Iterator[tuple[VerdictKey, tuple[str, VerdictRecord]]]:
    """Yield the lake's rows with a wanted key, and their date, one file at a time."""
    runs = pa.array({verdict["trajectory_id"] for verdict in by_key.values()}, pa.string())
    for file in lake.live_files(VERDICTS.name):
        rows = VERDICTS.named_today(lake.open_parquet(VERDICTS.name, file.path).read())
        likely = rows.filter(pc.is_in(rows["trajectory_id"], value_set=runs))
        for row in likely.to_pylist():
            if _key(row) in by_key:
                yield _key(row), (str(file.date), row)


def _replace(lake: Lake, date: str, changed: Mapping[VerdictKey, VerdictRecord]) -> None:
    """Replace the rows of a date."""
    rows = [
        row
        for file in lake.live_files(VERDICTS.name)
        if file.date == date
        for row in VERDICTS.named_today(
            lake.open_parquet(VERDICTS.name, file.path).read()
        ).to_pylist()
    ]
    now = [changed.get(_key(row), row) for row in rows]
    lake.replace_dates(VERDICTS, _table(now, datetime.date.fromisoformat(date)), [date])


def _table(verdicts: Sequence[VerdictRecord], date: datetime.date) -> pa.Table:
    rows = [{**verdict, "date": date} for verdict in verdicts]
    return pa.Table.from_pylist(rows, VERDICTS.arrow())


def _key(verdict: VerdictRecord) -> VerdictKey:
    """Return a verdict's identity; files of earlier versions lack some of the columns."""
    return tuple(verdict.get(name) for name in KEY)


def _content_of(verdict: VerdictRecord) -> VerdictKey:
    return tuple(verdict.get(name) for name in CONTENT)
