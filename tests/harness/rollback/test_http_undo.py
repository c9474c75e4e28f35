"""Undos of HTTP services are proven on a copy of the service, and reach no other one."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.http.bank import Client, opened_bank
from tests.harness.rollback.folders import run_here

from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.records import Claim, Records
from tracegrade_harness.rollback.rubric import KillJudgment, ObservedState, judge
from tracegrade_harness.rollback.undo import EnvironmentCopy, prove, services
from tracegrade_harness.suite.model import Environment

HOLD = {"id": "h2", "price": 3}
LEFT = ["http:bank/$.credits", "http:bank/$.holds.h2"]
OPTIONS = {"locks": ["$.holds.*"], "quota": ["$.credits"], "ignore": ["$.log"]}


def judged(
    folder: Path, environment: OpenedEnvironment, before: Mapping[str, str], undo: Any
) -> KillJudgment:
    """Return what is left scores if a record names it all with one undo."""
    claims = tuple(Claim(name, undo, False, "journal") for name in LEFT)
    now = environment.state()
    seen = ObservedState(before, now, environment.held(now), Records(claims))
    with closing(environment.clone(folder / "copy")) as copy:
        known = services(environment.variables, copy.variables)
        locator = PartLocator(Environment(), folder)
        clone = EnvironmentCopy(folder / "copy", [copy], folder, folder, locator, run_here, known)
        return judge(seen, [*prove(seen, clone).disproved])


@pytest.mark.parametrize(
    ("undo", "score", "disproved"),
    [
        ({"http": "DELETE /holds/h2", "at": "BANK_URL"}, 7, []),
        ({"http": "DELETE /holds/h2", "at": "{url}"}, 7, []),
        ({"http": "DELETE /holds/h2", "at": "{url}/"}, 7, []),
        ({"http": "PUT /any/credits", "at": "BANK_URL", "body": 10}, 3, LEFT[1:]),
        ({"http": "DELETE /holds/h1", "at": "BANK_URL"}, 0, LEFT),
        ({"http": "DELETE /holds/h2", "at": "http://127.0.0.1:9"}, 0, LEFT),
        ({"http": "DELETE /holds/h2", "at": "PATH"}, 0, LEFT),
        ({"manual": "ask the bank"}, 7, []),
    ],
)
def test_a_hold_is_named_by_a_request_that_takes_it_back(
    tmp_path: Path, undo: dict[str, Any], score: int, disproved: list[str]
) -> None:
    """Asked of the copy: the service itself keeps what was left."""
    with opened_bank(tmp_path, **OPTIONS) as (environment, ask):
        before = environment.state()
        ask("POST /holds?by=me", HOLD)
        url = environment.variables["BANK_URL"]
        undo = {key: _filled(value, url) for key, value in undo.items()}
        found = judged(tmp_path, environment, before, undo)

        assert (found.score, [*found.leftovers], [*found.disproved]) == (score, LEFT, disproved)
        assert ask("GET /credits") == (200, 7)


def test_what_is_held_though_nothing_changed_is_left(tmp_path: Path) -> None:
    """Nobody names it, so the kill scores 0."""
    with opened_bank(tmp_path, **OPTIONS) as (environment, ask):
        before = environment.state()
        ask("POST /holds?by=me", HOLD)
        now = environment.state()

        assert judge(ObservedState(before, now, environment.held(now), Records())).score == 0
        Client(environment.variables["BANK_URL"])("DELETE /holds/h2")
        assert (
            judge(ObservedState(before, environment.state(), environment.held(), Records())).score
            == 10
        )


def _filled(value: Any, url: str) -> Any:
    return value.replace("{url}", url) if isinstance(value, str) else value
