"""All options of the collector as a TOML file: what each means, its default, commented out."""

import ast
import inspect
import itertools
import json
from collections.abc import Iterator
from dataclasses import fields
from textwrap import wrap

from tracegrade_collector.config import TABLE, CollectorConfig

WIDTH = 97


def options_as_toml() -> str:
    """Return the file; read by `tracegrade collect --config` it changes nothing."""
    meanings = _meanings()
    lines = [
        "# Every option of `tracegrade collect`, with its default. Flags and the environment",
        "# (TRACEGRADE_COLLECTOR_<NAME>) win over this file; a name that is not here is an error.",
        f"[{TABLE}]",
    ]
    for option in fields(CollectorConfig):
        lines += ["", *(f"# {line}" for line in wrap(meanings[option.name], WIDTH))]
        lines.append(f"# {option.name} = {_literal(option.default)}")
    return "\n".join(lines) + "\n"


def _meanings() -> dict[str, str]:
    """Return what stands below each option in the class, as one line."""
    (declared,) = ast.parse(inspect.getsource(CollectorConfig)).body
    assert isinstance(declared, ast.ClassDef)  # noqa: S101 - the source of a class is one
    return dict(_documented(declared.body))


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for option, below in itertools.pairwise(body):
        match option, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())


def _literal(value: object) -> str:
    """Return a default as TOML writes it; whole numbers in groups of three digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    return json.dumps(value)
