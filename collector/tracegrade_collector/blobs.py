"""Images, audio and other files in base64 inside a text, replaced by what they were.

They fill a lake and nobody queries them. The marker says media type, size and SHA-256 of the
bytes, so that a file kept elsewhere can be recognised.
"""

import re
from base64 import b64decode
from hashlib import sha256
from typing import Final

MARK: Final = "[redacted:blob"
OCTETS: Final = "application/octet-stream"
_MEDIA_TYPE_OF_START: Final = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi0": "application/pdf",
    "SUQz": "audio/mpeg",
}
_PART: Final = re.compile(
    r"(?:data:([A-Za-z0-9!#$&^_.+-]{1,64}/[A-Za-z0-9!#$&^_.+-]{1,64})?(?:;[\w=.-]{1,64}){0,4};base64,)?"
    r"((?:[A-Za-z0-9+/_-]|\\/)*+={0,2})"
)


def replace_blobs(text: str, max_bytes: int) -> str:
    """Return the text with a marker for each run of base64 with more than so many characters."""

    def marked(match: re.Match[str]) -> str:
        encoded = match[2]
        if len(encoded) <= max_bytes or not _is_base64(encoded):
            return match[0]
        return blob_marker(encoded, match[1])

    return _PART.sub(marked, text)


def blob_marker(encoded: str, media_type: str | None = None) -> str:
    """Return what stands in the place of a file in base64."""
    standard = encoded.replace("\\/", "/").replace("-", "+").replace("_", "/").rstrip("=")
    content = b64decode(standard + "=" * (-len(standard) % 4)) if len(standard) % 4 != 1 else b""
    found = media_type or _media_type(encoded)
    digest = sha256(content or encoded.encode()).hexdigest()
    return f"{MARK} {found} {len(content)} bytes sha256:{digest}]"


def _is_base64(encoded: str) -> bool:
    """Return whether it has what the base64 of a file has: both cases and digits, well mixed."""
    start = encoded[:512]
    return any(map(str.isupper, start)) and any(map(str.islower, start)) and len(set(start)) > 12


def _media_type(encoded: str) -> str:
    for start, media_type in _MEDIA_TYPE_OF_START.items():
        if encoded.startswith(start):
            return media_type
    return OCTETS
