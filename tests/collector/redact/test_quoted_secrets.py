"""A secret that contains a quote is replaced as a whole, however the quote is written in it."""

import pytest
from tests.collector.redact.test_redaction import redactor

from tracegrade.redact.texts import redact

FOUND = [
    ("SET password = 'it''s 9x' WHERE a = 'b'", "SET password = '[redacted:named]' WHERE a = 'b'"),
    ("password = 'Xk9''' WHERE a = ''", "password = '[redacted:named]' WHERE a = ''"),
    ('password: "it""s 9x", "b"', 'password: "[redacted:named]", "b"'),
    ('password: "hunter2""""\nsay "x"', 'password: "[redacted:named]""""\nsay "x"'),
    ("PASSWORD='it'\\''s 9x' ls 'b'", "PASSWORD='[redacted:named]' ls 'b'"),
    ("PASSWORD='it'\"'\"'s 9x' ls 'b'", "PASSWORD='[redacted:named]' ls 'b'"),
    ("{\"a\": \"pwd='it''s 9x'\"}", '{"a": "pwd=\'[redacted:named]\'"}'),
    ('{"a": "pwd=\\"it\\"\\"s 9x\\" b"}', '{"a": "pwd=\\"[redacted:named]\\" b"}'),
    ("secrets = ['it''s 9x', 'other8']", "secrets = ['[redacted:named]', '[redacted:named]']"),
    ("curl -u 'bob:it'\\''s9x' 'b'", "curl -u 'bob:[redacted:named]' 'b'"),
    (
        "pwd=&#39;it&#39;&#39;s 9x&#39; b=&#39;c&#39;",
        "pwd=&#39;[redacted:named]&#39; b=&#39;c&#39;",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FOUND, ids=[text for text, _ in FOUND])
def test_a_quote_in_a_secret_does_not_end_it(text: str, expected: str) -> None:
    """SQL, YAML and CSV double it; a shell's text ends and begins again."""
    assert redact(text) == redactor().redact_text(text) == expected
