"""The packages of the project, from the lowest to the highest."""

from typing import Final

PACKAGES: Final = (
    "tracegrade",
    "tracegrade_lake",
    "tracegrade_collector",
    "tracegrade_queries",
    "tracegrade_scoring",
    "tracegrade_judges",
    "tracegrade_scale",
    "tracegrade_testing",
    "tracegrade_send",
    "tracegrade_watch",
    "tracegrade_ci",
    "tracegrade_harness",
    "tracegrade_explorer",
)
