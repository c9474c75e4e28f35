"""The places that an image comes from: an archive of the suite, or Docker's or podman's client."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from tracegrade_harness.images.client import save

_SAVED: Final = "saved.tar"


class ImageSource(Protocol):
    """The place that an image comes from."""

    @property
    def title(self) -> str:
        """The image's path or name, for messages."""

    @property
    def digest(self) -> str:
        """The digest that the suite gives, which names the image in the store."""

    def archive(self, folder: Path) -> AbstractContextManager[tuple[Path, str]]:
        """Give the image's archive during a block, and its digest there.

        Args:
            folder: An existing folder, for an archive that is written now.

        Raises:
            EnvironmentFailed: It could not be written.
        """


class ArchivedImage(NamedTuple):
    """An image in an archive or a folder of the suite."""

    path: Path
    digest: str

    @property
    def title(self) -> str:
        """The image's path."""
        return str(self.path)

    @contextmanager
    def archive(self, folder: Path) -> Iterator[tuple[Path, str]]:
        """Give the archive of the suite."""
        del folder
        yield self.path, self.digest


class NamedImage(NamedTuple):
    """An image that a client has, by a name with a digest."""

    name: str

    @property
    def title(self) -> str:
        """The image's name."""
        return self.name

    @property
    def digest(self) -> str:
        """The digest in the name."""
        return self.name.rpartition("@")[2]

    @contextmanager
    def archive(self, folder: Path) -> Iterator[tuple[Path, str]]:
        """Let the client save the image, and remove the archive after the block.

        Raises:
            EnvironmentFailed: No client has the image, or it could not be saved.
        """
        saved = folder / _SAVED
        try:
            yield saved, save(self.name, saved)
        finally:
            saved.unlink(missing_ok=True)
