"""A baseline comes back from the artifact of the default branch, and from no other."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.ci.github import GitHub
from tests.commands import Ended, tracegrade

from tracegrade_ci.baseline import FILES

FORK = {"head_branch": "main", "repository_id": 42, "head_repository_id": 43}


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return files as an artifact has them."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as found:
        for name, content in files.items():
            found.writestr(name, content)
    return written.getvalue()


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def fetch(server: GitHub, out: Path, *options: object) -> Ended:
    """Run `tracegrade ci fetch` to its end."""
    where = ("--repository", "owner/name", "--branch", "main", "--api", server.url)
    return tracegrade("ci", "fetch", "--artifact", "a", *where, "--out", out, *options)


def test_newest_baseline_comes_back(server: GitHub, exported: Path, tmp_path: Path) -> None:
    """Byte for byte; the address that it redirects to gets no token."""
    server.upload(archive({"baseline.json": b"old"}))
    server.upload(archive(contents(exported)))
    server.upload(archive({}), name="b")

    done = fetch(server, tmp_path / "out")

    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path / "out") == contents(exported)
    assert contents(exported).keys() == {*FILES}
    assert server.downloaded_by == [None]


def test_baseline_is_found_after_many_of_other_branches(
    server: GitHub, exported: Path, tmp_path: Path
) -> None:
    """GitHub lists 100 at a time, of all branches."""
    server.upload(archive(contents(exported)))
    for _ in range(230):
        server.upload(archive({}), branch="change")

    done = fetch(server, tmp_path / "out")

    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path / "out") == contents(exported)


@pytest.mark.parametrize(
    "own",
    [
        {"workflow_run": FORK},
        {"workflow_run": None},
        {"branch": "change"},
        {"expired": True},
        {"name": "b"},
    ],
)
def test_no_other_artifact_counts(server: GitHub, tmp_path: Path, own: dict[str, Any]) -> None:
    """Of a fork whose branch is called main, of another branch or name, or removed."""
    server.upload(archive({"baseline.json": b"{}"}), **own)

    done = fetch(server, tmp_path / "out")

    assert (done.returncode, done.stdout) == (0, "no artifact 'a' of branch 'main'\n")
    assert not (tmp_path / "out").exists()


def test_names_in_an_archive_become_no_paths(server: GitHub, tmp_path: Path) -> None:
    """Only files of a baseline are read from it."""
    server.upload(archive({"../escaped": b"x", "/etc/x": b"x", "baseline.json": b"{}"}))

    done = fetch(server, tmp_path / "out")

    assert done.returncode == 0
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "baseline.json"]


@pytest.mark.parametrize("damaged", [b"", b"PK", b"no archive" * 100])
def test_damaged_archive_is_an_error(server: GitHub, tmp_path: Path, damaged: bytes) -> None:
    """Nothing is written."""
    server.upload(damaged)

    done = fetch(server, tmp_path / "out")

    assert done.returncode == 3
    assert "no archive that can be read" in done.stderr
    assert not (tmp_path / "out").exists()


def test_cut_archive_is_an_error(server: GitHub, exported: Path, tmp_path: Path) -> None:
    """Wherever it is cut, or a byte differs in a file."""
    whole = archive(contents(exported))
    server.upload(whole[:200] + bytes(50) + whole[250:])

    assert fetch(server, tmp_path / "out").returncode == 3


def test_large_file_is_refused(
    server: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small archive may hold a file of any size."""
    monkeypatch.setattr("tracegrade_ci.artifacts.MOST_FILE_BYTES", 10_000)
    server.upload(archive({"baseline.json": bytes(10_001)}))

    done = fetch(server, tmp_path / "out")

    assert done.returncode == 3
    assert "baseline.json in the artifact is larger" in done.stderr


@pytest.mark.parametrize("location", ["http://example.com/x", "file:///etc/passwd", ""])
def test_download_is_encrypted(server: GitHub, tmp_path: Path, location: str) -> None:
    """Or from this machine."""
    number = server.upload(archive({}))
    listed = {"artifacts": [each for each in server.artifacts if each["id"] == number]}
    server.answers += [(200, listed, {}), (302, {}, {"Location": location})]

    done = fetch(server, tmp_path / "out")

    assert done.returncode == 3
    assert "which is not encrypted" in done.stderr


@pytest.mark.parametrize("answer", [(403, {"message": "no"}), (200, []), (500, {})])
def test_refusal_is_an_error(server: GitHub, tmp_path: Path, answer: tuple[int, Any]) -> None:
    """It is not taken for a repository without a baseline."""
    server.answers += [(*answer, {})]

    done = fetch(server, tmp_path / "out")

    assert done.returncode == 3
    assert f"did not list artifacts: status {answer[0]}" in done.stderr
