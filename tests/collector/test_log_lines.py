"""Our own log lines."""

import json
import subprocess
import sys

PROGRAM = """
import logging
from tracegrade_collector.log_lines import log_to_stderr
log_to_stderr("lander", {log_format!r})
log = logging.getLogger("tracegrade_collector.land.lander_main")
log.info("landed %d\\nrows", 3)
logging.getLogger("library").info("not ours")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("cannot divide")
"""


def written(log_format: str) -> list[str]:
    """Return the lines that a process writes in this format."""
    command = [sys.executable, "-c", PROGRAM.format(log_format=log_format)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()


def test_json_lines_hold_one_object_each_whatever_the_message_holds() -> None:
    """A line break in a message or a traceback does not start a new line."""
    landed, failed = map(json.loads, written("json"))

    assert landed["message"] == "landed 3\nrows"
    assert (landed["level"], landed["process"]) == ("info", "lander")
    assert (failed["error"], failed["level"]) == ("ZeroDivisionError", "error")
    assert "ZeroDivisionError" in failed["traceback"]


def test_the_text_of_an_exception_is_not_logged() -> None:
    """What could not be read may be content; class and place of the error are enough."""
    for line in (" ".join(written("text")), written("json")[1]):
        assert "line 9" in line
        assert "division by zero" not in line


def test_text_lines_name_the_process_and_hold_no_library_chatter() -> None:
    """Libraries log from WARNING upwards only."""
    lines = written("text")

    assert "INFO lander: landed 3" in lines[0]
    assert not any("not ours" in line for line in lines)
