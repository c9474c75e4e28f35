"""Hostile images are refused with the name of what is wrong, or contained in their folder."""

import contextlib
import gzip
import io
import json
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.harness.images.making import (
    archived,
    configuration,
    entry,
    hard_link,
    layer,
    layout,
    link,
    plain,
    saved,
    sha256,
)

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.limits import ImageLimits
from tracegrade_harness.images.unpack import ROOT, unpack

SMALL = ImageLimits(total_bytes=10_000_000, entries=2000)
ZEROS = bytes(20_000_000)


def device(name: str, kind: bytes = tarfile.CHRTYPE) -> tuple[tarfile.TarInfo, bytes]:
    """Return a device."""
    return entry(name, b"", type=kind, devmajor=1, devminor=3)


def pax(name: str, **headers: str) -> tuple[tarfile.TarInfo, bytes]:
    """Return a file with extended headers."""
    return entry(name, b"x", pax_headers=headers)


def with_a_broken_header() -> bytes:
    """Return an archive whose second header has a wrong checksum."""
    content = bytearray(layer(entry("a", b"1"), entry("b", b"2")))
    content[1024 + 3] ^= 1
    return bytes(content)


def with_nested_headers() -> bytes:
    """Return an archive whose long names have long names, deeper than Python's stack."""
    name = entry("x", b"long name", type=tarfile.GNUTYPE_LONGNAME)
    return layer(*[name] * 3000, entry("a", b"1"), form=tarfile.GNU_FORMAT)


def with_a_sparse_file(size: int, extents: str) -> bytes:
    """Return an archive with a file with some extents stored."""
    headers = {"GNU.sparse.size": str(size), "GNU.sparse.map": extents, "GNU.sparse.name": "s"}
    return layer(pax("s", **headers))


