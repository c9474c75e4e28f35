"""Tells early whether a suite needs overlays, without starting threads.

A process with threads can no longer enter the namespace for overlay mounts, and loading a suite
starts threads.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def asks_for_overlays(suite: Path) -> bool:
    """Return whether a part of a suite is an overlay; False for a broken suite."""
    try:
        text = suite.read_text(encoding="utf-8")
        # Its values stay text, so that every value can be read.
        content = yaml.load(text, yaml.BaseLoader) if "overlay" in text else None  # noqa: S506
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return False
    return any(
        _entry(part, "overlay") == "true"
        for environment in _values(_entry(content, "environments"))
        for part in _values(_entry(environment, "files"))
    )


def _entry(mapping: Any, key: str) -> Any:
    return mapping.get(key) if isinstance(mapping, dict) else None


def _values(mapping: Any) -> Iterator[Any]:
    if isinstance(mapping, dict):
        yield from mapping.values()
