"""pytest with two workers of xdist: fixtures, captured output and logs, warnings as errors.

spans: 9
speed: slow
needs: pytest xdist
command: python -m pytest -n 2 --dist loadfile --noconftest -p no:cacheprovider -W error -q -q -rx program --override-ini addopts= --rootdir . -o python_files=*.py
"""

import logging
import re

import pytest
from tg import t

t.init()


@t.tool
def double(x):
    logging.getLogger("host").warning("doubling %s", x)
    return x * 2


@pytest.fixture
def run():
    with t.agent_run("tests") as run:
        yield run


def test_passes(run, caplog, capsys):
    assert double(2) == 4
    assert [record.getMessage() for record in caplog.records] == ["doubling 2"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.xfail(strict=True)
def test_fails(run):
    assert double(2) == 5


def test_raises(run):
    with pytest.raises(TypeError, match=re.escape("unsupported operand")):
        double(None)
