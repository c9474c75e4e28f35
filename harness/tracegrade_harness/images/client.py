"""Saves a named image with the client of Docker or podman, if this machine has one."""

import contextlib
import re
import resource
import shutil
import subprocess
from pathlib import Path
from typing import IO, Final

from tracegrade.terminal.visible import visible
from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.images.limits import ImageLimits
from tracegrade_harness.parts.folders.folders import explained

CLIENTS: Final = ("docker", "podman")
"""Programs that save images, the first to be tried first."""
INSPECT_SECS: Final = 60
SAVE_SECS: Final = 3600
_ID: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_MOST_CHARACTERS: Final = 300


def why_no_client(name: str) -> str | None:
    """Return why no client can save an image; None if there is a client."""
    if _clients():
        return None
    programs = " or ".join(f"'{each}'" for each in CLIENTS)
    return (
        f"no program {programs}, which saves image '{name}'; install one, or save the image "
        "elsewhere and give its archive as 'path' and 'digest'"
    )


def save(name: str, archive: Path) -> str:
    """Save an image by the first client that has it; return its id there.

    The client checked the name's digest when it pulled the image, and its archive contains
    what the id names: the digest of the configuration, or of the manifest.

    Args:
        name: The name of the image, with its digest.
        archive: The new file.

    Raises:
        EnvironmentFailed: There is no client, none has the image, or it could not be saved.
    """
    if reason := why_no_client(name):
        raise EnvironmentFailed(reason)
    faults = []
    for client in _clients():
        command = [client, "image", "inspect", "--format", "{{.Id}}", name]
        code, printed, fault = _run_client(command, subprocess.PIPE, INSPECT_SECS)
        found = _ID.fullmatch(printed.strip())
        if code == 0 and found is not None:
            _save(client, name, archive)
            return f"sha256:{found[1]}"
        faults.append(f"{Path(client).name}: {fault or 'it names no id'}")
    msg = f"no image '{name}' here ({'; '.join(faults)}); pull it first, while its service runs"
    raise EnvironmentFailed(msg)


def _clients() -> list[str]:
    return [path for name in CLIENTS if (path := shutil.which(name)) is not None]


def _save(client: str, name: str, archive: Path) -> None:
    with explained(archive.parent), archive.open("xb") as file:
        code, _, fault = _run_client([client, "image", "save", name], file, SAVE_SECS)
    if code != 0:
        reason = fault or f"it ended with {code}"
        msg = f"{Path(client).name} could not save image '{name}': {reason}; try it by hand"
        raise EnvironmentFailed(msg)


def _run_client(command: list[str], output: int | IO[bytes], secs: int) -> tuple[int, str, str]:
    """Return a client's exit code, what it printed, and the last line of its errors."""
    limit = ImageLimits().total_bytes
    try:
        with subprocess.Popen(  # noqa: S603 - the user's client, and a name that was checked
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE
        ) as client:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(client.pid, resource.RLIMIT_FSIZE, (limit, limit))
            try:
                printed, errors = client.communicate(timeout=secs)
            except subprocess.TimeoutExpired:
                client.kill()
                return -1, "", f"it did not end within {secs} seconds"
    except OSError as error:
        return -1, "", f"it could not be started: {error.strerror}"
    return client.returncode, (printed or b"").decode(errors="replace"), _last_line(errors)


def _last_line(errors: bytes) -> str:
    lines = errors.decode(errors="replace").strip().splitlines()
    return visible(lines[-1].strip())[:_MOST_CHARACTERS] if lines else ""
