r"""Values of secrets' names, in any text: their positions, and the text without them.

`forms.py` has the ways of writing them. The beginning of a value decides its end. A text in quotes
ends at the quote with as many backslashes as the opening one, and a bare word at the next space.
An object or a list ends at its bracket, and each text in it is replaced.
"""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from tracegrade.redact.forms import ASSIGNMENT, FORMS, NAMED
from tracegrade.redact.marks import MARK_START, marker
from tracegrade.redact.names import (
    NameKind,
    is_mixed,
    is_next_word,
    is_number,
    is_position,
    is_secret,
    looks_like_key,
    stands_for_no_value,
)
from tracegrade.redact.patterns import BOUNDARY, ESCAPE, NAME_WORDS
from tracegrade.redact.places import Form, is_field
from tracegrade.redact.words import Words

MARK: Final = marker("named")
LONGEST_NAME: Final = 80
LEAST_DIGITS: Final = 4
"""Fewest digits of a number in an environment that is a password."""

LONGEST_LITERAL: Final = 2000
"""Longest object or list in code, in characters."""

MOST_OPEN_LITERALS: Final = 100
"""Most literals without an end that are read again for each name in them; others count as cut."""

LEAST_LETTERS: Final = 16
"""Fewest letters of a word without digits that is a key."""

_NAME_WORDS: Final = frozenset(NAME_WORDS)
_FORMS: Final = tuple((form, frozenset(form.words)) for form in FORMS)
_WORDS: Final = _NAME_WORDS.union(*(words for _, words in _FORMS))
_OPEN: Final = re.compile(r"[bBrRuUfF]{0,2}(\\*)([\"'`])")
_HTML_QUOTE: Final = re.compile(r"&quot;|&#3[49];|%2[27]")
# A run of backslashes is examined once, from its start only.
_ESCAPES: Final = r"(?<!\\)(\\*+)"
_ENDS: Final = {quote: re.compile(_ESCAPES + quote) for quote in "\"'`"}
_BARE: Final = re.compile(
    r"(?:(?i:basic|bearer|digest|token|negotiate|apikey)(?:\s{1,4}|%20))?([^\s\x00-\x1f\"'`\\,;&|<>()\[\]{}，。、；！？」）]{1,300})"  # noqa: RUF001 - Chinese
)
_REST: Final = re.compile(r"[^\s\x00-\x1f\"'`\\,;&|<>()\[\]{}，。、；！？」）]+")  # noqa: RUF001
_REST_OF_VARIABLE: Final = re.compile(
    _REST.pattern[:-1] + r"*+(?:[&<>()\[\]{}][A-Za-z0-9_!@#$%^*+.:/-]++(?![=&|(]))*+"
)
"""Stops before another name: in an environment file a value fills its line."""

_GOES_ON: Final = re.compile(r"\\+''|\\*\"'\\*\"'")
"""After a quote that a shell's text in `'` contains: `'it'\\''s'` and `'it'"'"'s'`."""

_BRACKETS: Final = re.compile(rf"[\[\]{{}}]|{_ESCAPES}([\"'])")
_CODE_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z_]*(?:\.[A-Za-z_]+)*\Z")
_IDENTIFIER_CHARS: Final = string.ascii_letters + string.digits + "_.$-"
_NO_NAME: Final = re.compile(rf"\A(?:{ESCAPE}|[\W_])+")
_SCHEMA: Final = re.compile(
    r"\{\s*(?:\\*[\"'][\w$]{1,30}\\*[\"']\s*:\s*(?:\\*[\"'][^\"'\\]{0,300}\\*[\"']|[\w.]+)\s*,\s*){0,4}"
    r"\\*[\"'](?:type|\$ref|anyOf|oneOf|allOf|enum|description)\\*[\"']\s*:"
)
_OPENING: Final = frozenset("\"'>;")
_ASSIGNS: Final = re.compile(r"[:=：＝]|%3[ad]", re.IGNORECASE)  # noqa: RUF001
_GROUP_NAME: Final = re.compile(r"\(\?P<\w+>")
_PASS: Final = re.compile(r"(?i)(?:[^a-z]*|.*[ -])pass[ _]?[0-9]*\Z")
_NAMES_ONE: Final = re.compile(r"(?i)pass|pwd|secret|token|key|cred|auth")
_AFTER_A_TEXT: Final = re.compile(r"[)\],;+%}\n]|\\n|\s+[%+.]")
"""Code after `"Password: "`."""

