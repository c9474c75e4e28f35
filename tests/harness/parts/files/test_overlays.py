"""Overlays in the place of copies: nothing sees a difference but those that are documented."""

import errno
import json
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.harness.overlays import as_nobody, in_namespace, mounts, ran, why_not
from tests.harness.parts.environments import template

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.servers import namespace

OVERLAY = {"data": {"from": "uploads", "at": "data", "overlay": True}}


@pytest.fixture(scope="module", params=["as this user", "as one without rights"])
def told(request: pytest.FixtureRequest) -> Any:
    """What a process has seen of its overlays."""
    if reason := why_not():
        pytest.skip(reason)
    seed = os.environ.get("OVERLAY_SEED") or secrets.token_hex(4)
    sys.stdout.write(f"OVERLAY_SEED={seed}\n")
    with tempfile.TemporaryDirectory() as folder:
        command = in_namespace("tests.harness.parts.files.overlaid", folder, seed)
        if request.param == "as one without rights":
            command = as_nobody(Path(folder), command)
        before = mounts(Path(folder))
        ended = ran(command)
        assert ended.returncode == 0, ended.stderr
        assert mounts(Path(folder)) == before
    return {**json.loads(ended.stdout), "param": request.param}


def test_an_overlay_seems_a_copy_whatever_is_done_in_it(told: Any) -> None:
    """The same changes have the same difference, fingerprint and clone."""
    assert told["differing"] == []


def test_locks_in_an_overlay_are_held(told: Any) -> None:
    """Of files as they were, and of those that are written."""
    assert told["held"] == ["files:data/raw/a.csv (posix)", "files:data/run.sh (flock)"]


def test_a_folder_that_was_there_cannot_be_renamed(told: Any) -> None:
    """Programs that move folders then copy them, so copies are the default."""
    assert told["rename_refused"] == errno.EXDEV


def test_an_overlay_goes_at_its_end_although_it_was_moved_and_is_in_use(told: Any) -> None:
    """Its layers are then what stands in its place, to be removed with it."""
    assert told["left_busy"] == ["upper", "work"]
    assert told["mounted"] == 0


def test_an_overlay_may_be_the_whole_folder_of_a_trial(told: Any) -> None:
    """Its layers are out of sight; a database stands in it as in a copy."""
    assert told["top"] == [True, ["empty", "latest", "ledger.db", "raw", "run.sh"]]


def test_a_user_has_no_more_rights_than_before_but_to_mount(told: Any) -> None:
    """In a namespace of users, a process could read what its user may not read."""
    if told["param"] == "as this user" and os.geteuid() == 0:
        pytest.skip("the superuser has all rights")
    assert int(told["capabilities"], 16) == 0


def test_without_a_namespace_of_its_own_a_process_mounts_nothing(tmp_path: Path) -> None:
    """It would be seen by all, and stay."""
    frozen = template(tmp_path, files=OVERLAY)

    with pytest.raises(EnvironmentFailed, match="; write 'overlay: false' for a copy"):
        frozen.open(tmp_path / "trial")


def test_a_process_with_threads_does_not_enter_one() -> None:
    """Its other threads would stay where they are."""
    told = (
        "import threading; threading.Timer(60, print).start(); "
        "from tracegrade_harness.parts.servers import namespace as n; n.enter(); "
        "print(n.why_not(), flush=True); import os; os._exit(0)"
    )
    ended = ran([sys.executable, "-c", told])

    expected = "its process has 2 threads, and no namespace can be entered by all"
    assert ended.stdout == (f"{expected}\n" if sys.platform == "linux" else ended.stdout)
    assert namespace.why_not() is not None
