"""Exchanges a tool's call with the harness: a line of JSON each way, on a new connection.

So threads, coroutines and forked children need no coordination. A process that cannot reach its
tape ends at once, as at the gate. Otherwise it would make a live call that was not intended.
"""

import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from tracegrade.gate.channel import give_up
from tracegrade.settings import TAPE_VARIABLE


def exchange(message: Mapping[str, object]) -> dict[str, Any]:
    """Send a message to the harness, and return its answer."""
    address = os.environ.get(TAPE_VARIABLE, "")
    line = json.dumps(message, ensure_ascii=False).encode(errors="replace") + b"\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(None)  # a host may have set a default for all sockets
            connection.connect(address)
            connection.sendall(line)
            with connection.makefile("rb") as lines:
                answer = json.loads(lines.readline() or b"null")
    except (OSError, ValueError) as error:
        way_out = f"start the harness, or unset {TAPE_VARIABLE}"
        give_up(f"the tape of tools at '{address}' cannot be reached: {error}; {way_out}")
    if not isinstance(answer, dict):
        give_up(f"the tape of tools at '{address}' is lost; the harness has ended")
    return answer
