"""HTTP services are verified by their state and by the requests that they got."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.http.bank import opened_bank
from tests.harness.parts.verifying.build import context, said

from tracegrade_harness.parts.verifying.result import Context


@pytest.fixture
def booked(tmp_path: Path) -> Iterator[Context]:
    """The bank, where an agent has held something and asked twice for credits."""
    with opened_bank(tmp_path) as (environment, ask):
        ask("POST /holds?by=me", {"id": "h2", "price": 3})
        ask("GET /credits")
        ask("GET /credits")
        yield replace(context(tmp_path), opened=environment.parts)


@pytest.mark.parametrize(
    ("state", "outcome", "evidence"),
    [
        ({"$.credits": 7, "$.holds.h2.note": {"matches": "^request 1"}}, "pass", "2 values fit"),
        ({"$.credits": 8}, "fail", "$.credits is 7, expected 8"),
        ({"$.holds.h3": {"optional": 1}}, "pass", "1 values fit"),
        ({"$.holds.h3": 1}, "fail", "$.holds.h3 is nothing, expected 1"),
    ],
)
def test_a_state_is_compared_by_paths(
    booked: Context, state: dict[str, Any], outcome: str, evidence: str
) -> None:
    """With values and rules of task files."""
    assert said(booked, http="bank", state=state) == (outcome, evidence)


@pytest.mark.parametrize(
    ("calls", "outcome", "evidence"),
    [
        ({"method": "POST"}, "pass", "1 of 3 requests fit: POST /holds 201"),
        ({"path": {"matches": "^/cred"}, "times": 2}, "pass", "2 of 3 requests fit"),
        ({"path": "/credits", "times": 1}, "fail", "2 of 3 requests fit"),
        ({"path": "/credits", "times": {"any_of": [1, 2]}}, "pass", "2 of 3 requests fit"),
        ({"method": "DELETE"}, "fail", "0 of 3 requests fit"),
        ({"method": "DELETE", "times": 0}, "pass", "0 of 3 requests fit"),
        ({"body": {"$.price": 3}, "times": 1}, "pass", "1 of 3 requests fit"),
        ({"body": {"$.price": 4}, "times": 0}, "pass", "0 of 3 requests fit"),
        ({"status": {"any_of": [200, 201]}, "times": 3}, "pass", "3 of 3 requests fit"),
    ],
)
def test_requests_are_counted_that_fit(
    booked: Context, calls: dict[str, Any], outcome: str, evidence: str
) -> None:
    """What is not given may be anything; without a number, one has to be there."""
    found, said_of_it = said(booked, http="bank", calls=calls)

    assert (found, said_of_it[: len(evidence)]) == (outcome, evidence)


def test_a_service_that_is_not_there_is_an_error(booked: Context) -> None:
    """Of the suite."""
    assert said(booked, http="shop", state={"$.x": 1})[0] == "error"
