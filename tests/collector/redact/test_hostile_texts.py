"""No text of any kind keeps agent or collector busy for long."""

from __future__ import annotations

import time

import pytest
from tests.collector.redact.test_redaction import redactor

from tracegrade.redact.texts import redact

CHARS = 100_000
LONGEST_SECS = 15
"""For what takes one; without a limit it took minutes to hours, as the square of the length."""

HOSTILE = {
    "numbers like cards": "4111111111111111 " * (CHARS // 17),
    "backslashes in a secret": 'password="' + "\\" * CHARS,
    "backslashes in a list": '"secret": ["a' + "\\" * CHARS,
    "backslashes behind a name": "value, password name" + "\\" * CHARS,
    "backslashes before an escape": "\\" * CHARS + ' \\u0041 password="x"',
    "many lists that do not end": 'password=["a",' * (CHARS // 14),
    "many objects that do not end": "password={" * (CHARS // 10),
    "doubled quotes": "password='a''" * (CHARS // 13),
    "doubled quotes that do not end": 'password="a""' + '""' * (CHARS // 2),
    "backslashes behind a quote": "password='a'" + "\\" * CHARS,
    "many names of cookies": "cookie:" * (CHARS // 7),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_takes_time_as_its_length(kind: str) -> None:
    """By the engine of agents and by that of collectors."""
    start = time.perf_counter()
    redact(HOSTILE[kind])
    redactor().redact_text(HOSTILE[kind])

    assert time.perf_counter() - start < LONGEST_SECS
