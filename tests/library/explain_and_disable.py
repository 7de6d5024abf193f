# torch._dynamo.explain, torch.compiler.disable, and the backend that runs captured graphs op by op.
import torch
import torch.nn as nn

# explain: graphs, breaks, ops (functions and operators; methods are not counted), reasons, guards
def f(x):
    y = x + 1
    print("break")
    z = torch.relu(y * 2).sin()
    if z.sum() > 0:
        return z + 1
    return z - 1


e = torch._dynamo.explain(f)(torch.arange(3.0))
assert (e.graph_count, e.graph_break_count, e.op_count) == (3, 2, 5), (e.graph_count, e.graph_break_count, e.op_count)
assert [len(ops) for ops in e.ops_per_graph] == [1, 3, 1] and len(e.graphs) == 3 and len(e.break_reasons) == 2 and len(e.out_guards) > 2
assert e.break_reasons[0].user_stack[-1].lineno == 8 and e.break_reasons[0].user_stack[-1].name == "f"
lines = str(e).split("\n")
assert lines[:4] == ["Graph Count: 3", "Graph Break Count: 2", "Op Count: 5", "Break Reasons:"] and lines[4] == "  Break Reason 1:"
assert "Ops per Graph:" in lines and "  Ops 3:" in lines and "Out Guards:" in lines and "  Guard 1:" in lines
e = torch._dynamo.explain(lambda x, k=1: x * k)(torch.ones(2), k=3)
assert (e.graph_count, e.graph_break_count, e.op_count, e.break_reasons) == (1, 0, 1, [])
e = torch._dynamo.explain(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))(torch.ones(1, 2))
assert e.graph_count == 1 and e.graph_break_count == 0

# disable: with and without a function, with a reason, this frame alone or all that it calls
seen = []


def inside():
    seen.append(torch.compiler.is_compiling())


def g(x):
    inside()
    return x.sin() * 2


@torch.compiler.disable
def a(x):
    """doc of a"""
    return g(x)


@torch.compiler.disable(recursive=False, reason="it logs")
def b(x):
    return x + 1


assert a.__name__ == "a" and a.__doc__ == "doc of a"
c = torch.compiler.disable(g)
assert c is not g and c.__name__ == "g"


@torch.compile
def h(x):
    return b(a(x)) + c(x)


x = torch.ones(2)
assert torch.equal(h(x), (x.sin() * 2 + 1) + x.sin() * 2)
assert torch.compile(g, fullgraph=False)(x).shape == (2,) and h(x).shape == (2,)
try:
    torch.compile(lambda x: b(x) + 1, fullgraph=True)(x)
    assert False
except Exception as error:
    assert "Unsupported" in type(error).__name__ and "it logs" in str(error), error
m = torch.compiler.disable(nn.Linear(2, 2))
assert torch.compile(lambda x: m(x) * 0)(x).tolist() == [0, 0]


class Counter:
    n = 0

    @torch.compiler.disable
    def tick(self, x):
        self.n += 1
        return x * self.n


counter = Counter()
step = torch.compile(lambda x: counter.tick(x) + 1)
assert step(x).tolist() == [2, 2] and step(x).tolist() == [3, 3] and counter.n == 2


# backend="eager": the captured graph, op by op
def k(x, n):
    y = x * n + x.shape[0]
    p, q = y.chunk(2)
    x.add_(1)
    with torch.no_grad():
        r = p * 2
    return torch.softmax(p + q, -1).reshape(x.shape[0] // 2, -1)[:, 1:].sum() + r.sum(), y.max(0).values


quick = torch.compile(k, backend="eager")
for rows in (4, 6, 8):
    u = torch.arange(rows * 3.0).reshape(rows, 3)
    v = u.clone()
    for one, other in zip(quick(u, rows), k(v, rows)):
        assert torch.equal(one, other), rows
    assert torch.equal(u, v)
w = torch.ones(2, 3, requires_grad=True)
torch.compile(lambda t: (t * t).sum(), backend="eager")(w).backward()
assert w.grad.tolist() == [[2, 2, 2], [2, 2, 2]]
print("ok")
