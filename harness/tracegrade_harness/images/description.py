"""Finds an image in its files by digest, and reads its layers and its settings.

An OCI layout names images in `index.json`, and an archive of `docker save` or `podman save` in
`manifest.json`. A digest is the one of a manifest or of a configuration, which Docker calls the
image's id.
"""

import platform
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.archive_files import ArchiveFiles
from tracegrade_harness.images.digests import blob_path, check_digest, digest_of
from tracegrade_harness.images.limits import ImageLimits

ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64", "riscv64": "riscv64"}
"""Names of machines in images, by the name of Python's `platform`."""
_MOST_INDEXES: Final = 100
_Document = TypeVar("_Document")


class Platform(BaseModel):
    """The machine that an image is made for."""

    os: str = "linux"
    architecture: str = ""


class Descriptor(BaseModel):
    """A reference to a blob."""

    digest: str
    platform: Platform | None = None


class ImageManifest(BaseModel):
    """A manifest, or an index of manifests."""

    config: Descriptor | None = None
    layers: list[Descriptor] = Field(default_factory=list)
    manifests: list[Descriptor] = Field(default_factory=list)


class SavedImage(BaseModel):
    """An image in the `manifest.json` of a saved archive."""

    Config: str
    Layers: list[str]


class ProcessSettings(BaseModel):
    """The settings of a configuration with which programs are started."""

    Env: list[str] | None = None
    WorkingDir: str | None = None
    User: str | None = None


class RootFilesystem(BaseModel):
    """The content of an image, without compression."""

    diff_ids: list[str]


class Configuration(Platform):
    """The configuration of an image."""

    config: ProcessSettings | None = None
    rootfs: RootFilesystem


class ImageDescription(NamedTuple):
    """An image as its archive describes it."""

    layers: list[tuple[str, str]]
    """Paths of the layers in the archive, the lowest first, each with the digest of its content.
    """
    settings: ProcessSettings


class _Found(NamedTuple):
    digests: tuple[str, ...]
    """All digests that name the image."""
    configuration: bytes
    layers: list[str]


def described(files: ArchiveFiles, digest: str, limits: ImageLimits) -> ImageDescription:
    """Return the image with a digest.

    Raises:
        ImageRefused: There is none, it is for another machine, or a document is broken.
    """
    found = [*_in_index(files, limits), *_in_saved(files, limits)]
    chosen = [each for each in found if digest in each.digests]
    if not chosen:
        known = ", ".join(sorted({each.digests[0] for each in found})[:5]) or "no image at all"
        msg = f"the archive has no image '{digest}'; it has {known}"
        raise ImageRefused(msg)
    fitting = [each for each in chosen if _why_unfit(each) is None]
    if not fitting:
        msg = f"image '{digest}' is for {_why_unfit(chosen[0])}; save the one for this machine"
        raise ImageRefused(msg)
    configuration = _document(Configuration, fitting[0].configuration)
    contents, layers = configuration.rootfs.diff_ids, fitting[0].layers
    if len(contents) != len(layers) or len(layers) > limits.layers:
        msg = f"image '{digest}' has {len(layers)} layers and {len(contents)} digests of them, "
        raise ImageRefused(msg + f"at most {limits.layers}; save it again")
    for each in contents:
        blob_path(each)
    settings = configuration.config or ProcessSettings()
    return ImageDescription([*zip(layers, contents, strict=True)], settings)


def _why_unfit(found: _Found) -> str | None:
    """Return another machine that an image is for; None if it is for this one."""
    made_for = _document(Configuration, found.configuration)
    here = ARCHITECTURES.get(platform.machine(), platform.machine())
    if (made_for.os, made_for.architecture) == ("linux", here):
        return None
    return f"{made_for.os}/{made_for.architecture}, and this is linux/{here}"


def _in_index(files: ArchiveFiles, limits: ImageLimits) -> Iterator[_Found]:
    if not files.has("index.json"):
        return
    index = _document(ImageManifest, _read(files, "index.json", limits))
    waiting: list[tuple[Descriptor, tuple[str, ...]]]
    waiting = [(each, (each.digest,)) for each in index.manifests]
    seen: set[str] = set()
    while waiting:
        descriptor, digests = waiting.pop(0)
        path = blob_path(descriptor.digest)
        if descriptor.digest in seen or not files.has(path):
            continue  # an index may name images for other machines that were not saved
        seen.add(descriptor.digest)
        if len(seen) > _MOST_INDEXES:
            msg = f"the archive has more than {_MOST_INDEXES} manifests; save one image alone"
            raise ImageRefused(msg)
        manifest = _document(ImageManifest, _blob(files, descriptor.digest, limits))
        waiting += [(each, (*digests, each.digest)) for each in manifest.manifests]
        if manifest.config is not None:
            configuration = _blob(files, manifest.config.digest, limits)
            named = (manifest.config.digest, *digests)
            layers = [blob_path(each.digest) for each in manifest.layers]
            if _is_image(configuration):
                yield _Found((named[-1], *named), configuration, layers)


def _is_image(configuration: bytes) -> bool:
    """Return whether a configuration is of an image, and not of something else."""
    try:
        Configuration.model_validate_json(configuration)
    except ValidationError:
        return False
    return True


def _in_saved(files: ArchiveFiles, limits: ImageLimits) -> Iterator[_Found]:
    if not files.has("manifest.json"):
        return
    content = _read(files, "manifest.json", limits)
    for saved in _document(list[SavedImage], content)[:_MOST_INDEXES]:
        configuration = _read(files, saved.Config, limits)
        yield _Found((digest_of(configuration),), configuration, saved.Layers)


def _blob(files: ArchiveFiles, digest: str, limits: ImageLimits) -> bytes:
    content = _read(files, blob_path(digest), limits)
    check_digest(content, digest)
    return content


def _read(files: ArchiveFiles, path: str, limits: ImageLimits) -> bytes:
    with files.open(path) as file:
        content = file.read(limits.document_bytes + 1)
    if len(content) > limits.document_bytes:
        msg = f"'{path}' of the image has more than {limits.document_bytes} bytes; save it again"
        raise ImageRefused(msg)
    return content


def _document(kind: type[_Document], content: bytes) -> _Document:
    try:
        return TypeAdapter(kind).validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        key_path = ".".join(map(str, first["loc"]))
        msg = f"a document of the image is broken: {key_path} {first['msg']}; save the image again"
        raise ImageRefused(msg) from error
