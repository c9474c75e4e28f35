"""python -OO, without docstrings and asserts.

spans: 3
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
