"""Alerts that leave: what is sent, that no change is lost, and that secrets stay secret."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.send.peers import Peer, peer
from tests.watch.test_stored import ALERTS, BLANK

from tracegrade_lake import Lake
from tracegrade_watch.alert import Alert, Evidence
from tracegrade_watch.errors import WatchRefused
from tracegrade_watch.notify.declared import (
    KEYS,
    DeclaredDestination,
    declared_destinations,
    opened,
)
from tracegrade_watch.notify.payloads import MOST_BYTES, NotifyContext, payloads
from tracegrade_watch.notify.run import NotifyFault, notify
from tracegrade_watch.stored import read_alerts, write_alerts

PAGE = "https://tracegrade.example.com"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SENTENCE = "37 of 400 failed, before 12 of 560"
FALL = replace(
    BLANK,
    agent_name="support",
    run_mode="production",
    metric="success",
    base="1.3",
    candidate="1.4",
    evidence=Evidence(
        SENTENCE, "{id: success}", "a release without it", run_ids=("a" * 32, "b/c")
    ),
)
ENTRIES = {
    "slack": {"slack": "env:HOOK"},
    "webhook": {"webhook": "env:HOOK", "token": "env:TOKEN"},
    "alertmanager": {"alertmanager": "env:SERVER", "token": "env:TOKEN"},
    "github_dispatch": {"github_dispatch": "owner/name", "token": "env:TOKEN"},
}


@pytest.fixture
def server() -> Iterator[Peer]:
    """A server that accepts all."""
    with peer() as found:
        found.answer_first = lambda _: (200, {})
        yield found


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with one firing alert."""
    found = Lake.create(tmp_path / "lake")
    write_alerts(found, [FALL])
    return found


def send(lake: Lake, server: Peer, kind: str) -> list[NotifyFault]:
    """Notify one destination."""
    variables = {
        "HOOK": f"{server.url}/hook-secret",
        "SERVER": server.url,
        "TOKEN": "token-secret",
    }
    entry = dict(ENTRIES[kind])
    if kind == "github_dispatch":
        entry["endpoint"] = server.url
    destinations = [opened(each, variables) for each in declared_destinations([entry])]
    return notify(lake, destinations, PAGE)


def bodies(server: Peer) -> list[Any]:
    """Return the bodies that arrived."""
    return [json.loads(body) for _, body in server.received]


@pytest.mark.parametrize("kind", [kind for kind in ENTRIES if kind != "alertmanager"])
def test_each_change_is_sent_once(lake: Lake, server: Peer, kind: str) -> None:
    """Firing and resolved, each with its evidence; a second run sends and writes nothing."""
    send(lake, server, kind)
    version = lake.version("alerts")
    send(lake, server, kind)
    (fired,) = bodies(server)
    assert lake.version("alerts") == version
    write_alerts(lake, [replace(each, state="resolved") for each in read_alerts(lake)])
    send(lake, server, kind)
    send(lake, server, kind)

    assert SENTENCE in json.dumps(fired)
    assert "firing" in json.dumps(fired)
    assert [("resolved" in json.dumps(body)) for body in bodies(server)] == [False, True]
    assert f"{PAGE}/runs/b%2Fc" in json.dumps(fired)


def test_a_new_alert_that_resolved_or_is_acknowledged_is_not_sent(
    lake: Lake, server: Peer
) -> None:
    """The destination never received that it fires."""
    other = replace(FALL, alert_id="1" * 12, state="acknowledged")
    write_alerts(lake, [replace(FALL, state="resolved"), other])

    assert [send(lake, server, kind) for kind in ENTRIES] == [[], [], [], []]
    assert server.requests == 0


def test_an_acknowledged_alert_stays_active_in_alertmanager(lake: Lake, server: Peer) -> None:
    """It would end there by itself; its end is sent once, and other kinds receive nothing more."""
    for kind in ("alertmanager", "webhook"):
        send(lake, server, kind)
    for state in ("acknowledged", "resolved"):
        write_alerts(lake, [replace(each, state=state) for each in read_alerts(lake)])
        send(lake, server, "alertmanager")
        if state == "acknowledged":
            send(lake, server, "webhook")
            assert server.requests == 3
    send(lake, server, "alertmanager")
    (fired,), _, (known,), (end,) = bodies(server)

    assert known["labels"] == fired["labels"]
    now = datetime.now(UTC)
    assert datetime.fromisoformat(known["endsAt"]) > now > datetime.fromisoformat(end["endsAt"])


