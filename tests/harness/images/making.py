"""Makes images by hand: layers from entries, then a layout or a saved archive of them."""

import gzip
import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tracegrade_harness.images.description import ARCHITECTURES

HERE = ARCHITECTURES[platform.machine()]
Pack = Callable[[bytes], bytes]


def plain(content: bytes) -> bytes:
    """Return the content without compression."""
    return content


def entry(
    name: str, content: bytes | None = None, mode: int | None = None, **fields: Any
) -> tuple[tarfile.TarInfo, bytes]:
    """Return a file with content, a folder without it, or an entry of another type."""
    member = tarfile.TarInfo(name)
    member.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
    member.size = len(content or b"")
    member.mode = mode or (0o755 if content is None else 0o644)
    for key, value in fields.items():
        setattr(member, key, value)
    return member, content or b""


def link(name: str, to: str) -> tuple[tarfile.TarInfo, bytes]:
    """Return a symbolic link."""
    return entry(name, b"", type=tarfile.SYMTYPE, linkname=to)


def hard_link(name: str, to: str) -> tuple[tarfile.TarInfo, bytes]:
    """Return a hard link."""
    return entry(name, b"", type=tarfile.LNKTYPE, linkname=to)


def layer(*entries: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """Return an archive of entries."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=form) as archive:
        for member, content in entries:
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


def sha256(content: bytes) -> str:
    """Return the digest of content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def configuration(
    layers: Iterable[bytes], settings: Mapping[str, Any] | None = None, **fields: Any
) -> bytes:
    """Return the configuration of an image for this machine."""
    described = {
        "os": "linux",
        "architecture": HERE,
        "config": dict(settings or {}),
        "rootfs": {"type": "layers", "diff_ids": [sha256(each) for each in layers]},
        **fields,
    }
    return json.dumps(described).encode()


def put_blob(folder: Path, content: bytes) -> dict[str, Any]:
    """Write a blob into a layout, and return a descriptor of it."""
    digest = sha256(content)
    path = folder / "blobs" / digest.replace(":", "/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return {"digest": digest, "size": len(content)}


def layout(
    folder: Path,
    layers: Sequence[bytes],
    settings: Mapping[str, Any] | None = None,
    pack: Pack = gzip.compress,
    **fields: Any,
) -> str:
    """Write an OCI layout with one image, and return the digest of its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {
        "schemaVersion": 2,
        "config": put_blob(folder, configuration(layers, settings, **fields)),
        "layers": [put_blob(folder, pack(each)) for each in layers],
    }
    named = put_blob(folder, json.dumps(manifest).encode())
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [named]}))
    return str(named["digest"])


def archived(folder: Path, archive: Path) -> Path:
    """Write a folder as a tar archive, and return its path."""
    with tarfile.open(archive, "w") as written:
        for path in sorted(folder.rglob("*")):
            written.add(path, str(path.relative_to(folder)), recursive=False)
    return archive


def saved(
    archive: Path, layers: Sequence[bytes], settings: Mapping[str, Any] | None = None
) -> str:
    """Write an archive as older versions of `docker save` do; return the image's id."""
    described = configuration(layers, settings)
    digest = sha256(described)
    names = [f"{number}/layer.tar" for number in range(len(layers))]
    files = {
        f"{digest.removeprefix('sha256:')}.json": described,
        **dict(zip(names, layers, strict=True)),
    }
    listed = [{"Config": next(iter(files)), "RepoTags": ["a:b"], "Layers": names}]
    files["manifest.json"] = json.dumps(listed).encode()
    with tarfile.open(archive, "w") as written:
        for name, content in files.items():
            member, _ = entry(name, content)
            written.addfile(member, io.BytesIO(content))
    return digest
