"""Values of 100 MB, of a million keys, that contain themselves or are 100,000 levels deep.

spans: 17
speed: slow
"""

import sys

from tg import t

t.init()


@t.tool
def size(x):
    return len(x)


@t.tool
def same(x):
    return x


with t.agent_run("a", user_input="x" * 10_000_000):
    print(
        size("x" * 100_000_000), size(b"y" * 100_000_000), size({n: n for n in range(1_000_000)})
    )
    itself = [1]
    itself.append(itself)
    table = {}
    table["me"] = table
    print(size(itself), size(table))
    deep = []
    for _ in range(100_000):
        deep = [deep]
    print(size(deep), same(deep) is deep)
while deep:
    deep = deep[0]
print(
    sys.getrecursionlimit(),
    len(str(same(10**4000))) if hasattr(sys, "set_int_max_str_digits") else "",
)
