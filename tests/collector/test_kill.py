"""All collector processes are killed at random moments under traffic, again and again.

Whatever was acknowledged must be in the lake exactly once. Two clients send at the same time: one
never sends anything twice, the other sends each request until it is answered.
"""

import http.client
import itertools
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from .running import (
    COMMAND,
    PATIENCE_SECS,
    PROTOBUF,
    landed_files,
    landed_ids,
    trace_body,
    wait_until,
)

KILLS = 50
OFTEN = {"max_segment_age_secs": 0.03, "land_every_secs": 0.03}  # so that kills hit every stage
LONGEST_START_SECS = 0.3
LONGEST_RECEIPT_SECS = 0.3  # after the first answer; the lander is still starting
LONGEST_LANDING_SECS = 0.2  # after the first commit; a few rounds
PAUSE_SECS = 0.002  # between requests, so that the lander gets its share of two cores
LONGEST_START_SECS = 0.3
LONGEST_LIFE = 1.5  # times what it takes from the first answer to the first commit
FIRST_ID_OF_PATIENT = 1 << 32


class Lives(NamedTuple):
    """Where the collector lives, one life after the other."""

    lake: Path
    port: int

    def start(self) -> subprocess.Popen[bytes]:
        """Start all processes as one group."""
        options = {f"TRACEGRADE_COLLECTOR_{name.upper()}": str(OFTEN[name]) for name in OFTEN}
        flags = [f"--lake={self.lake}", f"--http=127.0.0.1:{self.port}", "--grpc=off"]
        return subprocess.Popen(
            [*COMMAND, *flags],
            env=os.environ | options,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def has_more_files_than(self, count: int) -> bool:
        """Return whether more files than this have landed."""
        return len(landed_files(self.lake)) > count


class Client(threading.Thread):
    """Sends spans with rising ids, one request at a time, and notes what was acknowledged."""

    def __init__(self, port: int, first_id: int, seed: int, *, sends_again: bool) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._ids = itertools.count(first_id)
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._sends_again = sends_again
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECS)
        self.stopping = threading.Event()
        self.sent: list[int] = []
        self.acknowledged: list[int] = []

    def run(self) -> None:
        """Send until told to stop; a request that is to be sent again is finished first."""
        while not self.stopping.is_set():
            span_ids = list(itertools.islice(self._ids, self._random.randint(1, 5)))
            self.sent += span_ids
            body = trace_body(*span_ids)
            answered = self._send(body)
            while self._sends_again and not answered:
                answered = self._send(body)
            if answered:
                self.acknowledged += span_ids
            time.sleep(PAUSE_SECS)
        self._connection.close()

    def has_more_than(self, count: int) -> bool:
        """Return whether more spans than this were acknowledged."""
        return len(self.acknowledged) > count

    def _send(self, body: bytes) -> bool:
        """Return whether a request was acknowledged."""
        try:
            self._connection.request("POST", "/v1/traces", body, PROTOBUF)
            response = self._connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            time.sleep(0.005)
            return False
        return response.status == 200


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def kill_again_and_again(lives: Lives, client: Client, moments: random.Random) -> None:
    """Start and kill, in turn while the collector starts, receives and lands."""
    for life in range(KILLS):
        processes = lives.start()
        stage = life % 4
        if stage == 0:
            time.sleep(moments.uniform(0, LONGEST_START_SECS))
        elif stage == 1:
            wait_until(partial(client.has_more_than, len(client.acknowledged)))
            time.sleep(moments.uniform(0, LONGEST_RECEIPT_SECS))
        else:
            wait_until(partial(lives.has_more_files_than, len(landed_files(lives.lake))))
            time.sleep(moments.uniform(0, LONGEST_LANDING_SECS))
        os.killpg(processes.pid, signal.SIGKILL)
        processes.wait()
        landed_ids(lives.lake)  # readable after each


@pytest.fixture
def seed() -> int:
    """A new seed each time, printed for a failed test; set KILL_SEED to repeat one."""
    chosen = int(os.environ.get("KILL_SEED", "0")) or secrets.randbits(32)
    sys.stdout.write(f"KILL_SEED={chosen}\n")
    return chosen


def test_nothing_acknowledged_is_lost_or_doubled(tmp_path: Path, seed: int) -> None:
    """50 kills: one row in `raw_spans` per acknowledged span, one in `spans` if sent again."""
    lives = Lives(tmp_path, free_port())
    hasty = Client(lives.port, 1, seed, sends_again=False)
    patient = Client(lives.port, FIRST_ID_OF_PATIENT, seed, sends_again=True)
    hasty.start()
    patient.start()
    kill_again_and_again(lives, hasty, random.Random(seed))  # noqa: S311 - no secret
    last = lives.start()
    for client in (hasty, patient):
        client.stopping.set()
        client.join()
    last.terminate()

    assert last.wait(PATIENCE_SECS) == 0
    raw = Counter(landed_ids(tmp_path))
    spans = Counter(landed_ids(tmp_path, with_resent=False))
    assert [each for each in hasty.acknowledged if raw[each] != 1] == []
    assert [each for each in hasty.sent if raw[each] > 1] == []
    assert [each for each in patient.acknowledged if spans[each] != 1] == []
    assert set(raw) <= {*hasty.sent, *patient.sent}
    assert len(hasty.acknowledged) > 10 * KILLS  # there was traffic
