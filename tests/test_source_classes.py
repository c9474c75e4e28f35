"""Each imported format states its source, and which test covers each class of its runs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docgen.import_formats import description
from docgen.source_tests import CLASSES, source_classes
from tracegrade_collector.importing.known_formats import FORMATS

from .citations import ROOT

FOUND = source_classes()
IMPORTING = Path(__file__).parent / "collector" / "importing"
NAMES = [each.name for each in FORMATS]
VERSION = r"20\d\d|\b\d+\.\d+"
OWN = {"otlp", "verdicts"}
"""Formats that are ours, or a standard's."""


def test_every_format_is_in_the_table() -> None:
    """A new format has a row, with a page."""
    assert list(FOUND["formats"]) == NAMES
    pages = {tested["page"] for tested in FOUND["formats"].values()}
    assert [name for name in pages if not (ROOT / "docs" / name).is_file()] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_class_has_a_test_or_a_reason(name: str) -> None:
    """The test is there; a reason is one of those that the page explains."""
    tested = FOUND["formats"][name]
    assert set(tested) == {"page", *CLASSES}
    assert list(_wrong(tested)) == []


def _wrong(tested: dict[str, str]) -> Iterator[str]:
    for value in (tested[each] for each in CLASSES):
        file, is_test, function = value.partition("::")
        if not is_test:
            if value not in FOUND["reasons"]:
                yield value
        elif f"def {function}(" not in (IMPORTING / file).read_text("utf-8"):
            yield value


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OWN])
def test_a_format_says_from_which_source_and_when_its_form_was_taken(name: str) -> None:
    """A version, a commit, or a month: what changed since can be looked for."""
    page = (ROOT / "docs" / FOUND["formats"][name]["page"]).read_text("utf-8")
    assert re.search(VERSION, description(name))
    assert re.search(VERSION, page)


def test_every_reason_is_used() -> None:
    """A reason that no class has any more is not explained."""
    used = {value for tested in FOUND["formats"].values() for value in tested.values()}
    assert set(FOUND["reasons"]) <= used
