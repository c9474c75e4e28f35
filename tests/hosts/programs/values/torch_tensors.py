"""Tensors, modules and autograd: no computation, no copy, no change of a graph.

spans: 15
speed: slow
"""

import torch
from tg import t

t.init()
torch.manual_seed(1)


class Watched(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        print("asked", function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})


@t.tool
def scale(x, factor=2.0):
    return x * factor


@t.tool
def same(x):
    return x


with t.agent_run("a"):
    x = torch.ones(3, requires_grad=True)
    y = scale(x).sum()
    y.backward()
    print(x.grad, same(y).grad_fn is y.grad_fn)
    model = torch.nn.Linear(2, 1)
    print([p.shape for p in same(model).parameters()], same(torch.zeros(2000, 2000)).shape)
    print(same(torch.empty(2, 2, device="meta")).device)
    watched = torch.ones(2).as_subclass(Watched)
    print("watched")
    print(same(watched) is watched)
    print(torch.func.vmap(scale)(torch.ones(2, 2)).shape)
