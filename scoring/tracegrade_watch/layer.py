"""Tables that watching adds to a lake; entry point of `tracegrade.layers`."""

from typing import Final

from tracegrade_queries.engine.layers import Layer
from tracegrade_watch.rules.stored import WATCH_RULES
from tracegrade_watch.schema import ALERTS
from tracegrade_watch.sql import QUERIES

WATCHED: Final = Layer(
    (ALERTS, WATCH_RULES),
    QUERIES,
    why_absent="it has never been watched; run `tracegrade watch --lake LAKE` first",
)
