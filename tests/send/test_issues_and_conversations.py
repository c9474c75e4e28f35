"""Issues of runs and scores of conversations, as destinations get them."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.queries.traces import land
from tests.scoring.job.lakes import TASKS, run
from tests.send.peers import Peer
from tests.send.test_send import query, send, specification, with_steps
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

CHAT = {"gen_ai__conversation__id": "chat"}


@pytest.fixture(scope="module")
def chatted_once(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A conversation of two runs, the second of which pays too early; a run whose call fails."""
    root = tmp_path_factory.mktemp("chats") / "lake"
    lake = Lake.create(root)
    fails = {"error__type": "lost", "error": True, "gen_ai__tool__call__result": "no Marlowe here"}
    runs = (run(1, "look", "pay", **CHAT), run(2, "pay", **CHAT))
    land(lake, *runs, with_steps(3, ("look", fails)))
    score(lake, specification(root, JUDGED))
    return lake


JUDGED = TASKS.replace("category: money", "category: money\n    success: {tool: look}")


@pytest.fixture
def chats(chatted_once: Lake, tmp_path: Path) -> Lake:
    """The same, which the test may change."""
    return Lake.open(shutil.copytree(chatted_once.root, tmp_path / "lake"))


def named(server: Peer, kind: str, metric: str) -> dict[str, Any]:
    """Return the rows or records of one metric, by trace, session or their number."""
    if kind == "otlp":
        texts = (
            {each.key: each.value for each in record.attributes} | {"trace": record.trace_id.hex()}
            for record in server.records
        )
        return {
            each["trace"] or each["gen_ai.conversation.id"].string_value: each
            for each in texts
            if each["gen_ai.evaluation.name"].string_value == metric
        }
    if kind == "mlflow":
        return {
            row["metadata"].get("mlflow.trace.session", trace.removeprefix("tr-")): row
            for (trace, _), row in server.rows.items()
            if row["assessment_name"] == metric or ("issue" in row and metric == "issue")
        }
    if kind == "datadog":
        return {
            row.get("session_id") or row["join_on"]["span"]["trace_id"]: row
            for row in server.records
            if row["label"] == metric
        }
    targets = ("trace_id", "session_id", "traceId", "sessionId")
    return {
        next(row[name] for name in targets if name in row): row
        for row in server.rows.values()
        if row["name"] == metric
    }


@pytest.mark.parametrize(
    "kind", slow_after(2, ["langfuse", "datadog", "phoenix", "otlp", "mlflow"])
)
def test_conversations_are_scores_of_sessions(chats: Lake, server: Peer, kind: str) -> None:
    """A conversation succeeds only if each of its runs does; other metrics are pooled."""
    options = ("--conversations", "--metric", "success", "--metric", "tsa")
    first, second = (send(chats, server, kind, *options) for _ in range(2))
    successes, picks = named(server, kind, "success"), named(server, kind, "tsa")

    assert (first.returncode, second.returncode) == (0, 0), first.stdout
    assert second.stdout.split()[:3] == ["0", "scores", "sent"]
    assert len(successes) == len(picks) == 4
    if kind == "langfuse":
        assert (successes["chat"]["value"], picks["chat"]["value"]) == (0.0, 0.75)
        assert picks["chat"]["comment"] == "3 of 4 decisions, in 2 runs"
        assert "traceId" not in picks["chat"]


def test_conversation_that_a_peer_lacks_waits(chats: Lake, server: Peer) -> None:
    """The scores of its runs are there."""
    server.unknown = {"chat"}
    ended = send(chats, server, "phoenix", "--conversations", "--metric", "tsa")

    assert ended.returncode == 3
    assert "waiting: unknown_session" in ended.stdout
    assert len(named(server, "phoenix", "tsa")) == 3


@pytest.mark.parametrize(
    "kind", slow_after(2, ["phoenix", "mlflow", "langfuse", "datadog", "otlp"])
)
def test_issues_are_named_on_their_runs(chats: Lake, server: Peer, kind: str) -> None:
    """With key and title; the key finds the issue, and no text of the trace is sent."""
    options = ("--issues", "--metric", "tsa")
    first, second = (send(chats, server, kind, *options) for _ in range(2))
    found = named(server, kind, "issue")
    shown = query(chats, "SELECT DISTINCT trajectory_id FROM issue_runs WHERE NOT success")

    assert (first.returncode, second.returncode) == (0, 0), first.stdout
    assert second.stdout.split()[:3] == ["0", "scores", "sent"]
    assert found.keys() == {trajectory[:32] for (trajectory,) in shown}
    assert not any(b"Marlowe" in body for _, body in server.received)
    if kind == "phoenix":
        row = found[f"{2:032x}"]
        key = row["metadata"]["tracegrade.evaluation.issue"]
        assert key in row["result"]["explanation"]
        assert row["result"]["score"] == 1.0
        assert tracegrade("issues", "show", key, "--lake", chats.root).returncode == 0


def test_mlflow_has_each_issue_once(chats: Lake, server: Peer) -> None:
    """Runs refer to an issue of their experiment; a muted one leaves the runs, not the list."""
    options = ("--issues", "--metric", "tsa")
    send(chats, server, "mlflow", *options)
    shown = query(chats, "SELECT DISTINCT issue FROM issue_runs WHERE NOT success")
    first = [row for row in server.rows.values() if "issue" in row]
    send(chats, server, "mlflow", *options, "--forget")
    again = [row for row in server.rows.values() if "issue" in row]
    key = first[0]["metadata"]["tracegrade.evaluation.issue"]
    tracegrade("issues", "mark", key, "--lake", chats.root, "--by", "ann", "--mute")
    assert send(chats, server, "mlflow", *options).returncode == 0
    left = [row for row in server.rows.values() if "issue" in row]

    names = {number: row["name"] for number, row in server.issues.items()}
    assert len(names) == len(shown) > 2  # more than a page of the list
    assert all(row["description"].endswith(f"tracegrade issue {row['description'][-12:]}")
               for row in server.issues.values())  # fmt: skip
    assert {row["assessment_name"]: row["issue"]["issue_name"] for row in first}.items() <= (
        names.items()
    )
    assert len(again) == len(first)
    assert key in {row["metadata"]["tracegrade.evaluation.issue"] for row in again}
    assert key not in {row["metadata"]["tracegrade.evaluation.issue"] for row in left}


def test_issue_that_a_run_no_longer_shows_is_taken_back(chats: Lake, server: Peer) -> None:
    """Its place says so; a muted issue is taken back as well. Content is quoted if asked for."""
    send(chats, server, "phoenix", "--issues", "--with-content", "--metric", "tsa")
    key = issues_of(server, 2)[0]["metadata"]["tracegrade.evaluation.issue"]
    quoted = [row["result"]["explanation"] for row in issues_of(server, 3)]
    rows = len(server.rows)
    tracegrade("issues", "mark", key, "--lake", chats.root, "--by", "ann", "--mute")
    ended = send(chats, server, "phoenix", "--issues", "--metric", "tsa")

    assert any("Marlowe" in each for each in quoted), quoted
    assert ended.returncode == 0
    assert "none" in {row["result"]["label"] for row in issues_of(server, 2)}
    assert len(server.rows) == rows


def issues_of(server: Peer, number: int) -> list[Any]:
    """Return the annotations of Phoenix that name issues of a run."""
    return [
        row
        for row in server.rows.values()
        if row["name"] == "issue" and row["trace_id"] == f"{number:032x}"
    ]
