"""Runs a small host in many environments, each in a child that imports OpenTelemetry anew.

Reads a JSON list of environments from stdin, and prints for each a line of JSON: its exit code,
what it wrote to stdout and to stderr. What the children import beside OpenTelemetry and us is
imported once, here.
"""

import atexit
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable

import google.protobuf.message
import requests
import wrapt

IMPORTED = (google.protobuf.message, requests, wrapt)


def host() -> None:
    """Do what a program does that uses tracegrade."""
    import tracegrade  # noqa: PLC0415 - in the child's environment

    tracegrade.init(service="host")

    @tracegrade.tool
    def double(number: int) -> int:
        return 2 * number

    with tracegrade.agent_run("a"):
        sys.stdout.write(f"{double(2)}\n")
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    tracegrade.flush(1)
    sys.stdout.write("end\n")


def alone(environment: dict[str, str], program: Callable[[], None]) -> dict[str, object]:
    """Run a program in a child, and return its exit code and what it wrote."""
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            _become(environment, program)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        written = [file.read().decode("utf-8", "replace") for file in (out, err)]
    return {"code": code, "out": written[0], "err": written[1]}


def _become(environment: dict[str, str], program: Callable[[], None]) -> None:
    code = 0
    try:
        os.environ.update(environment)
        program()
    except BaseException:  # noqa: BLE001 - as an interpreter that ends
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    for each in json.load(sys.stdin):
        sys.stdout.write(f"{json.dumps(alone(each, host))}\n")
