"""Values that providers and tools write under several names, and as several types."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

TEXT_TYPES: Final = ("text", "input_text", "output_text")


def first(value: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first of these keys that is present and not null."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


def as_text(value: Any) -> str:
    """Return a text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_id(value: Any) -> str | None:
    """Return an id as text; None for an empty one."""
    return None if value is None or value == "" else as_text(value)


def block_text(block: Any) -> str | None:
    """Return the text of a content block; None if it has no text."""
    if not isinstance(block, dict):
        return None
    if isinstance(block.get("text"), str):
        return str(block["text"])
    text = first(block, "content", "value") if block.get("type") in TEXT_TYPES else None
    return text if isinstance(text, str) else None


def joined(texts: list[str]) -> str:
    """Return texts as one; a line break separates two that have no blank between them."""
    whole = ""
    for text in texts:
        parted = not whole or not text or whole[-1].isspace() or text[0].isspace()
        whole += text if parted else f"\n{text}"
    return whole


def quoted_word(name: Any) -> str:
    """Return a name of the source for a message; only a few plain words are allowed."""
    words = name.replace("_", " ").replace("-", " ").split() if isinstance(name, str) else []
    plain = bool(words) and all(map(str.isalnum, words)) and len(name) <= 40
    return f"'{name}'" if plain else "unknown"


def as_object(value: Any) -> dict[str, Any]:
    """Return an object unchanged, and an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    """Return a list unchanged, and an empty one for any other value."""
    return value if isinstance(value, list) else ()
