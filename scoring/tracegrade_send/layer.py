"""Tables that sending adds to a lake; entry point of `tracegrade.layers`."""

from typing import Final

from tracegrade_queries.engine.layers import Layer
from tracegrade_send.schema import SEND_DESTINATIONS, SENT_SCORES
from tracegrade_send.sql import QUERIES

SENT: Final = Layer(
    (SEND_DESTINATIONS, SENT_SCORES),
    QUERIES,
    why_absent="no score has been sent; run `tracegrade send --lake LAKE --to KIND` first",
)
