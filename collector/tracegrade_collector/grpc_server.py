"""OTLP/gRPC: hands the bytes of each call to the intake, and says what became of them.

The handlers take raw bytes. With the generated ones the library would parse, answer INTERNAL for
bytes that are no message, and leave nothing to log or to keep.
"""

from collections.abc import Awaitable, Callable

import grpc
from google.rpc.code_pb2 import Code

from tracegrade_collector import status
from tracegrade_collector.config import Address
from tracegrade_collector.errors import CollectorError, MalformedRequest
from tracegrade_collector.intake import Intake, Overloaded
from tracegrade_collector.otlp import Encoding, Signal
from tracegrade_collector.wal_writer import LogUnavailable

SERVICES = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
}
RETRY_SECS = 1  # exporters give up after about 7 s, so a longer wait would lose the data
STATUS_TRAILER = "grpc-status-details-bin"
RETRY_TRAILER = "google.rpc.retryinfo-bin"  # the only form that the Python exporter reads
MAX_CONCURRENT_CALLS = 1000  # each may hold a message in memory before the intake counts it

Handler = Callable[[bytes, grpc.aio.ServicerContext], Awaitable[bytes]]


class GrpcServer:
    """A server of the two services."""

    def __init__(self, intake: Intake, address: Address, max_request_bytes: int) -> None:
        """Bind the address.

        Raises:
            CollectorError: The address is taken.
        """
        options = [
            ("grpc.max_receive_message_length", max_request_bytes),
            (
                "grpc.so_reuseport",
                0,
            ),  # two collectors on one port would share its requests at random
        ]
        self._server = grpc.aio.server(
            options=options, maximum_concurrent_rpcs=MAX_CONCURRENT_CALLS
        )
        self._server.add_generic_rpc_handlers(
            [_service(intake, signal, name) for signal, name in SERVICES.items()]
        )
        try:
            port = self._server.add_insecure_port(str(address))
        except RuntimeError as error:
            msg = f"cannot listen for gRPC on {address}: {error}"
            raise CollectorError(msg) from error
        self.address = Address(address.host, port)

    async def start(self) -> None:
        """Begin to answer."""
        await self._server.start()

    async def stop(self, grace_secs: float) -> None:
        """Take no new calls, and wait for those under way."""
        await self._server.stop(grace_secs)


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
            return await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except Overloaded as error:
            return await _abort_for_now(context, str(error), error.retry_after_secs)
        except LogUnavailable as error:
            return await _abort_for_now(context, str(error), RETRY_SECS)
        return status.export_response(signal, rejections).SerializeToString()

    return export


async def _abort(context: grpc.aio.ServicerContext, code: grpc.StatusCode, text: str) -> bytes:
    details = status.error_status(Code.Value(code.name), text)
    trailers = ((STATUS_TRAILER, details.SerializeToString()),)
    await context.abort(code, details.message, trailers)
    raise AssertionError("abort raises")


async def _abort_for_now(context: grpc.aio.ServicerContext, text: str, secs: int) -> bytes:
    details = status.error_status(Code.UNAVAILABLE, text, secs)
    trailers = (
        (STATUS_TRAILER, details.SerializeToString()),
        (RETRY_TRAILER, status.retry_info(secs).SerializeToString()),
    )
    await context.abort(grpc.StatusCode.UNAVAILABLE, details.message, trailers)
    raise AssertionError("abort raises")
