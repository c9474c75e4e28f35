"""Dead letters: a line for each refused item, and never much more than was sent."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.collector.running import trace_request

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.dead_letters import SHARED_BYTES, keep_refused
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.sources import Record

REFUSED = 5000


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
    counts = keep_refused(tmp_path, "c1-1", [record("arg " * 100_000)], redactor)

    first, *others = letters(tmp_path)
    assert counts == Counter({"span_id must be 8 bytes, not all zero": REFUSED})
    assert len(json.dumps(first["resource"])) > 400_000
    assert len(others) == REFUSED - 1
    assert {each["group"] for each in (first, *others)} == {"0/0"}
    assert not any("resource" in each for each in others)


def test_a_short_resource_is_in_each_letter(tmp_path: Path, redactor: Redactor) -> None:
    """Whoever reads one of them need not look for another."""
    keep_refused(tmp_path, "c1-1", [record("x" * (SHARED_BYTES - 100))], redactor)

    found = letters(tmp_path)
    assert len(found) == REFUSED
    assert all(each["resource"] == found[0]["resource"] for each in found)