_OPENS_A_TEXT: Final = re.compile(r"(?:^|[\s(\[{,=:+>bBfFrRuU])(\\*)([\"'`])(?=\S)[^\"'`\n]*\Z")
"""The last quote before a name, if a text begins with it: `grep "password="`."""

_ARN: Final = re.compile(r"\barn:[a-z-]{2,20}:[\w:-]{0,80}\Z")
_BLOCK: Final = re.compile(
    r"[|>][+-]?[ \t]*(\n|\\+n)([ \t]+)([^\s\\\"]+)(?=\1|\Z|\\|\")(?:\1\2[^\n\\\"]+)*"
)
"""A value of several lines, as YAML writes it."""

_HASHED: Final = re.compile(r"\$[0-9a-z-]{1,12}\$[\w./,=$+-]{3,}")
"""As `crypt` writes a password's hash."""

_URL_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_QUOTE_BEFORE: Final = re.compile(r"(?<!\\)(\\*+)([\"'`])(?:[^\s\"'`\\:]{1,60}:)?\Z")
"""Before a value, or before the user of one: `-u 'bob:…'`."""

_VARIABLE: Final = re.compile(r"\?\w*\Z|[:@][A-Za-z_]+\Z")
"""SQL's names of parameters."""

_KNOWN_BY_SHAPE: Final = frozenset(
    {NameKind.COOKIE, NameKind.WEAK, NameKind.HEADER, NameKind.KEY, NameKind.LOGIN}
)
_LINE_END: Final = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_INDENTED: Final = re.compile(r"\n[ \t]+\Z")
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]")
_ASKS: Final = re.compile(r"\b(?:if|elif|while|and|or|not)\b[^\n:\"'\\]*+\Z")
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.,+Z-]{0,30})?\Z")
_FOLLOWS_A_KEY: Final = re.compile(r"\s*:")

Span = tuple[int, int, str]
"""Start and end of a secret in a text, and its replacement."""


class Assigned(NamedTuple):
    """A name of a secret to which a value is assigned."""

    name: str
    """With the words before: `db.password`."""

    kind: NameKind
    quote: str
    """The quote after the name, as in JSON; empty if there is none."""

    operator: str
    """What assigns, with the spaces around it."""

    at: int
    """Where the value begins."""

    @property
    def is_plain_assignment(self) -> bool:
        """Return whether it is written as in a shell, an environment or a URL."""
        return self.operator == "=" and not self.quote

    @property
    def is_variable(self) -> bool:
        """Return whether it is written as a variable of an environment: `DB_PASSWORD=`."""
        return self.is_plain_assignment and not any(map(str.islower, self.name))

    def marked(self) -> str:
        """Return the mark for a bare word, in the quotes of its name: JSON stays JSON."""
        quote = self.quote if ":" in self.operator else ""
        return f"{quote}{MARK}{quote}"


