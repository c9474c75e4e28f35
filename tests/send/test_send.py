"""Scores that leave: what is sent, that nothing is lost or doubled, and that keys stay secret."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Ended, tracegrade
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.job.lakes import TASKS, child, run, tables
from tests.send.conftest import KEYS
from tests.send.peers import Peer
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import MAIN_METRICS
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.specification import usable_specification
from tracegrade_send.run import FEW_METRICS

RUNS = 30
PROJECT = {"datadog": ("--project", "shop")}
"""Options that a kind of destination needs."""
SENT = f"FROM scores WHERE metric IN {MAIN_METRICS} AND status <> 'not_applicable' "


@pytest.fixture(scope="module")
def scored_once(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Runs of one task; the last one has a sub-agent."""
    root = tmp_path_factory.mktemp("send") / "lake"
    lake = Lake.create(root)
    tools = (("look", "pay"), ("pay",), ("look",) * 5)
    land(lake, *(run(number, *tools[number % 3]) for number in range(1, RUNS)), child(RUNS))
    score(lake, specification(root))
    return lake


@pytest.fixture
def lake(scored_once: Lake, tmp_path: Path) -> Lake:
    """Scored runs, which the test may change."""
    return Lake.open(shutil.copytree(scored_once.root, tmp_path / "lake"))


def specification(root: Path, tasks: str = TASKS) -> Specification:
    """Return tasks as a file has them."""
    (root / "tasks.yaml").write_text(f"version: 1\n{tasks}")
    return usable_specification(root / "tasks.yaml")[0]


def send(lake: Lake, server: Peer, kind: str, *options: object) -> Ended:
    """Run the command to its end."""
    where = ("--lake", lake.root, "--to", kind, "--endpoint", server.url)
    return tracegrade("send", *where, *PROJECT.get(kind, ()), *options)


def query(lake: Lake, sql: str) -> list[Any]:
    """Return rows of a lake's scores."""
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql(sql).fetchall()


def expected(lake: Lake, kind: str = "") -> dict[tuple[str, str], float | None]:
    """Return the main scores of the lake's attempts that a kind gets, by trace and metric."""
    chosen = FEW_METRICS.get(kind, MAIN_METRICS)
    rows = query(
        lake,
        f"SELECT trace_id, metric, value FROM (SELECT * {SENT}) "
        "JOIN trajectories USING (trajectory_id) WHERE parent_trajectory_id IS NULL",
    )
    return {(trace, metric): value for trace, metric, value in rows if metric in chosen}


STEP_METRICS = {"decision_correct", "call_recovered"}


def _texts(row: dict[str, Any]) -> list[str]:
    return [value for value in row.values() if isinstance(value, str)]


def has(server: Peer, kind: str) -> dict[tuple[str, str], float | None]:
    """Return the main scores that a peer has, by trace and metric."""
    if kind == "otlp":
        return {
            (record.trace_id.hex(), texts["gen_ai.evaluation.name"].string_value): (
                texts["gen_ai.evaluation.score.value"].double_value
                if "gen_ai.evaluation.score.value" in texts
                else None
            )
            for record in server.records
            for texts in [{each.key: each.value for each in record.attributes}]
            if texts["gen_ai.evaluation.name"].string_value in MAIN_METRICS
        }
    if kind == "datadog":
        return {
            (row["join_on"]["span"]["trace_id"], row["label"]): row.get("score_value")
            for row in server.records
            if row["label"] in MAIN_METRICS
        }
    rows = [row for row in server.rows.values() if not STEP_METRICS & {*_texts(row)}]
    if kind == "phoenix":
        found = {(row["trace_id"], row["name"]): row["result"].get("score") for row in rows}
    elif kind == "mlflow":
        assert len({row["metadata"]["tracegrade.evaluation.key"] for row in rows}) == len(rows)
        found = {
            (trace.removeprefix("tr-"), row["assessment_name"]): row["feedback"].get("value")
            for (trace, _), row in server.rows.items()
            if row in rows
        }
    else:
        found = {(row["traceId"], row["name"]): row["value"] for row in rows}
    return {key: value for key, value in found.items() if key[1] in MAIN_METRICS}


