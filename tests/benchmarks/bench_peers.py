"""The same bodies at this collector and at others, one after the other on the same cores.

    python -m tests.benchmarks.bench_peers [PEER...] [--secs SECS]

`rotel` is a collector in Rust; with its blackhole exporter it throws away what it acknowledges,
so it shows what receiving alone costs. `mlflow` and `phoenix` store traces in SQLite, as they do
by default. Each is installed from its package into `.peers/` when first asked for. By default:
rotel, before and after this collector, since machines are noisy. A peer that does not start here
is left out, with what it says.
"""

import argparse
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.bench_collector import collecting, landed
from tests.benchmarks.command_line import one_of
from tests.benchmarks.load import Load, Result, drive

FOLDER = Path(__file__).parents[2] / ".peers"
START_SECS = 120.0
STORING_SECS = 30.0  # for one that acknowledges what it has not stored


class PeerSilentError(Exception):
    """A peer does not start here."""


class Peer(NamedTuple):
    """Another product that takes OTLP/HTTP."""

    requirement: str
    command: Callable[[Path, Path, int], list[str]]
    """From its environment, a folder for its data, and a port."""

    environment: Callable[[Path, int], dict[str, str]]
    headers: Mapping[str, str]
    stored: Callable[[Path], int | None]
    """How many spans its folder holds; None for one that keeps none."""

    spans_per_request: int = 512


def _rows(table: str) -> Callable[[Path], int]:
    def count(folder: Path) -> int:
        total = 0
        for file in folder.glob("*.db"):
            with closing(sqlite3.connect(file)) as con:
                total += con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return total

    return count


def _rotel(environment: Path, folder: Path, port: int) -> list[str]:
    (agent,) = environment.glob("lib/python*/site-packages/rotel/rotel-agent")
    return [
        *(str(agent), "start", "--exporter=blackhole"),
        f"--otlp-http-endpoint=127.0.0.1:{port}",
        f"--otlp-grpc-endpoint=127.0.0.1:{free_port()}",
        *(f"--pid-file={folder}/pid", f"--log-file={folder}/log"),
    ]


def _mlflow(environment: Path, folder: Path, port: int) -> list[str]:
    store = f"--backend-store-uri=sqlite:///{folder}/mlflow.db"
    server = str(environment / "bin/mlflow")
    return [server, "server", "--host=127.0.0.1", f"--port={port}", "--workers=1", store]


PEERS = {
    "rotel": Peer("rotel==0.0.1a15", _rotel, lambda *_: {}, {}, lambda _: None),
    "mlflow": Peer(
        "mlflow==3.17.2",
        _mlflow,
        lambda *_: {},
        {"x-mlflow-experiment-id": "0"},
        _rows("spans"),
    ),
    "phoenix": Peer(
        "arize-phoenix==20.26.1",
        lambda environment, *_: [str(environment / "bin/phoenix"), "serve"],
        lambda folder, port: {
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(free_port()),
        },
        {},
        _rows("spans"),
    ),
}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def installed(name: str, peer: Peer) -> Path:
    """Return the environment of a peer, which is made if it is not there."""
    environment = FOLDER / name
    if not (environment / "done").exists():
        print(f"installing {peer.requirement} into {environment} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        pip = [str(environment / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, peer.requirement], check=True)
        (environment / "done").touch()
    return environment


@contextmanager
def serving(name: str, peer: Peer, folder: Path) -> Iterator[int]:
    """Run a peer; yield its port once it answers."""
    port = free_port()
    said = folder / "stderr"
    with (
        said.open("wb") as stderr,
        subprocess.Popen(
            peer.command(installed(name, peer), folder, port),
            env=os.environ | peer.environment(folder, port),
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            cwd=folder,
        ) as process,
    ):
        try:
            if not _answers(port, process):
                raise PeerSilentError((said.read_text(errors="replace").splitlines() or [""])[-1])
            yield port
        finally:
            process.terminate()


def _answers(port: int, process: "subprocess.Popen[bytes]") -> bool:
    """Return whether a peer answers before its time is over, or it has ended."""
    deadline = time.monotonic() + START_SECS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.2)
        else:
            return True
    return False


def measure_peer(name: str, secs: float) -> float:
    """Run one peer under the load, print a line; return spans per second, stored if it stores."""
    peer = PEERS[name]
    with tempfile.TemporaryDirectory() as path, serving(name, peer, Path(path)) as port:
        result = drive(port, Load(name, peer.spans_per_request, secs), headers=peer.headers)
        secs = result.secs
        if peer.stored(Path(path)) == 0:  # it acknowledges from memory
            time.sleep(STORING_SECS)
            secs += STORING_SECS
        stored = peer.stored(Path(path))
        rate = (result.acknowledged if stored is None else stored) / secs
    kept = (
        "thrown away"
        if stored is None
        else f"{stored:,} of {result.acknowledged:,} stored in {secs:.0f} s"
    )
    show(name, result, kept)
    return rate


def measure_ours(secs: float) -> float:
    """Run this collector under the load, print a line; return acknowledged spans per second."""
    with collecting() as running:
        result = drive(running.port, Load("tracegrade", 512, secs))
        drained = running.drained_secs()
        kept = f"{landed(running.lake).spans:,} of {result.acknowledged:,} landed"
    show("tracegrade", result, f"durable, {kept}, the last {drained:.0f} s after the end")
    return result.spans_per_sec


def show(name: str, result: Result, kept: str) -> None:
    """Print one row."""
    print(
        f"{name:<11} {result.spans_per_sec:>9,.0f} spans/s acknowledged; "
        f"p50 {result.latency_ms(0.5):.1f} ms, p99 {result.latency_ms(0.99):.1f} ms; {kept}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="*", default=["rotel"], type=one_of(PEERS), metavar="PEER")
    parser.add_argument("--secs", type=float, default=20.0)
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, 512 spans per request, 8 connections, {options.secs:.0f} s each"
    )
    before = {}
    for name in options.peers:
        try:
            before[name] = measure_peer(name, options.secs)
        except PeerSilentError as said:
            print(f"{name} is left out, for it does not start here: {said}")
    ours = measure_ours(options.secs)
    for name, first in before.items():
        rate = (first + measure_peer(name, options.secs)) / 2 if name == "rotel" else first
        print(f"tracegrade: {ours / max(rate, 1.0):.2f} times {name}")
