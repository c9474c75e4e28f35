"""Finds what comments, docstrings and documents cite, and says which citations lead nowhere.

    docs/metrics.md, section 1.2        a document, and sections of it by number
    docs/metrics.md, sections 3 and 9
    docs/guides/judges.md, "Attack the judge"  a heading of a document
    [Triangle], "Measuring TSA"         a key of the sources in docs/metrics.md
    Source: [Holm 1979]; docs/…         begins with one of these

Documents are named from the root of the project, or from the citing file's folder or one above it.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

ROOT: Final = Path(__file__).parents[1]
BIBLIOGRAPHY: Final = "docs/metrics.md"
"""The document whose part "Sources" lists the keys."""

COMMENT_MARKS: Final = {".py": "#", ".sql": "--", ".yaml": "#", ".toml": "#"}

_NUMBER: Final = r"\d+(?:\.\d+)*"
_NAME: Final = r"(?:[\w.-]+/)*[\w-]+\.md"
_DOCUMENT: Final = re.compile(rf"(?<![\w/.])({_NAME})(?:#([\w-]+))?")
_SECTIONS: Final = re.compile(
    rf"(?<!\w)(?:sections?|§)\s*({_NUMBER}(?:(?:,\s+and|,|\s+and|\s+to)\s+{_NUMBER})*)"
)
_ANCHOR: Final = re.compile(r"\]\(#([\w-]+)\)")
_HEADING: Final = re.compile(r',\s+"([^"]+)"')
_KEY: Final = re.compile(
    r"(?<![\w\]`])\[([A-Z](?:\w*[a-z']\w*)(?:\s+\w+)?(?:\s+\d{4}[a-z]?)?)\](?![\w(\[])"
)
_UNNAMED_SOURCE: Final = re.compile(r"\bSources?:\s+(?!\[[A-Z]|[\w/-]+\.md|https?://)")
_MONTHS: Final = (
    r"January|February|March|April|May|June|July|August|September|October|November|December"
)
_AUTHOR: Final = re.compile(
    rf"\b(?!(?:{_MONTHS}|Since|In)\b)[A-Z][\w'-]+(?: et al\.)?,? (?:\(\d{{4}}\)|(?:19|20)\d\d\b)"
)
_ADDRESS: Final = re.compile(r"https?://[^\s)>]+")
_CODE: Final = re.compile(r"^```.*?^```", re.S | re.M)
_MAY_CITE: Final = re.compile(
    r"\.md\b|[Ss]ections?\s|§|Sources?:\s|\b(?:19|20)\d\d\b|(?<![\w\]])\[[A-Z]"
)


class Passage(NamedTuple):
    """Some prose of a file, as it stands there but for the marks of comments."""

    path: Path
    line: int
    """Of its beginning, from 1."""
    text: str
    is_message: bool = False
    """A text that the code uses, which cites nothing but documents."""


class Fault(NamedTuple):
    """A citation that leads nowhere."""

    path: Path
    line: int
    citation: str
    why: str

    def __str__(self) -> str:
        """Return the fault as a line that editors can jump to."""
        return f"{self.path}:{self.line}: '{self.citation}': {self.why}"


Found: TypeAlias = tuple[int, str, str]
"""Where in a passage, what is cited, and why that leads nowhere."""


def faults(path: Path) -> Iterator[Fault]:
    """Yield what a file cites that does not exist."""
    for passage in passages(path):
        text = _ADDRESS.sub(lambda found: "x" * len(found[0]), passage.text)
        checked = passage._replace(text=text)
        found = [*_documents(checked)]
        if not passage.is_message:
            found += [*_sections(checked), *_keys(checked)]
        for offset, citation, why in found:
            line = passage.line + text.count("\n", 0, offset)
            yield Fault(path, line, " ".join(citation.split()), why)


def keys_cited(path: Path) -> set[str]:
    """Return the keys of the bibliography that a file cites."""
    found = (key for passage in passages(path) for key in _KEY.findall(passage.text))
    return {" ".join(key.split()) for key in found}


@cache
def passages(path: Path) -> tuple[Passage, ...]:
    """Return the prose of a file: paragraphs of a document, else its comments and docstrings."""
    return tuple(_passages(path))


def _passages(path: Path) -> Iterator[Passage]:
    text = path.read_text("utf-8")
    if not _MAY_CITE.search(text):
        return
    if path.suffix == ".md":
        yield from _paragraphs(path, text)
    else:
        yield from _comments(path, text)
    if path.suffix == ".py":
        yield from _texts(path, text)


def _paragraphs(path: Path, text: str) -> Iterator[Passage]:
    """Yield paragraphs, and each row of a table by itself."""
    prose = _CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for found in re.finditer(r"^\|.*|(?:^(?!\|).*\S.*\n?)+", prose, re.M):
        yield Passage(path, prose.count("\n", 0, found.start()) + 1, found[0])


def _comments(path: Path, text: str) -> Iterator[Passage]:
    """Yield comments, those on lines in a row as one."""
    lines = _python_comments(text) if path.suffix == ".py" else _marked_lines(path, text)
    start, said = 0, list[str]()
    for number in range(1, text.count("\n") + 3):
        if number in lines:
            start = start if said else number
            said.append(lines[number])
        elif said:
            yield Passage(path, start, "\n".join(said))
            said = []


def _marked_lines(path: Path, text: str) -> dict[int, str]:
    """Return what stands after the mark of a comment, by line."""
    comment = re.compile(rf"(?:^|\s){re.escape(COMMENT_MARKS[path.suffix])}(?: (.*))?$")
    found = ((number, comment.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return {number: comment[1] or "" for number, comment in found if comment}


def _python_comments(text: str) -> dict[int, str]:
    """Return the comments by line, not what looks like one in a string."""
    if not any(map(_MAY_CITE.search, re.findall(r"#.*", text))):
        return {}
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    return {
        token.start[0]: token.string[1:].removeprefix(" ")
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _texts(path: Path, text: str) -> Iterator[Passage]:
    """Yield docstrings, and messages: not of tests, nor of generators, whose pages are read."""
    nodes = list(ast.walk(ast.parse(text)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_message = id(node) not in docstrings
            if not (is_message and {"tests", "docgen"}.intersection(path.parts)):
                yield Passage(path, node.lineno, node.value, is_message)


def _documents(passage: Passage) -> Iterator[Found]:
    for found in _DOCUMENT.finditer(passage.text):
        document = _resolved(passage.path, found[1])
        heading = _HEADING.match(passage.text, found.end())
        if document is None:
            yield found.start(), found[0], "there is no such document"
        elif found[2] and found[2] not in map(_anchor, headings(document)):
            yield found.start(), found[0], "it has no heading with this anchor"
        elif heading and " ".join(heading[1].split()) not in headings(document):
            yield found.start(), found[0] + heading[0], "it has no such heading"

    for found in _ANCHOR.finditer(passage.text if passage.path.suffix == ".md" else ""):
        if found[1] not in map(_anchor, headings(passage.path)):
            yield found.start(), found[0], "the document has no heading with this anchor"


def _sections(passage: Passage) -> Iterator[Found]:
    for found in _SECTIONS.finditer(passage.text):
        before = passage.text[: found.start()]
        document = _cited_document(passage.path, before, passage.text[found.end() :])
        if document:
            numbers = {heading.split(" ")[0].rstrip(".") for heading in headings(document)}
            missing = [number for number in re.findall(_NUMBER, found[1]) if number not in numbers]
            if missing:
                why = f"{document.relative_to(ROOT)} has no section {', '.join(missing)}"
                yield found.start(), found[0], why
        elif not _KEY.search(re.split(r"[.;:]\s", before)[-1]):
            yield found.start(), found[0], "it does not say of which document"


def _cited_document(path: Path, before: str, after: str) -> Path | None:
    """Return the document of a section; None if none is named and the file is none itself.

    Args:
        path: Of the citing file.
        before: What stands before the section, such as `docs/metrics.md, `.
        after: What follows, such as the target of a link.
    """
    named = re.match(r"\]\(([^)#\s]+)", after) or re.search(rf"({_NAME}),?\s+$", before)
    if named:
        return _resolved(path, named[1])
    of_a_source = _KEY.search(re.split(r"[.;:]\s", before)[-1])
    return path if path.suffix == ".md" and not of_a_source else None


def _keys(passage: Passage) -> Iterator[Found]:
    for found in _KEY.finditer(passage.text):
        if " ".join(found[1].split()) not in sources():
            yield found.start(), found[0], f"{BIBLIOGRAPHY} has no such source"
    for found in _UNNAMED_SOURCE.finditer(passage.text):
        yield found.start(), found[0], "a document, a [key] or an address should follow"
    if passage.path == ROOT / BIBLIOGRAPHY:
        return
    without_keys = _KEY.sub(lambda key: "x" * len(key[0]), passage.text)
    for found in _AUTHOR.finditer(without_keys):
        yield found.start(), found[0], f"cite it as [key], by the sources of {BIBLIOGRAPHY}"


def _resolved(path: Path, name: str) -> Path | None:
    """Return the document that a file means by a name; None if there is none."""
    folders = [folder for folder in path.parents if folder.is_relative_to(ROOT)] or [ROOT]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


@cache
def headings(document: Path) -> tuple[str, ...]:
    """Return the headings of a document, in order."""
    return tuple(re.findall(r"^#+ (.+?)\s*$", _CODE.sub("", document.read_text("utf-8")), re.M))


@cache
def sources() -> frozenset[str]:
    """Return the keys of the bibliography."""
    _, _, table = (ROOT / BIBLIOGRAPHY).read_text("utf-8").partition("\n## Sources\n")
    return frozenset(re.findall(r"^\| `([^`]+)` \|", table, re.M))


def _anchor(heading: str) -> str:
    """Return what links call a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
