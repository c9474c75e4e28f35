"""Fetches a baseline that a job of the default branch left as an artifact of GitHub."""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from tracegrade_ci.baseline import FILES, store_files
from tracegrade_ci.errors import GitHubFailed
from tracegrade_ci.github import GitHubApi

MOST_FILE_BYTES: Final = 256 * 1024**2
"""Of one file of a baseline; an archive may claim any size."""
_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError, struct.error),
)
"""Errors of `zipfile` for a damaged archive, by the method of compression."""
PAGE: Final = 100
MOST_PAGES: Final = 20
"""Pages of artifacts that are searched."""
NOT_FOUND: Final = "did not list artifacts"


class ArtifactSource(NamedTuple):
    """An artifact of the newest job of a branch that left one."""

    repository: str
    """As `owner/name`; checked."""
    name: str
    branch: str


def fetch_baseline(api: GitHubApi, source: ArtifactSource, folder: Path) -> bool:
    """Write the files of an artifact into a folder; return whether there is one.

    Artifacts of forks are left out, even if their branch has the same name.

    Raises:
        CheckRefused: The folder cannot be written, or holds other files.
        GitHubFailed: GitHub cannot be reached, or refuses the token, or the artifact is damaged.
    """
    number = _newest(api, source)
    if number is None:
        return False
    answer = api.download(f"/repos/{source.repository}/actions/artifacts/{number}/zip")
    if answer.status != 200:
        raise api.failed(answer, "did not give the artifact")
    store_files(folder, _files(answer.content))
    return True


def _newest(api: GitHubApi, source: ArtifactSource) -> int | None:
    """Return the id of the newest artifact, None if there is none; GitHub lists it first."""
    own = (each for each in _listed(api, source) if _is_own(each, source))
    return next((each["id"] for each in own), None)


def _listed(api: GitHubApi, source: ArtifactSource) -> Iterator[Any]:
    """Yield the artifacts of this name, also those of forks and other branches."""
    for page in range(1, MOST_PAGES + 1):
        asked = urlencode({"name": source.name, "per_page": PAGE, "page": page})
        answer = api.request("GET", f"/repos/{source.repository}/actions/artifacts?{asked}")
        found = answer.found
        if answer.status != 200 or not isinstance(found, dict):
            raise api.failed(answer, NOT_FOUND)
        listed = found.get("artifacts")
        if not isinstance(listed, list):
            return
        yield from listed
        if len(listed) < PAGE:
            return


def _is_own(artifact: object, source: ArtifactSource) -> bool:
    """Return whether an artifact is of a job of the branch of the repository itself."""
    if not isinstance(artifact, dict) or not isinstance(artifact.get("id"), int):
        return False
    job = artifact.get("workflow_run")
    if artifact.get("expired") or artifact.get("name") != source.name or not isinstance(job, dict):
        return False
    is_of_fork = job.get("head_repository_id") != job.get("repository_id")
    return job.get("head_branch") == source.branch and not is_of_fork


def _files(archive: bytes) -> dict[str, bytes]:
    """Return the files of a baseline in an archive; no name of the archive becomes a path.

    Raises:
        GitHubFailed: It is damaged, or a file in it is too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as found:
            names = [name for name in FILES if name in found.namelist()]
            return {name: _content(found, name) for name in names}
    except _DAMAGE as error:
        msg = "the artifact is no archive that can be read; let the default branch write it again"
        raise GitHubFailed(msg) from error


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        content = file.read(MOST_FILE_BYTES + 1)
    if len(content) > MOST_FILE_BYTES:
        msg = f"{name} in the artifact is larger than {MOST_FILE_BYTES:,} bytes; it is not used"
        raise GitHubFailed(msg)
    return content
