"""The prose of a file: documents, docstrings, comments, messages, headers of queries."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

SQL: Final = re.compile(r"\b(SELECT|FROM|WHERE|CREATE)\b")

Kind = Literal["document", "docstring", "comment", "message", "query"]


class Prose(NamedTuple):
    """A paragraph, an item of a list, a cell of a table or a message, in one line."""

    line: int
    kind: Kind
    text: str


def prose_of(file: str, content: str) -> Iterator[Prose]:
    """Yield the prose of a file; of an unknown kind of file there is none."""
    match Path(file).suffix:
        case ".md":
            yield from _of_document(content)
        case ".py":
            tree = ast.parse(content)
            described = list(_docstrings(tree))
            for node in described:
                yield from _paragraphs(str(node.value), node.lineno, "docstring")
            yield from _messages(tree, {id(node) for node in described})
            yield from _comments(content)
        case ".sql":
            comments = re.sub(r"^(?!--).*$", "", content, flags=re.MULTILINE)
            yield from _paragraphs(re.sub(r"^-- ?", "", comments, flags=re.MULTILINE), 1, "query")


def _paragraphs(text: str, line: int, kind: Kind) -> Iterator[Prose]:
    for found in re.finditer(r"(?:^.*\S.*$\n?)+", text, re.MULTILINE):
        yield Prose(line + text.count("\n", 0, found.start()), kind, " ".join(found[0].split()))


def _of_document(content: str) -> Iterator[Prose]:
    """Yield cells, then paragraphs and items, without blocks of code."""
    plain = re.sub(r"^```.*?^```", _as_blank_lines, content, flags=re.MULTILINE | re.DOTALL)
    for at, line in enumerate(plain.split("\n"), 1):
        if line.startswith("|"):
            yield from (Prose(at, "document", cell.strip("| ")) for cell in line.split(" | "))
    apart = re.sub(r"^( *(?:[-*] |\d+\. |#+ ))", r"\0", plain, flags=re.MULTILINE)
    for block in _paragraphs(re.sub(r"^\|.*$", "", apart, flags=re.MULTILINE), 1, "document"):
        for item in filter(None, block.text.split("\0")):
            yield block._replace(text=item.lstrip("-*#0123456789. "))


def _as_blank_lines(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield texts that stand alone: docstrings, and those below attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(value=str()) as text):
                yield text


def _messages(tree: ast.Module, described: set[int]) -> Iterator[Prose]:
    """Yield literals of three or more words that are neither docstrings nor SQL."""
    inside = set(described)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            text = "".join(_text(part) for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            text = _text(node) if isinstance(node.value, str) else ""
        else:
            continue
        line = " ".join(text.split())
        if line.count(" ") > 1 and re.search("[a-z]{3}", line) and not SQL.search(line):
            yield Prose(node.lineno, "message", line)


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


def _comments(content: str) -> Iterator[Prose]:
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            yield Prose(token.start[0], "comment", token.string.lstrip("# "))
