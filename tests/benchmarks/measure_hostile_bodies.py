"""Peak memory of receiver and lander for requests that try to take much: at most 512 MB each.

    python -m tests.benchmarks.measure_hostile_bodies [--only WORD]

Each request (`hostile_bodies.py`) is sent to a collector of its own that has landed a small one
before. MB are the peaks of its two processes above what they took by then; Linux only.
"""

import argparse
import http.client
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import grpc
from tests.benchmarks.command_line import while_read
from tests.benchmarks.hostile_bodies import BODIES, LOGS, HostileBody
from tests.collector.running import Collector, collecting, trace_request
from tests.waiting import wait_until

MOST_MB: Final = 512
GIVE_UP_SECS: Final = 120


def memory_mb(pid: int, name: str) -> float:
    """Return a size of a process from its status; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith(name)), 0.0)


def settled(collector: Collector) -> bool:
    """Return whether nothing waits to land."""
    return collector.numbers()["landing_lag_secs"] == 0


def send(collector: Collector, hostile: HostileBody, body: bytes) -> int:
    """Send a request as it is, and return the answer's status; 0 if there was none."""
    if hostile.is_grpc:
        return send_grpc(collector, hostile)
    headers = {"Content-Type": hostile.content_type, "Content-Encoding": "gzip"}
    try:
        return collector.post(hostile.path, body, headers).status
    except (OSError, http.client.HTTPException):
        return 0


def send_grpc(collector: Collector, hostile: HostileBody) -> int:
    """Send a request over gRPC, and return 200 if it was taken, else the number of its error."""
    signal = "logs" if hostile.path == LOGS else "trace"
    service = f"opentelemetry.proto.collector.{signal}.v1.{signal.title()}Service"
    with grpc.insecure_channel(collector.grpc, [("grpc.max_send_message_length", -1)]) as channel:
        export = channel.unary_unary(f"/{service}/Export")
        try:
            export(hostile.body(), timeout=GIVE_UP_SECS, compression=grpc.Compression.Gzip)
        except grpc.RpcError as error:
            return int(error.code().value[0])
    return 200


def measured(hostile: HostileBody, body: bytes) -> tuple[int, int, int, float]:
    """Return the answer's status, the peaks in MB of receiver and lander, and the seconds."""
    with (
        tempfile.TemporaryDirectory() as folder,
        collecting(Path(folder) / "lake", land_every_secs=0.2, max_segment_age_secs=0.1) as found,
    ):
        found.post("/v1/traces", trace_request(1).SerializeToString())
        wait_until(lambda: found.numbers().get('landed_rows_total{signal="traces"}') == 1)
        pids = [found.process.pid, found.lander_pid()]
        for pid in pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
        idle = [memory_mb(pid, "VmRSS") for pid in pids]
        started = time.monotonic()
        status = send(found, hostile, body)
        peaks = idle
        while time.monotonic() < started + GIVE_UP_SECS:
            peaks = [
                max(peak, memory_mb(pid, "VmHWM")) for peak, pid in zip(peaks, pids, strict=True)
            ]
            if settled(found):
                break
            time.sleep(0.05)
        secs = time.monotonic() - started
        receiver, lander = (
            round(max(peak, memory_mb(pid, "VmHWM")) - mb)
            for peak, pid, mb in zip(peaks, pids, idle, strict=True)
        )
        return status, receiver, lander, secs


def main(arguments: list[str]) -> int:
    """Measure the requests, and return 1 if one took more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="those with this in their name")
    parser.add_argument("--part", default="0/1", help="each of N, such as 0/2")
    chosen = parser.parse_args(arguments)
    part, parts = map(int, chosen.part.split("/"))
    over = 0
    print(
        f"{'':<42} {'MB sent':>8} {'MB':>6} {'answer':>6} {'receiver':>8} {'lander':>8} {'s':>6}"
    )
    for hostile in [each for each in BODIES if chosen.only in each.name][part::parts]:
        size, body = len(hostile.body()) / 1e6, hostile.compressed()
        status, receiver, lander, secs = measured(hostile, body)
        over += max(receiver, lander) > MOST_MB
        print(
            f"{hostile.name:<42} {len(body) / 1e6:>8.2f} {size:>6.1f} {status:>6} "
            f"{receiver:>8} {lander:>8} {secs:>6.1f}",
            flush=True,
        )
    print(f"{over} took more than {MOST_MB} MB above their start")
    return 1 if over else 0


if __name__ == "__main__":
    with while_read():
        sys.exit(main(sys.argv[1:]))
