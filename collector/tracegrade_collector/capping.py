"""Values that are longer than they may be, cut with a note of what they were."""

from hashlib import sha256


def cap(text: str, max_bytes: int) -> str:
    """Return the text, or its beginning and a note of its length and SHA-256.

    Cut between characters; together at most `max_bytes` bytes of UTF-8. The hash is that of the
    value as it would have been stored, without its secrets: of a whole value a hash would tell who
    can guess whether the guess was right.
    """
    encoded = text.encode()
    if len(encoded) <= max_bytes:
        return text
    note = f"…[capped: {len(encoded)} bytes, sha256:{sha256(encoded).hexdigest()}]"
    kept = encoded[: max_bytes - len(note.encode())].decode(errors="ignore")
    return kept + note