REFUSED: dict[str, tuple[Callable[[], list[bytes]], str]] = {
    "a path upwards": (lambda: [layer(entry("../escaped", b"!"))], "'../escaped' has '..'"),
    "a path upwards inside": (lambda: [layer(entry("a/../../escaped", b"!"))], "has '..'"),
    "a write through a link": (
        lambda: [layer(link("a", "OUTSIDE"), entry("a/escaped", b"!"))],
        "'a' leads through a link or a file",
    ),
    "a write through a link of a lower layer": (
        lambda: [layer(link("a", "OUTSIDE")), layer(entry("a/b/escaped", b"!"))],
        "'a/b' leads through a link or a file",
    ),
    "a folder below a link": (
        lambda: [layer(link("a", "OUTSIDE"), entry("a/b"))],
        "'a' leads through a link or a file",
    ),
    "a whiteout through a link": (
        lambda: [layer(link("a", "OUTSIDE")), layer(entry("a/.wh.canary", b""))],
        "'a' leads through a link or a file",
    ),
    "an opaque folder that is a link": (
        lambda: [layer(link("a", "OUTSIDE")), layer(entry("a/.wh..wh..opq", b""))],
        "'a' leads through a link or a file",
    ),
    "a whiteout of the folder above": (
        lambda: [layer(entry("a/.wh...", b""))],
        "'a/.wh...' hides no entry",
    ),
    "a whiteout of the root": (lambda: [layer(entry(".wh..", b""))], "'.wh..' hides no entry"),
    "a hard link upwards": (lambda: [layer(hard_link("a", "../../canary"))], "has '..'"),
    "a hard link through a link": (
        lambda: [layer(link("a", "OUTSIDE"), hard_link("b", "a/canary"))],
        "'a' leads through a link or a file",
    ),
    "a hard link to a missing file": (
        lambda: [layer(hard_link("a", "/etc/passwd"))],
        "'a' to 'etc/passwd', which does not exist",
    ),
    "a hard link to a folder": (
        lambda: [layer(entry("b"), hard_link("a", "b"))],
        "hard link 'a' to 'b', not a file",
    ),
    "a hard link to the root": (lambda: [layer(hard_link("a", "/"))], "to '', not a file"),
    "a device": (lambda: [layer(device("disk"))], "'disk' is a device outside of /dev"),
    "a block device": (
        lambda: [layer(device("a/disk", tarfile.BLKTYPE))],
        "'a/disk' is a device outside of /dev",
    ),
    "an unknown type": (lambda: [layer(entry("a", b"", type=b"Z"))], "the unknown type b'Z'"),
    "a name twice": (
        lambda: [layer(entry("a", b"1"), entry("./a", b"2"))],
        "a layer has two entries './a'",
    ),
    "a name as a folder and a file": (
        lambda: [layer(entry("a"), entry("a", b"2"))],
        "a layer has two entries 'a'",
    ),
    "a file as the root": (lambda: [layer(entry("/", b"1"))], "a layer has two entries"),
    "a bomb": (lambda: [layer(entry("zeros", ZEROS))], "is too large without compression"),
    "a bomb of many layers": (
        lambda: [layer(entry("zeros", ZEROS[: 4_000_000 + at])) for at in range(3)],
        "is too large without compression",
    ),
    "a bomb of hard links and files": (
        lambda: [layer(*(entry(f"{at}", b"") for at in range(3000)))],
        "more than 2000 entries",
    ),
    "many files in many layers": (
        lambda: [layer(*(entry(f"{at}/{n}", b"") for n in range(900))) for at in range(3)],
        "more than 2000 entries",
    ),
    "many missing parents": (
        lambda: [layer(*(entry("/".join([f"{at}", *"a" * 90, "f"]), b"") for at in range(60)))],
        "more than 2000 entries",
    ),
    "a deep path": (lambda: [layer(entry("a/" * 200 + "b", b""))], "more than 100 folders"),
    "a long name": (lambda: [layer(entry("a" * 300, b""))], "a name of more than 255 bytes"),
    "a long link": (lambda: [layer(link("a", "b" * 5000))], "link 'a' is empty, too long"),
    "an empty link": (lambda: [layer(link("a", ""))], "link 'a' is empty, too long"),
    "a sparse file of a petabyte": (
        lambda: [with_a_sparse_file(10**15, "0,1")],
        "file 's' of 1000000000000000 bytes is too large",
    ),
    "an extent behind its file": (
        lambda: [with_a_sparse_file(10, "9000000,1")],
        "file 's' of 10 bytes is too large or broken",
    ),
    "an extent of negative size": (
        lambda: [with_a_sparse_file(10, "0,-5")],
        "file 's' of 10 bytes is too large or broken",
    ),
    "a size of negative bytes": (lambda: [layer(pax("a", size="-512"))], "broken"),
    "a huge extended header": (
        lambda: [layer(pax("a", comment="x" * 2_000_000))],
        "an extended header of 2000",
    ),
    "nested extended headers": (lambda: [with_nested_headers()], "broken header"),
    "a broken header": (lambda: [with_a_broken_header()], "a broken header at byte 1024"),
    "an archive that ends early": (
        lambda: [layer(entry("a", b"x" * 9000))[:3000]],
        "broken header: unexpected end of data",
    ),
    "no archive at all": (lambda: [b"not an archive" * 100], "a broken header"),
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder next to the image with a file that must stay as it is."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "canary").write_text("lives")
    return folder


def refusal(place: Path, digest: str, limits: ImageLimits = SMALL) -> str:
    """Return why an image is refused; its folder is next to its archive."""
    out = place.parent / "out"
    out.mkdir()
    with pytest.raises(ImageRefused) as refused:
        unpack(place, digest, out, limits)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_layer_is_refused_by_name(tmp_path: Path, outside: Path, name: str) -> None:
    """Nothing outside of the image's folder is made, changed or removed."""
    make, message = REFUSED[name]
    layers = [aimed(each, outside) for each in make()]
    digest = layout(tmp_path / "layout", layers)

    assert message in refusal(tmp_path / "layout", digest)

    assert sorted(os.listdir(tmp_path)) == ["layout", "out", "outside"]
    assert [(p.name, p.read_text()) for p in outside.iterdir()] == [("canary", "lives")]


def aimed(content: bytes, outside: Path) -> bytes:
    """Return a layer whose links lead to a folder outside."""
    if b"OUTSIDE" not in content:
        return content
    entries = []
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            member.linkname = member.linkname.replace("OUTSIDE", str(outside))
            data = archive.extractfile(member) if member.isreg() else None
            entries.append((member, data.read() if data else b""))
    return layer(*entries)


def test_what_is_not_refused_is_contained(tmp_path: Path, outside: Path) -> None:
    """Absolute paths start at the root; links are only stored; no file changes its program's user.

    Devices below `dev` are left out, and owners and extended attributes are not written.
    """
    digest = layout(
        tmp_path / "layout",
        [
            layer(
                entry("//etc/absolute", b"1"),
                link("absolute", str(outside / "canary")),
                link("upwards", "../../../outside/canary"),
                entry("setuid", b"", 0o6755, uid=4242, gid=4242),
                entry("setgid", mode=0o2777),
                device("dev/null"),
                pax("attribute", **{"SCHILY.xattr.user.overlay.opaque": "y"}),
                entry("fifo", b"", type=tarfile.FIFOTYPE),
                entry("line\nbreak", b""),
            ),
            layer(entry("absolute", b"new"), entry("upwards", b"new")),
        ],
    )
    out = tmp_path / "out"
    out.mkdir()
    unpack(tmp_path / "layout", digest, out, SMALL)

    root = out / ROOT
    assert (root / "etc/absolute").read_text() == "1"
    assert (root / "absolute").read_text() == (root / "upwards").read_text() == "new"
    assert (outside / "canary").read_text() == "lives"
    assert stat.S_IMODE((root / "setuid").stat().st_mode) == 0o755
    assert (root / "setuid").stat().st_uid == os.geteuid()
    assert stat.S_IMODE((root / "setgid").stat().st_mode) == 0o777
    assert os.listxattr(root / "attribute") == []
    assert not (root / "dev").exists()


def test_a_blob_with_another_content_is_refused(tmp_path: Path) -> None:
    """Whether it is a layer, a configuration or a manifest."""
    for kind in ("layer", "configuration", "manifest"):
        place = tmp_path / kind / "layout"
        content = layer(entry("a", b"1"))
        digest = layout(place, [content], pack=plain)
        blobs = {"layer": sha256(content), "configuration": sha256(configuration([content]))}
        blob = place / "blobs" / blobs.get(kind, digest).replace(":", "/")
        changed = content.replace(b"1", b"2", 1) if kind == "layer" else blob.read_bytes() + b" "
        blob.write_bytes(changed)

        assert f"has the digest '{sha256(changed)}'" in refusal(place, digest)


def test_paths_in_a_manifest_do_not_lead_out(tmp_path: Path, outside: Path) -> None:
    """They name files of the archive alone, in a folder too, and through no link."""
    described = configuration([])
    (outside / "configuration").write_bytes(described)
    place = tmp_path / "folder"
    place.mkdir()
    (place / "link").symlink_to(outside)
    paths = ("../outside/configuration", str(outside / "configuration"), "link/configuration", "")
    for number, path in enumerate(paths):
        listed = json.dumps([{"Config": path, "Layers": []}])
        (place / "manifest.json").write_text(listed)
        archive = tmp_path / f"{number}" / "a.tar"
        archive.parent.mkdir()
        for each in (place, archived(place, archive)):
            with pytest.raises(ImageRefused, match="the image has no file"):
                unpack(each, sha256(described), tmp_path)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("[", "a document of the image is broken"),
        ('{"manifests": [{"digest": "sha256:../../../../etc/passwd"}]}', "is not a digest"),
        ('{"manifests": [{"digest": "md5:0123"}]}', "is not a digest"),
        ('{"manifests": 7}', "manifests Input should be a valid"),
        ("[" * 100_000, "a document of the image is broken"),
        (" " * 5_000_000, "more than 4194304 bytes"),
    ],
)
def test_a_broken_index_is_refused(tmp_path: Path, index: str, message: str) -> None:
    """With what is wrong in it."""
    digest = layout(tmp_path / "layout", [])
    (tmp_path / "layout" / "index.json").write_text(index)

    assert message in refusal(tmp_path / "layout", digest)


