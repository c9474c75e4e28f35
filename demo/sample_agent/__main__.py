"""Write the runs that `tracegrade sample` copies: `python -m demo.sample_agent [FILE]`.

Ids come from a seeded generator and times from a clock that ticks when it is read, so the file is
the same each time. Each line is one run, as OTLP/JSON; the file is compressed with gzip.
"""

import gzip
import json
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

import tracegrade
from demo.sample_agent.desk import AGENT, REQUESTS, Release, release_1_0, release_1_1, serve
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_scoring.sample import RUNS

RELEASES: dict[str, Release] = {"1.0": release_1_0, "1.1": release_1_1}
START_NS = 1_793_523_600 * 10**9
"""2026-11-01T09:00:00Z."""
TICK_NS = 40_000_000
OF_THIS_MACHINE = frozenset({"exception.stacktrace", "tracegrade.step.monotonic_ns"})
"""Attributes that differ from machine to machine."""


class Clock:
    """A clock that ticks whenever the agent reads it."""

    def __init__(self) -> None:
        self.now = START_NS
        self.thread = threading.get_ident()

    def __call__(self) -> int:
        """Return nanoseconds since 1970."""
        if threading.get_ident() == self.thread:  # exporters have threads of their own
            self.now += TICK_NS
        return self.now


class SeededIds(IdGenerator):
    """Ids that are the same each time."""

    def __init__(self) -> None:
        self._random = random.Random(24)  # noqa: S311 - no secret

    def generate_span_id(self) -> int:
        """Return the next one."""
        return self._random.getrandbits(64)

    def generate_trace_id(self) -> int:
        """Return the next one."""
        return self._random.getrandbits(128)


def main() -> None:
    """Write the file."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    text = "".join(f"{line}\n" for line in sample_lines())
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def sample_lines() -> Iterator[str]:
    """Yield each run as a line of OTLP/JSON."""
    exporter = InMemorySpanExporter()
    limits = SpanLimits(max_span_attributes=4096)
    trace.set_tracer_provider(TracerProvider(id_generator=SeededIds(), span_limits=limits))
    tracegrade.init(exporter=exporter)
    clock = Clock()
    for version, release in RELEASES.items():
        for request in REQUESTS:
            with patch("time.time_ns", clock), patch("opentelemetry.sdk.trace.time_ns", clock):
                serve(release, request)
            tracegrade.flush()
            yield _line(version, exporter.get_finished_spans())
            exporter.clear()


def _line(version: str, spans: tuple[ReadableSpan, ...]) -> str:
    message = encode_spans(spans)
    resource = {"service.name": AGENT, "service.version": version}
    for group in message.resource_spans:
        _replace(group.resource.attributes, map(_attribute, resource, resource.values()))
        for span in (span for scope in group.scope_spans for span in scope.spans):
            _strip(span.attributes)
            for event in span.events:
                _strip(event.attributes)
    return json.dumps(write_json(message), separators=(",", ":"))


def _attribute(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))


def _strip(attributes: Any) -> None:
    _replace(attributes, [one for one in attributes if one.key not in OF_THIS_MACHINE])


def _replace(attributes: Any, others: Iterable[KeyValue]) -> None:
    del attributes[:]
    attributes.extend(others)


if __name__ == "__main__":
    main()
