"""The conditions of `tracegrade lake delete --where`: text → an Arrow expression over raw rows.

    condition = all {"or" all}
    all       = one {"and" one}
    one       = "not" one | "(" condition ")" | column test
    test      = ("=" | "!=" | "<" | "<=" | ">" | ">=") value
              | ["not"] "in" "(" value {"," value} ")"
              | "is" ["not"] "null"
    column    = NAME | NAME "[" TEXT "]"             an entry of a map, whose value is text
    value     = TEXT | INTEGER | "true" | "false"    'a text', with '' for a quote in it

Words may be upper case. A comparison with NULL is neither true nor false, as in SQL. The text is
never run: it is parsed here, and names and values become data.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import and_, or_
from typing import Any, Final, NamedTuple, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake.columns import Column, Table
from tracegrade_lake.errors import BadCondition

MAX_DEPTH: Final = 50
"""Nested brackets and `not`s; a limit, so that no text exhausts the stack."""

MAX_COMPARISONS: Final = 500
"""They nest where Arrow evaluates them; `in` takes any number of values."""

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>[-+]?\d+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign><=|>=|!=|<>|[=<>()\[\],]))"
)
_COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_PLAIN_TYPES: Final = {pa.string(): "text", pa.bool_(): "true or false"}
_INT64: Final = range(-(2**63), 2**63)


class RowCondition(NamedTuple):
    """A condition on rows."""

    expression: Any
    """A `pyarrow.compute.Expression`; true, false or NULL for a row."""

    columns: frozenset[str]
    """The columns it reads."""

    def applies_to(self, table: Table) -> bool:
        """Return whether the table has all its columns."""
        return self.columns <= {column.name for column in table.columns}


class _Token(NamedTuple):
    kind: str
    """text, number, name, sign or end."""

    text: str
    position: int
    """Characters before it."""


class _Operand(NamedTuple):
    column: Column
    expression: Any
    type: pa.DataType


def parse_condition(text: str, tables: Iterable[Table]) -> RowCondition:
    """Return the condition of a text on rows of these tables.

    Raises:
        BadCondition: It cannot be parsed; the message names the position.
    """
    columns = {
        column.name: column
        for table in tables
        for column in table.columns
        if column.name not in table.partition_by and not pa.types.is_list(column.type)
    }
    return _Parser(text, columns).condition()


class _Parser:
    """Reads one condition, from left to right."""

    def __init__(self, text: str, columns: Mapping[str, Column]) -> None:
        self._text = text
        self._columns = columns
        self._tokens = _tokens(text)
        self._next = 0
        self._read: set[str] = set()
        self._comparisons = 0

    def condition(self) -> RowCondition:
        expression = self._any(0)
        if self._token.kind != "end":
            self._refuse("'and', 'or' or the end")
        return RowCondition(expression, frozenset(self._read))

    def _any(self, depth: int) -> Any:
        found = [self._all(depth)]
        while self._takes("or"):
            found.append(self._all(depth))
        return reduce(or_, found)

    def _all(self, depth: int) -> Any:
        found = [self._one(depth)]
        while self._takes("and"):
            found.append(self._one(depth))
        return reduce(and_, found)

    def _one(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._refuse(f"at most {MAX_DEPTH} levels of brackets")
        if self._takes("not"):
            return ~self._one(depth + 1)
        if self._takes("("):
            inner = self._any(depth + 1)
            self._needs(")")
            return inner
        return self._test(self._operand())

    def _operand(self) -> _Operand:
        token = self._token
        if token.kind != "name" or token.text.lower() in {"in", "is", "null"}:
            self._refuse("a column")
        column = self._columns.get(token.text)
        if column is None:
            self._refuse(f"a column of {', '.join(self._columns)}")
        self._next += 1
        self._read.add(column.name)
        if pa.types.is_map(column.type):
            return _Operand(column, self._entry(column), pa.string())
        return _Operand(column, pc.field(column.name), column.type)

    def _entry(self, column: Column) -> Any:
        self._needs("[")
        token = self._token
        if token.kind != "text":
            self._refuse("a key, such as 'user.id'")
        self._next += 1
        self._needs("]")
        key = pa.scalar(_unquoted(token.text))
        return pc.map_lookup(pc.field(column.name), query_key=key, occurrence="first")

    def _test(self, operand: _Operand) -> Any:
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            self._refuse(f"at most {MAX_COMPARISONS} comparisons; 'in' takes many values")
        if self._takes("is"):
            is_valid = self._takes("not")
            self._needs("null")
            return operand.expression.is_valid() if is_valid else operand.expression.is_null()
        is_out = self._takes("not")
        if self._takes("in"):
            is_in = self._is_in(operand)
            return ~is_in if is_out else is_in
        compare = _COMPARISONS.get(self._token.text)
        if is_out or compare is None:
            self._refuse("'in'" if is_out else "one of = != < <= > >= in is")
        self._next += 1
        return compare(operand.expression, self._value(operand))

    def _is_in(self, operand: _Operand) -> Any:
        self._needs("(")
        values = [self._value(operand)]
        while self._takes(","):
            values.append(self._value(operand))
        self._needs(")")
        type_ = values[0].type
        found = operand.expression.cast(type_).isin(
            pa.array([value.as_py() for value in values], type_)
        )
        return pc.if_else(operand.expression.is_valid(), found, pa.scalar(None, pa.bool_()))

    def _value(self, operand: _Operand) -> pa.Scalar:
        token, expected = self._token, _PLAIN_TYPES.get(operand.type, "a whole number")
        value = _value_of(token)
        fits = (
            (expected == "text" and isinstance(value, str))
            or (expected == "true or false" and isinstance(value, bool))
            or (expected == "a whole number" and type(value) is int and value in _INT64)
        )
        if not fits:
            self._refuse(f"{expected}, since that is what '{operand.column.name}' holds")
        self._next += 1
        return pa.scalar(value, pa.int64() if type(value) is int else operand.type)

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _takes(self, word: str) -> bool:
        """Go on if this word or sign comes next; return whether it does."""
        token = self._token
        takes = token.kind in {"name", "sign"} and token.text.lower() == word
        self._next += takes
        return takes

    def _needs(self, word: str) -> None:
        if not self._takes(word):
            self._refuse(f"'{word}'")

    def _refuse(self, what: str) -> NoReturn:
        token = self._token
        found = "the end" if token.kind == "end" else f"'{token.text}'"
        raise _bad(self._text, token, f"expected {what}, found {found}")


def _tokens(text: str) -> list[_Token]:
    tokens = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            token = _Token("sign", text[start], start)
            wrong = (
                "this quote is never closed"
                if token.text == "'"
                else "this is not part of a condition"
            )
            raise _bad(text, token, wrong)
        kind = match.lastgroup or ""
        tokens.append(_Token(kind, match[kind], match.start(kind)))
        position = match.end()
    return [*tokens, _Token("end", "", end)]


def _value_of(token: _Token) -> str | int | bool | None:
    if token.kind == "text":
        return _unquoted(token.text)
    if token.kind == "number":
        return int(token.text) if len(token.text) <= len(str(2**63)) + 1 else 2**63
    return {"true": True, "false": False}.get(token.text.lower())


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def _bad(text: str, token: _Token, fact: str) -> BadCondition:
    return BadCondition(f"--where, character {token.position + 1}: {fact}; in: {text}")
