"""The base class of all mappings in a suite: unknown keys are errors."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field

Name: TypeAlias = Annotated[str, Field(min_length=1)]
Glob: TypeAlias = Name
"""`*` matches any text within a name, `**` any number of names, `?` one character."""
Command: TypeAlias = Annotated[list[Name], Field(min_length=1)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=86_400)]


class Strict(BaseModel):
    """A mapping with the keys of its class and no others."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        use_attribute_docstrings=True,
        validate_by_name=True,
    )


def by_key(*keys: str) -> Discriminator:
    """Return a discriminator: it picks a mapping's class by its first of these keys."""

    def tag(value: Any) -> str | None:
        """Return the tag of a mapping, or of an object from it; None without a key."""
        known_keys = value if isinstance(value, dict) else dir(value)
        return next((f"[{key}]" for key in keys if key in known_keys), None)

    names = ", ".join(f"'{key}'" for key in keys[:-1])
    message = f"Input should be a mapping with the key {names} or '{keys[-1]}'"
    return Discriminator(tag, custom_error_type="no_such_kind", custom_error_message=message)
