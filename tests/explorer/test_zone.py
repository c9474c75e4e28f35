"""Days begin where the reader's browser says that it is."""

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize(
    ("cookie", "since"),
    [
        ("Asia%2FTokyo", "2026-11-26T15:00:00"),
        ("Asia/Tokyo", "2026-11-26T15:00:00"),
        ("UTC", "2026-11-27T00:00:00"),
        ("Asia", "2026-11-27T00:00:00"),
        ("Nowhere/Land", "2026-11-27T00:00:00"),
        ("../../etc/passwd", "2026-11-27T00:00:00"),
        ("%00", "2026-11-27T00:00:00"),
    ],
)
def test_day_of_a_filter_is_the_readers(web: TestClient, cookie: str, since: str) -> None:
    """What names no zone is as no cookie: in UTC."""
    answer = web.get("/runs.json?since=2026-11-27", headers={"Cookie": f"tz={cookie}"})
    assert answer.json()["filter"] == f"since={since.replace(':', '%3A')}"


def test_address_means_the_same_everywhere(web: TestClient) -> None:
    """Times in addresses are in UTC, so that links can be shared."""
    query = "since=2026-11-27T00%3A00%3A00"
    answer = web.get(f"/runs.json?{query}", headers={"Cookie": "tz=Asia/Tokyo"})
    assert answer.json()["filter"] == query
