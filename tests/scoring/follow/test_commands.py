"""Commands after a tick: which are possible, on which lake, and that a failure ends nothing."""

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.queries.traces import land
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run

from tracegrade_lake import Lake
from tracegrade_scoring.errors import BadCommand
from tracegrade_scoring.follow import commands as following
from tracegrade_scoring.follow.commands import FollowingCommand, parse_command, run_commands
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification


def test_a_command_gets_the_followed_lake() -> None:
    """It is split as in a shell; a lake of its own stays."""
    parsed = parse_command("compare '1 0' 2", "lake")
    assert parsed.arguments == ("compare", "1 0", "2", "--lake", "lake")
    for own in ("report --lake other", "report --lake=other"):
        assert parse_command(own, "lake").arguments == tuple(own.split())


@pytest.mark.parametrize(
    "text", ["", "score", "collect", "ui --lake l", "rm -rf /", "report 'x", "\x1b[31m", "lake"]
)
def test_only_commands_that_read_scores_can_follow(text: str) -> None:
    """Others are refused before anything is scored."""
    with pytest.raises(BadCommand, match="--then"):
        parse_command(text, "lake")


def test_a_command_that_hangs_is_cut_off(tmp_path: Path) -> None:
    """One line says so, and the next command runs."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look"))
    score(lake, specification(TASKS))
    lines: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        texts = (f"send --all --to otlp --endpoint {address}", "report --nothing")
        commands = [parse_command(text, lake.location) for text in texts]
        run_commands(commands, lines.append, limit_secs=2)

    assert lines == [
        f"--then '{texts[0]}' was cut off after 2 s; scoring continues",
        "--then 'report --nothing' ended with exit code 2; scoring continues",
    ]


def test_a_command_that_fails_keeps_none_from_running(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each runs in this process; the line names the command and its exit code."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look"))
    score(lake, Specification())
    texts = ("report --nothing", "compare 1 2", "issues list --format json")
    lines: list[str] = []
    run_commands([parse_command(text, lake.location) for text in texts], lines.append)
    assert [line.rpartition(" ended with ")[0] for line in lines] == [
        "--then 'report --nothing'",
        "--then 'compare 1 2'",
    ]
    assert '"issues"' in capsys.readouterr().out


class AlarmAt:
    """Sends an alarm at one instruction of the module that runs commands."""

    def __init__(self, number: int) -> None:
        self.left = number

    def trace(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        """Count instructions; `sys.settrace` calls this."""
        if frame.f_code.co_filename != following.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGALRM)
        return self.trace


@contextmanager
def harmless_alarms() -> Iterator[Callable[..., None]]:
    """Let alarms pass that no command has set; yield what handles them."""

    def ignore(_: int, __: FrameType | None) -> None:
        pass

    before = signal.signal(signal.SIGALRM, ignore)
    try:
        yield ignore
    finally:
        sys.settrace(None)
        signal.signal(signal.SIGALRM, before)


def test_an_alarm_at_any_instruction_leaves_the_follower_alive() -> None:
    """Also one that arrives in the instant after a command has ended."""
    command = FollowingCommand("--version", ("--version",))
    lines: list[str] = []
    number = 0
    with harmless_alarms() as handler:
        while True:
            number += 1
            alarm = AlarmAt(number)
            sys.settrace(alarm.trace)
            run_commands([command], lines.append)
            sys.settrace(None)
            assert signal.getsignal(signal.SIGALRM) is handler
            assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
            if alarm.left > 0:
                break
    assert 10 < len(lines) < number - 10
    assert set(lines) == {"--then '--version' was cut off after 600 s; scoring continues"}
