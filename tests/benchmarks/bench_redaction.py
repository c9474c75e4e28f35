"""How many spans one core redacts per second, by the share of spans with a secret.

CPU time, so that other work on the machine disturbs little. Takes about 20 seconds.
"""

import json
import random
import time
from collections.abc import Callable
from functools import partial

import pyarrow as pa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.benchmarks.command_line import while_read

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.redact.pseudonyms import Pseudonyms
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.rows import Record, span_rows

REQUESTS = 40
SPANS_PER_REQUEST = 512
SHARES = (0.0, 0.01, 0.1, 1.0)
_TEXT = "the agent looks up an order for a customer and returns the price with date and total"
WORDS = _TEXT.split()


def agent_spans(random_: random.Random, secret_share: float) -> bytes:
    """Return a request of tool calls with ten attributes, about 740 bytes each."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    for key, text in {"service.name": "bench", "telemetry.sdk.language": "python"}.items():
        group.resource.attributes.add(key=key).value.string_value = text
    spans = group.scope_spans.add().spans
    for number in range(SPANS_PER_REQUEST):
        span = spans.add(
            trace_id=(number // 20 + 1).to_bytes(16), span_id=(number + 1).to_bytes(8)
        )
        span.name = "execute_tool search_orders"
        arguments = {"customer": f"c-{number}", "limit": 10}
        if random_.random() < secret_share:
            arguments["api_key"] = "abcdefghijk"
        words = " ".join(random_.choice(WORDS) for _ in range(40))
        for key, text in {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search_orders",
            "gen_ai.tool.call.id": f"call_{random_.getrandbits(96):024x}",
            "gen_ai.tool.call.arguments": json.dumps(arguments),
            "gen_ai.tool.call.result": json.dumps([{"order": number, "text": words}]),
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.provider.name": "openai",
            "tracegrade.step.kind": "tool_call",
        }.items():
            span.attributes.add(key=key).value.string_value = text
        span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = number
        span.attributes.add(key="gen_ai.usage.output_tokens").value.int_value = 2 * number
    return request.SerializeToString()


def rows(secret_share: float) -> pa.Table:
    """Return the rows of some requests."""
    random_ = random.Random(1)  # noqa: S311
    bodies = (agent_spans(random_, secret_share) for _ in range(REQUESTS))
    records = [Record(1, 1, Signal.TRACES, Encoding.PROTOBUF, "", body) for body in bodies]
    return span_rows(records, "bench")


def best_secs(work: Callable[[], object]) -> float:
    """Return the least CPU time of five runs."""
    found = []
    for _ in range(5):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def main() -> None:
    """Print a line per share of spans with a secret."""
    secret = Pseudonyms(b"secret of the benchmark")
    redactor = Redactor(secret, max_value_bytes=4 << 20, max_blob_bytes=32_000)
    for share in SHARES:
        table = rows(share)
        secs = best_secs(partial(redactor.redact_rows, table))
        print(f"secrets in {share:4.0%} of spans: {table.num_rows / secs:10,.0f} spans/s")


if __name__ == "__main__":
    with while_read():
        main()
