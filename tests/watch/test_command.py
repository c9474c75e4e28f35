"""The command `tracegrade watch` with what leaves it: messages, files, and its exit code."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.commands import Ended, tracegrade
from tests.send.peers import Peer, peer
from tests.watch.exposition import parse
from tests.watch.lakes import release_days, scored_lake

from tracegrade_lake import Lake
from tracegrade_watch.stored import read_alerts

RULES = """
version: 1
explorer: https://tracegrade.example.com/
watch:
  - {id: success, metric: success, smallest: 0.05}
  - {id: cost, metric: cost_usd_per_run, day_above: 0.50}
notify:
  - {slack: "env:WATCH_HOOK"}
"""


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake whose second release is much worse."""
    days = [*release_days("1.0", 0, 6, 18, 2), *release_days("1.1", 6, 5, 8, 12)]
    return scored_lake(tmp_path_factory.mktemp("command") / "worse", days)


@pytest.fixture
def lake(scored: Lake, tmp_path: Path) -> Lake:
    """A copy of it with rules in a file next to it."""
    (tmp_path / "watch.yaml").write_text(RULES)
    return Lake.open(shutil.copytree(scored.root, tmp_path / "lake"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    """A server that accepts messages, and its address in the environment."""
    with peer() as found:
        found.answer_first = lambda _: (200, {})
        monkeypatch.setenv("WATCH_HOOK", f"{found.url}/hook-secret")
        yield found


def watch(lake: Lake, *options: object) -> Ended:
    """Run the command to its end."""
    rules = lake.root.with_name("watch.yaml")
    return tracegrade("watch", "--lake", lake.root, "--rules", rules, *options)


def test_message_is_sent_once(lake: Lake, server: Peer) -> None:
    """With the evidence and three runs; the second run sends nothing, and changes no byte."""
    first = watch(lake)
    files = {path: path.read_bytes() for path in lake.root.rglob("*") if path.is_file()}
    second = tracegrade("watch", "--lake", lake.root)
    (path, body), *others = server.received
    message = body.decode()

    assert (first.returncode, second.returncode) == (1, 1)
    assert path == "/hook-secret"
    assert others == []
    assert "60 of 100 runs failed" in message
    assert message.count("https://tracegrade.example.com/runs/") == 3
    assert {path: path.read_bytes() for path in lake.root.rglob("*") if path.is_file()} == files
    assert not any(b"hook-secret" in content for content in files.values())
    assert "hook-secret" not in first.stdout + first.stderr


def test_destination_that_is_down_ends_with_3_until_it_has_all(lake: Lake, server: Peer) -> None:
    """The row is there; the next run sends."""
    server.answer_first = lambda _: (403, b"no")
    down = watch(lake)
    (alert,) = read_alerts(lake)
    server.answer_first = lambda _: (200, b"ok")
    up = watch(lake)
    (sent,) = read_alerts(lake)

    assert (down.returncode, up.returncode) == (3, 1)
    assert "slack env:WATCH_HOOK did not accept 1 alert: status 403 no" in down.stderr
    assert alert.notified == {"slack env:WATCH_HOOK": "not sent; status 403 no"}
    assert sent.notified == {"slack env:WATCH_HOOK": "firing"}


def test_killed_between_row_and_message(lake: Lake, server: Peer) -> None:
    """Exactly one row, and at least one message."""
    processes: list[subprocess.Popen[bytes]] = []
    server.on_request = lambda _: processes[-1].send_signal(signal.SIGKILL)
    command = [sys.executable, "-m", "tracegrade", "watch", "--lake", str(lake.root)]
    rules = ["--rules", str(lake.root.with_name("watch.yaml"))]
    processes.append(subprocess.Popen([*command, *rules], env=os.environ))
    assert processes[-1].wait() == -signal.SIGKILL
    assert [alert.notified for alert in read_alerts(lake)] == [{}]
    server.on_request = lambda _: None
    watch(lake)

    assert [dict(alert.notified) for alert in read_alerts(lake)] == [
        {"slack env:WATCH_HOOK": "firing"}
    ]
    assert server.requests == 2


def test_secret_in_the_file_is_refused_and_not_stored(lake: Lake, server: Peer) -> None:
    """Nothing is watched, and nothing of the file is in the lake."""
    rules = lake.root.with_name("watch.yaml")
    rules.write_text(RULES.replace("env:WATCH_HOOK", f"{server.url}/hook-secret"))
    ended = watch(lake)

    assert ended.returncode == 2
    assert "must be env:NAME or file:PATH" in ended.stderr
    assert "hook-secret" not in ended.stderr
    assert {"alerts", "watch_rules"}.isdisjoint(lake.tables())


def test_each_format_and_the_file_of_metrics(
    lake: Lake, server: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON, JUnit XML, annotations with a summary, and metrics that others may read."""
    summary, metrics = tmp_path / "summary.md", tmp_path / "tracegrade.prom"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    summary.write_text("before\n")
    found = {name: watch(lake, "--format", name, "--prometheus", metrics)
             for name in ("json", "junit", "github")}  # fmt: skip
    ratios = [
        each for each in parse(metrics.read_text()) if each.name == "tracegrade_evidence_ratio"
    ]

    assert {ended.returncode for ended in found.values()} == {1}
    (alert,) = json.loads(found["json"].stdout)["alerts"]
    assert alert["notified"] == {"slack env:WATCH_HOOK": "firing"}
    assert 'failures="1"' in found["junit"].stdout
    assert found["github"].stdout.startswith("::error title=firing%3A success")
    assert summary.read_text().startswith("before\n## tracegrade watch\n")
    assert stat.S_IMODE(metrics.stat().st_mode) == 0o644
    assert [each.labels["rule"] for each in ratios] == ["success"]
    assert ratios[0].value > 1
