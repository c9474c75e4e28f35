"""Images that Docker's or podman's client saves; here, small programs are the clients."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import tracegrade
from tests.harness.images.making import entry, layer, saved

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.images.source import NamedImage
from tracegrade_harness.images.store import IMAGES, stored_image
from tracegrade_harness.loading.load import load

NAME = f"shop/agent@sha256:{'5c' * 32}"
CLIENT = """#!/bin/sh
cd {folder}
echo "$1 $2 $5$3" >>calls
fail() {{ echo "$1" >&2; exit 1; }}
case "$2" in
inspect) /bin/cat id 2>/dev/null || {{ echo trace >&2; fail "No such image: $5"; }} ;;
save) /bin/cat archive 2>/dev/null || fail "disk of the daemon is full" ;;
esac
"""


def client(folder: Path, name: str = "docker", **files: str) -> Path:
    """Write a program that answers as a client does, from files next to it."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(CLIENT.format(folder=folder))
    program.chmod(0o755)
    for file, text in files.items():
        (folder / file).write_text(text)
    return folder


def found_in(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Let programs be found in these folders alone, and not those of this machine."""
    monkeypatch.setenv("PATH", ":".join(map(str, [*folders, "/nonexistent"])))


def image_at(folder: Path) -> str:
    """Write an archive as `docker save` does, and return the image's id."""
    content = layer(entry("etc/motd", b"aboard"))
    return saved(folder / "archive", [content], {"Env": ["SHIP=sealed"]})


def refusal(frozen: Path, name: str = NAME) -> str:
    """Return why an image cannot be stored, which is one line, and see that nothing is left."""
    with pytest.raises(EnvironmentFailed) as raised:
        stored_image(NamedImage(name), frozen)
    assert "\n" not in str(raised.value)
    left = frozen / IMAGES
    assert not left.exists() or [*left.iterdir()] == []
    return str(raised.value)


@pytest.mark.parametrize(("program", "prefix"), [("docker", "sha256:"), ("podman", "")])
def test_a_named_image_is_saved_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, prefix: str
) -> None:
    """The client is asked for the id of the name and for the archive, which does not stay."""
    folder = client(tmp_path / "bin", program)
    (folder / "id").write_text(prefix + image_at(folder).removeprefix("sha256:") + "\n")
    found_in(monkeypatch, folder)

    first = stored_image(NamedImage(NAME), tmp_path / "frozen")
    asked = (folder / "calls").read_text()
    (folder / program).unlink()
    again = stored_image(NamedImage(NAME), tmp_path / "frozen")

    assert asked == f"image inspect {NAME}--format\nimage save {NAME}\n"
    assert first == again
    assert (first.root / "etc/motd").read_text() == "aboard"
    assert first.settings.environment["SHIP"] == "sealed"
    (home,) = (tmp_path / "frozen" / IMAGES).iterdir()
    assert home.name.endswith("5c" * 32)
    assert sorted(each.name for each in home.iterdir()) == ["rootfs", "settings.json"]


def test_errors_of_a_client_end_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name the client, the image and what the client said last."""
    found_in(monkeypatch)
    assert refusal(tmp_path / "frozen").startswith("no program 'docker' or 'podman', which saves")

    docker, podman = client(tmp_path / "bin"), client(tmp_path / "other", "podman")
    found_in(monkeypatch, docker, podman)
    assert refusal(tmp_path / "frozen") == (
        f"no image '{NAME}' here (docker: No such image: {NAME}; "
        f"podman: No such image: {NAME}); pull it first, while its service runs"
    )
    (podman / "id").write_text("ab" * 32)
    assert refusal(tmp_path / "frozen") == (
        f"podman could not save image '{NAME}': disk of the daemon is full; try it by hand"
    )
    image_at(podman)
    assert f"the archive has no image 'sha256:{'ab' * 32}'; it has sha256:" in refusal(
        tmp_path / "frozen"
    )
    (docker / "id").write_text("<no value>")
    assert "the archive has no image" in refusal(tmp_path / "frozen")
    (docker / "docker").write_text("not a program")
    assert "the archive has no image" in refusal(tmp_path / "frozen")


def suite_in(folder: Path, image: dict[str, Any]) -> Path:
    """Write a suite with a case in an image."""
    suite = {
        "version": 1,
        "suite": "sealed",
        "agents": {"worker": {"command": ["/agent"]}},
        "environments": {"ship": {"image": image}},
        "cases": {"sail": {"environment": "ship", "agent": "worker"}},
    }
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump(suite))
    return path


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ({"name": "shop/agent:1"}, "'shop/agent:1' has no digest, so it may be another image"),
        ({"name": f"--all@sha256:{'5c' * 32}"}, "is not a name with a digest"),
        ({"name": "shop@sha256:5c"}, "'shop@sha256:5c' is not a name with a digest"),
        ({"name": NAME, "path": "a.tar"}, "name is given, which has its own digest, and path or"),
        ({"path": "a.tar"}, "digest is missing; give path and digest, or name"),
        ({}, "path is missing; give path and digest, or name"),
    ],
)
def test_an_image_without_a_digest_is_refused(
    tmp_path: Path, image: dict[str, Any], said: str
) -> None:
    """With its line and a way out."""
    found = [str(each) for each in load(suite_in(tmp_path, image)).problems]

    assert any(said in each and "suite.yaml:" in each for each in found), found


def test_check_names_the_case_without_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the program that lacks and what to do instead."""
    suite = suite_in(tmp_path, {"name": NAME})
    found_in(monkeypatch)
    command = ("harness", "check", suite, "--folder", tmp_path / "home")

    without = tracegrade(*command)
    found_in(monkeypatch, client(tmp_path / "bin"))
    with_client = tracegrade(*command)

    assert without.returncode != 0
    assert "cannot run sail here: " in without.stderr
    assert (
        f"no program 'docker' or 'podman', which saves image '{NAME}'; install" in without.stderr
    )
    assert "no program 'docker'" not in with_client.stderr
