# Guards: an entry serves a call only if the program would do the same there. Each check compares with eager execution, and says how many graphs it takes.
import collections
import functools
import torch
import torch.nn as nn
import torch._dynamo.testing

x = torch.arange(3).float()


def check(f, calls, graphs):
    """A call is a tuple of arguments, or a function that changes something between two calls."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(f, backend=counter)
    for args in calls:
        if callable(args):
            args()
            continue
        want, got = f(*args), compiled(*args)
        assert torch._dynamo.testing.same(want, got), (args, want, got)
    assert counter.frame_count == graphs, counter.frame_count


def setter(object, name, value):
    return lambda: setattr(object, name, value)


# ---- functions: their code, what they close over, their defaults; which function it is only where that matters ----
def closing(k):
    return lambda v: v * k


def with_default(k):
    return lambda v, s=k: v * s


def with_keyword(k):
    def scale(v, *, s=k):
        return v * s
    return scale


def same_code():
    return lambda v: v + 1


first, second = same_code(), same_code()
table = {first: 10, second: 20}
check(lambda v, g: g(v), [(x, same_code()) for i in range(4)], 1)
check(lambda v, g: g(v), [(x, closing(k)) for k in (2, 3, 4, 5)], 2)
check(lambda v, g: g(v), [(x, closing(torch.ones(3) * k)) for k in (2, 3)], 1)
check(lambda v, g: g(v), [(x, with_default(k)) for k in (2, 2, 3)], 2)
check(lambda v, g: g(v), [(x, with_keyword(k)) for k in (2, 2, 3)], 2)
check(lambda v, g: g(v) + (100 if g is first else 0), [(x, first), (x, second), (x, first)], 2)
check(lambda v, g: g(v) + (100 if g == first else 0), [(x, first), (x, second), (x, first)], 2)
check(lambda v, g: g(v) + table[g], [(x, first), (x, second), (x, first)], 2)
check(lambda v, g, h: g(v) + h(v), [(x, closing(2), closing(3)), (x, first, first), (x, first, second)], 2)
assert torch.compile(lambda v, g: (v + 1, g), backend="eager")(x, second)[1] is second
scaled = lambda v: v * scaled.by
scaled.by = 2
check(lambda v: scaled(v), [(x,), setter(scaled, "by", 5), (x,)], 2)


def counting():
    n = 0

    def count(v):
        nonlocal n
        n += 1
        return v + n
    return count


count_a, count_b, compiled = counting(), counting(), torch.compile(lambda v, g: g(v), backend="eager")
assert [compiled(x, g)[0].item() for g in (count_a, count_a, count_b, count_a, count_b)] == [1, 2, 1, 3, 2]


# ---- dicts: keys that are asked for; all of them, in order, where all are gone through ----
a, b = torch.ones(3), torch.ones(3) * 3
check(lambda d: d["a"] * 2, [({"a": a},), ({"a": a, "b": b},), ({"b": b, "a": a},)], 1)
check(lambda d: sum([v * (i + 1) for i, v in enumerate(d.values())]), [({"a": a},), ({"a": a, "b": b},), ({"b": b, "a": a},)], 3)
check(lambda d, v: v * 2 if "k" in d else v + 1, [({}, x), ({"k": 1}, x), ({"k": 2}, x), ({"z": 0}, x)], 2)
check(lambda d, v: v * d.get("k", 7), [({}, x), ({"k": 1}, x), ({"z": 0}, x)], 2)
check(lambda d, v: v * d["k"] + len(d), [({"k": 1}, x), ({"k": 1, "z": 0}, x)], 2)


def caught(d, v):
    try:
        d["k"]
        return v * 2
    except KeyError:
        return v - 1


torch._dynamo.reset()
compiled = torch.compile(caught)
for d in ({}, {"k": 1}, {}, {"k": None}):
    assert torch.equal(compiled(d, x), caught(d, x)), d

# ---- sets, slices, ranges, named tuples ----
check(lambda v, s: sum([v * i for i in s]), [(x, {1, 2}), (x, {2, 1}), (x, {1, 4}), (x, {1, 4, 5})], 3)
check(lambda v, s: v + (3 in s), [(x, {1, 2}), (x, {1, 3})], 2)
check(lambda v, s: v[s] + 1, [(torch.arange(9).float(), slice(0, n)) for n in (2, 3, 4, 2)], 2)
check(lambda v, r: sum([v[i] for i in r]), [(x, range(2)), (x, range(2)), (x, range(1, 3))], 2)
Pair = collections.namedtuple("Pair", "a b")
check(lambda p: p.a * p.b + len(p), [(Pair(x, 2.0),), (Pair(x, 2.0),), (Pair(x, x),)], 2)
check(lambda p: p._replace(a=p.a + 1).a, [(Pair(x, 1),), (Pair(x, 2),)], 1)


# ---- objects and modules ----
class Holder:
    k = 1

    def method(self, v):
        return v + 1

    def use(self, v):
        return self.method(v) * self.k


holder = Holder()
check(lambda v, o: o.use(v), [(x, holder), setter(holder, "k", 5), (x, holder), lambda: delattr(holder, "k"), (x, holder), setter(holder, "method", lambda v: v - 1), (x, holder)], 3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("b", torch.ones(3) * 3)
        self.n = 3
        self.extra = None

    def forward(self, v):
        if hasattr(self, "missing"):
            return v * 100
        return v * self.w if self.extra is None else v + self.extra


net = Net()
check(net, [(x,), setter(net, "n", 4), (x,), setter(net, "extra", 1), (x,), setter(net, "extra", a), (x,), setter(net, "extra", None), (x,), setter(net, "missing", 1), (x,)], 4)
net = Net()
check(lambda m, v: v + sum([p.sum() * len(name) for name, p in m.named_parameters()]) + sum([t.sum() for t in m.buffers()]),
      [(net, x), setter(net, "n", 9), (net, x), setter(net, "w", nn.Parameter(torch.ones(3) * 2)), (net, x), setter(net, "w2", nn.Parameter(torch.ones(2))), (net, x)], 2)

# ---- what belongs to the library is guarded where it is given as a value; a builtin's name may be taken by the program ----
check(lambda v, g: g(v), [(x, torch.relu), (x, torch.sigmoid), (x, torch.relu), (x, abs)], 3)
check(lambda v, d: v.to(d) + 1, [(x, torch.device("cpu")), (x, torch.device("cpu"))], 1)
check(lambda v, g: g(v), [(x, functools.partial(torch.mul, 2)), (x, functools.partial(torch.mul, 3)), (x, functools.partial(lambda a, b: b - a, 1))], 3)
appended, compiled = [], torch.compile(lambda v, put: (put(1), v * 2)[1], backend="eager")
assert [compiled(x, appended.append)[1].item() for i in range(3)] == [2, 2, 2] and appended == [1, 1, 1]


def counted(v):
    return v + len([1])


torch._dynamo.reset()
compiled = torch.compile(counted)
assert compiled(x)[0].item() == 1
len = lambda v: 100
assert compiled(x)[0].item() == 100
del len
assert compiled(x)[0].item() == 1
check(lambda a, b: a * 1 if a in [b, a] else b, [(x, x)], 1)

# ---- tensors changed in place between calls; modes ----
t = torch.ones(2)
check(lambda v: v * 2, [(t,), lambda: t.resize_(3).fill_(4), (t,), setter(t, "data", torch.ones(2, 2)), (t,), setter(t, "data", torch.ones(2, 2).double()), (t,), lambda: t.requires_grad_(), (t,)], 5)
with torch.inference_mode():
    made_there = torch.ones(3)
check(lambda v: v * 2, [(x,), (made_there,), (x,)], 2)
check(lambda v: v * 2, [(x,), lambda: torch.use_deterministic_algorithms(True), (x,), lambda: torch.use_deterministic_algorithms(False), (x,)], 2)

# ---- the limit: entries that are there still serve, others run eagerly, and what they call is not compiled either ----
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()


def helper(v):
    return v + 1


limited = torch.compile(lambda v, s: helper(v) + len(s))
for i in list(range(11)) + [0]:
    assert limited(x, "s" * i)[0].item() == 1 + i
assert torch._dynamo.utils.counters["frames"]["total"] == 9 and torch._dynamo.utils.counters["stats"]["unique_graphs"] == 8
print("ok")