class Finder:
    """Finds a pattern with named groups: its position with any engine, its groups with `re`.

    RE2 is much slower when it must report groups.
    """

    def __init__(self, compile_pattern: Callable[[str], Any], pattern: str) -> None:
        """Find a pattern without regard to case."""
        self._places = compile_pattern(f"(?i:{_GROUP_NAME.sub('(?:', pattern)})")
        self._groups = re.compile(pattern, re.IGNORECASE)

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield each match in a text."""
        for place in self._places.finditer(text):
            match = self._groups.match(text, place.start())
            if match is not None:
                yield match


class NamedSecrets:
    """Finds values under the names of secrets."""

    def __init__(
        self,
        compile_pattern: Callable[[str], Any],
        kind_of: Callable[[str], NameKind],
        names: Sequence[str] = (),
    ) -> None:
        """Look for them with patterns compiled so.

        Args:
            compile_pattern: `re.compile`, or RE2's.
            kind_of: What tells the kind of a name.
            names: Patterns of further names.
        """
        self._kind_of = kind_of
        own = "".join(rf"|{BOUNDARY}(?:{name})" for name in names)
        assignment = ASSIGNMENT.replace(NAMED, rf"(?:{NAMED}{own})") if own else ASSIGNMENT
        self._assignment = Finder(compile_pattern, assignment)
        self._words = Words(compile_pattern, _WORDS)
        self._form = cache(lambda form: Finder(compile_pattern, form.pattern))
        own_name = rf"(?i)(?:^|[^a-z0-9])(?:{'|'.join(names)})\Z"
        self._own_name = re.compile(own_name) if names else None

    def redact(self, text: str) -> str:
        """Return the text without the values under a secret's name."""
        lowered = text.lower()
        words = self._words.inside(lowered)
        has_name = self._own_name is not None or not words.isdisjoint(_NAME_WORDS)
        found = list(self._assigned(text)) if has_name and _ASSIGNS.search(text) else []
        for form, needed in _FORMS if words else ():
            if not words.isdisjoint(needed) and any(map(lowered.__contains__, form.signs)):
                found += self._matched(form, text)
        return _without(text, found) if found else text

    def _is_own(self, name: str) -> bool:
        return self._own_name is not None and self._own_name.search(name) is not None

    def _is_secret(self, assigned: Assigned, text: str) -> bool:
        is_marked = not text or text.startswith(MARK_START)
        is_own = self._is_own(assigned.name) and not is_marked
        return is_own or is_secret(assigned.kind, assigned.name, text)

    def _assigned(self, text: str) -> Iterator[Span]:
        end, open_literals = 0, 0
        for assigned in self._names_in(text):
            is_code = assigned.kind is NameKind.COOKIE and not assigned.quote
            if end <= assigned.at < len(text) and not (is_code or _is_in_arn(text, assigned)):
                is_patient = open_literals < MOST_OPEN_LITERALS
                spans, end = self._values_of(text, assigned, is_patient=is_patient)
                open_literals += end == assigned.at and text[end] in "[{"
                yield from spans

    def _names_in(self, text: str) -> Iterator[Assigned]:
        """Yield each name of a secret in a text to which something is assigned."""
        for match in self._assignment.matches(text):
            name = _whole_name(text, *match.span("name"))
            quote, operator = match["close"].rstrip("])"), text[match.end("close") : match.end()]
            yield Assigned(name, self._kind_of(name), quote, operator, match.end())

    def _values_of(
        self, text: str, assigned: Assigned, *, is_patient: bool
    ) -> tuple[list[Span], int]:
        """Return the secrets of a name, and from where on another name's may begin."""
        opened = _OPEN.match(text, assigned.at) or _HTML_QUOTE.match(text, assigned.at)
        if opened is not None:
            return self._quoted(text, opened, assigned)
        if text[assigned.at] in "|>":
            return self._block(text, assigned)
        if text[assigned.at] not in "[{":
            return self._bare(text, assigned)
        is_one_word = assigned.kind in {NameKind.KEY, NameKind.LOGIN}
        if is_one_word or _SCHEMA.match(text, assigned.at) or _is_pass(assigned.name):
            return [], assigned.at
        return _texts_within(text, assigned, is_cut=bool(assigned.quote) or not is_patient)

    def _quoted(
        self, text: str, opened: re.Match[str], assigned: Assigned
    ) -> tuple[list[Span], int]:
        in_three = _in_three_quotes(text, opened)
        start, end = in_three or (opened.end(), _closing(text, opened))
        value = text[start:end]
        is_code = not (assigned.quote or in_three) and bool(
            _AFTER_A_TEXT.match(value) or _ends_a_text(text, opened, assigned)
        )
        if self._is_secret(assigned, value) and not is_code:
            return [(start, end, MARK)], end
        return [], assigned.at

    def _block(self, text: str, assigned: Assigned) -> tuple[list[Span], int]:
        block = _BLOCK.match(text, assigned.at)
        if block is None or not self._is_secret(assigned, block[3]):
            return [], assigned.at
        return [(block.start(3), block.end(), MARK)], block.end()

    def _bare(self, text: str, assigned: Assigned) -> tuple[list[Span], int]:
        bare = _BARE.match(text, assigned.at)
        if bare is None or not self._is_bare_secret(text, bare, assigned):
            return [], assigned.at
        rest = (_REST_OF_VARIABLE if assigned.is_variable else _REST).match(text, bare.end())
        end = rest.end() if rest else bare.end()
        return [(bare.start(), end, assigned.marked())], end

    def _is_bare_secret(self, text: str, bare: re.Match[str], assigned: Assigned) -> bool:
        """Return whether a word without quotes is a secret."""
        if not self._is_secret(assigned, bare[0]):
            return False
        if self._is_own(assigned.name):
            return True
        if assigned.quote == "" and _CODE_NAME.match(bare[1]) and _is_tested(text, assigned):
            return False
        if "\n" in assigned.operator and not _is_whole_line(text, bare, assigned):
            return False
        if is_number(bare[1]):
            is_password = assigned.kind is NameKind.PASSWORD
            return is_password and assigned.is_variable and len(bare[1]) >= LEAST_DIGITS
        return not _is_code(text, bare, assigned) and _says_enough(bare, assigned)

    def _matched(self, form: Form, text: str) -> Iterator[Span]:
        """Yield each secret of a form."""
        for match in self._form(form).matches(text):
            value, groups = match["value"], match.groupdict()
            if is_position(text[match.start() : match.start("value")].rstrip("\"', =\t")):
                continue
            before = text[match.start("value") - 1 : match.start("value")]
            says_nothing = stands_for_no_value if before in _OPENING else is_next_word
            is_no_secret_number = is_number(value) and not form.may_be_number
            if is_no_secret_number or _is_filled_in(value) or says_nothing(value):
                continue
            if form.is_mixed and not is_mixed(value):
                continue
            field, name = groups.get("field"), groups.get("name")
            is_named = not name or is_secret(self._kind_of(name), name, value)
            if is_named and (field is None or is_field(field)):
                yield match.start("value"), _end_in_quotes(text, match), MARK


