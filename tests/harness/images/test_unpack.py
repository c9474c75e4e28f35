"""Images are unpacked as the OCI image specification says."""

import gzip
import json
import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.harness.images.making import (
    Pack,
    archived,
    configuration,
    entry,
    hard_link,
    layer,
    layout,
    link,
    plain,
    put_blob,
    saved,
    sha256,
)

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.unpack import ROOT, unpack

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LONG = "/".join(["folder with a long name " + "x" * 80] * 4)


def content_of(root: Path) -> dict[str, str | None]:
    """Return all files with their text, links with their target, and folders with None."""
    return {
        str(path.relative_to(root)): (
            f"-> {os.readlink(path)}"
            if path.is_symlink()
            else None
            if path.is_dir()
            else path.read_text()
        )
        for path in sorted(root.rglob("*"))
    }


def unpacked(tmp_path: Path, *layers: bytes) -> Path:
    """Unpack an image with these layers, and return its root."""
    digest = layout(tmp_path / "layout", layers)
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "layout", digest, tmp_path / "out")
    return tmp_path / "out" / ROOT


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, plain])
@pytest.mark.parametrize("is_folder", [True, False])
def test_a_layout_is_unpacked_from_a_folder_or_an_archive(
    tmp_path: Path, pack: Pack, *, is_folder: bool
) -> None:
    """Each compression of the specification is read."""
    lower = layer(entry("etc"), entry("etc/name", b"a"), link("bin", "usr/bin"))
    upper = layer(entry("./usr/bin/tool", b"#!", 0o755))
    digest = layout(
        tmp_path / "layout",
        [lower, upper],
        {"Env": ["A=b"], "User": "7", "WorkingDir": "/w"},
        pack,
    )
    place = tmp_path / "layout" if is_folder else archived(tmp_path / "layout", tmp_path / "a.tar")
    (tmp_path / "out").mkdir()

    found = unpack(place, digest, tmp_path / "out")

    assert (found.Env, found.User, found.WorkingDir) == (["A=b"], "7", "/w")
    root = tmp_path / "out" / ROOT
    assert content_of(root) == {
        "bin": "-> usr/bin",
        "etc": None,
        "etc/name": "a",
        "usr": None,
        "usr/bin": None,
        "usr/bin/tool": "#!",
    }
    assert stat.S_IMODE((root / "usr/bin/tool").stat().st_mode) == 0o755


def test_an_archive_of_docker_save_is_unpacked_by_its_id(tmp_path: Path) -> None:
    """The id of an image is the digest of its configuration."""
    digest = saved(tmp_path / "a.tar", [layer(entry("a", b"1")), layer(entry("b", b"2"))])
    (tmp_path / "out").mkdir()

    unpack(tmp_path / "a.tar", digest, tmp_path / "out")

    assert content_of(tmp_path / "out" / ROOT) == {"a": "1", "b": "2"}


def test_an_image_is_found_by_each_of_its_digests(tmp_path: Path) -> None:
    """An index, a manifest and a configuration name it; other machines' images are passed over."""
    mine, other = layer(entry("mine", b"")), layer(entry("other", b""))
    layout(tmp_path, [other], architecture="m68k")
    foreign = json.loads((tmp_path / "index.json").read_text())["manifests"][0]
    manifest = layout(tmp_path, [mine])
    named = json.loads((tmp_path / "index.json").read_text())["manifests"][0]
    absent = {"digest": sha256(b"not saved"), "size": 9}
    index = put_blob(tmp_path, json.dumps({"manifests": [foreign, absent, named]}).encode())
    (tmp_path / "index.json").write_text(json.dumps({"manifests": [index]}))

    for number, digest in enumerate((index["digest"], manifest, sha256(configuration([mine])))):
        out = tmp_path / f"out-{number}"
        out.mkdir()
        unpack(tmp_path, digest, out)
        assert content_of(out / ROOT) == {"mine": ""}
    with pytest.raises(ImageRefused, match="is for linux/m68k, and this is linux/"):
        unpack(tmp_path, foreign["digest"], tmp_path)


