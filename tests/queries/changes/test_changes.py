"""What happens to traces on their way leaves what is read of them as it was.

Every captured trace is changed in every way (`changes.py`), and all of them are built in one lake.
What a change cannot leave as it was, `reasons.py` says.
"""

import re
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from tests.queries.changes.changes import CHANGES, ReportedChanges, body_of, spans_of
from tests.queries.changes.document import has_first
from tests.queries.changes.page import page
from tests.queries.changes.reasons import REASONS
from tests.queries.test_captures import CASES
from tests.queries.traces import Row, capture, land, land_logs, line, logs_of, rows

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

NAMES: Final = [name + variant for name, variant in CASES]
COMPARED: Final = (
    "complete",
    "agent_name",
    "user_input",
    "final_answer",
    "llm_call_count",
    "tool_call_count",
    "error_count",
    "interrupted",
    "input_tokens",
    "output_tokens",
)
"""Columns of trajectories."""
_TRACE_ID: Final = re.compile(r'("traceId": ?)"[0-9a-f]{8}')


class Sent(NamedTuple):
    """What is landed of one trace."""

    spans: bytes
    logs: list[bytes]

    def renamed(self, number: int) -> "Sent":
        """Return it as a trace whose id begins with a number."""
        return Sent(_renamed(self.spans, number), [_renamed(log, number) for log in self.logs])


class Built(NamedTuple):
    """What became of traces, by their names."""

    told: dict[str, ReportedChanges]
    dialects: dict[str, list[str]]


class Compared(NamedTuple):
    """What became of the changed captures."""

    dialects: dict[str, list[str]]
    """Of each capture."""
    right: dict[tuple[str, str], bool]
    """By the change and the capture: whether what has to stay has stayed; only what it changes."""


def _renamed(body: bytes, number: int) -> bytes:
    return _TRACE_ID.sub(rf'\g<1>"{number:08x}', body.decode()).encode()


def _built(folder: Path, sent: dict[str, Sent]) -> Built:
    lake = Lake.create(folder / "lake")
    names = list(sent)
    land(lake, *(sent[name].spans for name in names), seq=0)
    land_logs(lake, *(log for name in names for log in sent[name].logs))
    build(lake)
    found = rows(lake, "SELECT DISTINCT wal_seq, trace_id FROM spans")
    name_of = {row["trace_id"]: names[row["wal_seq"]] for row in found}
    steps: dict[str, list[Row]] = {name: [] for name in names}
    runs: dict[str, list[Row]] = {name: [] for name in names}
    for step in rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index"):
        steps[name_of[step["trace_id"]]].append(step)
    for run in rows(lake, "SELECT * FROM trajectories"):
        runs[name_of[run["trace_id"]]].append(run)
    return Built(
        {name: _told(steps[name], runs[name]) for name in names},
        {name: sorted({each for run in runs[name] for each in run["dialects"]}) for name in names},
    )


def _told(steps: list[Row], runs: list[Row]) -> ReportedChanges:
    executed = (
        step for step in steps if (step["kind"], step["provenance"]) == ("tool_call", "span")
    )
    return ReportedChanges(
        tuple(map(line, steps)),
        len(runs),
        {key: sorted(str(run[key]) for run in runs) for key in COMPARED},
        frozenset(step["span_id"] for step in executed),
        frozenset(step["request_span_id"] for step in steps if step["request_span_id"]),
    )


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """All captures in all changes, landed together and built at once."""
    folder = tmp_path_factory.mktemp("changes")
    sent = {name: Sent(capture(name), logs_of(name)) for name in NAMES}
    before = _built(folder / "before", sent)
    changed: dict[tuple[str, str], Sent] = {}
    for change in CHANGES:
        for name in NAMES:
            spans = CHANGES[change].made(spans_of(sent[name].spans), before.told[name])
            if spans is not None:
                whole = Sent(body_of(spans), sent[name].logs)
                changed[change, name] = whole.renamed(len(changed))
    after = _built(
        folder / "after", {f"{one} {name}": changed[one, name] for one, name in changed}
    )
    return Compared(
        before.dialects,
        {
            (change, name): CHANGES[change].expected(before.told[name])
            == CHANGES[change].found(after.told[f"{change} {name}"])
            for change, name in changed
        },
    )


@pytest.mark.parametrize("change", CHANGES)
def test_change_leaves_what_is_read(compared: Compared, change: str) -> None:
    """For each capture, except those with a stated reason; and every stated reason is needed."""
    wrong = {
        name for one, name in compared.right if one == change and not compared.right[one, name]
    }
    told = {name for one, name in REASONS if one == change}

    assert wrong - told == set()
    assert told - wrong == set()


def test_document_has_the_table(compared: Compared) -> None:
    """It is made of this; WRITE_TABLE=1 writes it anew."""
    assert has_first(page(compared.dialects, compared.right))