def test_alertmanager_is_reminded_by_labels_that_do_not_change(lake: Lake, server: Peer) -> None:
    """It receives a firing alert with each run, though nothing is written; then its end."""
    send(lake, server, "alertmanager")
    version = lake.version("alerts")
    send(lake, server, "alertmanager")
    assert lake.version("alerts") == version
    write_alerts(lake, [replace(each, state="resolved") for each in read_alerts(lake)])
    send(lake, server, "alertmanager")
    send(lake, server, "alertmanager")
    (first,), (again,), (end,) = bodies(server)

    assert [path for path, _ in server.received] == ["/api/v2/alerts"] * 3
    assert server.authorization == "Bearer token-secret"
    assert first["labels"] == again["labels"] == end["labels"]
    assert first["labels"]["alertname"] == "tracegrade"
    assert first["generatorURL"] == f"{PAGE}/alerts/{FALL.alert_id}"
    assert first["annotations"]["description"] == SENTENCE
    assert datetime.fromisoformat(first["startsAt"]) <= datetime.now(UTC)
    assert datetime.fromisoformat(first["endsAt"]) > datetime.now(UTC)
    assert datetime.fromisoformat(end["endsAt"]) <= datetime.now(UTC)


@pytest.mark.parametrize("kind", ENTRIES)
def test_what_was_not_accepted_is_sent_by_the_next_run(
    lake: Lake, server: Peer, kind: str
) -> None:
    """The row has why; no secret is in it or in the fault, also where the answer repeats it."""
    write_alerts(lake, [FALL, replace(FALL, alert_id="1" * 12)])
    secrets = {"slack": b"hook-secret", "webhook": b"hook-secret token-secret"}
    server.answer_first = lambda _: (403, secrets.get(kind, b"token-secret"))
    (fault,) = send(lake, server, kind)
    refused = server.requests
    notes = [note for alert in read_alerts(lake) for note in alert.notified.values()]
    stored = b"".join(file.read_bytes() for file in (lake.root / "alerts").rglob("*.parquet"))
    server.answer_first = lambda _: (204, b"")
    again = send(lake, server, kind)

    assert refused == 1
    assert fault.alerts == 2
    assert "status 403" in fault.fault
    assert len(notes) == 2
    assert b"-secret" not in stored
    assert "-secret" not in "".join((*notes, fault.destination, fault.fault))
    assert again == []
    assert {note for alert in read_alerts(lake) for note in alert.notified.values()} == {"firing"}


def test_one_refused_body_keeps_no_other_alert(lake: Lake, server: Peer) -> None:
    """A status that is about one body stops nothing else."""
    write_alerts(lake, [FALL, replace(FALL, alert_id="1" * 12)])
    answers = iter([(400, b""), (200, b"")])
    server.answer_first = lambda _: next(answers)
    (fault,) = send(lake, server, "webhook")

    assert fault.alerts == 1
    assert sorted(each.notified["webhook env:HOOK"] for each in read_alerts(lake)) == [
        "firing",
        "not sent; status 400",
    ]


def test_a_server_that_fails_is_asked_three_times(lake: Lake, server: Peer) -> None:
    """A redirect is not followed, whatever is at its end."""
    server.answer_first = lambda _: (503, b"")
    (busy,) = send(lake, server, "slack")
    asked = server.requests
    server.answer_first, server.headers = (lambda _: (302, b"")), {"Location": server.url}
    (moved,) = send(lake, server, "slack")

    assert asked == 3
    assert "status 503" in busy.fault
    assert server.requests == 4
    assert "it redirects" in moved.fault


def test_a_killed_run_leaves_one_row_and_at_least_one_message(lake: Lake, server: Peer) -> None:
    """The process is killed after the request and before its answer; another run finishes."""
    processes: list[subprocess.Popen[bytes]] = []
    server.on_request = lambda _: processes[-1].send_signal(signal.SIGKILL)
    code = (
        "import sys; from tests.watch.test_notify import Lake, Path, Peer, send; "
        "send(Lake.open(Path(sys.argv[1])), Peer(sys.argv[2]), 'slack')"
    )
    command = [sys.executable, "-c", code, str(lake.root), server.url]
    processes.append(subprocess.Popen(command, env=os.environ))

    assert processes[-1].wait() == -signal.SIGKILL
    assert [alert.notified for alert in read_alerts(lake)] == [{}]
    server.on_request = lambda _: None
    assert send(lake, server, "slack") == []
    assert [alert.notified for alert in read_alerts(lake)] == [{"slack env:HOOK": "firing"}]
    assert server.requests == 2


