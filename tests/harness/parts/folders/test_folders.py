"""Folders are removed with any content, and locked so that no cleaning removes them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.folders.folders import (
    PREFIX,
    abandoned,
    hold,
    remove,
    removed,
    shared_folder,
    temporary_folder,
)

LOCKED_TREE = """
import os, sys
from pathlib import Path
from tracegrade_harness.parts.folders.folders import remove

top = Path(sys.argv[1])
(top / "a/b").mkdir(parents=True)
for path in ("a/file", "a/b/file"):
    (top / path).write_text("x")
for path, mode in (("a/b", 0o000), ("a", 0o500), (".", 0o000)):
    (top / path).chmod(mode)
remove(top)
"""


@pytest.mark.skipif(not shutil.which("setpriv"), reason="takes root's rights away on Linux")
def test_rights_that_were_taken_do_not_keep_a_folder(tmp_path: Path) -> None:
    """Neither from the folder itself nor from what is below; beside it, no rights change."""
    tmp_path.chmod(0o755)
    command = [sys.executable, "-c", LOCKED_TREE, f"{tmp_path}/tree"]
    rights = "--bounding-set=-dac_override,-dac_read_search"

    subprocess.run(
        command if os.geteuid() else ["setpriv", rights, "--", *command],
        check=True,
    )

    assert list(tmp_path.iterdir()) == []
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_tree_of_any_depth_is_removed(tmp_path: Path) -> None:
    """Deeper than Python's stack, and than files that may be open at once."""
    top = tmp_path / "top"
    top.mkdir()
    at = os.open(top, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)

    remove(top)

    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_what_they_lead_to(tmp_path: Path) -> None:
    """Neither below a folder nor in its place."""
    kept = tmp_path / "kept"
    kept.mkdir()
    kept.chmod(0o755)
    (kept / "file").touch()
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(kept)
    (tmp_path / "alone").symlink_to(kept)

    remove(top)
    remove(tmp_path / "alone")

    assert list(tmp_path.rglob("*")) == [kept, kept / "file"]
    assert kept.stat().st_mode & 0o777 == 0o755


def test_what_cannot_be_removed_is_said(tmp_path: Path) -> None:
    """By its path, as the harness's own error."""
    (tmp_path / "file").touch()

    with pytest.raises(EnvironmentFailed, match=f"folder '{tmp_path}/file/inside': .*; see that"):
        removed(tmp_path / "file" / "inside")


@pytest.mark.usefixtures("temporary_place")
def test_a_temporary_folder_is_abandoned_once_its_harness_is_dead() -> None:
    """Until then no other process removes it."""
    program = (
        "import os\n"
        "from tracegrade_harness.parts.folders.folders import temporary_folder\n"
        "with temporary_folder() as folder:\n"
        "    print(folder, flush=True)\n"
        "    os._exit(0)\n"
    )
    dead = Path(subprocess.check_output([sys.executable, "-c", program], text=True).strip())

    with temporary_folder() as living:
        assert living.name.startswith(PREFIX)
        found = {folder.resolve() for folder in abandoned()}

    assert dead.resolve() in found
    assert living not in found
    assert not living.exists()
    remove(dead)


def test_a_shared_folder_is_held_by_all_who_work_in_it(tmp_path: Path) -> None:
    """One after the other may go; the last one frees it."""
    with shared_folder(tmp_path / "frozen") as folder:
        with shared_folder(folder):
            assert hold(folder) is None
        assert hold(folder) is None

    held = hold(folder)
    assert held is not None
    os.close(held)
