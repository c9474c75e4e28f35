"""The page of the collector's options, as its TOML file and the environment name them."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from docgen.pages import code, page, table
from tracegrade_collector.config import ENVIRONMENT_PREFIX, MEANING, RULES, TABLE, CollectorConfig


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    rows = (
        [code(field.name), _type(field.default), _default(field.default), field.metadata[MEANING]]
        for field in fields(CollectorConfig)
    )
    example = "HTTP"
    text = page(
        "Options of the collector",
        f"`tracegrade collect --config FILE` reads them from the table `[{TABLE}]` of a TOML "
        "file; `tracegrade collect --print-options` prints such a file with every default. "
        f"Each may also be an environment variable, `{ENVIRONMENT_PREFIX}` and the "
        f"name in upper case (`{ENVIRONMENT_PREFIX}{example}`). A flag overrides the environment, "
        "which overrides the file. A name that does not exist is an error.",
        table(["option", "type", "default", "what it does"], rows),
        f"Rules of redaction, in the order in which they are applied: {_listed(RULES)}.",
    )
    return {"reference/collector-options.md": text}


def _type(default: Any) -> str:
    return {str: "text", int: "integer", float: "number", bool: "true or false"}[type(default)]


def _default(default: Any) -> str:
    return code(str(default).lower() if isinstance(default, bool) else default)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))