@pytest.mark.parametrize(
    "kind", slow_after(4, ["otlp", "phoenix", "mlflow", "datadog", "langfuse"])
)
def test_a_peer_has_each_score_once(lake: Lake, server: Peer, kind: str) -> None:
    """Its scores are the lake's; the second run sends nothing; the sub-agent's run is not sent."""
    first = send(lake, server, kind)
    requests = server.requests
    second = send(lake, server, kind)

    refused = {key for key, value in expected(lake).items() if value is None}
    assert has(server, kind) == {
        key: value
        for key, value in expected(lake, kind).items()
        if kind != "langfuse" or key not in refused
    }
    assert first.returncode == (3 if kind == "langfuse" and refused else 0)
    assert second.returncode == 0
    assert server.requests == requests > 0


def test_a_score_that_is_computed_again_replaces_the_one_before(lake: Lake, server: Peer) -> None:
    """Also on another day, with another task file; scores that stayed are sent again with it."""
    for kind in ("phoenix", "langfuse", "mlflow"):
        send(lake, server, kind)
        before = len(server.rows)
        score(lake, specification(lake.root, TASKS.replace("find, tool: look", "find, tool: pay")))
        send(lake, server, kind)
        found = {key: value for key, value in expected(lake, kind).items() if value is not None}
        assert has(server, kind).items() >= found.items()
        assert len(server.rows) == before
        server.rows.clear()


def steps_of(server: Peer, kind: str) -> dict[tuple[str, str], tuple[float, str, str]]:
    """Return value, label and explanation of each step that a peer has, by span and metric."""
    if kind == "otlp":
        return dict(_otlp_steps(server))
    if kind == "datadog":
        return dict(_datadog_steps(server))
    rows = [row for row in server.rows.values() if STEP_METRICS & {*_texts(row)}]
    if kind == "phoenix":
        return {
            (row["span_id"], row["name"]): tuple(
                row["result"][name] for name in ("score", "label", "explanation")
            )
            for row in rows
        }
    if kind == "mlflow":
        return {
            (row["span_id"], row["assessment_name"]): (
                row["feedback"]["value"], row["metadata"]["label"], row["rationale"]
            )
            for row in rows
        }  # fmt: skip
    return {
        (row["observationId"], row["name"]): (
            row["value"], row["metadata"]["label"], row["comment"]
        )
        for row in rows
    }  # fmt: skip


def _otlp_steps(server: Peer) -> Iterator[tuple[tuple[str, str], tuple[float, str, str]]]:
    for record in server.records:
        texts = {each.key.rpartition("evaluation.")[2]: each.value for each in record.attributes}
        if (name := texts["name"].string_value) in STEP_METRICS:
            yield (
                (record.span_id.hex(), name),
                (
                    texts["score.value"].double_value,
                    texts["score.label"].string_value,
                    texts["explanation"].string_value,
                ),
            )


def _datadog_steps(server: Peer) -> Iterator[tuple[tuple[str, str], tuple[float, str, str]]]:
    for row in server.records:
        if row["label"] in STEP_METRICS:
            tags = dict(tag.split(":", 1) for tag in row["tags"])
            span = f"{int(row['join_on']['span']['span_id']):016x}"
            label = tags["tracegrade.evaluation.label"]
            yield (span, row["label"]), (row["score_value"], label, row["reasoning"])


STEPS = """
SELECT span_id, 'decision_correct', correct::DOUBLE, CASE
  WHEN correct THEN 'correct'
  WHEN picked_tool IS DISTINCT FROM expected_tool THEN 'wrong_tool' ELSE 'wrong_arguments' END
FROM decisions WHERE counted AND correct IS NOT NULL AND span_id IS NOT NULL
UNION ALL
SELECT span_id, 'call_recovered', (outcome <> 'lost')::DOUBLE, outcome
FROM failed_calls WHERE outcome IS NOT NULL
"""


def with_steps(number: int, *calls: tuple[str, dict[str, Any]]) -> bytes:
    """Return a run with these calls, each on a span that no other run has."""
    root = 100 * number
    spans = [agent(root, trace=number, tracegrade__task__id="refund")]
    spans += [
        tool(root + i, root, tool_name=name, trace=number, at=i, **fields)
        for i, (name, fields) in enumerate(calls, start=1)
    ]
    return request_of(spans)


@pytest.fixture
def stepped(tmp_path: Path) -> Lake:
    """Runs with right and wrong calls, and calls that fail."""
    lake, failed = Lake.create(tmp_path / "lake"), {"error__type": "timeout", "error": "late"}
    none, right, wrong = (
        {"gen_ai__tool__call__arguments": text}
        for text in ("{}", '{"sum": 1}', '{"sum": "a secret"}')
    )
    land(
        lake,
        with_steps(1, ("look", none), ("pay", right)),
        with_steps(2, ("pay", right), ("look", none)),
        with_steps(3, ("look", none | failed), ("look", none), ("pay", right | failed)),
        with_steps(4, ("look", none), ("pay", wrong)),
    )
    score(lake, specification(Path(lake.root), PAYING))
    return lake


