"""A run's collector: `python -m tracegrade_harness.trial.collector_child LAKE TOKENS`.

It lands all spans and stops when its standard input ends, which happens after every kind of end of
the harness.
"""

import os
import signal
import sys
import threading

from tracegrade.errors import TracegradeError
from tracegrade.terminal.visible import echo
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.address import OFF
from tracegrade_collector.receive.receiver import receive


def main() -> int:
    """Collect until standard input ends, and return the exit code."""
    threading.Thread(target=_stop_with_input, daemon=True).start()
    config = CollectorConfig(http="127.0.0.1:0", grpc=OFF, token_file=sys.argv[2])
    try:
        receive(sys.argv[1], config)
    except TracegradeError as error:
        echo(error, err=True)  # the log that the harness names
        return error.exit_code
    return 0


def _stop_with_input() -> None:
    while os.read(
        sys.stdin.fileno(), 1_024
    ):  # bypasses the buffer, whose lock would prevent the exit
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
