"""What bubblewrap keeps an agent from."""

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.harness.control.agents import OURS, soon
from tests.harness.sandbox.programs import program
from tests.waiting import PATIENCE_SECS

from tracegrade_harness.control.gate import Gate
from tracegrade_harness.control.gate_messages import ToolReturned
from tracegrade_harness.sandbox.bwrap import RESERVED_PIDS, Bubblewrap, has_pid_max
from tracegrade_harness.sandbox.program import ProcessLimits, Program


def output(bwrap: Bubblewrap, told: Program) -> str:
    """Return what a program prints."""
    with bwrap.start(told) as running:
        running.wait(PATIENCE_SECS)
    return told.stdout.read_text() + told.stderr.read_text()


def test_only_the_trials_folder_is_written_to(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """`/tmp` is its own, and empty but for what it was given; links lead nowhere else."""
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (root / "link").symlink_to("/etc")
    own = f"/tmp/own-{os.getpid()}"  # noqa: S108
    code = f"""
import glob
kernel = glob.glob("/proc/sys/vm/swap*") + ["/proc/sys/kernel/core_pattern"]
for path in ["inside", "{own}", "link/x", "/etc/x", "/x", "{other}/x", *kernel]:
    try:
        open(path, "w").close()
        print("wrote", path)
    except OSError as error:
        print(error.strerror)
"""
    printed = output(bwrap, program(root, code))

    wrote, beside, *refused = printed.splitlines()
    assert (wrote, beside) == ("wrote inside", f"wrote {own}")
    assert len(refused) == 6
    assert not [line for line in refused if "wrote" in line], refused
    assert not Path(own).exists()
    assert sorted(path.name for path in root.iterdir()) == ["inside", "link", "stderr", "stdout"]


def test_other_processes_are_out_of_sight(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """It sees its supervisor, which it cannot kill or trace, and itself."""
    code = """
import os, signal
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()) == [1, os.getpid()])
os.kill(1, signal.SIGKILL)
os.kill(1, signal.SIGSTOP)
for path in ["/proc/1/environ", "/proc/1/mem"]:
    try:
        print(open(path).read())
    except PermissionError:
        print("refused")
"""
    printed = output(bwrap, program(tmp_path, code))

    assert printed == "True\nrefused\nrefused\n"


@pytest.mark.skipif(
    os.getuid() != 0 or not has_pid_max() or shutil.which("nsenter") is None,
    reason="the kernel limits others by their user; it needs Linux 6.14 and nsenter",
)
def test_the_kernel_gives_a_sandbox_few_process_ids(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """The superuser's, too; the machine's own limit stays."""
    path = Path("/proc/sys/kernel/pid_max")
    before = path.read_text()
    told = program(tmp_path, f"print(open('{path}').read())", ProcessLimits(processes=40))

    assert output(bwrap, told).strip() == str(40 + RESERVED_PIDS)
    assert path.read_text() == before


def test_what_is_to_be_visible_can_be_read_and_not_written(
    bwrap: Bubblewrap, tmp_path: Path
) -> None:
    """Such as the folder of a gate."""
    root, shown = tmp_path / "root", tmp_path / "shown"
    root.mkdir()
    shown.mkdir()
    (shown / "text").write_text("shown")
    code = f"print(open('{shown}/text').read()); open('{shown}/text', 'w')"
    printed = output(bwrap, program(root, code, visible=[shown]))

    assert printed.startswith("shown\n")
    assert "Read-only file system" in printed


def test_of_a_home_folder_nothing_is_seen(
    bwrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """But what is named; keys in a folder that is named are not, unless they are named, too."""
    with TemporaryDirectory(dir="/var/tmp") as name:
        home = Path(name).resolve()
        for path in [
            ".ssh/id_ed25519",
            ".nobody.knows",
            "work/.env",
            "work/notes",
            "work/a/.npmrc",
        ]:
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text("secret")
        (home / "link").symlink_to(home / "work")
        monkeypatch.setenv("HOME", name)
        code = f"""
import os
os.chdir({name!r})
print(os.listdir("."), open("link/notes").read(), open("link/a/.npmrc").read())
open("work/.env")
"""
        named = [home / "link", home / "work/a/.npmrc"]
        told = replace(program(tmp_path, code), readable=named)
        seen, *_, error = output(bwrap, told).splitlines()

    assert seen == "['link', 'work'] secret secret"
    assert error == "PermissionError: [Errno 13] Permission denied: 'work/.env'"


def test_an_interpreter_in_tmp_is_there(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """A checkout with its environment may stand anywhere."""
    venv.create(tmp_path / "venv", symlinks=True)
    root = tmp_path / "root"
    root.mkdir()
    code = f"""
from pathlib import Path
from tests.harness.sandbox.programs import program
from tracegrade_harness.sandbox.bwrap import Bubblewrap
told = program(Path({str(root)!r}), "import sys; print(sys.prefix)")
with Bubblewrap().start(told) as running:
    assert running.wait({PATIENCE_SECS}) == 0
"""
    subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
        check=True,
    )

    assert (root / "stdout").read_text() == f"{tmp_path}/venv\n"


def test_an_agent_in_the_sandbox_is_killed_at_its_gate(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """At its second call of three."""
    root, meeting = tmp_path / "root", tmp_path / "gate"
    root.mkdir()
    meeting.mkdir()
    searched = [Path(each) for each in sys.path if os.path.isabs(each) and Path(each).exists()]
    with Gate(meeting) as gate:
        told = program(root, OURS)
        variables = {**os.environ, **gate.variables, "OTEL_TRACES_EXPORTER": "none"}
        told = Program(
            told.command,
            root,
            root,
            variables,
            told.stdout,
            told.stderr,
            visible=[meeting, *searched],
        )
        with bwrap.start(told) as running:
            for event in gate.events(soon(), running):
                match event.message:
                    case ToolReturned(n=2):
                        gate.flush(event, PATIENCE_SECS)
                        running.kill()
                    case ToolReturned():
                        gate.go(event)

    assert (root / "calls").read_text() == "a\nb\n"
