"""All options of the collector as a TOML file: meaning and default of each, commented out."""

import json
from dataclasses import fields
from textwrap import wrap

from tracegrade_collector.config import MEANING, TABLE, CollectorConfig

WIDTH = 97


def options_as_toml() -> str:
    """Return the file; passed unchanged to `tracegrade collect --config`, it has no effect."""
    lines = [
        "# Every option of `tracegrade collect`, with its default. Flags and the environment",
        "# (TRACEGRADE_COLLECTOR_<NAME>) override this file; a name that is not here is an error.",
        f"[{TABLE}]",
    ]
    for option in fields(CollectorConfig):
        lines += ["", *(f"# {line}" for line in wrap(option.metadata[MEANING], WIDTH))]
        lines.append(f"# {option.name} = {_literal(option.default)}")
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    """Return a default as TOML writes it; whole numbers in groups of three digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    return json.dumps(value)
