"""The gate: where the harness stops an agent between two calls.

`init` imports it, and adds it to the provider, only where `TRACEGRADE_GATE` names the harness's
socket.
"""

from tracegrade.gate.processor import wait_at_gate as wait_at_gate
