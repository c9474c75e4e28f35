"""The parts that slow tests are run in."""

from typing import NamedTuple

import pytest
from tests.slow import of_part


class Collected(NamedTuple):
    """A test as pytest collects it."""

    nodeid: str
    is_slow: bool

    def get_closest_marker(self, name: str, /) -> object | None:
        """Return something if it is slow."""
        return self if self.is_slow and name == "slow" else None


TESTS = [
    Collected(f"tests/test_{file}.py::test_{number}", number > 0)
    for file in range(60)
    for number in range(3)
]


def test_each_slow_test_is_in_one_part_with_the_others_of_its_file() -> None:
    """Each part has some; what is not slow is in all of them."""
    parts = [{*of_part(TESTS, f"{number}/3")} for number in (1, 2, 3)]
    quick = {test for test in TESTS if not test.is_slow}
    slow = [part - quick for part in parts]
    assert all(part >= quick for part in parts)
    assert sum(map(len, slow)) == len(TESTS) - len(quick)
    assert set.union(*slow) == {*TESTS} - quick
    assert min(map(len, slow)) > 20
    for part in slow:
        files = {test.nodeid.partition("::")[0] for test in part}
        assert len(part) == 2 * len(files)


def test_the_only_part_has_all() -> None:
    """As without any."""
    assert of_part(TESTS, "1/1") == TESTS


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "1/0", "x", "1/3 ", "-1/3"])
def test_what_is_no_part_is_named(part: str) -> None:
    """With the way to write one."""
    with pytest.raises(pytest.UsageError, match="is no part; write one of several, such as 2/3"):
        of_part(TESTS, part)