PAYING = TASKS.replace("tool: pay}", "tool: pay, arguments: {sum: 1}}", 1)


def has_all_steps(server: Peer, kind: str, lake: Lake) -> bool:
    """Return whether a peer has the lake's steps, each once, as they are now."""
    rows = query(lake, STEPS)
    found = {key: value[:2] for key, value in steps_of(server, kind).items()}
    return found == {(span, metric): (value, label) for span, metric, value, label in rows}


@pytest.mark.parametrize(
    "kind", slow_after(2, ["otlp", "langfuse", "datadog", "phoenix", "mlflow"])
)
def test_evidence_is_on_the_spans_of_steps(stepped: Lake, server: Peer, kind: str) -> None:
    """Decisions and failed calls, each once, with tools alone, until they are computed again."""
    first = send(stepped, server, kind, "--evidence")
    second = send(stepped, server, kind, "--evidence")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert second.stdout.split()[:3] == ["0", "scores", "sent"]
    assert has_all_steps(server, kind, stepped)
    assert {value[2] for value in steps_of(server, kind).values()} >= {
        "look failed; the same call succeeded later",
        "pay failed; nothing made up for it",
        "1 of 1 decisions",
        "0 of 1 decisions: the call of look was not expected",
        "0 of 1 decisions: the arguments of pay were wrong",
    }
    assert not any(b"a secret" in body for _, body in server.received)

    score(
        stepped, specification(Path(stepped.root), TASKS.replace("tool: look}, ", "tool: pay}, "))
    )
    assert send(stepped, server, kind, "--evidence").returncode == 0
    assert has_all_steps(server, kind, stepped)


def test_evidence_of_an_unknown_span_waits(stepped: Lake, server: Peer) -> None:
    """The other steps are there, and all scores of runs."""
    server.unknown = {query(stepped, STEPS)[0][0]}
    ended = send(stepped, server, "phoenix", "--evidence")
    assert ended.returncode == 3
    assert "waiting: unknown_span" in ended.stdout
    assert not has_all_steps(server, "phoenix", stepped)
    assert has(server, "phoenix") == expected(stepped)

    server.unknown = set()
    assert send(stepped, server, "phoenix", "--evidence").returncode == 0
    assert has_all_steps(server, "phoenix", stepped)


def test_one_unknown_trace_keeps_no_other_score_back(lake: Lake, server: Peer) -> None:
    """Its own scores wait, and are sent once the peer has the trace."""
    ((trace,),) = query(lake, "SELECT trace_id FROM trajectories ORDER BY trace_id LIMIT 1")
    server.unknown.add(trace)
    waiting = send(lake, server, "phoenix")
    wanted = expected(lake)
    there = has(server, "phoenix")
    server.unknown.clear()
    sent = send(lake, server, "phoenix")

    assert waiting.returncode == 3
    assert "waiting: unknown_trace" in waiting.stdout
    assert there == {key: value for key, value in wanted.items() if key[0] != trace}
    assert sent.returncode == 0
    assert has(server, "phoenix") == wanted


def test_records_that_come_back_change_no_score(lake: Lake, server: Peer) -> None:
    """Those that were sent to the lake's own collector are not read as evaluations."""
    from tests.collector.running import collecting  # noqa: PLC0415 - starts processes

    before = tables(lake)
    with collecting(lake.root, land_every_secs=0.05, max_segment_age_secs=0.05) as collector:
        where = ("--lake", lake.root, "--to", "otlp", "--endpoint", collector.url)
        assert tracegrade("send", *where).returncode == 0
        collector.stop()
    landed = query(lake, "SELECT count(*) FROM logs")
    done = score(lake, specification(lake.root))

    assert landed[0][0] > 0
    assert tables(lake) == before
    assert done.trajectories == 0


