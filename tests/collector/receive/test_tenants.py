"""Tenants: each has a lake of its own, which only its credential leads to."""

import http.client
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest
from tests.collector.running import (
    PROTOBUF,
    Answer,
    Collector,
    collecting,
    halt,
    landed_ids,
    read_answer,
    trace_body,
)
from tests.lake.stores import BUCKET
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.edge.tokens import add_token
from tracegrade_collector.receive.receiver import SAME_WISH_SECS
from tracegrade_lake import Lake

from .certificates import HOST, Authority

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
WRONG_TENANTS = [
    "../x",
    "globex",
    "Acme",
    "acme ../x",
    "acme,globex",
    "acme|globex",
    "a" * 1024,
    "",
    "%61cme",
]


class Tenants(NamedTuple):
    """A file of tokens, with a token for each of two tenants and one for the lake itself."""

    file: Path
    acme: str
    globex: str
    own: str

    def add(self, text: str) -> None:
        """Append to the file."""
        with self.file.open("a") as file:
            file.write(text)


@pytest.fixture
def tenants(tmp_path: Path) -> Tenants:
    """Two tenants, and the lake itself."""
    return with_tokens(tmp_path / "tokens.toml")


def with_tokens(file: Path) -> Tenants:
    """Return the tenants that a new file of tokens has."""
    return Tenants(file, *(add_token(file, name, None) for name in ("acme", "globex", "")))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The path of a lake."""
    return tmp_path / "lake"


@pytest.fixture
def collector(lake: Path, tenants: Tenants) -> Iterator[Collector]:
    """A collector for them."""
    with collecting(lake, token_file=str(tenants.file)) as running:
        yield running


class Refusing(NamedTuple):
    """A collector that gets nothing but what it refuses, so that tests can share it."""

    collector: Collector
    lake: Path
    tenants: Tenants


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Refusing]:
    """One for all headers that name a wrong tenant."""
    folder = tmp_path_factory.mktemp("refusing")
    tenants = with_tokens(folder / "tokens.toml")
    with collecting(folder / "lake", token_file=str(tenants.file)) as running:
        yield Refusing(running, folder / "lake", tenants)


def send(collector: Collector, token: str, body: bytes, *tenant_headers: str) -> Answer:
    """Send one request over HTTP."""
    with closing(
        http.client.HTTPConnection(HOST, collector.port, timeout=PATIENCE_SECS)
    ) as connection:
        connection.putrequest("POST", "/v1/traces")
        headers = [*PROTOBUF.items(), ("Content-Length", str(len(body)))]
        headers += [("Authorization", f"Bearer {token}")]
        headers += [("x-Scope-OrgId", value) for value in tenant_headers]
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(body)
        return read_answer(connection)


def call(collector: Collector, token: str, body: bytes, *tenant_headers: str) -> None:
    """Send one call over gRPC."""
    metadata = [("authorization", f"Bearer {token}")]
    metadata += [("x-scope-orgid", value) for value in tenant_headers]
    with grpc.insecure_channel(collector.grpc) as channel:
        channel.unary_unary(TRACES)(body, timeout=PATIENCE_SECS, metadata=metadata)


def test_each_tenant_has_a_lake_of_its_own(
    collector: Collector, lake: Path, tenants: Tenants
) -> None:
    """A tenant's spans are in no table of another, for each transport.

    A header may name the tenant, once or twice, as long as each is right.
    """
    send(collector, tenants.acme, trace_body(1), "acme", "acme")
    call(collector, tenants.acme, trace_body(2), "acme")
    refused = send(collector, tenants.acme, trace_body(5), "acme", "globex")
    send(collector, tenants.globex, trace_body(3))
    call(collector, tenants.own, trace_body(4))
    code = collector.stop()

    assert (code, refused.status) == (0, 403)
    assert landed_ids(lake / "tenants" / "acme") == [1, 2]
    assert landed_ids(lake / "tenants" / "globex") == [3]
    assert landed_ids(lake) == [4]


def test_nothing_of_a_tenant_is_beside_its_folder(
    collector: Collector, lake: Path, tenants: Tenants
) -> None:
    """Log, quarantine, dead letters and tables: all under its own folder."""
    marked = trace_body(1).replace(b"span 1", b"acme's")
    for body in (marked, b"\xffacme's", trace_body(0, 2).replace(b"span 0", b"acme's")):
        send(collector, tenants.acme, body)
    send(collector, tenants.globex, trace_body(3))
    collector.stop()

    holding = [
        file for file in lake.rglob("*") if file.is_file() and b"acme's" in file.read_bytes()
    ]
    assert {file.relative_to(lake).parts[:2] for file in holding} == {("tenants", "acme")}
    assert {file.relative_to(lake).parts[2] for file in holding} >= {"quarantine", "dead_letters"}


@pytest.mark.parametrize("header", WRONG_TENANTS)
def test_header_that_names_another_tenant_is_refused(refusing: Refusing, header: str) -> None:
    """Bad input 42: 403 over both transports, and no folder is made of it."""
    collector, lake, tenants = refusing
    answer = send(collector, tenants.acme, trace_body(1), header)
    with pytest.raises(grpc.RpcError) as refused:
        call(collector, tenants.acme, trace_body(2), header)

    assert answer.status == 403
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert not (lake / "tenants").exists()


def test_header_with_a_nul_is_refused(refusing: Refusing) -> None:
    """Bad input 42: it does not get as far as a name."""
    collector, lake, tenants = refusing
    with closing(
        http.client.HTTPConnection(HOST, collector.port, timeout=PATIENCE_SECS)
    ) as connection:
        connection.putrequest("POST", "/v1/traces")
        connection._buffer += [  # type: ignore[attr-defined]  # http.client refuses it too
            b"X-Scope-OrgID: a\0b",
            f"Authorization: Bearer {tenants.acme}".encode(),
            b"Content-Type: application/x-protobuf",
            b"Content-Length: 0",
        ]
        connection.endheaders()

        assert read_answer(connection).status in {400, 403}
    assert not (lake / "tenants").exists()


def test_header_means_nothing_without_tokens(lake: Path) -> None:
    """Bad input 42: nothing vouches for it, so it is ignored and everything is the lake's own."""
    with collecting(lake) as collector:
        send(collector, "", trace_body(1), "../x")
        send(collector, "", trace_body(2), "acme")
        collector.stop()

    assert landed_ids(lake) == [1, 2]
    assert not (lake / "tenants").exists()


