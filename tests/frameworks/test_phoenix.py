"""Scores in a real Phoenix: there once, replaced when they change, and waiting for their traces.

Needs the environment that `make test-frameworks` makes; skips without it.
"""

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.collector.clients import own_port
from tests.commands import tracegrade
from tests.queries.traces import land, rows
from tests.scoring.job.lakes import TASKS, run
from tests.send.test_send import with_steps
from tests.waiting import wait_until

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification

from .test_frameworks import ENVIRONMENTS

PHOENIX = ENVIRONMENTS / "phoenix" / "bin" / "phoenix"
METRICS = ("--metric", "tsa", "--metric", "tool_correctness")

pytestmark = pytest.mark.skipif(
    not PHOENIX.exists(), reason="`make test-frameworks` makes the environment phoenix"
)


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server."""
    port = own_port()
    options = {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(own_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_WORKING_DIR": str(tmp_path_factory.mktemp("phoenix")),
    }
    log = tmp_path_factory.mktemp("log") / "phoenix.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [PHOENIX, "serve"], env=os.environ | options, stdout=file, stderr=file
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(url))
        yield url
    finally:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    """Return whether the server is ready."""
    try:
        return bool(got(url, "/v1/projects"))
    except OSError:
        return False


def got(url: str, path: str) -> Any:
    """Return what an address of the server has."""
    with urllib.request.urlopen(url + path) as answer:  # noqa: S310 - on loopback
        return json.load(answer)


def annotations(url: str, traces: list[str]) -> dict[tuple[str, str], float]:
    """Return the scores that the server has, by trace and metric; each must be there once."""
    query = "&".join(f"trace_ids={trace}" for trace in traces)
    found = got(url, f"/v1/projects/default/trace_annotations?{query}&limit=1000")["data"]
    scores = {(row["trace_id"], row["name"]): row["result"]["score"] for row in found}
    assert len(scores) == len(found)
    return scores


def test_phoenix_has_steps_on_their_spans(phoenix: str, tmp_path: Path) -> None:
    """Each decision once, in any order of sending; computed again, it is replaced."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, *(with_steps(number, ("look", {}), ("pay", {})) for number in range(11, 14)))
    (tmp_path / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    score(lake, usable_specification(tmp_path / "tasks.yaml")[0])
    traces = [row["trace_id"] for row in rows(lake, "FROM trajectories ORDER BY trace_id")]
    spans = [row["span_id"] for row in rows(lake, "FROM spans WHERE parent_span_id IS NOT NULL")]
    send = ("send", "--lake", lake.root, "--to", "phoenix", "--endpoint", phoenix, "--evidence")
    tracegrade("export", "--lake", lake.root, "--to", "otlp-endpoint", "--endpoint", phoenix)
    wait_until(lambda: all_known(phoenix, traces))
    first, second = tracegrade(*send), tracegrade(*send)
    before = steps(phoenix, spans)
    changed = TASKS.replace("tool: look}, ", "tool: pay}, ")
    (tmp_path / "tasks.yaml").write_text(f"version: 1\n{changed}")
    score(lake, usable_specification(tmp_path / "tasks.yaml")[0])
    again = tracegrade(*send)

    assert [each.returncode for each in (first, second, again)] == [0, 0, 0], first.stdout
    assert second.stdout.split()[:3] == ["0", "scores", "sent"]
    assert before.keys() == {*spans}
    assert {*before.values()} == {1.0}
    after = steps(phoenix, spans)
    assert after.keys() == before.keys()
    assert {*after.values()} == {0.0, 1.0}


def steps(url: str, spans: list[str]) -> dict[str, float]:
    """Return the score of each decision that the server has, by span; each must be there once."""
    query = "&".join(f"span_ids={span}" for span in spans)
    found = got(url, f"/v1/projects/default/span_annotations?{query}&limit=1000")["data"]
    scores = {row["span_id"]: row["result"]["score"] for row in found}
    assert len(scores) == len(found)
    assert {row["name"] for row in found} == {"decision_correct"}
    return scores


def test_phoenix_has_each_score_once(phoenix: str, tmp_path: Path) -> None:
    """Sent before their traces, they wait; sent twice, they are one; computed again, replaced."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, *(run(number, "look", "pay") for number in range(1, 4)), run(4, "pay"))
    (tmp_path / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    score(lake, usable_specification(tmp_path / "tasks.yaml")[0])
    traces = [row["trace_id"] for row in rows(lake, "FROM trajectories ORDER BY trace_id")]
    send = ("send", "--lake", lake.root, "--to", "phoenix", "--endpoint", phoenix, *METRICS)

    early = tracegrade(*send)
    to = ("--to", "otlp-endpoint", "--endpoint", phoenix)
    exported = tracegrade("export", "--lake", lake.root, *to)
    wait_until(lambda: all_known(phoenix, traces))
    first, second = tracegrade(*send), tracegrade(*send)
    before = annotations(phoenix, traces)
    (tmp_path / "tasks.yaml").write_text(
        f"version: 1\n{TASKS}".replace("tool: look}, ", "tool: pay}, ")
    )
    score(lake, usable_specification(tmp_path / "tasks.yaml")[0])
    again = tracegrade(*send)

    assert (early.returncode, exported.returncode) == (3, 0)
    assert "waiting: unknown_trace" in early.stdout
    assert (first.returncode, second.returncode, again.returncode) == (0, 0, 0)
    assert second.stdout.split() == ["0", "scores", "sent", "to", phoenix]
    assert len(before) == 8
    assert {before[trace, "tsa"] for trace in traces[:3]} == {1.0}
    assert annotations(phoenix, traces).keys() == before.keys()
    assert annotations(phoenix, traces)[traces[0], "tsa"] != 1.0


def test_phoenix_has_issues_and_sessions(phoenix: str, tmp_path: Path) -> None:
    """The issues of a run stand beside one another; a session has the scores of its runs."""
    lake = Lake.create(tmp_path / "lake")
    session = {"session__id": "chat", "gen_ai__conversation__id": "chat"}
    land(lake, run(21, "look", "pay", **session), run(22, **session))
    (tmp_path / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    score(lake, usable_specification(tmp_path / "tasks.yaml")[0])
    traces = [row["trace_id"] for row in rows(lake, "FROM trajectories ORDER BY trace_id")]
    tracegrade("export", "--lake", lake.root, "--to", "otlp-endpoint", "--endpoint", phoenix)
    wait_until(lambda: all_known(phoenix, traces))
    options = ("--issues", "--conversations", *METRICS)
    send = ("send", "--lake", lake.root, "--to", "phoenix", "--endpoint", phoenix, *options)
    first, second = tracegrade(*send), tracegrade(*send)

    assert [each.returncode for each in (first, second)] == [0, 0], first.stdout
    assert second.stdout.split()[:3] == ["0", "scores", "sent"]
    path = "/v1/projects/default/{}_annotations?limit=1000&{}"
    of_runs = got(phoenix, path.format("trace", f"trace_ids={traces[1]}"))["data"]
    keys = [
        row["metadata"]["tracegrade.evaluation.issue"] for row in of_runs if row["name"] == "issue"
    ]
    assert len({*keys}) == len(keys) > 1
    of_chat = got(phoenix, path.format("session", "session_ids=chat"))["data"]
    assert {row["name"]: row["result"]["score"] for row in of_chat}["tsa"] == 0.5


def all_known(url: str, traces: list[str]) -> bool:
    """Return whether the server has stored the traces, which it does a little later."""
    try:
        found = got(url, "/v1/projects/default/traces?limit=100")["data"]
    except urllib.error.HTTPError:
        return False
    return {row["trace_id"] for row in found} >= set(traces)
