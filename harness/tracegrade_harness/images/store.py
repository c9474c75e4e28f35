"""Images that were unpacked once, each in a folder that its digest names."""

import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.images.digests import blob_path
from tracegrade_harness.images.settings import ImageSettings, settings_of
from tracegrade_harness.images.source import ImageSource
from tracegrade_harness.images.unpack import ROOT, unpack
from tracegrade_harness.parts.folders.folders import explained, removed

IMAGES: Final = "images"
"""Name of the store in the folder of frozen environments."""
_VERSION: Final = 1
"""Increased when images are unpacked in a new way."""
_SETTINGS: Final = "settings.json"


class StoredImage(NamedTuple):
    """An unpacked image, which must not be changed."""

    root: Path
    settings: ImageSettings


def is_stored(digest: str, frozen: Path) -> bool:
    """Return whether the store in a folder of frozen environments has an image."""
    return _home(digest, frozen).exists()


def _home(digest: str, frozen: Path) -> Path:
    return frozen / IMAGES / f"{_VERSION}-{Path(blob_path(digest)).name}"


def stored_image(source: ImageSource, frozen: Path) -> StoredImage:
    """Return an image of the store, unpacked now if it is not there yet.

    Args:
        source: The image's source, which is not asked if the store has the image.
        frozen: Folder of frozen environments.

    Raises:
        EnvironmentFailed: It is refused, or the store cannot be read or written.
    """
    home = _home(source.digest, frozen)
    if not home.exists():
        _build(source, home)
    try:
        settings = ImageSettings.model_validate_json((home / _SETTINGS).read_bytes())
    except (OSError, ValueError) as error:
        msg = f"the unpacked image '{home}' was changed; remove it"
        raise EnvironmentFailed(msg) from error
    return StoredImage(home / ROOT, settings)


def _build(source: ImageSource, home: Path) -> None:
    """Unpack under a temporary name, so that no partial image remains."""
    with explained(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="building-", dir=home.parent))
    try:
        with source.archive(building) as (archive, digest):
            settings = settings_of(unpack(archive, digest, building), building / ROOT)
        with explained(home):
            (building / _SETTINGS).write_text(settings.model_dump_json())
            if not home.exists():  # else another harness was quicker
                building.rename(home)
    finally:
        removed(building)
