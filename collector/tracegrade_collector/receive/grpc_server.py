"""OTLP/gRPC: hands the bytes of each call to the intake, and returns its result.

The handlers take raw bytes. With the generated ones the library would parse, answer INTERNAL for
malformed bytes, and leave nothing to log or to keep. They are registered as if a client could send
several messages, which looks the same on the wire. So the library calls them as soon as the head
has arrived. Then credentials are checked and memory is reserved before the message is read, and a
late message can be abandoned.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NoReturn, cast
from urllib.parse import unquote

import grpc
from google.protobuf.message import Message
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.address import Address
from tracegrade_collector.edge.tls import Tls
from tracegrade_collector.encoding.otlp import Encoding
from tracegrade_collector.errors import (
    CollectorError,
    Forbidden,
    MalformedRequest,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from tracegrade_collector.receive import status
from tracegrade_collector.receive.accept_request import Intake
from tracegrade_collector.receive.connections import fair_share_of_files
from tracegrade_collector.receive.exports import Export
from tracegrade_collector.receive.tenant_router import TenantRouter

SERVICES = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
STATUS_TRAILER = "grpc-status-details-bin"
RETRY_TRAILER = "google.rpc.retryinfo-bin"  # the only form that the Python exporter reads
MAX_CALLS = 100  # per connection; the client waits with more of them instead of being refused
MAX_METADATA_BYTES = 16 << 10
IDLE_SECS, AGE_SECS, AGE_GRACE_SECS = 600, 3600, 30  # clients reconnect by themselves
PING_SECS, PONG_SECS = 60, 20  # finds clients that vanished
LEAST_PING_GAP_SECS = 10  # clients that ping more often are sent away

Handler = Callable[[object, grpc.aio.ServicerContext], Awaitable[bytes]]


logger = logging.getLogger(__name__)


class SlowBody(Unavailable):
    """A message did not arrive in time."""


@contextlib.asynccontextmanager
async def serve_grpc(
    router: TenantRouter, address: Address, config: CollectorConfig, tls: Tls | None = None
) -> AsyncIterator[str]:
    """Serve until the end of the block, which waits for calls under way; yield the address.

    Only these services are known; the library answers UNIMPLEMENTED to any other.

    Raises:
        CollectorError: The address is taken.
    """
    server = grpc.aio.server(options=_options(config))
    server.add_generic_rpc_handlers([_service(router, name, config) for name in SERVICES])
    try:
        port = (
            server.add_secure_port(str(address), _credentials(tls))
            if tls
            else server.add_insecure_port(str(address))
        )
    except RuntimeError as error:
        msg = (
            f"cannot listen for gRPC on {address}: {str(error).partition(';')[0]}; choose another "
            f"with --grpc HOST:PORT, or --grpc off"
        )
        raise CollectorError(msg) from error
    await server.start()
    yield str(Address(address.host, port))
    await server.stop(config.drain_secs)


def _credentials(tls: Tls) -> grpc.ServerCredentials:
    """Return credentials that show each new connection the certificate in use at that time."""

    def current() -> grpc.ServerCertificateConfiguration:
        found = tls.certificate
        pairs = [(found.key, found.chain)]
        return grpc.ssl_server_certificate_configuration(pairs, found.client_ca)

    demands_clients = tls.certificate.client_ca is not None
    return grpc.dynamic_ssl_server_credentials(current(), current, demands_clients)


def _options(config: CollectorConfig) -> list[tuple[str, int]]:
    """Return the limits that the library keeps itself."""
    max_connections = min(config.max_connections, fair_share_of_files())
    return [
        ("grpc.max_receive_message_length", config.max_request_bytes),
        ("grpc.max_concurrent_streams", MAX_CALLS),
        ("grpc.max_allowed_incoming_connections", max_connections),
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.server_handshake_timeout_ms", int(config.max_head_secs * 1000)),
        ("grpc.max_connection_idle_ms", IDLE_SECS * 1000),
        ("grpc.max_connection_age_ms", AGE_SECS * 1000),
        ("grpc.max_connection_age_grace_ms", AGE_GRACE_SECS * 1000),
        ("grpc.keepalive_time_ms", PING_SECS * 1000),
        ("grpc.keepalive_timeout_ms", PONG_SECS * 1000),
        ("grpc.http2.min_ping_interval_without_data_ms", LEAST_PING_GAP_SECS * 1000),
        ("grpc.so_reuseport", 0),  # else two collectors on one port share its calls at random
    ]


def _service(router: TenantRouter, name: str, config: CollectorConfig) -> grpc.GenericRpcHandler:
    export = _export_handler(router, router.exports[name], config.max_body_secs)
    handler = grpc.stream_unary_rpc_method_handler(export)
    return grpc.method_handlers_generic_handler(SERVICES[name], {"Export": handler})


def _export_handler(router: TenantRouter, export: Export, max_body_secs: float) -> Handler:
    async def handle(_: object, context: grpc.aio.ServicerContext) -> bytes:
        started = time.perf_counter()
        try:
            intake = _route_call(router, context)
            with intake.reserve() as reservation:
                body = await _message(context, max_body_secs)
                reservation.hold(len(body))
                answer = await export(intake, body, Encoding.PROTOBUF, _client(context))
        except CollectorError as error:
            await _refuse(context, error)
        except Exception:
            logger.exception("a call failed")
            msg = "the collector failed on this request and did not store it"
            await _refuse(context, Unavailable(msg))  # else UNKNOWN, and it would not come again
        secs = time.perf_counter() - started
        router.counters.observe("request_duration_seconds", secs, protocol="grpc")
        return answer.SerializeToString()

    return handle


def _client(context: grpc.aio.ServicerContext) -> str:
    """Return the address of the other side without its port, as HTTP has it."""
    address = unquote(context.peer()).partition(":")[2]
    return address.rpartition(":")[0].strip("[]") or "an unknown client"


def _route_call(router: TenantRouter, context: grpc.aio.ServicerContext) -> Intake:
    metadata = context.invocation_metadata() or ()
    names = context.auth_context().get("x509_common_name")
    return router.route(
        [value for key, value in metadata if key == "authorization"],
        [value for key, value in metadata if key == "x-scope-orgid"],
        names[0].decode() if names else None,
    )


async def _message(context: grpc.aio.ServicerContext, max_secs: float) -> bytes:
    """Return the one message of a call.

    Raises:
        MalformedRequest: There is none.
        Unavailable: It did not arrive in time.
    """
    try:
        async with asyncio.timeout(max_secs):
            body = await context.read()
    except TimeoutError as error:
        msg = f"the message did not arrive within {max_secs:g} s"
        raise SlowBody(msg) from error
    if body is grpc.aio.EOF:
        msg = "the call contained no message"
        raise MalformedRequest(msg)
    return cast(bytes, body)


async def _refuse(context: grpc.aio.ServicerContext, error: CollectorError) -> NoReturn:
    """End the call with what the protocol has for a refusal.

    A request that is too large gets no RetryInfo: sending the same again would not help.
    """
    match error:
        case MalformedRequest():
            code, number = grpc.StatusCode.INVALID_ARGUMENT, Code.INVALID_ARGUMENT
        case TooLarge():
            code, number = grpc.StatusCode.RESOURCE_EXHAUSTED, Code.RESOURCE_EXHAUSTED
        case Unauthenticated():
            code, number = grpc.StatusCode.UNAUTHENTICATED, Code.UNAUTHENTICATED
        case Forbidden():
            code, number = grpc.StatusCode.PERMISSION_DENIED, Code.PERMISSION_DENIED
        case _:
            secs = error.retry_after_secs if isinstance(error, Unavailable) else 1
            details = status.error_status(Code.UNAVAILABLE, str(error), secs)
            retry = (RETRY_TRAILER, status.retry_info(secs))
            await _abort(context, grpc.StatusCode.UNAVAILABLE, details, retry)
    await _abort(context, code, status.error_status(number, str(error)))


async def _abort(
    context: grpc.aio.ServicerContext,
    code: grpc.StatusCode,
    details: Status,
    *trailers: tuple[str, Message],
) -> NoReturn:
    """End the call with an error."""
    pairs = ((STATUS_TRAILER, details), *trailers)
    written = tuple((name, message.SerializeToString()) for name, message in pairs)
    await context.abort(code, details.message, written)
    msg = "abort raises"
    raise AssertionError(msg)