def test_full_log_of_one_tenant_does_not_stop_another(lake: Path, tenants: Tenants) -> None:
    """Its own share is full and it must wait; the other tenant, and readiness, continue.

    The share is in the file of tokens, and counts for a tenant that has sent before.
    """
    with collecting(lake, token_file=str(tenants.file), land_every_secs=60) as collector:
        before = send(collector, tenants.acme, trace_body(1)).status
        tenants.add("[tenant.acme]\nmax_wal_bytes = 1\n")
        wait_until(lambda: send(collector, tenants.acme, trace_body(2)).status == 503)
        other = send(collector, tenants.globex, trace_body(3)).status

        assert (before, other) == (200, 200)
        assert collector.request("GET", "/readyz").status == 200


def test_rate_of_one_tenant_does_not_slow_another(lake: Path, tenants: Tenants) -> None:
    """More than its bytes per second is refused for a moment; each refusal names its tenant."""
    metrics = add_token(tenants.file, None, None)
    tenants.add("[tenant.acme]\nmax_bytes_per_sec = 1000\n")
    answers: list[Answer] = []
    with collecting(lake, token_file=str(tenants.file)) as running:

        def is_refused() -> bool:
            answers.append(send(running, tenants.acme, trace_body(*range(1, 50))))
            return answers[-1].status != 200

        wait_until(is_refused)
        others = [send(running, tenants.globex, trace_body(n)) for n in range(1, 20)]
        headers = {"Authorization": f"Bearer {metrics}"}
        counters = running.request("GET", "/metrics", headers=headers).body.decode()
        refused = [answer for answer in answers if answer.status != 200]
        wait_until(lambda: send(running, tenants.acme, trace_body(100)).status == 200)

    assert answers[0].status == 200
    assert {(each.status, each.headers["retry-after"]) for each in refused} == {(429, "2")}
    assert {each.status for each in others} == {200}
    name = 'refused_requests_total{reason="RateExceeded",tenant="acme"}'
    assert f"{name} {len(refused)}\n" in counters


