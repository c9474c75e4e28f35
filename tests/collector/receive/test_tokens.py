"""Bearer tokens: who gets in over both transports, and what a file of tokens may hold."""

import hashlib
import http.client
import os
import re
import socket
import stat
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import grpc
import pytest
from google.rpc.code_pb2 import Code
from tests.collector.running import (
    COMMAND,
    JSON,
    PROTOBUF,
    Collector,
    collecting,
    landed_ids,
    trace_body,
)
from tests.commands import tracegrade
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.edge.reloaded import Reloaded
from tracegrade_collector.edge.tokens import add_token, read_access
from tracegrade_collector.errors import BadCredentials, Unauthenticated

SERVICES = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
LONG_AGO = date(2020, 1, 1)
NOW = datetime(2026, 11, 1, tzinfo=UTC)
SHA256 = "0" * 64


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of tokens."""
    return tmp_path_factory.mktemp("tokens") / "tokens.toml"


@pytest.fixture(scope="module")
def tokens(file: Path) -> dict[str, str]:
    """Tokens of the file: a valid one, one that has expired, one that reads metrics."""
    return {
        "valid": add_token(file, "", None),
        "expired": add_token(file, "", LONG_AGO),
        "metrics": add_token(file, None, None),
    }


@pytest.fixture(scope="module")
def collector(
    tmp_path_factory: pytest.TempPathFactory, file: Path, tokens: dict[str, str]
) -> Iterator[Collector]:
    """A collector that knows them."""
    with collecting(tmp_path_factory.mktemp("lake"), token_file=str(file)) as running:
        yield running


def bearer(token: str) -> dict[str, str]:
    """Return the header that shows a token."""
    return {"Authorization": f"Bearer {token}"}


BAD: dict[str, Callable[[dict[str, str]], list[str]]] = {
    "none": lambda tokens: [],
    "unknown": lambda tokens: ["Bearer " + tokens["valid"] + "x"],
    "other case": lambda tokens: ["Bearer " + tokens["valid"].swapcase()],
    "shortened": lambda tokens: ["Bearer " + tokens["valid"][:-1]],
    "hash": lambda tokens: ["Bearer " + hashlib.sha256(tokens["valid"].encode()).hexdigest()],
    "expired": lambda tokens: ["Bearer " + tokens["expired"]],
    "only metrics": lambda tokens: ["Bearer " + tokens["metrics"]],
    "other scheme": lambda tokens: ["Basic " + tokens["valid"]],
    "no scheme": lambda tokens: [tokens["valid"]],
    "empty": lambda tokens: ["Bearer "],
    "two in one": lambda tokens: [f"Bearer {tokens['valid']}, Bearer {tokens['valid']}"],
    "two headers": lambda tokens: [f"Bearer {tokens['valid']}"] * 2,
    "no ascii": lambda tokens: ["Bearer \xe9"],
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs"])
@pytest.mark.parametrize("kind", [PROTOBUF, JSON], ids=["protobuf", "json"])
def test_bad_credentials_are_refused_over_http(
    collector: Collector, tokens: dict[str, str], path: str, kind: dict[str, str], bad: str
) -> None:
    """Bad input 41: 401 with the scheme to use, in the encoding of the request."""
    with closing(
        http.client.HTTPConnection("127.0.0.1", collector.port, timeout=PATIENCE_SECS)
    ) as sender:
        sender.putrequest("POST", path)
        sender.putheader("Content-Type", kind["Content-Type"])
        sender.putheader("Content-Length", "0")
        for value in BAD[bad](tokens):
            sender.putheader("Authorization", value.encode("latin-1"))
        sender.endheaders()
        response = sender.getresponse()
        response.read()

    assert response.status == 401
    assert response.getheader("WWW-Authenticate") == "Bearer"
    assert response.getheader("Content-Type") == kind["Content-Type"]


@pytest.mark.parametrize("bad", [name for name in BAD if name != "no ascii"])
@pytest.mark.parametrize("signal", SERVICES)
def test_bad_credentials_are_refused_over_grpc(
    collector: Collector, tokens: dict[str, str], signal: str, bad: str
) -> None:
    """Bad input 41: UNAUTHENTICATED, which no exporter sends again."""
    metadata = [("authorization", value) for value in BAD[bad](tokens)]
    with (
        grpc.insecure_channel(collector.grpc) as channel,
        pytest.raises(grpc.RpcError) as refused,
    ):
        channel.unary_unary(SERVICES[signal])(
            trace_body(1), timeout=PATIENCE_SECS, metadata=metadata
        )

    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(
    ("name", "scheme"), [("AUTHORIZATION", "bearer"), ("authorization", "BEARER")]
)
def test_case_of_header_and_scheme_means_nothing(
    collector: Collector, tokens: dict[str, str], name: str, scheme: str
) -> None:
    """Both are the same in any case, as HTTP says; a token is not."""
    headers = PROTOBUF | {name: f"{scheme} {tokens['valid']}"}

    assert collector.post("/v1/traces", b"", headers).status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/traces", {401, 405}),
        ("/v1/logs", {401, 405}),
        ("/metrics", {401, 405}),
        ("/v1/Traces", {404}),
        ("/V1/traces", {404}),
        ("/v1/traces/", {404}),
        ("/v1/%74races", {404}),
        ("/Metrics", {404}),
    ],
)
def test_no_spelling_of_a_path_goes_round_the_door(
    collector: Collector, method: str, path: str, expected: set[int]
) -> None:
    """Without a token nothing is taken in or told, however the path is written."""
    assert collector.request(method, path, b"", PROTOBUF).status in expected


def test_token_in_the_query_is_none(collector: Collector, tokens: dict[str, str]) -> None:
    """Queries stand in the logs of everything on the way."""
    answer = collector.post(f"/v1/traces?access_token={tokens['valid']}", trace_body(1))

    assert answer.status == 401
    assert answer.error.code == Code.UNAUTHENTICATED


@pytest.mark.slow
def test_valid_token_is_let_in(tmp_path: Path, file: Path, tokens: dict[str, str]) -> None:
    """Over both transports; the scheme may be written in any case."""
    with collecting(tmp_path, token_file=str(file)) as collector:
        headers = PROTOBUF | {"AUTHORIZATION": f"bEARER {tokens['valid']}"}
        status = collector.post("/v1/traces", trace_body(1), headers).status
        with grpc.insecure_channel(collector.grpc) as channel:
            metadata = [("authorization", f"Bearer {tokens['valid']}")]
            call = channel.unary_unary(SERVICES["traces"])
            call(trace_body(2), timeout=PATIENCE_SECS, metadata=metadata)
        collector.stop()

    assert status == 200
    assert landed_ids(tmp_path) == [1, 2]


def test_refusal_does_not_wait_for_the_body(collector: Collector) -> None:
    """It comes when the head has come, so that a stranger fills no memory."""
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
    with socket.create_connection(("127.0.0.1", collector.port), timeout=PATIENCE_SECS) as sender:
        sender.sendall(head + b"Content-Length: 60000000\r\n\r\n")

        assert sender.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize("shown", [b"", b"Authorization: Bearer wrong\r\n"], ids=["none", "wrong"])
def test_refusal_comes_in_place_of_100_continue(collector: Collector, shown: bytes) -> None:
    """Bad input 48: the client need not send its body at all."""
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
    head += shown
    with socket.create_connection(("127.0.0.1", collector.port), timeout=PATIENCE_SECS) as sender:
        sender.sendall(head + b"Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n")

        assert sender.recv(12) == b"HTTP/1.1 401"


def test_grpc_refusal_does_not_wait_for_the_message(collector: Collector) -> None:
    """A call that never sends its message is refused all the same."""
    silent = threading.Event()
    with grpc.insecure_channel(collector.grpc) as channel:
        call = channel.stream_unary(SERVICES["traces"]).future(
            iter(lambda: silent.wait() and None, None), timeout=PATIENCE_SECS
        )

        assert call.code() is grpc.StatusCode.UNAUTHENTICATED
        silent.set()


def test_refusals_are_counted_by_reason(collector: Collector, tokens: dict[str, str]) -> None:
    """Nothing of what was sent is a label."""
    before = refusals(collector, tokens["metrics"])
    collector.post("/v1/traces", b"", PROTOBUF)
    collector.post("/v1/traces", b"", PROTOBUF | bearer("made-up"))
    collector.post("/v1/traces", b"", PROTOBUF | bearer(tokens["expired"]))
    more = refusals(collector, tokens["metrics"]) - before

    assert more == {f'{{reason="{reason}"}}': 1 for reason in ("missing", "unknown", "expired")}


def refusals(collector: Collector, token: str) -> Counter[str]:
    """Return how many requests were refused, by labels."""
    found = re.findall(r"unauthenticated_requests_total(\{.*\}) (\d+)", counters(collector, token))
    return Counter({labels: int(number) for labels, number in found})


def test_counters_need_their_own_token(collector: Collector, tokens: dict[str, str]) -> None:
    """They cover all tenants, so no tenant's token reads them; health is public."""
    with_metrics = collector.request("GET", "/metrics", headers=bearer(tokens["metrics"]))
    with_tenant = collector.request("GET", "/metrics", headers=bearer(tokens["valid"]))

    assert with_metrics.status == 200
    assert with_tenant.status == collector.request("GET", "/metrics").status == 401
    assert collector.request("GET", "/healthz").body == b"ok\n"
    assert collector.request("GET", "/readyz").body == b"ready\n"


