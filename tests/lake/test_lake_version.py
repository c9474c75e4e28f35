"""A lake states its version, and code that does not know this version does not touch it."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import obstore
import pytest

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeDamaged, LakeNewer, LakeOfTenants
from tracegrade_lake.lake_version import LAKE_VERSION, VERSION_FILE
from tracegrade_lake.object_store import ObjectStore

from .lake_rows import land, span
from .stores import Store

NEWER = {"version": LAKE_VERSION + 1, "written_by": "9.9.0"}


def noted(lake: Path) -> int:
    """Return the version that a lake's folder notes."""
    version: int = json.loads((lake / VERSION_FILE).read_bytes())["version"]
    return version


def test_a_new_lake_notes_its_version_for_its_owner_alone(tmp_path: Path) -> None:
    """The note is there before anything is written, as private as all else."""
    lake = Lake.create(tmp_path / "lake")

    assert noted(lake.root) == LAKE_VERSION
    assert (lake.root / VERSION_FILE).stat().st_mode & 0o777 == 0o600


def test_many_may_make_a_lake_at_once(tmp_path: Path) -> None:
    """In any order, none fails, and no unfinished file remains."""
    with ThreadPoolExecutor(16) as pool:
        lakes = list(pool.map(Lake.create, [tmp_path / "lake"] * 64))

    assert {noted(lake.root) for lake in lakes} == {LAKE_VERSION}
    assert [path.name for path in lakes[0].root.iterdir()] == [VERSION_FILE]


def test_who_only_reads_an_older_lake_writes_nothing(tmp_path: Path) -> None:
    """A lake from before the notes is opened as it is; the first to write notes the version."""
    lake = Lake.open(tmp_path)
    assert lake.tables() == []
    assert not list(tmp_path.iterdir())

    lake.lock("score").close()
    assert noted(tmp_path) == LAKE_VERSION


def test_a_note_of_an_older_version_is_raised_by_who_writes(tmp_path: Path) -> None:
    """From then on, code that knows only the older version refuses the lake."""
    (tmp_path / VERSION_FILE).write_text('{"version": 0}')
    Lake.open(tmp_path)
    assert noted(tmp_path) == 0

    Lake.create(tmp_path)
    assert noted(tmp_path) == LAKE_VERSION


@pytest.mark.parametrize("opened", [Lake.open, Lake.create])
def test_a_newer_lake_is_neither_read_nor_written(
    tmp_path: Path, opened: Callable[[Path], Lake]
) -> None:
    """One line says which version it has, who wrote it, and what to do."""
    (tmp_path / VERSION_FILE).write_text(json.dumps(NEWER))

    with pytest.raises(LakeNewer, match=r"has version 2, written by tracegrade 9\.9\.0") as error:
        opened(tmp_path)
    assert str(error.value).endswith("knows versions up to 1; upgrade tracegrade")
    assert noted(tmp_path) == LAKE_VERSION + 1


@pytest.mark.parametrize("content", ["", "[]", "7", '{"version": null}', "{" * 100_000, "\xff"])
def test_a_damaged_note_is_said_in_one_line(tmp_path: Path, content: str) -> None:
    """The lake's version is then unknown; a user who knows it restores or removes the note."""
    (tmp_path / VERSION_FILE).write_text(content, "latin-1")

    with pytest.raises(LakeDamaged, match=r"lake\.json, the lake's version, cannot be read"):
        Lake.open(tmp_path)


def test_a_lake_of_tenants_alone_names_them(tmp_path: Path) -> None:
    """Some are named, the others counted; a lake with rows or a log of its own is one itself."""
    for number in range(7):
        Lake.create(tmp_path / f"tenants/t{number}")

    with pytest.raises(
        LakeOfTenants, match="tenants: t0, t1, t2, t3, t4 and 2 more; name"
    ) as said:
        Lake.open(tmp_path)
    assert str(said.value).endswith(f"--lake {tmp_path}/tenants/t0")
    assert Lake.open(tmp_path / "tenants/t3").tables() == []

    (tmp_path / "wal").mkdir()
    assert Lake.open(tmp_path).tables() == []


def test_a_lake_with_rows_and_tenants_is_a_lake(tmp_path: Path) -> None:
    """Rows that came without a tenant are read as ever."""
    Lake.create(tmp_path / "tenants/acme")
    land(Lake.create(tmp_path), [span(1, 1)])

    assert Lake.open(tmp_path).tables() == ["raw_spans"]


def test_a_lake_on_an_object_store_has_its_version_there(store: Store, tmp_path: Path) -> None:
    """Other machines see it; tenants' lakes are found below it."""
    url = store.url("versions/lake")
    acme = Lake.create(f"{url}/tenants/acme", tmp_path / "acme")
    land(acme, [span(1, 1)])
    client = ObjectStore(acme.location, tmp_path).client

    assert json.loads(bytes(obstore.get(client, VERSION_FILE).bytes()))["version"] == LAKE_VERSION
    assert Lake.open(acme.location, tmp_path / "other").tables() == ["raw_spans"]
    with pytest.raises(LakeOfTenants, match="lakes of tenants: acme; name one"):
        Lake.open(url, tmp_path / "root")

    obstore.put(client, VERSION_FILE, json.dumps(NEWER).encode())
    with pytest.raises(LakeNewer, match=f"{acme.location} has version 2"):
        Lake.open(acme.location, tmp_path / "other")
    with pytest.raises(LakeNewer):
        land(Lake.create(acme.location, tmp_path / "third"), [span(2, 2)])
