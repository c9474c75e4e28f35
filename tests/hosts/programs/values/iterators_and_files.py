"""Iterators, files, sockets and buffers as arguments and results: none is read or kept open.

spans: 23
"""

import array
import collections
import io
import itertools
import socket
import weakref

from tg import t

t.init()


@t.tool
def same(x):
    return x


class Held:
    """Differs from another."""


with t.agent_run("a"):
    numbers = iter([1, 2, 3])
    print(next(same(numbers)))
    print(list(same(x for x in range(3))))
    print(list(same(map(str, [1, 2]))), list(itertools.islice(same(itertools.count()), 2)))
    with open("file.txt", "w+") as file:
        file.write("one\ntwo\n")
        file.seek(0)
        same(file)
        print(file.tell(), file.read())
    ours, theirs = socket.socketpair()
    theirs.send(b"hello")
    print(same(ours).recv(10), ours.close(), theirs.close())
    buffer = bytearray(b"abc")
    view = memoryview(buffer)
    same(view)
    view.release()
    buffer.append(1)
    stream = io.BytesIO(b"abc")
    print(same(stream).read(), same(collections.deque([1, 2], 2)), same(array.array("i", [1])))
held = Held()
gone = weakref.ref(held)
same(held)
del held
print("released", gone() is None)
print(buffer)
