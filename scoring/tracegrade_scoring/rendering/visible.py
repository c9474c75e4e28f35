"""Makes texts out of traces harmless to look at: what would act on a screen is spelled out."""

import unicodedata


def visible(text: str) -> str:
    r"""Return a text with every character that acts instead of showing spelled out, as `\x1b`.

    These are controls (terminal escapes, line ends), format characters (right-to-left overrides,
    zero-width ones), lone surrogates, private and unassigned ones, and spaces other than ' '.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _shows(c) else _spelled(c) for c in text)


def visible_text(text: str) -> str:
    """Return a text of several lines in which all but its line ends is visible."""
    return "\n".join(visible(line) for line in text.replace("\r\n", "\n").split("\n"))


def _shows(character: str) -> bool:
    category = unicodedata.category(character)
    return character == " " or category[0] not in "CZ"


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
