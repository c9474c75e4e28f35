"""python -OO, without docstrings and asserts.

spans: 3
speed: slow
command: python -OO program
"""

from tg import t

t.init()


@t.tool
def work(x):
    """Be gone."""
    assert False
    return x


with t.agent_run("a"):
    print(work(1), work.__doc__)