def test_words_of_traces_leave_only_where_they_are_wanted(lake: Lake, server: Peer) -> None:
    """The title of an issue, say."""
    evidence = replace(FALL.evidence, content="disk of ann is full")
    write_alerts(lake, [replace(FALL, evidence=evidence)])
    for kind in ENTRIES:
        send(lake, server, kind)
    without = [body for _, body in server.received]
    server.received.clear()
    entry = {**ENTRIES["webhook"], "webhook": "env:HOOK", "with_content": True}
    write_alerts(lake, [replace(FALL, evidence=evidence)])
    (declared,) = declared_destinations([entry])
    variables = {"HOOK": f"{server.url}/hook", "TOKEN": "token"}
    notify(lake, [opened(declared, variables)], PAGE)
    ((_, wanted),) = server.received

    assert len(without) == 4
    assert not any(b"disk of ann" in body for body in without)
    assert b"disk of ann is full" in wanted


@settings(max_examples=60)
@given(alert=ALERTS)
def test_bodies_are_short_visible_and_no_markup(alert: Alert) -> None:
    """Any names, and many of them: no mention, no link of a name, nothing that acts."""
    evidence = alert.evidence
    long = replace(
        alert,
        state="firing",
        rule=f"<!channel>\u202e{alert.rule}" * 50,
        evidence=replace(
            evidence,
            statement="<https://x.example|y>\x1b[2J" + evidence.statement * 900,
            rule_text="\U0001f600" * 5_000,
            tasks=evidence.tasks * 50,
            days=evidence.days * 500,
        ),
    )
    for kind in KEYS:
        declared = DeclaredDestination(kind, "env:X")
        for payload in payloads(declared, [long] * 9, NotifyContext(PAGE, NOW)):
            text = payload.body.decode()
            assert len(payload.body) <= MOST_BYTES
            assert text.isprintable()
            json.loads(text, parse_constant=pytest.fail)
            if kind == "slack":
                slack = json.loads(text)
                assert "<!" not in slack["text"]
                assert "<https" not in slack["text"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"slak": "env:X"}, "did you mean 'slack'"),
        ("slack", "names one destination"),
        ({"slack": "https://hooks.slack.com/services/T/B/x"}, "must be env:NAME or file:PATH"),
        ({"slack": "env:HOOK", "channel": "a"}, "has no key 'channel'"),
        ({"slack": "env:NONE"}, "NONE is not set"),
        ({"webhook": "file:/nowhere"}, "cannot be read"),
        ({"webhook": "env:PLAIN"}, "is not encrypted"),
        ({"webhook": "env:NO_URL"}, "is no URL"),
        ({"webhook": "env:HOOK", "token": "abc"}, "the token of webhook must be"),
        ({"alertmanager": "http://am:9093"}, "use https"),
        ({"alertmanager": "https://a:b@am"}, "has credentials"),
        ({"alertmanager": "https://am", "every_hours": 0}, "every_hours must be"),
        ({"github_dispatch": "../..", "token": "env:HOOK"}, "OWNER/REPOSITORY"),
        ({"github_dispatch": "a/b"}, "OWNER/REPOSITORY"),
    ],
)
def test_entries_that_cannot_be_used_are_named(entry: Any, words: str) -> None:
    """In one line, which has no secret."""
    variables = {"HOOK": "https://h.example", "PLAIN": "http://plain-secret", "NO_URL": "secret"}
    with pytest.raises(WatchRefused) as refused:
        [opened(each, variables) for each in declared_destinations([entry])]

    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "plain-secret" not in str(refused.value)


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    """The line end of an editor does not count."""
    (tmp_path / "hook").write_text("https://hooks.example/x\n")
    (declared,) = declared_destinations([{"slack": f"file:{tmp_path / 'hook'}"}])

    assert opened(declared, {}).url == "https://hooks.example/x"
