"""What stands beside a secret stays as it was, and what a key says counts for each type."""

from __future__ import annotations

import pytest
from tests.collector.redact.test_redaction import attributes_after, redactor, rows_of

from tracegrade.redact.texts import redact

BESIDE = [
    (
        r"const url = /^https?:\/\/[^\/]+\//; const word = '\u00e9'; // password=hunter2",
        r"const url = /^https?:\/\/[^\/]+\//; const word = '\u00e9'; // password=[redacted:named]",
    ),
    (
        r'{"path": "a\/b", "password": "hunter2"}',
        r'{"path": "a\/b", "password": "[redacted:named]"}',
    ),
    (
        r'{"path": "a\/b", "pass\u0077ord": "hunter2"}',
        r'{"path": "a/b", "password": "[redacted:named]"}',
    ),
]


@pytest.mark.parametrize(("text", "expected"), BESIDE)
def test_escapes_beside_a_secret_stay_unless_they_hide_it(text: str, expected: str) -> None:
    """A regular expression without its backslashes is another one."""
    assert redact(text) == expected
    assert redactor().redact_texts(["clean", text]) == ["clean", expected]


def test_number_of_a_card_is_found_under_its_key_also_as_a_number() -> None:
    """As it is in JSON; other numbers under such a key stay."""
    (found,) = attributes_after(rows_of({"card_number": 4111111111111111, "card_count": 4}))

    assert found == {"card_number": "[redacted:named]", "card_count": "4"}