def _whole_name(text: str, start: int, end: int) -> str:
    """Return a name with the words before it, and without a character that ends another word."""
    name = text[start:end]
    if not name[0].isalnum() and name[0] not in "._-":
        return _NO_NAME.sub("", name)
    before = text[max(0, start - LONGEST_NAME) : start]
    outside = before.rstrip(_IDENTIFIER_CHARS)
    if outside[-1:] in {"\\", "%", "["}:  # the first letters are an escape's
        return _NO_NAME.sub("", outside[-1] + before[len(outside) :] + name)
    return before[len(outside) :] + name


def _is_in_arn(text: str, assigned: Assigned) -> bool:
    """Return whether a name belongs to the address of a secret, not to the secret."""
    return _ARN.search(text, max(0, assigned.at - 120), assigned.at) is not None


def _ends_a_text(text: str, opened: re.Match[str], assigned: Assigned) -> bool:
    """Return whether the quote after a name ends a text that contains the name."""
    before = _OPENS_A_TEXT.search(text, max(0, assigned.at - LONGEST_NAME), assigned.at)
    return before is not None and before[2] == text[opened.end() - 1] and before[1] == opened[1]


def _is_whole_line(text: str, bare: re.Match[str], assigned: Assigned) -> bool:
    """Return whether a word is the indented line below its name, not what follows a prompt."""
    is_alone = _LINE_END.match(text, bare.end()) is not None
    return is_alone and _INDENTED.search(assigned.operator) is not None


def _is_tested(text: str, assigned: Assigned) -> bool:
    """Return whether code asks for a name: `if not password: raise ValueError`."""
    start = assigned.at - len(assigned.operator) - len(assigned.name)
    before = text[max(0, start - LONGEST_NAME) : max(0, start)]
    return ":" in assigned.operator and _ASKS.search(before) is not None


def _is_code(text: str, bare: re.Match[str], assigned: Assigned) -> bool:
    """Return whether a word is a call, an attribute or a variable, or says "no value"."""
    word = bare[1]
    after = text[bare.end() : bare.end() + 1]
    is_mixed = assigned.is_variable and _is_mixed(word) and not text.startswith("()", bare.end())
    is_call = after in {"(", "["} and not is_mixed
    is_name = not assigned.is_variable and _CODE_NAME.match(word.rstrip(":!?")) is not None
    is_attribute = is_name and "." in word.rstrip(".:!?")
    is_reference = is_name and _NAMES_ONE.search(word) is not None
    is_written = _HASHED.match(word) is not None or _URL_ESCAPE.match(word) is not None
    is_template = word.startswith(("$", "%", "{", "*")) and not is_written
    is_filled_in = is_template or _VARIABLE.match(word) is not None
    is_word = stands_for_no_value if assigned.is_plain_assignment else is_next_word
    says_nothing = is_word(word.rstrip(".:!?"))
    return is_call or is_attribute or is_reference or is_filled_in or says_nothing


def _is_mixed(word: str) -> bool:
    """Return whether a word has digits, and no dot as the path of a function has."""
    return "." not in word and any(map(str.isdigit, word))


def _is_pass(name: str) -> bool:
    """Return whether a name is `pass`, which also describes tests and rounds."""
    return _PASS.match(name) is not None


def _says_enough(bare: re.Match[str], assigned: Assigned) -> bool:
    """Return whether a word is likely a value, not the next word of a sentence."""
    word = bare[1]
    if assigned.is_plain_assignment or bare[0] != word:
        return True
    if _ASCII_WORD.search(word) is None:
        return False
    if assigned.kind is NameKind.PASSWORD:
        return not _is_pass(assigned.name)
    has_digit = any(map(str.isdigit, word))
    return looks_like_key(word) or has_digit or len(word) >= LEAST_LETTERS


