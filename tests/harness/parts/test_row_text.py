"""Rows and values as texts that people compare, without secrets."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_harness.parts.row_text import row_text, value_text

VALUES = st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
SECRETS = ["it's 'hunter2'", "first\nhunter2", b"hunter2"]
SECRET_PARTS = ["hunter2", b"hunter2".hex()]


@given(st.dictionaries(st.text(), VALUES))
def test_a_row_is_json(row: dict[str, object]) -> None:
    """Names and values of any text can be read again."""
    assert json.loads(row_text(row.items())) == row


def test_numbers_have_all_digits() -> None:
    """Even those that floats cannot represent."""
    row = [("total", Decimal("12345678901234567890.01")), ("worst", Decimal("NaN"))]
    assert row_text(row) == b'{\n  "total": 12345678901234567890.01,\n  "worst": "NaN"\n}'


@pytest.mark.parametrize("secret", SECRETS, ids=str)
def test_a_secret_is_known_by_its_column(secret: object, tmp_path: Path) -> None:
    """Quotes, lines and types of the value do not hide the column's name."""
    text = row_text([("id", 1), ("password", secret), ("state", "paid")]).decode()
    (clean,) = Redactor.from_options(CollectorConfig(), tmp_path).redact_texts([text])

    assert clean is not None
    assert not [part for part in SECRET_PARTS if part in clean]
    assert json.loads(clean)["state"] == "paid"


def test_a_secret_is_known_by_the_names_above_it(tmp_path: Path) -> None:
    """A value alone would not tell."""
    text = value_text(["passwords", "ann"], "hunter2").decode()
    (clean,) = Redactor.from_options(CollectorConfig(), tmp_path).redact_texts([text])

    assert clean is not None
    assert "ann" in clean
    assert "hunter2" not in clean
