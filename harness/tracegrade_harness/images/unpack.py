"""Unpacks an image into a folder: its layers, one over the other."""

import tarfile
from pathlib import Path
from typing import IO, Final

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.archive_files import archive_files
from tracegrade_harness.images.description import ProcessSettings, described
from tracegrade_harness.images.layer_content import layer_content
from tracegrade_harness.images.limits import ImageLimits
from tracegrade_harness.images.tar_members import members
from tracegrade_harness.images.tree import Tree, parts_of
from tracegrade_harness.parts.folders.folders import explained, make_own

ROOT: Final = "rootfs"
"""Name of the folder with the content of an image."""
_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_DEVICES: Final = "dev"
"""Folder that each program gets from the sandbox; devices in it are left out."""


def unpack(
    source: Path, digest: str, folder: Path, limits: ImageLimits | None = None
) -> ProcessSettings:
    """Unpack an image, and return the settings with which its programs are started.

    Args:
        source: An OCI layout, as a folder or a tar archive, or an archive of `docker save` or
            `podman save`.
        digest: The digest of the image's manifest or configuration.
        folder: An existing folder, which gets the content as `rootfs`.
        limits: Limits on the image.

    Raises:
        EnvironmentFailed: It could not be written.
        ImageRefused: The image is broken, hostile, or for another machine.
    """
    limits = limits or ImageLimits()
    with archive_files(source) as files:
        description = described(files, digest, limits)
        with explained(folder):
            make_own(folder / ROOT)
            tree = Tree(folder / ROOT, limits)
            left = limits.total_bytes
            for path, diff_id in description.layers:
                with (
                    files.open(path) as packed,
                    layer_content(packed, diff_id, folder, left) as layer,
                ):
                    left -= layer.tell()
                    _add_layer(tree, layer, limits)
            tree.finish()
    return description.settings


def _add_layer(tree: Tree, layer: IO[bytes], limits: ImageLimits) -> None:
    """Apply a layer: first its whiteouts, which hide entries of lower layers alone."""
    for member in members(layer, limits):
        _apply_whiteout(tree, parts_of(member.name, limits))
    written: dict[tuple[str, ...], bool] = {}
    for member in members(layer, limits):
        parts = parts_of(member.name, limits)
        if any(part.startswith(_WHITEOUT) for part in parts) or _is_left_out(member, parts):
            continue
        if not (member.isdir() and written.get(parts, True)) and (parts in written or not parts):
            msg = f"a layer has two entries '{member.name}'; make the image without one"
            raise ImageRefused(msg)
        written[parts] = member.isdir()
        tree.add(member, parts, layer)


def _apply_whiteout(tree: Tree, parts: tuple[str, ...]) -> None:
    names = [part.startswith(_WHITEOUT) for part in parts]
    if not any(names) or names.index(True) != len(parts) - 1:
        return
    hidden = parts[-1].removeprefix(_WHITEOUT)
    if parts[-1] == _OPAQUE:
        tree.empty(parts[:-1])
    elif hidden in {"", ".", ".."}:
        msg = f"'{'/'.join(parts)}' hides no entry; make the image without it"
        raise ImageRefused(msg)
    elif not hidden.startswith(_WHITEOUT):  # other names are notes of storage drivers
        tree.remove((*parts[:-1], hidden))


def _is_left_out(member: tarfile.TarInfo, parts: tuple[str, ...]) -> bool:
    """Return whether an entry is a device that each program gets anyway.

    Raises:
        ImageRefused: It is another device, or of an unknown type.
    """
    if member.isreg() or member.isdir() or member.issym() or member.islnk() or member.isfifo():
        return False
    if member.isdev() and parts[:1] == (_DEVICES,):
        return True
    kind = "a device outside of /dev" if member.isdev() else f"of the unknown type {member.type!r}"
    msg = f"'{member.name}' is {kind}; make the image without it"
    raise ImageRefused(msg)
