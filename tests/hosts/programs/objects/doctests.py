"""doctest finds the examples of tools, and they pass.

spans: 4
speed: slow
command: python -m doctest -v program
"""

from tg import t

t.init()


@t.tool
def double(x):
    """Return twice the number.

    >>> double(2)
    4
    >>> double("a")
    'aa'
    """
    return x * 2
