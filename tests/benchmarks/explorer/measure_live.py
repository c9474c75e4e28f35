"""How long a span takes from its exporter to the pages, and what an idle explorer costs.

Run by hand: `python -m tests.benchmarks.explorer.measure_live [--runs 10] [--idle 60]`. A stock
exporter sends one span at a time to a real collector; the explorer builds what comes in. `--lake`
names a lake that is there already; a copy of it is used.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from tests.collector.running import collecting
from tests.waiting import wait_until

from tracegrade_lake import Lake

OF_AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "measured"}


@contextmanager
def served(lake: Path, *options: str) -> Iterator[tuple[str, psutil.Process]]:
    """Serve a lake's pages; yield their address and the process."""
    command = [str(Path(sys.executable).with_name("tracegrade")), "ui", "--lake", str(lake)]
    always = ["--no-token", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(
        [*command, *always, *options], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("ui: ").strip()
        try:
            yield url, psutil.Process(process.pid)
        finally:
            process.terminate()


def _runs(url: str) -> int:
    """Return how many runs the pages show."""
    opener = urllib.request.build_opener()
    with opener.open(f"{url}state.json") as answer:
        runs: int = json.load(answer)["runs"]
    return runs


def _has_more(url: str, runs: int) -> bool:
    return _runs(url) > runs


def _seconds_to_page(url: str, collector: str, runs: int) -> list[float]:
    """Return the time from the end of each span to the page that shows its run."""
    exporter = OTLPSpanExporter(f"{collector}/v1/traces")
    provider = TracerProvider(resource=Resource.create({"service.name": "measured"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("measured")
    taken = []
    for number in range(runs):
        before = _runs(url)
        time.sleep(number * 0.7 % 5)  # not in step with any timer
        with tracer.start_as_current_span("invoke_agent measured", attributes=OF_AGENT):
            pass
        sent = time.perf_counter()
        wait_until(partial(_has_more, url, before))
        taken.append(time.perf_counter() - sent)
    provider.shutdown()
    return taken


def _idle_share(process: psutil.Process, secs: float) -> float:
    """Return the share of a core that the explorer and its children take while nothing happens."""

    def used() -> float:
        each = [process, *process.children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in each)

    before = used()
    time.sleep(secs)
    return (used() - before) / secs


def main() -> None:
    """Measure both, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--idle", type=float, default=60)
    parser.add_argument("--lake", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        if given.lake:
            shutil.copytree(given.lake, lake)
        else:
            Lake.create(lake)
        with collecting(lake) as collector, served(lake) as (url, process):
            taken = sorted(_seconds_to_page(url, collector.url, given.runs))
            middle = statistics.median(taken)
            print(
                f"span to page: median {middle:.1f} s, longest {taken[-1]:.1f} s of {given.runs}"
            )
            share = _idle_share(process, given.idle)
            print(f"idle explorer: {share:.2%} of a core, {process.memory_info().rss >> 20} MB")


if __name__ == "__main__":
    main()
