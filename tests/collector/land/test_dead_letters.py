"""Dead letters: a line for each refused item, and never much more than was sent."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.collector.running import collecting, trace_request
from tests.waiting import wait_until

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.dead_letters import SHARED_BYTES, DeadLetters
from tracegrade_collector.maintenance.verify import verify
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.sources import Record
from tracegrade_lake import Lake

REFUSED = 5000
ROOM = 1 << 30
KEPT = 'dead_letters_total{signal="traces"}'
UNKEPT = 'unkept_dead_letters_total{signal="traces"}'


@pytest.fixture
def redactor(tmp_path: Path) -> Redactor:
    """One with the default options."""
    return Redactor.from_options(CollectorConfig(), tmp_path)


def record(text: str) -> Record:
    """Return a request of spans without ids, whose resource says a text."""
    request = trace_request(*range(1, REFUSED + 1))
    said = request.resource_spans[0].resource.attributes.add(key="process.command_line")
    said.value.string_value = text
    for span in request.resource_spans[0].scope_spans[0].spans:
        span.span_id = b""
    body = request.SerializeToString()
    return Record(7, 1, Signal.TRACES, Encoding.PROTOBUF, "", body)


def letters(folder: Path) -> list[dict[str, Any]]:
    """Return all dead letters below a folder."""
    (file,) = (folder / "dead_letters").iterdir()
    return list(map(json.loads, file.read_text().splitlines()))


def test_a_long_resource_is_in_the_first_letter_of_its_group(
    tmp_path: Path, redactor: Redactor
) -> None:
    """In each of them half a megabyte would become gigabytes, in memory and on the disk."""
    kept = DeadLetters(tmp_path, ROOM, redactor)
    refused = kept.keep("c1-1", [record("arg " * 100_000)])

    first, *others = letters(tmp_path)
    assert refused == (Counter({"span_id must be 8 bytes, not all zero": REFUSED}), 0)
    assert len(json.dumps(first["resource"])) > 400_000
    assert len(others) == REFUSED - 1
    assert {each["group"] for each in (first, *others)} == {"0/0"}
    assert not any("resource" in each for each in others)


def test_a_short_resource_is_in_each_letter(tmp_path: Path, redactor: Redactor) -> None:
    """So one letter can be read without another."""
    kept = DeadLetters(tmp_path, ROOM, redactor)
    kept.keep("c1-1", [record("x" * (SHARED_BYTES - 100))])

    found = letters(tmp_path)
    assert len(found) == REFUSED
    assert all(each["resource"] == found[0]["resource"] for each in found)


def test_letters_without_room_are_counted(tmp_path: Path, redactor: Redactor) -> None:
    """Those that fit are kept, then no more; what is on the disk stays below the limit."""
    limit = 3 << 20
    kept = DeadLetters(tmp_path, limit, redactor)
    found = [kept.keep(f"c1-{number}", [record("x")]) for number in range(3)]

    files = [*(tmp_path / "dead_letters").iterdir()]
    lines = sum(len(file.read_bytes().splitlines()) for file in files)
    assert sum(file.stat().st_size for file in files) <= limit
    assert [each.by_reason.total() for each in found] == [REFUSED] * 3
    assert sum(each.unkept for each in found) == 3 * REFUSED - lines
    assert 0 < lines < 3 * REFUSED
    assert found[-1].unkept == REFUSED


def test_other_processes_letters_take_room(tmp_path: Path, redactor: Redactor) -> None:
    """All collectors of a lake write to one folder."""
    DeadLetters(tmp_path, ROOM, redactor).keep("c1-1", [record("x")])
    size = (tmp_path / "dead_letters" / "c1-1.jsonl").stat().st_size

    assert DeadLetters(tmp_path, size, redactor).keep("c2-1", [record("x")]).unkept == REFUSED


def test_verify_and_counters_know_letters_that_were_not_kept(tmp_path: Path) -> None:
    """They are not reported as removed, and the span with them landed."""
    request = trace_request(1)
    request.resource_spans[0].scope_spans[0].spans.add(name="no ids")
    with collecting(tmp_path, max_dead_letter_bytes=1) as collector:
        collector.post("/v1/traces", request.SerializeToString())
        wait_until(lambda: collector.numbers().get(UNKEPT))
        numbers = collector.numbers()
        collector.stop()
    report = verify(Lake.open(tmp_path), lambda _: None)

    assert (numbers[UNKEPT], numbers[KEPT]) == (1, 0)
    assert report.wrong == []
    assert any("1 rejected items were counted and not kept" in note for note in report.notes)
    assert not (tmp_path / "dead_letters").exists()