def test_an_event_says_what_the_conventions_ask(lake: Lake, server: Peer) -> None:
    """Name, value, explanation, and the root span of the run that it is about."""
    send(lake, server, "otlp", "--metric", "tsa")
    record = server.records[0]
    texts = {each.key: each.value for each in record.attributes}
    ((trace, span),) = query(
        lake,
        "SELECT trace_id, root_span_id FROM trajectories "
        f"WHERE trace_id = '{record.trace_id.hex()}' AND parent_trajectory_id IS NULL",
    )

    assert record.event_name == texts["event.name"].string_value == "gen_ai.evaluation.result"
    assert (record.trace_id.hex(), record.span_id.hex()) == (trace, span)
    assert texts["gen_ai.evaluation.name"].string_value == "tsa"
    assert "of 2 " in texts["gen_ai.evaluation.explanation"].string_value
    assert len(texts["tracegrade.evaluation.key"].string_value) == 32


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (302, {"Location": "http://127.0.0.1:9/"}, "it redirects"),
        (401, {}, "check the TRACEGRADE_SEND_* variables"),
        (404, {}, "it has no such API"),
        (405, {}, "it has no such API"),
        (500, {}, "status 500"),
    ],
)
def test_a_peer_that_refuses_is_named(
    lake: Lake, server: Peer, status: int, headers: dict[str, str], reason: str
) -> None:
    """In one line with the way out; a redirect is not followed, and no key is printed."""
    server.answer_first, server.headers = (lambda _: (status, b"")), headers
    ended = send(lake, server, "phoenix")

    assert ended.returncode == 3
    assert ended.stderr.count("\n") == 1
    assert reason in ended.stderr
    assert not any(key in ended.stderr + ended.stdout for key in KEYS.values())
    assert "sent_scores" not in lake.tables()


def test_receivers_without_logs_are_named(lake: Lake, server: Peer) -> None:
    """Phoenix and MLflow answer 405 to OTLP logs: that is final, and says what to do."""
    server.answer_first = lambda _: (405, b"")
    ended = send(lake, server, "otlp")

    assert ended.returncode == 3
    assert "use --to phoenix" in ended.stderr
    assert server.requests == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--to", "fenix", "--endpoint", "http://127.0.0.1:1"), "phoenix"),
        (("--to", "otlp", "--endpoint", "ftp://x"), "--endpoint must be like"),
        (("--to", "otlp", "--endpoint", "http://192.0.2.1:4318"), "use https"),
        (("--to", "otlp", "--endpoint", "https://a:b@x.example"), "has credentials"),
        (("--to", "otlp", "--endpoint", "http://127.0.0.1:1", "--metric", "tsb"), "'tsa'"),
        (("--to", "langfuse", "--endpoint", "http://127.0.0.1:1"), "PUBLIC_KEY is not set"),
        (("--to", "datadog", "--endpoint", "http://127.0.0.1:1"), "DATADOG_API_KEY is not set"),
    ],
)
def test_bad_options_send_nothing(lake: Lake, options: tuple[str, ...], words: str) -> None:
    """One line names the value and the way out."""
    ended = tracegrade("send", "--lake", lake.root, *options)

    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr


def test_a_lake_without_scores_says_so(tmp_path: Path, server: Peer) -> None:
    """And names the command that makes them."""
    ended = send(Lake.create(tmp_path / "lake"), server, "otlp")

    assert ended.returncode == 2
    assert "tracegrade score --lake" in ended.stderr


def test_keys_are_nowhere_in_the_lake(lake: Lake, server: Peer) -> None:
    """The tables have a hash and the address alone."""
    send(lake, server, "langfuse")
    stored = b"".join(
        file.read_bytes()
        for name in ("sent_scores", "send_destinations")
        for file in (lake.root / name).rglob("*")
        if file.is_file()
    )

    assert server.authorization.startswith("Basic ")
    assert not any(key.encode() in stored for key in KEYS.values())


def test_a_dry_run_counts_and_changes_nothing(lake: Lake, server: Peer) -> None:
    """It counts what a run would send, before the first one and after it."""
    before = lake.tables()
    counted = send(lake, server, "otlp", "--dry-run", "--metric", "tsa")
    tables_after = lake.tables()
    send(lake, server, "otlp", "--metric", "tsa")
    again = send(lake, server, "otlp", "--dry-run", "--metric", "tsa")

    assert (counted.stdout.split()[1], int(counted.stdout.split()[0])) == (
        "tsa",
        len(server.records),
    )
    assert tables_after == before
    assert again.stdout == ""


def test_forgetting_sends_all_again(lake: Lake, server: Peer) -> None:
    """After a peer was restored from a backup, say; the other destination is as it was."""
    send(lake, server, "phoenix")
    send(lake, server, "otlp", "--metric", "tsa")
    server.rows.clear()
    sent = len(server.records)
    send(lake, server, "phoenix", "--forget")
    send(lake, server, "otlp", "--metric", "tsa")

    assert has(server, "phoenix") == expected(lake)
    assert len(server.records) == sent
