"""A real collector whose lake is on an S3 server: outages, lost answers, all other commands."""

import io
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.collector.running import (
    PROTOBUF,
    Collector,
    collecting,
    log_body,
    trace_body,
    trace_request,
)
from tests.commands import Ended, tracegrade
from tests.lake.stores import BUCKET, SECRET, Reply, Store
from tests.queries.traces import agent, land, request_of
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeUnreachable
from tracegrade_queries.sql_command import Question, print_rows

TRACEGRADE = str(Path(sys.executable).with_name("tracegrade"))
EXPIRED = Reply(403, "ExpiredToken", f"The token {SECRET} has expired")
PUTS = [
    (r"_delta_log/\d+\.json", Reply(500, "InternalError")),
    (r"raw_spans/date", Reply(412, "PreconditionFailed")),
]


@pytest.fixture
def url(store: Store, request: pytest.FixtureRequest) -> str:
    """A lake that does not exist yet."""
    return f"s3://{BUCKET}/{re.sub('[^a-z_]', '-', request.node.name)}"


def at(url: str, state: Path) -> tuple[str, str]:
    """Return the flags for a lake and its state."""
    return f"--lake={url}", f"--state={state}"


def collector_on(url: str, state: Path) -> Collector:
    """Return a running collector that lands often."""
    return Collector(state, *at(url, state), land_every_secs=0.2, max_segment_age_secs=0.1)


def send(collector: Collector, *span_ids: int) -> None:
    """Send spans, which must be acknowledged."""
    assert collector.post("/v1/traces", trace_body(*span_ids), PROTOBUF).status == 200


def landed_ids(url: str, state: Path) -> list[int]:
    """Return the span ids in `raw_spans` as numbers, sorted."""
    lake = Lake.create(url, state)
    files = [lake.open_parquet("raw_spans", file.path) for file in lake.live_files("raw_spans")]
    return sorted(
        int(span_id, 16)
        for file in files
        for span_id in file.read(["span_id"])["span_id"].to_pylist()
    )


@pytest.mark.slow
def test_a_collector_lands_on_an_object_store(url: str, tmp_path: Path) -> None:
    """Its log is on this machine, its tables are not."""
    state = tmp_path / "state"
    collector = collector_on(url, state)
    send(collector, 1, 2)
    send(collector, 3)

    assert collector.stop() == 0
    assert landed_ids(url, state) == [1, 2, 3]
    assert list(state.glob("wal/*/*.wal"))
    assert not list(state.rglob("*.parquet"))


@pytest.mark.slow
@pytest.mark.parametrize("reply", [EXPIRED, None], ids=["expired", "down"])
def test_an_outage_is_waited_for(
    url: str, store: Store, tmp_path: Path, capfd: pytest.CaptureFixture[str], reply: Reply | None
) -> None:
    """Requests are accepted meanwhile, the store is asked ever less often, then all lands once."""
    said = ""

    def pauses() -> list[float]:
        nonlocal said
        said += capfd.readouterr().err
        return [float(secs) for secs in re.findall(r"cannot land \(again in ([0-9.]+) s\)", said)]

    with collecting(tmp_path, *at(url, tmp_path), land_every_secs=0.2) as collector:
        send(collector, 1)
        wait_until(lambda: landed_ids(url, tmp_path) == [1])
        outage = store.fault("*", "/", reply=reply, times=10**6)
        for span_id in (2, 3, 4):
            send(collector, span_id)
        wait_until(lambda: len(pauses()) == 3)
        asked = outage.hits
        store.heal()
        wait_until(lambda: landed_ids(url, tmp_path) == [1, 2, 3, 4])
        assert collector.stop() == 0

    assert pauses() == sorted(pauses())
    assert 0 < asked < 20 * len(pauses())
    assert re.search(r"cannot be reached: \w", said)
    assert SECRET not in said
    assert "AKIATEST" not in said


def test_a_collector_starts_while_the_store_is_down(
    url: str, store: Store, tmp_path: Path
) -> None:
    """What it needs to accept is on this machine; what has landed is not."""
    store.fault("*", "/", times=10**6)
    with collecting(tmp_path, *at(url, tmp_path), land_every_secs=0.2) as collector:
        send(collector, 1)
        store.heal()

        wait_until(lambda: landed_ids(url, tmp_path) == [1])
        assert collector.stop() == 0
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.slow
def test_lost_answers_and_refusals_double_nothing(url: str, store: Store, tmp_path: Path) -> None:
    """A PUT is applied and answered wrongly, or not applied at all, again and again."""
    collector = collector_on(url, tmp_path)
    for number in range(8):
        path, reply = PUTS[number % 2]
        fault = store.fault("PUT", path, applied=number % 3 > 0, reply=reply)
        send(collector, 2 * number + 1, 2 * number + 2)
        wait_until(fault.is_over)
    assert collector.stop() == 0

    assert landed_ids(url, tmp_path) == list(range(1, 17))


@pytest.mark.slow
def test_a_kill_between_put_and_commit_doubles_nothing(
    url: str, store: Store, tmp_path: Path
) -> None:
    """The next start finds its object, or leaves it and puts another."""
    collector = collector_on(url, tmp_path)
    killed = threading.Event()
    store.fault("PUT", r"_delta_log/\d+\.json", delay_secs=0.5, then=killed.set, applied=True)
    send(collector, 1, 2)
    assert killed.wait(PATIENCE_SECS)
    collector.kill()
    collector = collector_on(url, tmp_path)
    send(collector, 3)

    assert collector.stop() == 0
    assert landed_ids(url, tmp_path) == [1, 2, 3]