def test_memory_of_one_tenant_leaves_room_for_another(lake: Path, tenants: Tenants) -> None:
    """One tenant holds half of what all may hold, however much it sends."""
    limits = {"max_in_flight_bytes": 4000, "max_request_bytes": 1000}
    with (
        collecting(lake, token_file=str(tenants.file), **limits) as collector,
        holding(collector, tenants.acme, 900),
        holding(collector, tenants.acme, 900),
    ):
        wait_until(lambda: send(collector, tenants.acme, bytes(900)).status == 503)

        assert send(collector, tenants.globex, trace_body(1)).status == 200


def holding(collector: Collector, token: str, size: int) -> closing[http.client.HTTPConnection]:
    """Return a connection that has sent so many bytes of a request, and not its end."""
    connection = http.client.HTTPConnection(HOST, collector.port)
    connection.putrequest("POST", "/v1/traces")
    headers = {"Content-Length": str(size + 1), "Authorization": f"Bearer {token}"}
    for name, value in (PROTOBUF | headers).items():
        connection.putheader(name, value)
    connection.endheaders(bytes(size))
    return closing(connection)


def test_tenants_land_after_a_crash(lake: Path, tenants: Tenants) -> None:
    """Also of a tenant who sends no more, and whose token is gone."""
    with collecting(lake, token_file=str(tenants.file)) as collector:
        collector.halt_lander()
        for _ in range(2):
            send(collector, tenants.acme, trace_body(1))
            send(collector, tenants.globex, trace_body(2))
        collector.kill()
    tenants.file.unlink()
    add_token(tenants.file, "globex", None)
    with collecting(lake, token_file=str(tenants.file)) as collector:
        wait_until(lambda: landed_ids(lake / "tenants" / "acme") == [1, 1])
        code = collector.stop()

    assert code == 0
    assert landed_ids(lake / "tenants" / "acme") == [1, 1]
    assert landed_ids(lake / "tenants" / "globex") == [2, 2]


def test_tenant_folder_that_cannot_be_made_costs_only_its_tenant(
    lake: Path, tenants: Tenants
) -> None:
    """The tenant must send again later, which succeeds once the folder can be made."""
    (lake / "tenants").mkdir(parents=True)
    (lake / "tenants" / "acme").touch()
    with collecting(lake, token_file=str(tenants.file)) as collector:
        refused = send(collector, tenants.acme, trace_body(1)).status
        other = send(collector, tenants.globex, trace_body(2)).status
        (lake / "tenants" / "acme").unlink()
        later = send(collector, tenants.acme, trace_body(3)).status

    assert (refused, other, later) == (503, 200, 200)


def test_client_certificate_stands_for_a_token(
    tmp_path: Path, lake: Path, tenants: Tenants
) -> None:
    """Its common name is in the file; a token, if there is one, decides."""
    tenants.add('[tenant.acme]\ncertificate_names = ["agents.acme.example"]\n')
    authority = Authority(tmp_path / "authority")
    known = authority.sign("known", "agents.acme.example")
    other = authority.sign("other", "agents.globex.example")
    options = authority.sign("server").options | {"tls_client_ca_file": str(authority.file)}
    with collecting(lake, token_file=str(tenants.file), **options) as collector:

        def status(client: object, body: bytes, **headers: str) -> int:
            context = authority.context(client)  # type: ignore[arg-type]
            secure = http.client.HTTPSConnection(HOST, collector.port, context=context)
            with closing(secure) as connection:
                connection.request("POST", "/v1/traces", body, PROTOBUF | headers)
                return read_answer(connection).status

        assert status(known, trace_body(1)) == 200
        assert status(known, trace_body(2), Authorization=f"Bearer {tenants.globex}") == 200
        assert status(known, b"", Authorization="Bearer wrong") == 401
        assert status(other, b"") == 401
        with grpc.secure_channel(collector.grpc, authority.credentials(known)) as channel:
            channel.unary_unary(TRACES)(trace_body(3), timeout=PATIENCE_SECS)
        with (
            grpc.secure_channel(collector.grpc, authority.credentials(other)) as channel,
            pytest.raises(grpc.RpcError) as refused,
        ):
            channel.unary_unary(TRACES)(trace_body(4), timeout=PATIENCE_SECS)
        collector.stop()

    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert landed_ids(lake / "tenants" / "acme") == [1, 3]
    assert landed_ids(lake / "tenants" / "globex") == [2]


