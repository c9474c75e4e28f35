"""Digests that name the blobs of an image, such as `sha256:` with 64 digits."""

import hashlib
import re
from typing import Final

from tracegrade_harness.errors import ImageRefused

_DIGEST: Final = re.compile(r"(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})")


def is_digest(text: str) -> bool:
    """Return whether a text is the digest of a blob."""
    return _DIGEST.fullmatch(text) is not None


def blob_path(digest: str) -> str:
    """Return the path of a blob in an OCI layout.

    Raises:
        ImageRefused: It is not a digest.
    """
    if not is_digest(digest):
        msg = f"{digest!r} is not a digest; expected sha256: and 64 digits of 0-9 and a-f"
        raise ImageRefused(msg)
    return f"blobs/{digest.replace(':', '/')}"


def check_digest(content: bytes, digest: str) -> None:
    """Refuse content that has another digest.

    Raises:
        ImageRefused: It has.
    """
    if (found := digest_of(content, digest)) != digest:
        msg = f"the content of blob '{digest}' has the digest '{found}'; copy the image again"
        raise ImageRefused(msg)


def digest_of(content: bytes, like: str = "sha256:") -> str:
    """Return the digest of content, by the algorithm of another digest."""
    algorithm = like.partition(":")[0]
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"
