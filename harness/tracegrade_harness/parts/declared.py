"""The parts of an environment, made from what its suite declares."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.images.client import why_no_client
from tracegrade_harness.images.source import ArchivedImage, ImageSource, NamedImage
from tracegrade_harness.images.store import is_stored
from tracegrade_harness.images.world import ImageTemplate
from tracegrade_harness.parts.kind import Around
from tracegrade_harness.parts.kind_faults import code_of
from tracegrade_harness.parts.overlay import why_no_mount
from tracegrade_harness.parts.part import Part
from tracegrade_harness.parts.part_paths import part_paths
from tracegrade_harness.parts.registry import declared_in, part_kinds, paths_in
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.model import Environment, Image

_TEMPLATE_VERSION = 1
"""Increased when templates are built, or states read, in a new way."""


class KeyedPart(NamedTuple):
    """A part, and its identity."""

    title: str
    """Kind and name, such as `files:data`."""
    key: str
    """Distinguishes its template from others of the same source."""
    part: Part
    uses: tuple[str, ...] | None = None
    """Titles of the parts that it needs to show anything; None if it needs no others."""


def image_of(declared: Environment, suite_folder: Path) -> ImageTemplate | None:
    """Return the image of an environment; None if it has none."""
    if declared.image is None:
        return None
    mounts = {
        str(getattr(each.declared, "inside", None)): PurePosixPath(paths_in(declared)[each.title])
        for each in declared_in(declared)
        if getattr(each.declared, "inside", None) is not None
    }
    return ImageTemplate(_source_of(declared.image, suite_folder), mounts)


def _source_of(image: Image, suite_folder: Path) -> ImageSource:
    if image.name is not None:
        return NamedImage(image.name)
    return ArchivedImage(paths.source(suite_folder, image.path or ""), image.digest or "")


def declared_parts(
    declared: Environment, suite_folder: Path, image: ImageTemplate | None = None
) -> Iterator[KeyedPart]:
    """Yield the parts of an environment; folders come before the files in them.

    Raises:
        EnvironmentFailed: This machine lacks a program for a part.
        SuiteUnusable: The paths of parts lead out of the trial's folder, or overlap.
    """
    around = Around(suite_folder.resolve(), declared, part_paths(declared), image)
    if reason := missing(declared):
        raise EnvironmentFailed(reason)
    for each in declared_in(declared):
        with code_of(each.kind.name):
            made = each.kind.part(each.name, each.declared, around)
        key = ascii((_TEMPLATE_VERSION, each.kind.name, each.name, *made.key))
        yield KeyedPart(each.title, key, made.part, made.uses)


def missing(declared: Environment, folder: Path | None = None) -> str | None:
    """Return what this machine lacks for an environment, and how to get it; None if nothing.

    Args:
        declared: The environment in the suite.
        folder: The folder of frozen environments, on the file system of the trials' folders;
            without it, neither overlays nor a client for an image are looked for.
    """
    parts = ((kind, declared.parts.get(name, {})) for name, kind in part_kinds().items())
    reasons = [kind.missing(some, folder) for kind, some in parts if some]
    if declared.image is not None and folder is not None and (reason := why_no_mount(folder)):
        reasons.append(f"an image needs overlays: {reason}")
    name = declared.image.name if declared.image is not None else None
    if name is not None and folder is not None and not is_stored(NamedImage(name).digest, folder):
        reasons.append(why_no_client(name))
    return ", ".join(filter(None, reasons)) or None
