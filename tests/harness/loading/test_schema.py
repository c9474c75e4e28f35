"""Editors judge suites as the loader does, as far as one key at a time can be judged."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from tracegrade_harness.loading.schema import suite_schema_text

SCHEMA = Path(__file__).parents[3] / "harness" / "suite.schema.json"
EXAMPLE = Path(__file__).with_name("example.yaml")


def test_the_published_schema_is_that_of_the_loader() -> None:
    """`suite_schema_text` was written there since the format changed."""
    assert SCHEMA.read_text(encoding="utf-8") == suite_schema_text()


def test_the_schema_takes_the_example_of_every_key() -> None:
    """An editor marks nothing in a suite that the loader takes."""
    validator = jsonschema_rs.validator_for(json.loads(suite_schema_text()))

    assert list(validator.iter_errors(yaml.safe_load(EXAMPLE.read_text()))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1", "version: 2"),
        ("accept: before", "accept: after"),
        ("sqlite: ledger", "sqlit: ledger"),
        ("journal:", "jurnal:"),
        ("from: fixtures/uploads", "from_: fixtures/uploads"),
        ("{about: 1, within: 0}", "{about: 1, with: 0}"),
    ],
)
def test_the_schema_marks_what_the_loader_refuses(old: str, new: str) -> None:
    """A misspelt key or value is marked while one types."""
    validator = jsonschema_rs.validator_for(json.loads(suite_schema_text()))
    text = EXAMPLE.read_text().replace(old, new)

    assert not validator.is_valid(yaml.safe_load(text))
