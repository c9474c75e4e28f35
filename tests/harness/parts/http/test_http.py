"""HTTP services: each trial has its own, whose state is restored, compared, locked and cloned."""

import json
import socket
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.harness.parts.http.bank import Client, bank_template, opened_bank, service
from tests.waiting import wait_until

from tracegrade_harness.errors import EnvironmentFailed, SuiteUnusable
from tracegrade_harness.parts.environment import EnvironmentTemplate

HOLD = {"id": "h2", "price": 3}


def test_routes_change_the_state_and_answer(tmp_path: Path) -> None:
    """What is answered is what was before the change, and values keep their types."""
    with opened_bank(tmp_path) as (environment, ask):
        assert ask("POST /holds?by=me", HOLD) == (201, {"id": "h2", "left": 10})
        assert ask("GET /credits") == (200, 7)
        assert ask("GET /holds/h2") == (200, {"price": 3, "note": "request 1 of me"})
        assert environment.difference()._asdict() == {
            "added": ["http:bank/$.holds.h2", "http:bank/$.log[1]"],
            "changed": ["http:bank/$.credits"],
            "removed": [],
        }


@pytest.mark.parametrize(
    ("line", "body", "status"),
    [
        ("GET /nowhere", ..., 404),
        ("PUT /credits", ..., 405),
        ("GET /holds/none", ..., 404),
        ("POST /holds?by=me", {"id": "x"}, 400),
        ("POST /holds?by=me", {"id": "x", "price": "dear"}, 400),
        ("POST /holds?by=me", ..., 400),
        ("PUT /any/nothing/x", 1, 409),
        ("PUT /any/log/x", 1, 409),
    ],
)
def test_a_request_that_cannot_be_carried_out_changes_nothing(
    tmp_path: Path, line: str, body: Any, status: int
) -> None:
    """It is refused as a whole."""
    with opened_bank(tmp_path) as (environment, ask):
        assert ask(line, body)[0] == status
        assert environment.difference().names == []


def test_an_escaped_slash_is_part_of_its_segment(tmp_path: Path) -> None:
    """So are other escapes; what they stand for is the name."""
    with opened_bank(tmp_path) as (environment, ask):
        assert ask("POST /holds?by=me", {"id": "a/b c", "price": 3})[0] == 201
        assert ask("GET /holds/a%2Fb%20c") == (200, {"price": 3, "note": "request 1 of me"})
        assert 'http:bank/$.holds."a/b c"' in environment.difference().added


def test_the_first_route_whose_when_holds_answers(tmp_path: Path) -> None:
    """So a service can run out of something."""
    with opened_bank(tmp_path) as (_, ask):
        ask("PUT /any/credits", 0)

        assert ask("POST /holds?by=me", HOLD) == (402, {"error": "no credits"})


def test_what_an_agent_sends_is_no_path(tmp_path: Path) -> None:
    """A key with marks of paths in it is a key."""
    with opened_bank(tmp_path) as (environment, ask):
        ask("PUT /any/holds/a.b", 1)
        ask("PUT /any/holds/*", 2)

        assert environment.difference().names == [
            'http:bank/$.holds."*"',
            'http:bank/$.holds."a.b"',
        ]


def test_what_json_has_not_is_refused(tmp_path: Path) -> None:
    """Neither half a character nor a depth that nothing can read comes into a state."""
    with opened_bank(tmp_path) as (environment, ask):
        assert ask("PUT /any/x", "\ud800")[0] == 400
        assert ask("PUT /any/x", float("nan"))[0] == 400
        nested: Any = []
        for _ in range(500):
            nested = [nested]
        assert ask("PUT /any/x", nested)[0] == 400
        assert environment.difference().names == []


def test_requests_are_recorded_with_their_answers(tmp_path: Path) -> None:
    """In the order in which they came."""
    with opened_bank(tmp_path) as (environment, ask):
        ask("POST /holds?by=me", HOLD)
        ask("GET /nowhere?x=1")

        calls = service(environment).calls()
        assert [(c.method, c.path, c.query, c.status) for c in calls] == [
            ("POST", "/holds", "by=me", 201),
            ("GET", "/nowhere", "x=1", 404),
        ]


