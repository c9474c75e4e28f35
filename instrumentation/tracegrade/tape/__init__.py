"""Tapes of tools: the harness takes down what they give, or answers in their stead.

`tool` imports it only where `TRACEGRADE_TOOLS` names the harness's socket.
"""

from tracegrade.tape.wrapper import taped as taped
