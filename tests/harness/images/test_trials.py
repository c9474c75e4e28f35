"""Suites whose agents run in an image that has neither this machine's libc nor any Python."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.harness.images.making import archived, entry, layer, layout, link
from tests.harness.images.test_client import NAME, client
from tests.harness.overlays import as_nobody, mounts, ran, why_not
from tests.harness.parts.http.bank import bank_beside
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.test_overlays import command
from tests.slow import slow_after

from tracegrade_harness.sandbox.bwrap import Bubblewrap
from tracegrade_harness.trial.run import FROZEN

BUSYBOX = shutil.which("busybox")
AGENT = """#!/bin/sh
set -e
ask() { wget -q -O - "$BANK_URL/credits" >/dev/null; }
undo() { echo "{\\"object\\": \\"files:data/$1\\", \\"undo\\": $2, \\"done\\": false}" >>journal; }
test "$(pwd):$(id -u):$SHIP:$HOME" = /srv/data:1000:sealed:/home/worker
test ! -e /usr/bin/python3
test ! -e /etc/hostname
echo changed >/etc/motd
ask
undo old '{"restore": "data/old"}'
rm old
ask
undo new '{"command": ["rm", "/srv/data/new"]}'
echo "$(cat /etc/motd)" >new
ask
rm journal
"""
RECOVERY = """#!/bin/sh
cat /etc/motd >recovered-by
"""
CHECKS = [
    {"files": "data", "path": "new", "text": "changed\n"},
    {"files": "data", "only_changed": ["old", "new"]},
    {"command": ["{python}", "-S", "-c", "open('data/new'); open('/usr/bin/env')"]},
]


@pytest.fixture(scope="module", autouse=True)
def _needed() -> None:
    """What images need is here, or the tests are skipped."""
    reasons = (why_not(), Bubblewrap().why_no_image(), BUSYBOX is None and "no busybox-static")
    if reason := next(filter(None, reasons), None):
        pytest.skip(str(reason))


@pytest.fixture
def other_folder() -> Iterator[Path]:
    """A folder that can be given to another user."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def image_in(folder: Path) -> str:
    """Write an image with Debian's busybox, an agent and its data; return its digest."""
    assert BUSYBOX is not None
    names = ("sh", "cat", "rm", "wget", "id", "env", "sleep")
    base = layer(
        entry("bin/busybox", Path(BUSYBOX).read_bytes(), 0o755),
        *(link(f"bin/{name}", "busybox") for name in names),
        entry("etc/passwd", b"worker:x:1000:1000::/home/worker:/bin/sh\n"),
        entry("etc/motd", b"as it was\n"),
        entry("secret", b"in a lower layer"),
    )
    upper = layer(
        entry(".wh.secret", b""),
        entry("agent", AGENT.encode(), 0o755),
        entry("recovery", RECOVERY.encode(), 0o755),
        entry("srv/data/old", b"old"),
    )
    settings = {"Env": ["SHIP=sealed", "PATH=/bin"], "User": "worker", "WorkingDir": "/srv/data"}
    return layout(folder, [base, upper], settings)


def suite_in(folder: Path, **changes: Any) -> HarnessRun:
    """Write a suite with a case in an image."""
    digest = image_in(folder / "image")
    environment: dict[str, Any] = {
        "image": {"path": "image", "digest": digest},
        "files": {"data": {"inside": "/srv/data", "at": "data"}},
        "http": {"bank": bank_beside(folder)},
    }
    agent = {
        "command": ["/agent"],
        "channels": ["http"],
        "records": [{"journal": "data/journal"}],
        "recover": ["/recovery"],
    }
    suite = {
        "version": 1,
        "suite": "sealed",
        "agents": {"worker": agent},
        "environments": {"ship": {**environment, **changes}},
        "cases": {
            "sail": {
                "environment": "ship",
                "agent": "worker",
                "kill": {"points": ["early", "mid", "late"]},
                "verify": CHECKS,
            }
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


@pytest.mark.parametrize("user", slow_after(1, ["as one without rights", "as this user"]))
def test_an_agent_in_an_image_is_run_killed_restored_and_scored(
    other_folder: Path, user: str
) -> None:
    """Its image is unpacked once, and nothing of a trial stays."""
    suite = suite_in(other_folder)
    words = command(suite, "--sandbox", "bwrap", "--jobs", 2)
    if user == "as one without rights":
        words = as_nobody(other_folder, words)
    before = mounts(other_folder)

    ended = ran(words)

    assert ended.returncode == 0, ended.stderr
    rows = {row["kill_point"]: row for row in suite.rows}
    undisturbed = rows[None]
    assert (undisturbed["status"], undisturbed["success"]) == ("done", True), undisturbed
    assert json.loads(undisturbed["changed"]) == {
        "added": ["files:data/new"],
        "removed": ["files:data/old"],
    }
    assert set(rows) == {None, "early", "mid", "late"}
    found = {point: (row["immediate"], row["after_recovery"]) for point, row in rows.items()}
    assert found == {None: (None, None), "early": (10, 0), "mid": (7, 3), "late": (7, 3)}
    left = {each["object"] for each in json.loads(rows["late"]["leftovers"])}
    assert "files:data/recovered-by" in left
    assert mounts(other_folder) == before
    assert [*suite.home.glob("runs/*/trials/*")] == []
    (stored,) = (suite.home / FROZEN / "images").iterdir()
    assert (stored / "rootfs/etc/motd").read_text() == "as it was\n"
    assert not (stored / "rootfs/secret").exists()
    scored = suite.score().query("SELECT kill_point, value FROM verdicts WHERE value IS NOT NULL")
    assert scored
    assert os.listdir(other_folder / "image/blobs") == ["sha256"]


@pytest.mark.slow
def test_an_agent_runs_in_an_image_that_a_client_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness saves it at the first run, and needs no client at the second."""
    folder = client(tmp_path / "bin", id=image_in(tmp_path / "image"))
    archived(tmp_path / "image", folder / "archive")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    suite = suite_in(tmp_path, image={"name": NAME})
    words = command(suite, "--sandbox", "bwrap")

    first = ran(words)
    asked = (folder / "calls").read_text().splitlines()
    again = ran(words)

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert {row["status"] for row in suite.rows} == {"done"}
    assert len(asked) == 2
    assert (folder / "calls").read_text().splitlines() == asked


@pytest.mark.slow
def test_an_image_without_tracegrade_is_named_where_its_agent_sends_no_span(
    other_folder: Path,
) -> None:
    """Its undisturbed trial is verified; kills need spans or another channel."""
    suite = suite_in(other_folder)
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["worker"]["channels"] = ["sdk"]
    suite.suite.write_text(yaml.safe_dump(content))

    ended = ran(command(suite, "--sandbox", "bwrap"))

    assert ended.returncode == 3
    rows = {row["kill_point"]: row for row in suite.rows}
    assert (rows[None]["status"], rows[None]["success"]) == ("done", True)
    assert {rows[point]["status"] for point in ("early", "mid", "late")} == {"error"}
    assert "in an image, install tracegrade there" in rows["late"]["reason"]