def test_a_fault_fails_one_request_alone(tmp_path: Path) -> None:
    """It changes nothing, or all and only the answer is lost; a clone has no faults."""
    faults = [{"at": 1, "status": 503}, {"at": 2, "status": 504, "applied": True}]
    with opened_bank(tmp_path, faults=faults) as (environment, ask):
        assert ask("POST /holds?by=me", HOLD)[0] == 503
        assert environment.difference().names == []
        assert ask("POST /holds?by=me", HOLD)[0] == 504
        assert "http:bank/$.holds.h2" in environment.difference().added
        with closing(environment.clone(tmp_path / "clone")) as clone:
            assert Client(clone.variables["BANK_URL"])("GET /credits") == (200, 7)


def test_locks_and_quotas_are_held(tmp_path: Path) -> None:
    """A hold that is new or changed, and credits that are fewer; not what was there before."""
    with opened_bank(tmp_path, locks=["$.holds.*"], quota=["$.credits"]) as (environment, ask):
        assert environment.held() == []
        ask("PUT /any/credits", 11)
        assert environment.held() == []
        ask("POST /holds?by=me", {"id": "h2", "price": 3})
        assert environment.held() == ["http:bank/$.credits", "http:bank/$.holds.h2"]
        ask("DELETE /any/holds/h2")
        ask("PUT /any/credits", None)
        ask("PUT /any/holds/h1", {"price": 2})
        assert environment.held() == ["http:bank/$.credits", "http:bank/$.holds.h1"]


