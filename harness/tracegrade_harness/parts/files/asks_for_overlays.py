"""Tells early whether a suite needs overlays, for folders or images, without starting threads.

A process with threads can no longer enter the namespace for overlay mounts, and loading a suite
starts threads.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def asks_for_overlays(suite: Path) -> bool:
    """Return whether a suite has an overlay or an image; False for a broken suite."""
    try:
        text = suite.read_text(encoding="utf-8")
        # Its values stay text, so that every value can be read.
        may_ask = "overlay" in text or "image" in text
        content = yaml.load(text, yaml.BaseLoader) if may_ask else None  # noqa: S506
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return False
    return any(
        _entry(environment, "image") is not None or _has_overlay(environment)
        for environment in _values(_entry(content, "environments"))
    )


def _has_overlay(environment: Any) -> bool:
    parts = _values(_entry(environment, "files"))
    return any(_entry(part, "overlay") == "true" for part in parts)


def _entry(mapping: Any, key: str) -> Any:
    return mapping.get(key) if isinstance(mapping, dict) else None


def _values(mapping: Any) -> Iterator[Any]:
    if isinstance(mapping, dict):
        yield from mapping.values()