def test_whiteouts_hide_entries_of_lower_layers_alone(tmp_path: Path) -> None:
    """A whiteout may come after the entry of its own layer that has the hidden name."""
    lower = layer(
        *(entry(f"{name}/old", b"old") for name in ("a", "b", "c")),
        entry("d", b"old"),
        entry("c/below/old", b"old"),
    )
    upper = layer(
        entry("a/new", b"new"),
        entry("a/.wh..wh..opq", b""),
        entry(".wh.b", b""),
        entry("c/old", b"new"),
        entry("c/.wh.old", b""),
        entry("c/.wh.below", b""),
        entry(".wh.absent", b""),
        entry("absent/.wh.absent", b""),
        entry(".wh..wh.plnk/1.2", b"note of a storage driver"),
        entry("d/now a folder", b"new"),
    )

    with pytest.raises(ImageRefused, match="'d' leads through a link or a file"):
        unpacked(tmp_path / "without", lower, upper)
    root = unpacked(tmp_path / "with", lower, layer(entry(".wh.d", b"")), upper)

    assert {name: text for name, text in content_of(root).items() if text is not None} == {
        "a/new": "new",
        "c/old": "new",
        "d/now a folder": "new",
    }


def test_an_entry_replaces_one_of_another_kind(tmp_path: Path) -> None:
    """A folder stays with its entries where a folder comes again, and gets its mode."""
    lower = layer(
        entry("folder/old", b"old"),
        entry("file", b"old"),
        link("link", "file"),
        entry("same/a", b""),
    )
    upper = layer(
        entry("folder", b"new"), entry("file"), entry("link", b"new"), entry("same", mode=0o700)
    )
    root = unpacked(tmp_path, lower, upper)

    assert content_of(root) == {
        "file": None,
        "folder": "new",
        "link": "new",
        "same": None,
        "same/a": "",
    }
    assert stat.S_IMODE((root / "same").stat().st_mode) == 0o700


def test_hard_links_long_names_and_modes_are_those_of_the_archive(tmp_path: Path) -> None:
    """A hard link may lead to a file of a lower layer, whose other name a whiteout removes."""
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        place = tmp_path / str(form)
        root = unpacked(
            place,
            layer(entry("one", b"1"), entry(f"{LONG}/file", b"long"), form=form),
            layer(hard_link("two", "one"), hard_link(f"{LONG}/three", "./one"), form=form),
            layer(
                entry(".wh.one", b""), entry("closed", mode=0o500), link("far", "/" + "y" * 150)
            ),
        )
        assert (root / "two").stat().st_ino == (root / LONG / "three").stat().st_ino
        assert (root / LONG / "file").read_text() == "long"
        assert stat.S_IMODE((root / "closed").stat().st_mode) == 0o500
        assert os.readlink(root / "far") == "/" + "y" * 150
        assert not (root / "one").exists()


@pytest.mark.parametrize("form", ["gnu", "posix"])
def test_sparse_files_keep_their_holes(tmp_path: Path, form: str) -> None:
    """GNU tar writes them in either of its formats."""
    with (tmp_path / "sparse").open("wb") as file:
        file.seek(40 << 20)
        file.write(b"end")
        file.truncate(50 << 20)
    command = ["tar", f"--format={form}", "-S", "-C", str(tmp_path), "-cf", "-", "sparse"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    assert len(archive) < 1 << 20

    root = unpacked(tmp_path, archive)

    assert (root / "sparse").read_bytes() == (tmp_path / "sparse").read_bytes()
    assert (root / "sparse").stat().st_blocks * 512 < 1 << 20


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@given(st.lists(st.dictionaries(PATHS, st.binary(max_size=3), max_size=4), max_size=4))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_layers_of_files_are_laid_over_each_other(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, bytes]]
) -> None:
    """The last content of a path holds, in layers whose paths do not cross."""
    files: dict[str, bytes] = {}
    layers = []
    for each in written:
        fitting: dict[str, bytes] = {}
        for path, content in each.items():
            crossing = [
                other
                for other in {**files, **fitting}
                if other.startswith(f"{path}/") or path.startswith(f"{other}/")
            ]
            if not crossing:
                fitting[path] = content
        files |= fitting
        layers.append(layer(*(entry(path, content) for path, content in fitting.items())))

    root = unpacked(tmp_path_factory.mktemp("image"), *layers)

    found = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert found == files


def test_another_digest_than_that_of_an_image_names_those_there_are(tmp_path: Path) -> None:
    """So a user can write the right one."""
    digest = layout(tmp_path, [layer(entry("a", b""))])

    with pytest.raises(ImageRefused) as refused:
        unpack(tmp_path, sha256(b""), tmp_path)

    assert str(refused.value) == f"the archive has no image '{sha256(b'')}'; it has {digest}"
