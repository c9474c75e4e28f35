"""Checks of suites with images before a trial, and of the user that an image names."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.description import ProcessSettings
from tracegrade_harness.images.settings import ImageSettings, settings_of
from tracegrade_harness.loading.load import load
from tracegrade_harness.sandbox.choice import why_no_image

DIGEST = f"sha256:{'5c' * 32}"
USERS = "root:x:0:0::/root:/bin/sh\nworker:x:1000:100::/home/worker:/bin/sh\nbroken:x\n"
GROUP = "users:x:100:\nstaff:x:50:worker\n"


def problems(folder: Path, environment: dict[str, Any], **agent: Any) -> list[str]:
    """Return what is wrong with a suite that has this environment and agent."""
    suite = {
        "version": 1,
        "suite": "sealed",
        "agents": {"worker": {"command": ["/agent"], **agent}},
        "environments": {"ship": environment},
        "cases": {"sail": {"environment": "ship", "agent": "worker"}},
    }
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump(suite, sort_keys=False))
    return [str(each).split("suite.yaml:", 1)[-1] for each in load(path).problems]


def parts(**inside: str) -> dict[str, Any]:
    """Return parts in folders of an image, by name."""
    return {name: {"inside": path, "at": name} for name, path in inside.items()}


def test_an_image_has_to_exist_in_the_suite(tmp_path: Path) -> None:
    """The problem names the place of a missing image."""
    (tmp_path / "image").mkdir()

    assert problems(tmp_path, {"image": {"path": "image", "digest": DIGEST}}) == []
    (gone,) = problems(tmp_path, {"image": {"path": "gone.tar", "digest": DIGEST}})
    assert "'gone.tar' does not exist" in gone
    assert f"expected it at '{tmp_path / 'gone.tar'}'" in gone
    (short,) = problems(tmp_path, {"image": {"path": "image", "digest": "sha256:5c"}})
    assert "image.digest is 'sha256:5c'" in short


def test_this_machine_s_python_is_refused_in_an_image(tmp_path: Path) -> None:
    """An MCP server needs it, and commands may name it."""
    (tmp_path / "image").mkdir()
    environment: dict[str, Any] = {"image": {"path": "image", "digest": DIGEST}}

    (agent,) = problems(tmp_path, environment, command=["{python}", "agent.py"])
    (recovery,) = problems(tmp_path, environment, recover=["{python}", "recover.py"])
    environment["mcp"] = {"shop": {"command": ["server"], "transport": "stdio"}}
    servers = " ".join(problems(tmp_path, environment))

    assert "'worker' names {python}, which is this machine's Python, and runs in an image" in agent
    assert "'worker' names {python}" in recovery
    assert "has servers, which are started by this machine's Python" in servers


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ({"a": "/srv/data", "b": "/srv/data/b"}, "'/srv/data' overlaps with part 'b'"),
        ({"a": "/srv/data", "b": "/srv/data"}, "'/srv/data' overlaps with part 'b'"),
        ({"a": "/srv/../etc"}, "'/srv/../etc' has '..' or a NUL character"),
        ({"a": "/proc/self"}, "is the root or a folder of the kernel"),
        ({"a": "/."}, "is the root or a folder of the kernel"),
        ({"a": "srv"}, "environments.ship.files.a.inside is 'srv'"),
    ],
)
def test_parts_are_in_folders_of_their_own(
    tmp_path: Path, inside: dict[str, str], said: str
) -> None:
    """Neither one in the other, nor where the sandbox mounts its own."""
    (tmp_path / "image").mkdir()
    environment = {"image": {"path": "image", "digest": DIGEST}, "files": parts(**inside)}

    found = problems(tmp_path, environment)

    assert any(said in each for each in found), found
    apart = parts(a="/srv/data", b="/srv/data-of-b")
    assert problems(tmp_path, {**environment, "files": apart}) == []


def test_a_part_in_an_image_needs_the_image(tmp_path: Path) -> None:
    """Its folder is nowhere else."""
    (found,) = problems(tmp_path, {"files": parts(a="/srv/data")})

    assert "'/srv/data' is in an image, and the environment has none" in found


def test_no_image_runs_without_a_sandbox() -> None:
    """The sandbox that is chosen decides, on each machine."""
    assert why_no_image("none") == (
        "an image needs bubblewrap, and 'none' is chosen; leave out the sandbox"
    )


def settings(folder: Path, user: str, **declared: Any) -> ImageSettings:
    """Return the settings of an image with two users and two groups."""
    (folder / "etc").mkdir(exist_ok=True)
    (folder / "etc/passwd").write_text(USERS)
    (folder / "etc/group").write_text(GROUP)
    return settings_of(ProcessSettings(User=user, **declared), folder)


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("", (0, 0, "/root")),
        ("worker", (1000, 100, "/home/worker")),
        ("1000", (1000, 100, "/home/worker")),
        ("worker:staff", (1000, 50, "/home/worker")),
        ("1000:7", (1000, 7, "/home/worker")),
        ("4711", (4711, 0, "/")),
        ("4711:users", (4711, 100, "/")),
    ],
)
def test_a_user_is_a_name_or_a_number(
    tmp_path: Path, user: str, expected: tuple[int, int, str]
) -> None:
    """A known user has its own group and home, another one none."""
    found = settings(tmp_path, user)

    assert (found.user, found.group, found.environment["HOME"]) == expected


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("stranger", "the image has no user 'stranger'; name one of its users, or a number"),
        ("broken", "no user 'broken'"),
        ("worker:none", "no group 'none'"),
        ("4294967295", "no user '4294967295'"),
        ("-1", "no user '-1'"),
        ("²", "no user '²'"),
    ],
)
def test_an_unknown_user_is_refused(tmp_path: Path, user: str, said: str) -> None:
    """A program never runs as another user than the image's."""
    with pytest.raises(ImageRefused, match="the image has no") as raised:
        settings(tmp_path, user)

    assert said in str(raised.value)


def test_a_file_of_users_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    """It could lead out of the image."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "passwd").write_text(USERS)
    (tmp_path / "etc/passwd").symlink_to("../passwd")

    with pytest.raises(ImageRefused, match="no user 'worker'"):
        settings_of(ProcessSettings(User="worker"), tmp_path)
