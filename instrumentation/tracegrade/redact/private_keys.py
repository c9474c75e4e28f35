"""Private keys in a text, between their first and last lines, also without the last.

A key must follow its first line: code and sentences that mention such a line hold no secret.
"""

import re
from typing import Final

from tracegrade.redact.marks import marker
from tracegrade.redact.patterns import PRIVATE_KEY_BEGIN

MARK: Final = marker("pem")
_BEGIN: Final = re.compile(PRIVATE_KEY_BEGIN)
_BODY: Final = re.compile(r"(?:[^-]|-(?!-))*+")
_END: Final = re.compile(r"-?-----END[A-Z0-9 ]{0,40}-----")
_LINE: Final = r"[A-Za-z0-9+/=]"
_LINE_BREAK: Final = r"(?:\s|\\+[nrt]|%0[AaDd])"
_LAST_BREAK: Final = r"(?:[\r\n]|\\+[nrt]|%0[AaDd])"
_IS_KEY: Final = re.compile(rf"{_LINE}{{40}}|\A(?:{_LINE}|\s|\\+[nrt/]|%0[AaDd])*+\Z")
# Characters that a tool prints before each line, and headers of an encrypted key.
_BETWEEN: Final = r"(?:[A-Za-z0-9+/=:,._\s>|\u2192\"'-]|\\+[nrt]|%0[AaDd])"
_CUT_OFF: Final = re.compile(
    rf"{_BETWEEN}{{0,400}}?{_LINE}{{40}}{_LINE}*+(?:{_BETWEEN}{{0,80}}?{_LINE}{{20}}{_LINE}*+)*+"
    rf"(?:{_LINE_BREAK}{{1,9}}+{_LINE}++)?{_LAST_BREAK}*+"
    rf"|{_LINE_BREAK}{{1,9}}+M[A-Za-z][A-Z0-9]{_LINE}*+{_LAST_BREAK}*+"
)


def replace_private_keys(text: str) -> str:
    """Return the text with a mark for each private key in it."""
    parts, at = [], 0
    for begin in _BEGIN.finditer(text):
        end = _end_of_key(text, begin.end())
        if begin.start() >= at and end is not None:
            parts += [text[at : begin.start()], MARK]
            at = end
    return "".join([*parts, text[at:]])


def _end_of_key(text: str, start: int) -> int | None:
    """Return the end of the key that begins here; None if there is none."""
    body = _BODY.match(text, start)
    last = _END.match(text, body.end()) if body else None
    if body and last and _IS_KEY.search(body[0]):
        return last.end()
    cut_off = _CUT_OFF.match(text, start)
    return cut_off.end() if cut_off else None