class TestChanges:
    """The file is read anew while clients are connected."""

    def test_tokens_come_and_go_without_a_restart(self, tmp_path: Path) -> None:
        """On one connection: a new one is let in, one that is gone is not, nor is the last."""
        file = tmp_path / "tokens.toml"
        old = add_token(file, "", None)
        with (
            collecting(tmp_path / "lake", token_file=str(file)) as collector,
            grpc.insecure_channel(collector.grpc) as channel,
        ):
            call = channel.unary_unary(SERVICES["traces"])
            call(
                trace_body(1), timeout=PATIENCE_SECS, metadata=[("authorization", f"Bearer {old}")]
            )
            new = add_token(tmp_path / "next.toml", "", None)
            (tmp_path / "next.toml").rename(file)
            wait_until(lambda: status_with(collector, new) == 200)
            call(
                trace_body(2), timeout=PATIENCE_SECS, metadata=[("authorization", f"Bearer {new}")]
            )

            assert status_with(collector, old) == 401
            with pytest.raises(grpc.RpcError) as refused:
                call(
                    trace_body(3),
                    timeout=PATIENCE_SECS,
                    metadata=[("authorization", f"Bearer {old}")],
                )
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
            file.write_text("")
            wait_until(lambda: status_with(collector, new) == 401)

    @pytest.mark.slow
    def test_empty_file_lets_nobody_in(self, tmp_path: Path) -> None:
        """So the last token can be taken away too."""
        file = tmp_path / "tokens.toml"
        token = add_token(file, "", None)
        with collecting(tmp_path / "lake", token_file=str(file)) as collector:
            before = status_with(collector, token)
            file.write_text("")

            wait_until(lambda: status_with(collector, token) == 401)
            token = add_token(file, "", None)
            wait_until(lambda: status_with(collector, token) == 200)
        assert before == 200

    @pytest.mark.parametrize("content", slow_after(1, [None, "[[token]]\n", "not toml"]))
    def test_broken_file_changes_nothing(
        self, tmp_path: Path, content: str | None, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Half-written or gone: who was let in still is; a counter and a line tell."""
        file = tmp_path / "tokens.toml"
        token, metrics = add_token(file, "", None), add_token(file, None, None)
        with collecting(tmp_path / "lake", token_file=str(file)) as collector:
            replace(file, content)
            wait_until(
                lambda: 'failed_reloads_total{file="tokens"} 1' in counters(collector, metrics)
            )

            assert status_with(collector, token) == 200
            assert status_with(collector, "stranger") == 401
        assert "the previous tokens stay valid" in capfd.readouterr().err


def replace(file: Path, content: str | None) -> None:
    """Let a file have another content from one moment to the next, or be gone."""
    if content is None:
        file.unlink()
        return
    new = file.with_suffix(".new")
    new.write_text(content)
    new.rename(file)


def test_file_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    """Editors empty it first; a look in between changes nothing."""
    file = tmp_path / "tokens.toml"
    file.write_text("old")
    reloaded = Reloaded([file], file.read_text)
    seen = []
    for content in ("", "one", "new, two"):
        file.write_text(content)
        seen.append((reloaded.refresh(), reloaded.current))
    seen.append((reloaded.refresh(), reloaded.current))

    assert seen == [(False, "old")] * 3 + [(True, "new, two")]
    assert not reloaded.refresh()


def status_with(collector: Collector, token: str) -> int:
    """Return the answer's code to a request with a token."""
    return collector.post("/v1/traces", b"", PROTOBUF | bearer(token)).status


def counters(collector: Collector, token: str) -> str:
    """Return the counters."""
    return collector.request("GET", "/metrics", headers=bearer(token)).body.decode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[[token", "cannot read the tokens"),
        ("tokens = 1", "unknown table 'tokens'"),
        ("token = 1", "tokens belong in [[token]]"),
        ("token = [1]", "must be a table of"),
        (f"[[token]]\nsha256 = '{SHA256}'", "needs either a tenant or metrics"),
        (f"[[token]]\nsha256 = '{SHA256}'\ntenant = 'a'\nmetrics = true", "needs either"),
        ("[[token]]\ntenant = 'a'\nsha256 = 'tg_secret'", "sha256 must be 64 hexadecimal digits"),
        (f"[[token]]\ntenant = '../x'\nsha256 = '{SHA256}'", "a tenant's name must be"),
        (f"[[token]]\ntenant = 'Acme'\nsha256 = '{SHA256}'", "a tenant's name must be"),
        (
            f"[[token]]\ntenant = 'a\\u0000b'\nsha256 = '{SHA256}'".replace("'", '"'),
            "name must be",
        ),
        (f"[[token]]\ntenant = 'a\\n'\nsha256 = '{SHA256}'".replace("'", '"'), "name must be"),
        (f"[[token]]\ntenant = '{'a' * 64}'\nsha256 = '{SHA256}'", "a tenant's name must be"),
        (f"[[token]]\ntenant = 'a'\nsha256 = '{SHA256}'\nexpires = 'soon'", "expires must be"),
        (f"[[token]]\ntenant = 'a'\nsha256 = '{SHA256}'\nexpired = true", "must be a table of"),
        (f"[[token]]\ntenant = 'a'\nsha256 = '{SHA256}'\n" * 2, "a sha256 occurs twice"),
        ("[tenant.a]\nrate = 1", "unknown key 'rate'"),
        ("[tenant.a]\nmax_wal_bytes = 0", "max_wal_bytes must be a whole number > 0"),
        ("[tenant.a]\nmax_wal_bytes = true", "max_wal_bytes must be a whole number > 0"),
        ("[tenant.'a/b']\n", "a tenant's name must be"),
        ("[tenant.a]\ncertificate_names = ['x']\n[tenant.b]\ncertificate_names = ['x']", "twice"),
    ],
)
def test_wrong_file_stops_the_start(tmp_path: Path, content: str, text: str) -> None:
    """One line names the file and its fault; there is no access without a token instead."""
    file = tmp_path / "tokens.toml"
    file.touch(0o600)
    file.write_text(content)

    with pytest.raises(BadCredentials) as refused:
        read_access(file)
    assert text in str(refused.value)
    assert str(file) in str(refused.value)
    assert "tg_secret" not in str(refused.value)


@pytest.mark.parametrize("state", slow_after(1, ["readable by all", "missing", "empty"]))
def test_collector_does_not_start_without_its_tokens(tmp_path: Path, state: str) -> None:
    """It must refuse unknown clients, so without tokens it refuses all."""
    file = tmp_path / "tokens.toml"
    if state == "readable by all":
        add_token(file, "", None)
        file.chmod(0o644)
    elif state == "empty":
        file.touch(0o600)
    ended = subprocess.run(
        [*COMMAND, "--lake", str(tmp_path / "lake"), "--http=127.0.0.1:0", f"--token-file={file}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert str(file) in ended.stderr


def test_token_ends_when_its_day_begins(tmp_path: Path) -> None:
    """In UTC; a second earlier it is still valid."""
    token = add_token(tmp_path / "tokens.toml", "acme", date(2026, 11, 2))
    access = read_access(tmp_path / "tokens.toml")
    ends = datetime(2026, 11, 2, tzinfo=UTC)

    assert access.tenant_of_token([f"Bearer {token}"], ends.replace(day=1, hour=23)) == "acme"
    with pytest.raises(Unauthenticated, match="expired"):
        access.tenant_of_token([f"Bearer {token}"], ends)


def test_command_prints_a_token_once(tmp_path: Path) -> None:
    """The file has only its hash and is readable by its owner alone; a second one is added."""
    file = tmp_path / "tokens.toml"
    printed = [
        tracegrade("token", "new", f"--file={file}", f"--tenant={tenant}").stdout.strip()
        for tenant in ("acme", "globex")
    ]

    access = read_access(file)
    tenants = [access.tenant_of_token([f"Bearer {token}"], NOW) for token in printed]
    assert tenants == ["acme", "globex"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not any(token in file.read_text() for token in printed)


def test_token_is_in_no_file_and_no_line(
    tmp_path: Path, file: Path, tokens: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in logs, the lake, or the arguments of a process, however it was shown."""
    with collecting(tmp_path, token_file=str(file)) as collector:
        status_with(collector, tokens["valid"])
        status_with(collector, tokens["expired"])
        collector.post(f"/v1/traces?token={tokens['valid']}", b"")
        collector.post("/v1/traces", b"\xff", PROTOBUF | bearer(tokens["valid"]))
        collector.post("/v1/traces", trace_body(1), PROTOBUF | bearer(tokens["valid"]))
        arguments = Path(f"/proc/{collector.lander_pid()}/cmdline").read_bytes()
        collector.stop()

    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    told = "".join(capfd.readouterr())
    for token in tokens.values():
        assert token not in told
        assert not any(token.encode() in content for content in [*written, arguments])


def test_every_file_is_its_owners_alone(
    tmp_path: Path, file: Path, tokens: dict[str, str]
) -> None:
    """After real traffic, for files of every library, with any umask of the shell."""
    lake = tmp_path / "lake"
    before = os.umask(0)
    try:
        with collecting(lake, token_file=str(file)) as collector:
            for body in (trace_body(1), b"\xff", trace_body(0, 2)):
                collector.post("/v1/traces", body, PROTOBUF | bearer(tokens["valid"]))
            collector.stop()
    finally:
        os.umask(before)

    loose = {
        str(path.relative_to(tmp_path)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in [lake, *lake.rglob("*")]
        if path.stat().st_mode & 0o077
    }
    assert loose == {}
    assert landed_ids(lake) == [1, 2]
