"""Commands after a tick: which are possible, on which lake, and that a failure ends nothing."""

import socket
from pathlib import Path

import pytest
from tests.queries.traces import land
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run

from tracegrade_lake import Lake
from tracegrade_scoring.errors import BadCommand
from tracegrade_scoring.follow.commands import parse_command, run_commands
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
