"""Variables of the SDK with meaningless values: the host neither ends nor waits.

spans: 0 or more
speed: slow
"""

import os
import subprocess
import sys

CASES = (
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=-5",
    "OTEL_SPAN_EVENT_COUNT_LIMIT=many",
    "OTEL_BSP_MAX_QUEUE_SIZE=-1",
    "OTEL_BSP_SCHEDULE_DELAY=soon",
    "OTEL_TRACES_SAMPLER=sometimes",
    "OTEL_TRACES_EXPORTER=none,nowhere",
    "OTEL_PROPAGATORS=no-such",
    "OTEL_PYTHON_CONTEXT=no-such",
    "OTEL_PYTHON_ID_GENERATOR=no-such",
    "OTEL_PYTHON_TRACER_PROVIDER=no-such",
    "OTEL_EXPORTER_OTLP_HEADERS==,=",
    "OTEL_EXPORTER_OTLP_TIMEOUT=never",
    "OTEL_EXPORTER_OTLP_PROTOCOL=smoke",
    "OTEL_EXPORTER_OTLP_COMPRESSION=zip",
    "OTEL_EXPORTER_OTLP_ENDPOINT=not a url",
    "OTEL_RESOURCE_ATTRIBUTES=%%%,=",
    "TRACEGRADE_CONTENT_MAX_CHARS=-1",
)
TEXT = """
from tg import t
t.init()
@t.tool
def work(x): return x
with t.agent_run("a"): print(work(1))
"""
for case in CASES:
    name, value = case.split("=", 1)
    environment = {**os.environ, name: value}
    ended = subprocess.run(
        [sys.executable, "-c", TEXT], env=environment, capture_output=True, text=True, check=False
    )
    print(case, ended.returncode, ended.stdout)
