"""Images, audio and other files in base64 inside a text, replaced by a description.

They fill a lake and are never queried. The marker gives media type, size and SHA-256 of the bytes,
so that a copy of the file elsewhere can be recognized.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from tracegrade.redact.marks import MARK_START

MARK: Final = f"{MARK_START}:blob"
OCTETS: Final = "application/octet-stream"
PIECE_CHARS: Final = 1 << 20
"""Decoded at once; a multiple of four."""

MIXED_CHARS: Final = 512
"""So many must have both cases and digits, as the base64 of a file has."""

_MEDIA_TYPE_OF_START: Final = {
    "iVBORw0KGg": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi0": "application/pdf",
    "SUQz": "audio/mpeg",
}
_OTHER: Final = re.compile(rb"[^A-Za-z0-9+/=_\\-]")  # JSON may write a slash as \/
_NAME: Final = r"[A-Za-z0-9!#$&^_.+-]{1,64}"
_URI_START: Final = re.compile(rf"data:({_NAME}\\?/{_NAME})?(?:;[\w=.-]{{1,64}}){{0,4}};base64,\Z")
_LONGEST_URI_START: Final = 500


def replace_blobs(text: str, max_chars: int) -> str:
    """Return the text with a marker for each run of base64 above a length."""
    encoded = text.encode()
    clean = replace_encoded_blobs(encoded, max_chars)
    return text if clean is encoded else clean.decode()


def replace_encoded_blobs(encoded: bytes, max_chars: int) -> bytes:
    """Do the same for a text in UTF-8; return the same object if unchanged."""
    parts: list[bytes] = []
    at = 0
    for start, end in _long_runs(encoded, max_chars):
        run = encoded[start:end].decode()
        if not _looks_encoded(run):
            continue
        before = encoded[max(at, start - _LONGEST_URI_START) : start].decode(errors="ignore")
        uri = _URI_START.search(before)
        size = len(uri[0].encode()) if uri else 0
        media_type = uri[1].replace("\\", "") if uri and uri[1] else _media_type(run)
        parts += [encoded[at : start - size], _marker(run, media_type).encode()]
        at = end
    return b"".join([*parts, encoded[at:]]) if parts else encoded


def _long_runs(encoded: bytes, min_chars: int) -> Iterator[tuple[int, int]]:
    """Yield where runs of base64 with more characters start and end.

    Looks at the place where a run that starts here would be long enough, and from there back: most
    characters are never looked at.
    """
    start = 0
    while (last := start + min_chars) < len(encoded):
        other = _OTHER.search(encoded[start : last + 1][::-1])
        if other:
            start = last + 1 - other.start()
            continue
        after = _OTHER.search(encoded, last)
        end = after.start() if after else len(encoded)
        yield start, end
        start = end + 1


def _looks_encoded(run: str) -> bool:
    start = run[:MIXED_CHARS]
    return any(map(str.isupper, start)) and any(map(str.islower, start)) and "\\\\" not in start


def _marker(run: str, media_type: str) -> str:
    standard = run.replace("\\", "").replace("-", "+").replace("_", "/").rstrip("=")
    if len(standard) % 4 == 1:  # no base64 after all
        return f"{MARK} {media_type} 0 bytes sha256:{sha256(run.encode()).hexdigest()}]"
    digest, size = sha256(), 0
    for start in range(0, len(standard), PIECE_CHARS):
        piece = standard[start : start + PIECE_CHARS]
        content = b64decode(piece + "=" * (-len(piece) % 4))
        digest.update(content)
        size += len(content)
    return f"{MARK} {media_type} {size} bytes sha256:{digest.hexdigest()}]"


def _media_type(encoded: str) -> str:
    for start, media_type in _MEDIA_TYPE_OF_START.items():
        if encoded.startswith(start):
            return media_type
    return OCTETS
