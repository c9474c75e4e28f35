"""OTLP/gRPC: hands the bytes of each call to the intake, and says what became of them.

The handlers take raw bytes. With the generated ones the library would parse, answer INTERNAL for
bytes that are no message, and leave nothing to log or to keep.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NoReturn

import grpc
from google.protobuf.message import Message
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

from tracegrade_collector import status
from tracegrade_collector.config import Address, CollectorConfig
from tracegrade_collector.errors import CollectorError, MalformedRequest, Unavailable
from tracegrade_collector.intake import Intake
from tracegrade_collector.otlp import Encoding, Signal

SERVICES = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
}
STATUS_TRAILER = "grpc-status-details-bin"
RETRY_TRAILER = "google.rpc.retryinfo-bin"  # the only form that the Python exporter reads
MAX_CALLS = 100  # per connection; the client waits with more of them instead of being refused

Handler = Callable[[bytes, grpc.aio.ServicerContext], Awaitable[bytes]]


@contextlib.asynccontextmanager
async def serve_grpc(
    intake: Intake, address: Address, config: CollectorConfig
) -> AsyncIterator[str]:
    """Serve until the end of the block, which waits for calls under way; yield the address.

    Only two services are known; the library answers UNIMPLEMENTED to any other.

    Raises:
        CollectorError: The address is taken.
    """
    options = [
        ("grpc.max_receive_message_length", config.max_request_bytes),
        ("grpc.max_concurrent_streams", MAX_CALLS),
        ("grpc.so_reuseport", 0),  # else two collectors on one port share its calls at random
    ]
    server = grpc.aio.server(options=options)
    server.add_generic_rpc_handlers(
        [_service(intake, signal, name) for signal, name in SERVICES.items()]
    )
    try:
        port = server.add_insecure_port(str(address))
    except RuntimeError as error:
        msg = (
            f"cannot listen for gRPC on {address}: {str(error).partition(';')[0]}; choose another "
            f"with --grpc HOST:PORT, or --grpc off"
        )
        raise CollectorError(msg) from error
    await server.start()
    yield str(Address(address.host, port))
    await server.stop(config.drain_secs)


def _service(intake: Intake, signal: Signal, name: str) -> grpc.GenericRpcHandler:
    handler = grpc.unary_unary_rpc_method_handler(_export_handler(intake, signal))
    return grpc.method_handlers_generic_handler(name, {"Export": handler})


def _export_handler(intake: Intake, signal: Signal) -> Handler:
    async def export(body: bytes, context: grpc.aio.ServicerContext) -> bytes:
        try:
            with intake.room() as room:
                room.hold(len(body))
                rejections = await intake.accept(body, signal, Encoding.PROTOBUF)
        except MalformedRequest as error:
            details = status.error_status(Code.INVALID_ARGUMENT, str(error))
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, details)
        except Unavailable as error:
            secs = error.retry_after_secs
            details = status.error_status(Code.UNAVAILABLE, str(error), secs)
            retry = (RETRY_TRAILER, status.retry_info(secs))
            await _abort(context, grpc.StatusCode.UNAVAILABLE, details, retry)
        return status.export_response(signal, rejections).SerializeToString()

    return export


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