def _in_three_quotes(text: str, opened: re.Match[str]) -> tuple[int, int] | None:
    """Return where a text in three quotes, as Python writes one, begins and ends; else None."""
    if opened.re is _HTML_QUOTE or opened[2] == "`":  # a block of Markdown is not a value
        return None
    quotes = 3 * (opened[1] + opened[2])
    if not text.startswith(quotes, opened.start(1)):
        return None
    start = opened.start(1) + len(quotes)
    end = text.find(quotes, start)
    return start, end if end >= 0 else len(text)


def _closing(text: str, opened: re.Match[str]) -> int:
    """Return the end of a text in quotes: the quote that is written like the opening one.

    Two of them, as SQL and YAML write a quote in a text (`'it''s'`), do not end it.
    """
    if opened.re is _HTML_QUOTE:
        return _html_closing(text, opened)
    escapes, quote = len(opened[1]), opened[2]
    line_end = text.find("\n", opened.end())
    stop = line_end if line_end >= 0 and quote != '"' else len(text)
    first, position = -1, opened.end()
    while (close := _ENDS[quote].search(text, position, stop)) is not None:
        position = close.end()
        if len(close[1]) % (2 * (escapes + 1)) != escapes:
            continue
        end = position - escapes - 1
        again = 0 if end == opened.end() else _quote_within(text, close, escapes)
        if not again:
            return end
        if first < 0:
            first, stop = end, line_end if line_end >= end else stop
        position = again
    return first if first >= 0 and quote == '"' else stop


def _html_closing(text: str, opened: re.Match[str]) -> int:
    """Return the end of a text between two quotes that are written as in HTML, or in a URL."""
    quote = opened[0]
    first = end = text.find(quote, opened.end())
    while opened.end() < end and text.startswith(quote, end + len(quote)):
        end = text.find(quote, end + 2 * len(quote))
    return max(first, end) if first >= 0 else len(text)


def _quote_within(text: str, close: re.Match[str], escapes: int) -> int:
    """Return where a text continues after a quote that it contains; 0 if the quote ends it."""
    written = close[0][len(close[1]) - escapes :]
    if written[-1] != "`" and text.startswith(written, close.end()):
        return close.end() + len(written)
    more = _GOES_ON.match(text, close.end()) if written == "'" else None
    return more.end() if more else 0


def _texts_within(text: str, assigned: Assigned, *, is_cut: bool) -> tuple[list[Span], int]:
    """Return each text of an object or a list, and its end.

    If the literal has no end, because it was cut or its name was quoted, the texts found are
    returned.
    """
    depth, position, found = 0, assigned.at, list[Span]()
    stop = len(text) if assigned.quote else min(len(text), position + LONGEST_LITERAL)
    while (token := _BRACKETS.search(text, position, stop)) is not None:
        position = token.end()
        if token[2]:
            end = _closing(text, token)
            position = min(len(text), end + len(token[0]))
            is_key = _FOLLOWS_A_KEY.match(text, position)
            if not is_key and _is_within(assigned, text[token.end() : end]):
                found.append((token.end(), end, MARK))
        else:
            depth += 1 if token[0] in "[{" else -1
            if depth == 0:
                return found, position
    return (found, stop) if is_cut else ([], assigned.at)


def _is_within(assigned: Assigned, text: str) -> bool:
    """Return whether a text in an object or a list under a secret's name is a secret."""
    if assigned.kind is not NameKind.PASSWORD and _TIME.match(text):
        return False  # when a key was made, and until when it counts
    if assigned.kind in _KNOWN_BY_SHAPE:
        return is_secret(assigned.kind, assigned.name, text)
    return bool(text.strip()) and not text.startswith(MARK_START) and not stands_for_no_value(text)


def _is_filled_in(value: str) -> bool:
    """Return whether a value is a variable's, or was replaced before."""
    return value.startswith(("$", MARK_START)) and _HASHED.match(value) is None


def _end_in_quotes(text: str, match: re.Match[str]) -> int:
    """Return the end of a value: the closing quote, if a quote precedes the value."""
    start, end = match.span("value")
    opened = _QUOTE_BEFORE.search(text, max(0, start - LONGEST_NAME), start)
    closing = _closing(text, opened) if opened else end
    return closing if end < closing <= start + LONGEST_NAME else end


def _without(text: str, found: list[Span]) -> str:
    parts, at = [], 0
    for start, end, mark in sorted(found):
        if start >= at:
            parts += [text[at:start], mark]
            at = end
    return "".join([*parts, text[at:]])
