"""Handles export requests by signal: accepts traces and logs, and refuses all metrics.

Programs often send metrics by default. An error would make their exporters complain at each
attempt, and hide that traces do arrive. So these requests are read, and the response reports all
data points as rejected.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial

from google.protobuf.message import Message

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.receive import status
from tracegrade_collector.receive.accept_request import METRICS, Intake

MOST_CLIENTS = 1000
"""Number of warned clients to remember. The oldest is forgotten first, and may be warned again."""

logger = logging.getLogger(__name__)

Export = Callable[[Intake, bytes, Encoding, str], Awaitable[Message]]
"""Takes the intake, body and encoding of a request, and the client's address; returns the answer,
or raises a `CollectorError`.
"""


def exports() -> dict[str, Export]:
    """Return the handler of each signal, by its name in paths."""
    stored = {str(signal): partial(_accept, signal=signal) for signal in Signal}
    return stored | {METRICS: UnstoredMetrics().refuse}


async def _accept(
    intake: Intake, body: bytes, encoding: Encoding, _: str, *, signal: Signal
) -> Message:
    return status.export_response(signal, *await intake.accept(body, signal, encoding))


class UnstoredMetrics:
    """Answers requests of metrics, and warns about each client once."""

    def __init__(self) -> None:
        self._warned: OrderedDict[str, None] = OrderedDict()

    async def refuse(
        self, intake: Intake, body: bytes, encoding: Encoding, client: str
    ) -> Message:
        """Return the answer that no data point was taken."""
        count = await intake.refuse_metrics(body, encoding)
        if count:
            self._tell(client)
        return status.metrics_response(count)

    def _tell(self, client: str) -> None:
        if client in self._warned:
            return
        self._warned[client] = None
        if len(self._warned) > MOST_CLIENTS:
            self._warned.popitem(last=False)
        logger.warning(
            "%s sends metrics, which are not stored, and is answered so; said once for each "
            "client. OTEL_METRICS_EXPORTER=none there ends it",
            client,
        )