def test_a_store_without_conditions_ends_the_collector(
    url: str, store: Store, tmp_path: Path
) -> None:
    """It says so at once instead of losing commits later."""
    store.ignores_conditions = True
    command = [TRACEGRADE, "collect", "--lake", url, "--http=127.0.0.1:0", "--grpc=off"]
    ended = subprocess.run(
        [*command, f"--state={tmp_path}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )

    assert ended.returncode == 3
    assert "ignores If-None-Match" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_two_machines_share_a_lake(url: str, tmp_path: Path) -> None:
    """Each has its own state folder; commits that meet are repeated, none is lost or doubled."""
    states = [tmp_path / "one", tmp_path / "two"]
    collectors = [collector_on(url, state) for state in states]

    def load(number: int) -> None:
        for first in range(number * 1000 + 1, number * 1000 + 61, 3):
            send(collectors[number], first, first + 1, first + 2)
            time.sleep(0.1)

    threads = [threading.Thread(target=load, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [collector.stop() for collector in collectors] == [0, 0]
    assert landed_ids(url, tmp_path / "reader") == [*range(1, 61), *range(1001, 1061)]
    ids = [path.name for state in states for path in (state / "wal").glob("*/")]
    assert len(set(ids)) == 2


def agent_run() -> bytes:
    """Return a request with an agent's span and, below it, a tool's."""
    request = trace_request(1, 2)
    for key in ("service.name", "service.version"):
        request.resource_spans[0].resource.attributes.add(key=key).value.string_value = "1.0"
    root, tool = request.resource_spans[0].scope_spans[0].spans
    tool.parent_span_id = root.span_id
    for span, operation, name in (
        (root, "invoke_agent", "support"),
        (tool, "execute_tool", "find"),
    ):
        span.name = name
        span.attributes.add(key="gen_ai.operation.name").value.string_value = operation
        kind = "agent" if span is root else "tool"
        span.attributes.add(key=f"gen_ai.{kind}.name").value.string_value = name
    return request.SerializeToString()


def run(*arguments: str) -> Ended:
    """Run the command, which must succeed."""
    ended = tracegrade(*arguments)
    assert ended.returncode == 0, ended.stderr
    return ended


@pytest.mark.slow
def test_every_command_reads_and_writes_it(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, SQL, export, import, scores and report: as with a folder."""
    monkeypatch.setenv("TRACEGRADE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TRACEGRADE_LAKE", url)
    collector = collector_on(url, tmp_path / "state")
    assert collector.post("/v1/traces", agent_run(), PROTOBUF).status == 200
    assert collector.post("/v1/logs", log_body("hello"), PROTOBUF).status == 200
    assert collector.stop() == 0
    otlp = tmp_path / "spans.jsonl"

    listed = run("lake", "files", "--table", "spans").stdout.splitlines()
    assert [file.startswith(f"{url}/raw_spans/date=") for file in listed] == [True] * len(listed)
    counted = run("sql", "SELECT count(*) AS spans, max(name) AS name FROM spans", "--format=json")
    assert json.loads(counted.stdout) == [{"spans": 2, "name": "support"}]
    assert "pyarrow" in counted.stderr
    run("export", "--to=otlp-json", "--out", str(otlp))
    again = run("import", str(otlp)).stderr
    assert "spans: 0 added, 2 were in the lake already" in again
    run("score")
    run("score", "--full")
    scored = run("sql", "SELECT count(*) AS scored FROM trajectory_scores", "--format=json")
    assert json.loads(scored.stdout) == [{"scored": 1}]
    report = json.loads(run("report", "--format=json").stdout)
    assert len(report["releases"]) == 1


class _Outage(io.BytesIO):
    """A query to be read, after which the store is down."""

    def __init__(self, store: Store) -> None:
        super().__init__(b"SELECT max(name) FROM spans")
        self._store = store

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the query."""
        self._store.fault("*", "/", times=10**6)
        return super().read(size)


def test_an_outage_during_a_query_is_no_mistake_in_it(
    url: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_patience: None
) -> None:
    """The error names the lake, and its exit code says that trying again may help."""
    monkeypatch.setenv("TRACEGRADE_STATE", str(tmp_path))
    land(Lake.create(url, tmp_path), request_of([agent(1)]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(_Outage(store)))

    with pytest.raises(LakeUnreachable, match="cannot be reached") as failed:
        print_rows(Question("-", None), lake=url)
    assert failed.value.exit_code == 3


def test_sql_reaches_nothing_but_the_tables(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither files of this machine nor other objects."""
    monkeypatch.setenv("TRACEGRADE_STATE", str(tmp_path))
    land(Lake.create(url, tmp_path), request_of([agent(1)]))
    (tmp_path / "file").write_text("of this machine")
    for text in (
        f"SELECT * FROM read_text('{tmp_path}/**')",
        f"SELECT * FROM read_parquet('{url}/raw_spans/**')",
        "SELECT * FROM read_csv('/etc/passwd')",
    ):
        ended = tracegrade("sql", text, "--lake", url)
        assert ended.returncode != 0
        assert not ended.stdout
