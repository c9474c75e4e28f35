"""TLS and client certificates over both transports, with certificates that change meanwhile."""

import http.client
import os
import re
import socket
import ssl
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives import serialization
from tests.collector.running import (
    COMMAND,
    PROTOBUF,
    Answer,
    Collector,
    collecting,
    landed_ids,
    read_answer,
    trace_body,
)
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.errors import BadCredentials
from tracegrade_collector.receive.receiver import open_tls

from .certificates import HOST, LONG_AGO, Authority, Signed

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that signs servers."""
    return Authority(tmp_path / "authority")


def send_http(collector: Collector, context: ssl.SSLContext, body: bytes) -> Answer:
    """Send one request on a new connection."""
    connection = http.client.HTTPSConnection(
        HOST, collector.port, timeout=PATIENCE_SECS, context=context
    )
    with closing(connection):
        connection.request("POST", "/v1/traces", body, PROTOBUF)
        return read_answer(connection)


def send_grpc(collector: Collector, credentials: grpc.ChannelCredentials, body: bytes) -> bytes:
    """Send one call on a new connection."""
    with grpc.secure_channel(collector.grpc, credentials) as channel:
        answer: bytes = channel.unary_unary(TRACES)(body, timeout=PATIENCE_SECS)
        return answer


def serial(collector: Collector, authority: Authority) -> str:
    """Return the number of the certificate that HTTP shows."""
    with (
        socket.create_connection((HOST, collector.port), timeout=PATIENCE_SECS) as connection,
        authority.context().wrap_socket(connection, server_hostname=HOST) as tls,
    ):
        shown = tls.getpeercert()
        assert shown
        return str(shown["serialNumber"])


@pytest.mark.slow
def test_both_transports_are_encrypted(tmp_path: Path, authority: Authority) -> None:
    """A client that trusts the authority lands its spans; the printed URL says https."""
    with collecting(tmp_path / "lake", **authority.sign("server").options) as collector:
        send_http(collector, authority.context(), trace_body(1))
        send_grpc(collector, authority.credentials(), trace_body(2))
        collector.stop()

    assert collector.url.startswith("https://")
    assert landed_ids(tmp_path / "lake") == [1, 2]


def test_large_and_pipelined_requests_pass(tmp_path: Path, authority: Authority) -> None:
    """What arrives together with the end of the handshake is not lost, nor what fills buffers."""
    body = trace_body(*range(1, 20_001))
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    message = head.encode() + b"Content-Type: application/x-protobuf\r\n\r\n" + body
    with collecting(tmp_path / "lake", **authority.sign("server").options) as collector:
        for _ in range(3):  # how handshake and request meet is a matter of luck
            with (
                socket.create_connection(
                    (HOST, collector.port), timeout=PATIENCE_SECS
                ) as connection,
                authority.context().wrap_socket(connection, server_hostname=HOST) as tls,
            ):
                tls.sendall(message + message)
                answers = b""
                while answers.count(b"HTTP/1.1 200") < 2:
                    answers += tls.recv(1000)

    assert answers.count(b"HTTP/1.1 200") == 2


def test_unencrypted_clients_are_turned_away(
    tmp_path: Path, authority: Authority, capfd: pytest.CaptureFixture[str]
) -> None:
    """Plain HTTP gets no answer; ten failures of one peer are counted, and told once."""
    with collecting(tmp_path / "lake", **authority.sign("server").options) as collector:
        for _ in range(10):
            with pytest.raises((http.client.HTTPException, OSError)):
                collector.post("/v1/traces", trace_body(1))
        with (
            grpc.insecure_channel(collector.grpc) as channel,
            pytest.raises(grpc.RpcError),
        ):
            channel.unary_unary(TRACES)(trace_body(1), timeout=PATIENCE_SECS)
        metrics = get_metrics(collector, authority.context())
        collector.stop()

    told = re.findall("handshake with .* failed: .*", capfd.readouterr().err)
    assert "failed_handshakes_total 10\n" in metrics
    assert set(told) == {"handshake with 127.0.0.1 failed: http request"}
    assert len(told) < 10  # once a minute


@pytest.mark.parametrize(
    "start", slow_after(1, [b"", b"\x16\x03\x01"]), ids=["silent", "half a greeting"]
)
def test_slow_handshake_is_ended(tmp_path: Path, authority: Authority, start: bytes) -> None:
    """At the deadline of a head, so that its place is free again."""
    options = authority.sign("server").options
    with (
        collecting(tmp_path / "lake", **options, max_head_secs=1) as collector,
        socket.create_connection((HOST, collector.port), timeout=PATIENCE_SECS) as connection,
    ):
        connection.sendall(start)

        assert connection.recv(1) == b""
        wait_until(lambda: has_failed_handshakes(collector, authority.context()))


def has_failed_handshakes(collector: Collector, context: ssl.SSLContext) -> bool:
    """Return whether /metrics tells of some; the look itself may be too slow for a deadline."""
    with suppress(OSError, http.client.HTTPException):
        return bool(re.search("failed_handshakes_total [1-9]", get_metrics(collector, context)))
    return False


@pytest.mark.slow
def test_slow_body_ends_over_tls_too(tmp_path: Path, authority: Authority) -> None:
    """What bounds a connection bounds what is inside the encryption."""
    options = authority.sign("server").options
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
    with (
        collecting(tmp_path / "lake", **options, max_body_secs=1) as collector,
        socket.create_connection((HOST, collector.port), timeout=PATIENCE_SECS) as connection,
        authority.context().wrap_socket(connection, server_hostname=HOST) as tls,
    ):
        tls.sendall(head + b"Content-Length: 9\r\n\r\n1")
        answer = b""
        while chunk := tls.recv(1000):
            answer += chunk

    assert answer.startswith(b"HTTP/1.1 503")


def get_metrics(collector: Collector, context: ssl.SSLContext) -> str:
    """Return the counters."""
    connection = http.client.HTTPSConnection(
        HOST, collector.port, timeout=PATIENCE_SECS, context=context
    )
    with closing(connection):
        connection.request("GET", "/metrics")
        return read_answer(connection).body.decode()


def test_old_versions_of_tls_are_refused(tmp_path: Path, authority: Authority) -> None:
    """1.1 and older are; 1.2 is the oldest that gets in."""
    old, oldest = authority.context(), authority.context()
    old.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    oldest.maximum_version = ssl.TLSVersion.TLSv1_2
    with collecting(tmp_path / "lake", **authority.sign("server").options) as collector:
        with pytest.raises(ssl.SSLError):
            send_http(collector, old, trace_body(1))

        assert send_http(collector, oldest, trace_body(1)).status == 200


def test_new_certificate_is_used_without_a_restart(tmp_path: Path, authority: Authority) -> None:
    """New connections see it over both transports; one that was open goes on."""
    lake, signed = tmp_path / "lake", authority.sign("server")
    with collecting(lake, **signed.options) as collector:
        context = authority.context()
        open_before = http.client.HTTPSConnection(HOST, collector.port, context=context)
        open_before.request("POST", "/v1/traces", trace_body(1), PROTOBUF)
        read_answer(open_before)
        first = serial(collector, authority)
        authority.sign("server")
        wait_until(lambda: serial(collector, authority) != first)
        second = ssl.get_server_certificate(tuple(collector.grpc.split(":")))  # type: ignore[arg-type]
        open_before.request("POST", "/v1/traces", trace_body(2), PROTOBUF)
        kept = read_answer(open_before).status
        open_before.close()
        send_grpc(collector, authority.credentials(), trace_body(3))
        collector.stop()

    assert collector.url.startswith("https://")
    assert second == signed.chain.read_text().replace("\r\n", "\n")
    assert kept == 200
    assert landed_ids(lake) == [1, 2, 3]


@pytest.mark.parametrize("broken", slow_after(1, ["other key", "expired", "garbage", "missing"]))
def test_broken_new_certificate_keeps_the_old(
    tmp_path: Path, authority: Authority, broken: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """One line says why, a counter counts it, and both transports go on as before."""
    signed = authority.sign("server")
    with collecting(tmp_path / "lake", **signed.options) as collector:
        first = serial(collector, authority)
        break_certificate(signed, authority, broken)
        wait_until(lambda: "failed_reloads" in get_metrics(collector, authority.context()))

        assert serial(collector, authority) == first
        assert send_grpc(collector, authority.credentials(), trace_body(1)) == b""
    assert "stays in use" in capfd.readouterr().err


def break_certificate(signed: Signed, authority: Authority, how: str) -> None:
    """Make the files of a certificate unusable."""
    match how:
        case "other key":
            signed.key.write_bytes(authority.sign("other").key.read_bytes())
        case "expired":
            authority.sign(signed.chain.stem, expires=LONG_AGO)
        case "garbage":
            signed.chain.write_text("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")
        case "missing":
            signed.chain.unlink()


@pytest.mark.parametrize(
    ("broken", "text"),
    slow_after(
        1,
        [
            ("other key", "key values mismatch"),
            ("expired", "certificate has expired"),
            ("garbage", "cannot use the certificate"),
            ("missing", "No such file"),
        ],
    ),
)
def test_broken_certificate_stops_the_start(
    tmp_path: Path, authority: Authority, broken: str, text: str
) -> None:
    """One clear line, exit code 2, and no unencrypted access instead."""
    signed = authority.sign("server")
    break_certificate(signed, authority, broken)

    code, errors = fail_to_start(tmp_path / "lake", **signed.options)

    assert code == 2
    assert errors.count("\n") == 1
    assert text in errors


def fail_to_start(lake: Path, *flags: str, **options: str) -> tuple[int, str]:
    """Return the exit code and what a collector that does not start says."""
    environment = {f"TRACEGRADE_COLLECTOR_{name.upper()}": options[name] for name in options}
    ended = subprocess.run(
        [*COMMAND, "--lake", str(lake), "--http=127.0.0.1:0", "--grpc=off", *flags],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )
    return ended.returncode, ended.stderr


def refusal(signed: Signed) -> str:
    """Return why a certificate cannot be used."""
    with pytest.raises(BadCredentials) as refused:
        open_tls(CollectorConfig.load(None, signed.options), Counters())
    return str(refused.value)


def test_key_that_everybody_can_read_stops_the_start(authority: Authority) -> None:
    """The line says which file, and what to do."""
    signed = authority.sign("server")
    signed.key.chmod(0o644)

    assert f"chmod 600 {signed.key}" in refusal(signed)


def test_key_with_a_password_stops_the_start(authority: Authority) -> None:
    """It does not prompt for the password."""
    signed = authority.sign("server")
    key = serialization.load_pem_private_key(signed.key.read_bytes(), None)
    signed.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )

    assert "the key has a password" in refusal(signed)


class TestClientCertificates:
    """Bad input 43: with authorities for clients, no other client gets in."""

    @pytest.fixture
    def clients(self, tmp_path: Path) -> Authority:
        """The authority that signs clients, which is another one than the servers'."""
        return Authority(tmp_path / "clients")

    @pytest.fixture
    def options(self, authority: Authority, clients: Authority) -> dict[str, str]:
        """The options of a collector that demands certificates."""
        return authority.sign("server").options | {"tls_client_ca_file": str(clients.file)}

    @pytest.mark.slow
    def test_known_client_is_let_in(
        self, tmp_path: Path, options: dict[str, str], authority: Authority, clients: Authority
    ) -> None:
        """Over both transports, without a token."""
        client = clients.sign("client")
        with collecting(tmp_path / "lake", **options) as collector:
            answer = send_http(collector, authority.context(client), trace_body(1))
            send_grpc(collector, authority.credentials(client), trace_body(2))
            collector.stop()

        assert answer.status == 200
        assert landed_ids(tmp_path / "lake") == [1, 2]

    @pytest.mark.parametrize("who", slow_after(1, ["nobody", "stranger", "expired"]))
    def test_others_fail_in_the_handshake(
        self,
        tmp_path: Path,
        options: dict[str, str],
        authority: Authority,
        clients: Authority,
        who: str,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        """Without a certificate, of another authority, or too old; it is logged once a minute."""
        signers: dict[str, Callable[[], Signed | None]] = {
            "nobody": lambda: None,
            "stranger": lambda: authority.sign("stranger"),
            "expired": lambda: clients.sign("expired", expires=LONG_AGO),
        }
        client = signers[who]()
        with collecting(tmp_path / "lake", **options) as collector:
            for _ in range(3):
                with pytest.raises((OSError, http.client.HTTPException)):
                    send_http(collector, authority.context(client), trace_body(1))
            with pytest.raises(grpc.RpcError) as refused:
                send_grpc(collector, authority.credentials(client), trace_body(2))
            collector.stop()

        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert landed_ids(tmp_path / "lake") == []
        assert 1 <= capfd.readouterr().err.count("handshake with 127.0.0.1 failed") < 3

    def test_new_authority_counts_for_new_connections(
        self, tmp_path: Path, options: dict[str, str], authority: Authority, clients: Authority
    ) -> None:
        """Clients of the old one are turned away, without a restart."""
        old, other = clients.sign("client"), Authority(tmp_path / "other")
        new = other.sign("client")
        with collecting(tmp_path / "lake", **options) as collector:
            assert send_http(collector, authority.context(old), trace_body(1)).status == 200
            clients.file.write_bytes(other.pem)
            wait_until(lambda: is_let_in(collector, authority.context(new)))
            send_grpc(collector, authority.credentials(new), trace_body(3))
            with pytest.raises(grpc.RpcError):
                send_grpc(collector, authority.credentials(old), trace_body(4))

            assert not is_let_in(collector, authority.context(old))


def is_let_in(collector: Collector, context: ssl.SSLContext) -> bool:
    """Return whether a handshake succeeds."""
    try:
        return send_http(collector, context, trace_body(2)).status == 200
    except (OSError, http.client.HTTPException):
        return False