def test_a_request_under_way_is_held(tmp_path: Path) -> None:
    """An agent that was killed cannot take it back."""
    app = "import asyncio\n\ndef app(state):\n    async def forever(scope, receive, send):\n"
    app += "        if scope['type'] == 'http':\n            await asyncio.Event().wait()\n"
    app += "    return forever\n"
    (tmp_path / "endless_app.py").write_text(app)
    with opened_bank(tmp_path, app="endless_app:app") as (environment, _):
        host, port = environment.addresses[0]
        with socket.create_connection((host, port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            wait_until(lambda: bool(service(environment).calls()))
            assert environment.held() == ["http:bank (request)"]


def test_ignored_paths_are_hidden_and_counted(tmp_path: Path) -> None:
    """The rest of an object counts."""
    ignore = ["$.holds.*.note", "$.log"]
    with opened_bank(tmp_path, ignore=ignore) as (environment, ask):
        ask("POST /holds?by=me", HOLD)
        names = environment.difference().names
        first = environment.state()["http:bank/$.holds.h2"]
        values = {name: json.loads(value) for name, value in environment.contents(names, 999)}
        document = service(environment).document()
        ask("POST /holds?by=you", HOLD)

        assert names == ["http:bank/$.credits", "http:bank/$.holds.h2"]
        assert environment.state()["http:bank/$.holds.h2"] == first
        assert environment.ignored_changes() == {"$.holds.*.note": 1, "$.log": 1}
        del document["holds"]["h2"]["note"]
        assert values["http:bank/$.credits"] == {"credits": document["credits"]}
        assert values["http:bank/$.holds.h2"] == {"holds": {"h2": document["holds"]["h2"]}}


def test_an_app_changes_the_state_that_it_is_given(tmp_path: Path) -> None:
    """Each trial has a fresh one; a clone begins with the state as it is."""
    template = bank_template(tmp_path, app="bank_app:app")
    for _ in range(2):
        with closing(template.open(tmp_path / "trial")) as environment:
            Client(environment.variables["BANK_URL"])("POST /holds", HOLD)
            changed = environment.difference().names
            with closing(environment.clone(tmp_path / "clone")) as clone:
                Client(clone.variables["BANK_URL"])("POST /holds", {"id": "h3", "price": 1})
                assert len(clone.difference().names) == 3
            assert environment.difference().names == changed
            assert changed == ["http:bank/$.credits", "http:bank/$.holds.h2"]


def test_an_app_whose_state_is_not_json_is_an_error(tmp_path: Path) -> None:
    """Of the environment, not of the agent."""
    (tmp_path / "odd_app.py").write_text(
        "def app(state):\n    state['x'] = {1, 2}\n    return id\n"
    )
    template = bank_template(tmp_path, app="odd_app:app")

    with pytest.raises(EnvironmentFailed, match="the state of its app is not JSON"):
        template.open(tmp_path / "trial")


@pytest.mark.parametrize(
    ("declared", "error", "message"),
    [
        ({"app": "none_such:app"}, EnvironmentFailed, "cannot be imported"),
        ({"state": "missing.json"}, EnvironmentFailed, "No such file"),
        ({"state": "bank.yaml"}, EnvironmentFailed, "is not JSON"),
        ({"routes": "bank.json"}, SuiteUnusable, "routes are a list"),
    ],
)
def test_wrong_sources_are_named(
    tmp_path: Path, declared: dict[str, Any], error: type[Exception], message: str
) -> None:
    """With what is wrong with them."""
    with pytest.raises(error, match=message):
        bank_template(tmp_path, **declared)


def test_no_thread_outlives_a_trial(tmp_path: Path) -> None:
    """It ends soon after it is closed, also where a client still is connected."""
    before = threading.active_count()
    with opened_bank(tmp_path) as (environment, _):
        host, port = environment.addresses[0]
        connection = socket.create_connection((host, port))
    with connection:
        wait_until(lambda: threading.active_count() <= before)


NAMES = st.sampled_from(["h1", "h2", "a b", "x.y", "ä"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
CHANGES = st.dictionaries(st.sampled_from(["credits", "holds", "log", "new"]), VALUES, max_size=3)


@pytest.fixture(scope="module")
def anything(tmp_path_factory: pytest.TempPathFactory) -> EnvironmentTemplate:
    """The bank, frozen."""
    return bank_template(tmp_path_factory.mktemp("bank"))


@given(changes=CHANGES)
@settings(
    max_examples=many(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_restored_service_is_as_frozen_and_changes_are_named_exactly(
    anything: EnvironmentTemplate, tmp_path: Path, changes: Mapping[str, Any]
) -> None:
    """Whatever an agent did to the service of the trial before."""
    with closing(anything.open(tmp_path)) as environment:
        before = service(environment).document()
        ask = Client(environment.variables["BANK_URL"])
        for name, value in changes.items():
            ask(f"PUT /any/{name}", value)
        after = {**before, **changes}

        assert environment.difference().names == sorted(_differing(before, after))
    with closing(anything.open(tmp_path)) as restored:
        assert restored.fingerprint() == anything.fingerprint()


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """Return what differs by a plain reading of two documents."""
    one, other = _plain(before), _plain(after)
    return {name for name in one | other if one.get(name, ...) != other.get(name, ...)}


def _plain(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the values and the items of collections, each as text."""
    found: dict[str, str] = {}
    for name, value in document.items():
        top = f"http:bank/$.{name}"
        if isinstance(value, dict):
            found[top] = "mapping"
            for key, item in value.items():
                shown = key if key.replace("ä", "a").isalnum() else f'"{key}"'
                found[f"{top}.{shown}"] = _text(item)
        elif isinstance(value, list):
            found[top] = "list"
            found |= {f"{top}[{i}]": _text(item) for i, item in enumerate(value)}
        else:
            found[top] = _text(value)
    return found


def _text(value: Any) -> str:
    """Return a value without the order of its keys."""
    if isinstance(value, dict):
        return str(sorted((key, _text(item)) for key, item in value.items()))
    return str([_text(item) for item in value]) if isinstance(value, list) else repr(value)
