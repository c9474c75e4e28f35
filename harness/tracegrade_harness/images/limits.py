"""Limits on an image, so that a hostile archive cannot fill a disk or a memory."""

from dataclasses import dataclass
from typing import Final

GIB: Final = 1024**3
MIB: Final = 1024**2


@dataclass(frozen=True)
class ImageLimits:
    """Limits on what one image may contain."""

    total_bytes: int = 20 * GIB
    """Bytes of all layers without compression, and of each file with its holes."""
    entries: int = 500_000
    """Files, folders and links of all layers together."""
    layers: int = 200
    depth: int = 100
    """Depth of folders; parts of an environment are read to the same depth."""
    document_bytes: int = 4 * MIB
    """Bytes of an index, a manifest or a configuration."""
    header_bytes: int = MIB
    """Bytes of one extended header in an archive, such as a long name."""
