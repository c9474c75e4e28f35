"""`TRACEGRADE_GATE`: without it nothing is loaded, with it the program depends on its gate."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

INIT = "import sys, tracegrade; tracegrade.init(); print('tracegrade.gate' in sys.modules)"
SKIPS = """
import tracegrade
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tracegrade.state import state

tracegrade.init(exporter=InMemorySpanExporter())
print(state.may_skip_start)
"""


def run(program: str = INIT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return what became of a program: a process that once had a gate keeps it, forked as well."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OTEL_TRACES_EXPORTER": "none", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("environment", [{}, {"TRACEGRADE_GATE": ""}])
def test_without_the_variable_the_gate_is_not_imported(environment: dict[str, str]) -> None:
    """So it can harm no program that no harness runs."""
    done = run(**environment)

    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


@pytest.mark.parametrize("address", ["/nowhere/gate", "@nowhere", "x" * 200])
def test_a_gate_that_cannot_be_reached_ends_the_program(address: str) -> None:
    """With one line, since a harness would wait for it in vain."""
    done = run(TRACEGRADE_GATE=address)

    assert (done.returncode, done.stdout) == (75, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"tracegrade: gate '{address}' cannot be reached: ")
    assert line.endswith("; start the harness, or unset TRACEGRADE_GATE")


def test_the_gate_leaves_the_quick_way_for_observations(tmp_path: Path) -> None:
    """It needs no start of a span that is over as it begins."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / "gate"))
        listener.listen()
        done = run(SKIPS, TRACEGRADE_GATE=str(tmp_path / "gate"))

    assert (done.returncode, done.stdout) == (0, "True\n")


def test_an_abstract_socket_is_a_gate_too() -> None:
    """Its name begins with `@`."""
    name = f"tracegrade-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        done = run(TRACEGRADE_GATE=f"@{name}")
        peer, _ = listener.accept()
        with peer:
            assert peer.recv(1000).startswith(b'{"type":"hello","protocol":1,')

    assert (done.returncode, done.stdout) == (0, "True\n")
