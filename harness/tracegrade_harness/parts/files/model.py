"""Folders of files and their verifiers, as suites declare them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from tracegrade_harness.suite.strict import Glob, Name, Strict
from tracegrade_scoring.tasks.model import Wanted


class Files(Strict):
    """A folder of files."""

    from_: Name | None = Field(default=None, alias="from")
    """The folder, relative to the suite, that each trial gets as a copy; it may be missing for a
    folder of the image."""
    inside: Annotated[str, Field(pattern="^/[^/]")] | None = None
    """An absolute path in the environment's image, where the agent sees the copy; without `from`,
    the copy is of the image's own folder."""
    at: Name
    """Path of the copy, below the folder in which the agent is run."""
    path_env: Name | None = None
    """Environment variable that gets the copy's absolute path."""
    ignore: list[Glob] = Field(default_factory=list)
    """Paths below it whose changes do not matter."""
    overlay: bool = False
    """Mount a kernel overlay instead of a copy, which takes no time even for a large folder."""

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.from_ is None and self.inside is None:
            msg = "it has neither from nor inside; name a folder of the suite in from"
            raise ValueError(msg)
        return self


class FilesVerifier(Strict):
    """A condition on a folder of files; exactly one of `expect`, `only_changed` and `path`."""

    files: Name
    """Name of the part."""
    expect: Name | None = None
    """A folder, relative to the suite; the part must have its paths with the same content."""
    under: Glob = "**"
    """With `expect`: the compared paths, in both folders."""
    only_changed: list[Glob] | None = None
    """Only these paths may have been added, changed or removed."""
    path: Name | None = None
    """A file that must exist."""
    json_: dict[Name, Wanted] | None = Field(default=None, alias="json")
    """With `path`: JSON path → value or rule (as in task files) that the file must fit."""
    text: Wanted = None
    """With `path`: value or rule that the file's whole text must fit."""

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        given = [
            key for key in ("expect", "only_changed", "path") if getattr(self, key) is not None
        ]
        if len(given) != 1:
            fact = f"it has {' and '.join(given)}" if given else "it asks nothing"
            msg = f"{fact}; give one of expect, only_changed and path"
            raise ValueError(msg)
        for field, key, needed in (
            ("under", "under", "expect"),
            ("json_", "json", "path"),
            ("text", "text", "path"),
        ):
            if field in self.model_fields_set and needed not in given:
                msg = f"it has {key} without {needed}; {key} says more about {needed}: remove it"
                raise ValueError(msg)
        return self