def test_an_index_of_itself_ends(tmp_path: Path) -> None:
    """No digest can name its own content, so each of two indexes is named twice."""
    place = tmp_path / "layout"
    layout(place, [])
    named = json.loads((place / "index.json").read_text())["manifests"]
    (place / "index.json").write_text(json.dumps({"manifests": named * 500}))

    assert "has no image" in refusal(place, sha256(b"absent"))


def test_archives_that_are_no_images_are_refused(tmp_path: Path) -> None:
    """A missing file, another file, and a compressed archive."""
    (tmp_path / "text").write_text("text" * 1000)
    digest = saved(tmp_path / "a.tar", [])
    packed = tmp_path / "a.tar.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.tar").read_bytes()))
    for place, message in (
        (tmp_path / "absent", "cannot be read: No such file"),
        (tmp_path / "text", "a broken header"),
        (packed, "is compressed; unpack it with gunzip"),
    ):
        with pytest.raises(ImageRefused, match=message):
            unpack(place, digest, tmp_path)


def test_a_file_twice_in_an_archive_is_refused(tmp_path: Path) -> None:
    """Or else a checked manifest could be another than the one that is used."""
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for content in (b"[]", b"{}"):
            member, _ = entry("manifest.json", content)
            archive.addfile(member, io.BytesIO(content))

    assert "two files 'manifest.json'" in refusal(tmp_path / "a.tar", sha256(b""))


def test_a_link_to_itself_in_an_archive_is_refused(tmp_path: Path) -> None:
    """Older archives have links between equal layers."""
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.addfile(link("manifest.json", "manifest.json")[0])

    assert "has no file 'manifest.json'" in refusal(tmp_path / "a.tar", sha256(b""))


SEED = layer(
    entry("a/b", b"content"), link("c", "/etc"), hard_link("d", "a/b"), pax("e", path="a/long")
)


@given(st.lists(st.tuples(st.integers(0, len(SEED) - 1), st.integers(0, 255)), max_size=6))
@example([(156, ord("2"))])
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_changed_byte_leads_out_or_fails_otherwise(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    """An archive with any bytes is unpacked into its folder, or refused."""
    content = bytearray(SEED)
    for at, value in changes:
        content[at] = value
    place = tmp_path_factory.mktemp("image")
    digest = layout(place / "layout", [bytes(content)], pack=plain)
    (place / "out").mkdir()

    with contextlib.suppress(ImageRefused):
        unpack(place / "layout", digest, place / "out", SMALL)

    assert sorted(os.listdir(place)) == ["layout", "out"]
    assert os.listdir(place / "out") == [ROOT]
