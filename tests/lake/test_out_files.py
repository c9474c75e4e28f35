"""Files that users name for what commands write."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tracegrade_lake.out_files import out_file

IMPORT = "import pathlib; from tracegrade_lake.out_files import out_file\n"
TO_STDOUT = f"{IMPORT}with out_file(pathlib.Path('/dev/stdout')) as file: file.write('text')"


def write(path: Path, text: str) -> None:
    """Write it as a command does."""
    with out_file(path) as file:
        file.write(text)


def test_a_link_stays_one_and_leads_to_the_new_text(tmp_path: Path) -> None:
    """`latest.html` may be a link to a page elsewhere."""
    link, page = tmp_path / "latest.html", tmp_path / "pages" / "1.html"
    page.parent.mkdir()
    page.write_text("old")
    link.symlink_to(page)

    write(link, "new")

    assert link.is_symlink()
    assert page.read_text() == "new"
    assert sorted(tmp_path.rglob("*")) == sorted([link, page.parent, page])


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    """As are devices: who is root would else put a file in the place of /dev/null."""
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()

    write(pipe, "text")

    reader.join(10)
    assert (read, pipe.is_fifo()) == (["text"], True)


def test_what_a_descriptor_leads_to_is_kept(tmp_path: Path) -> None:
    """`--out /dev/stdout >> FILE` adds to the file."""
    file = tmp_path / "all.txt"
    file.write_text("before ")
    with file.open("a") as stdout:
        subprocess.run([sys.executable, "-c", TO_STDOUT], stdout=stdout, check=True)

    assert file.read_text() == "before text"


def test_an_error_leaves_the_old_file_alone(tmp_path: Path) -> None:
    """And nothing beside it."""
    file = tmp_path / "page.html"
    write(file, "old")

    with pytest.raises(TypeError):
        write(file, None)  # type: ignore[arg-type]

    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])


def test_a_file_in_the_place_of_the_folder_is_one_error(tmp_path: Path) -> None:
    """It is raised for what was asked for, not for tidying up after it."""
    (tmp_path / "file").touch()

    with pytest.raises(NotADirectoryError) as caught:
        write(tmp_path / "file" / "page.html", "text")

    assert caught.value.__context__ is None


def test_private_files_are_their_owners_alone(tmp_path: Path) -> None:
    """Exports hold users' requests to agents."""
    with out_file(tmp_path / "spans.json", private=True) as file:
        file.write("{}")

    assert (tmp_path / "spans.json").stat().st_mode & 0o777 == 0o600
