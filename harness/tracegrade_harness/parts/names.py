r"""Names of objects: valid, printable text, even for a hostile path or key.

An unprintable character becomes an escape, and a backslash becomes two. So two objects never share
a name: the file `a⏎b` is named `a\x0ab`.
"""

import re
from collections.abc import Iterable

from xxhash import xxh3_128_hexdigest

MAX_KEY_CHARS = 200
"""Longer keys of rows are cut, and get a digest."""

_UNPRINTABLE = (
    r"\x00-\x1f\x7f-\x9f"  # control characters
    r"\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"  # line ends and marks of direction
    r"\ud800-\udfff"  # bytes that are not UTF-8, as Python reads them
)
_IN_PATHS = re.compile(rf"[\\{_UNPRINTABLE}]")
_ESCAPE = re.compile(r"\\(?:\\|x[0-9a-f]{2}|u[0-9a-f]{4})")
_AS_WRITTEN = re.compile(rf"({_ESCAPE.pattern})|[\\{_UNPRINTABLE}]")
_IN_PARTS = re.compile(rf"[\\/:,{_UNPRINTABLE}]")


def path_text(path: str) -> str:
    """Return a path as text; its slashes stay."""
    return _IN_PATHS.sub(_escaped, path)


def part_text(text: str) -> str:
    """Return a text as one part of a name: a part, a table, a key's value."""
    return _IN_PARTS.sub(_escaped, text)


def name_text(text: str) -> str:
    r"""Return a name as states have it, from a name that a person wrote.

    An unprintable character may be written as its escape or as itself. A backslash that begins no
    escape means itself: `data/a\b` is the same as `data/a\\b`.
    """
    return _AS_WRITTEN.sub(lambda found: found.group(1) or _escaped(found), text)


def plain_text(name: str) -> str:
    """Return a name without escapes; bytes that are not UTF-8 are as in Python."""
    return _ESCAPE.sub(_unescaped, name)


def own_names(title: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names of objects of one part, without the part's own."""
    return frozenset(name for name in names if name.startswith(f"{title}/"))


def key_text(values: tuple[object, ...]) -> str:
    """Return the key of a row; values of several columns are joined by commas."""
    text = ",".join(map(_value_text, values))
    if len(text) <= MAX_KEY_CHARS:
        return text
    return f"{text[:MAX_KEY_CHARS]}…{xxh3_128_hexdigest(text.encode())}"


def _value_text(value: object) -> str:
    """Return a value of a key; texts that look like another type's value are quoted."""
    if not isinstance(value, str):
        return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)
    looks_otherwise = value in ("", "None") or value.startswith(("'", "x'")) or _is_number(value)
    return f"'{part_text(value)}'" if looks_otherwise else part_text(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    if char == "\\":
        return r"\\"
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return rf"\x{code - 0xDC00:02x}"
    return rf"\x{code:02x}" if code < 0x80 else rf"\u{code:04x}"


def _unescaped(found: re.Match[str]) -> str:
    escape = found.group()
    if escape == r"\\":
        return "\\"
    code = int(escape[2:], 16)
    is_byte = escape[1] == "x" and code >= 0x80
    return chr(code + 0xDC00 if is_byte else code)