@pytest.mark.slow
def test_second_signal_gives_up_on_landing(lake: Path, tenants: Tenants) -> None:
    """The collector ends at once with 3, and the next one lands what the log holds."""
    flags: dict[str, str | float] = {"token_file": str(tenants.file), "land_every_secs": 60}
    with collecting(lake, **flags) as collector:
        send(collector, tenants.acme, trace_body(1))
        collector.halt_lander()  # it would take for ever
        collector.process.terminate()
        wait_until(lambda: not collector.is_listening)
        time.sleep(1.5 * SAME_WISH_SECS)
        assert collector.is_running
        code = collector.stop()
    with collecting(lake, **flags) as collector:
        collector.stop()

    assert code == 3
    assert landed_ids(lake / "tenants" / "acme") == [1]


@pytest.mark.slow
def test_halted_collector_goes_on(collector: Collector, lake: Path, tenants: Tenants) -> None:
    """What was sent meanwhile is answered when it runs again, and lands once."""
    send(collector, tenants.acme, trace_body(1))
    for pid in (collector.process.pid, collector.lander_pid()):
        halt(pid)
    with closing(
        http.client.HTTPConnection(HOST, collector.port, timeout=PATIENCE_SECS)
    ) as connection:
        headers = PROTOBUF | {"Authorization": f"Bearer {tenants.acme}"}
        connection.request("POST", "/v1/traces", trace_body(2), headers)
        os.killpg(collector.process.pid, signal.SIGCONT)
        status = read_answer(connection).status
    collector.stop()

    assert status == 200
    assert landed_ids(lake / "tenants" / "acme") == [1, 2]


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_tenants_of_a_lake_on_an_object_store(tmp_path: Path, tenants: Tenants) -> None:
    """Tables stand under the URL, log and quarantine under the state folder, each apart."""
    url, state = f"s3://{BUCKET}/tenants", tmp_path / "state"
    flags = (f"--lake={url}", f"--state={state}")
    with collecting(state, *flags, token_file=str(tenants.file)) as collector:
        send(collector, tenants.acme, trace_body(1, 2))
        send(collector, tenants.acme, b"\xff")
        send(collector, tenants.globex, trace_body(3))
        code = collector.stop()
    lakes = [
        Lake.open(f"{url}/tenants/{tenant}", state / "tenants" / tenant)
        for tenant in ("acme", "globex")
    ]
    rows = [sum(file.rows for file in lake.live_files("raw_spans")) for lake in lakes]

    assert code == 0
    assert rows == [2, 1]
    assert len([*(state / "tenants" / "acme" / "quarantine").iterdir()]) == 1
    assert not (state / "quarantine").exists()


def test_restarted_lander_lands_all_tenants(
    collector: Collector, lake: Path, tenants: Tenants
) -> None:
    """It gets the list of logs again."""
    send(collector, tenants.acme, trace_body(1))
    os.kill(collector.lander_pid(), signal.SIGKILL)
    send(collector, tenants.acme, trace_body(2))
    send(collector, tenants.globex, trace_body(3))

    wait_until(lambda: landed_ids(lake / "tenants" / "acme") == [1, 2])
    wait_until(lambda: landed_ids(lake / "tenants" / "globex") == [3])
