# What capture is easily wrong about: identity and value of what a frame holds, effects before an exception, guards that are too loose, sizes at their edges.
# Each function runs eagerly and compiled, on arguments made anew; results, arguments and what they share must be the same.
import collections
import torch
import torch._dynamo

state = []


def shape_of(v, seen):
    """Values, and which of them are one object."""
    if isinstance(v, (list, tuple, dict, set, Box)):
        if id(v) in seen:
            return ("same as", seen[id(v)])
        seen[id(v)] = len(seen)
    if isinstance(v, torch.Tensor):
        again = seen.get(id(v))
        seen.setdefault(id(v), len(seen))
        return ("same as", again) if again is not None else str(v.tolist())
    if isinstance(v, (list, tuple)):
        return (type(v).__name__, [shape_of(item, seen) for item in v])
    if isinstance(v, dict):
        return [(k, shape_of(item, seen)) for k, item in v.items()]
    if isinstance(v, Box):
        return [(k, shape_of(item, seen)) for k, item in v.__dict__.items()]
    return repr(v)


class Box:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def outcome(f, args):
    state.clear()
    try:
        result = f(*args)
    except Exception as e:
        result = (type(e).__name__, str(e))
    return shape_of([result, list(args), state], {})


def check(f, *makers):
    torch._dynamo.reset()
    compiled = torch.compile(f)
    for _ in range(2):
        for make in makers:
            want, got = outcome(f, make()), outcome(compiled, make())
            assert want == got, (f.__name__, want, got)


def x():
    return torch.arange(3.0)


# ---- identity and value ----

def held_then_changed(x):
    y = x + 1
    held = [y, y, x]
    y.add_(10)
    held.append(y)
    z = y.view(3, 1)
    z.mul_(2)
    return held, y is held[0], z


def held_over_a_break(x):
    y = x + 1
    held = {"y": y, "pair": (y, y)}
    torch._dynamo.graph_break()
    y.add_(10)
    return held, y is held["y"], held["pair"][0] is held["pair"][1]


def kept_in_the_callers(x, box, items):
    y = x * 2
    box.y = y
    items.append(y)
    y.add_(1)
    torch._dynamo.graph_break()
    items[-1].add_(1)
    return y, box.y is items[-1]


def input_changed_and_kept(x, items):
    items.append(x)
    x.add_(1)
    items.append(x.clone())
    x.add_(1)
    return items[0] is x


def cells_over_a_break(x):
    n, calls = 0, []

    def bump(by):
        nonlocal n
        n += by
        calls.append(n)
        return n
    a = x + bump(1)
    torch._dynamo.graph_break()
    b = a + bump(10)
    torch._dynamo.graph_break()
    return b, bump(100), n, calls, bump


def maker_of_cells(x):
    total = x * 0

    def add(v):
        nonlocal total
        total = total + v
        return total
    add(x)
    torch._dynamo.graph_break()
    add(x * 10)
    return total, add(x * 100), total


check(held_then_changed, lambda: (x(),))
check(held_over_a_break, lambda: (x(),))
check(kept_in_the_callers, lambda: (x(), Box(), []))
check(input_changed_and_kept, lambda: (x(), []))
check(lambda x: cells_over_a_break(x)[:-1], lambda: (x(),))
check(maker_of_cells, lambda: (x(),))


# ---- effects before an exception ----

def raises_after_effects(x, box, items, n):
    items.append(x + 1)
    box.n = n
    state.append("before")
    x.add_(5)
    if n == 1:
        raise ValueError("one")
    box.after = True
    return items[n]


def raises_in_helper(x, items, n):
    def helper():
        items.append(n)
        if n > 1:
            raise KeyError(n)
        return x + n
    try:
        return helper() * 2
    finally:
        items.append("finally")


def op_raises_after_effects(x, items):
    items.append(x * 2)
    y = x @ torch.ones(2, 2)
    items.append("never")
    return y


check(raises_after_effects, *[lambda n=n: (x(), Box(), [], n) for n in (0, 1, 2)])
check(raises_in_helper, *[lambda n=n: (x(), [], n) for n in (0, 1, 2, 3)])
assert outcome(op_raises_after_effects, (x(), []))[1][1] == outcome(torch.compile(op_raises_after_effects), (x(), []))[1][1]


# ---- guards ----

def by_value(x, v):
    return x + (1 if v else 2), type(v).__name__, str(v), 1 / (v or -0.0 * 1 or 3)


def zero_sign(x, v):
    return x + 1, str(v), str(-v), x * v


check(by_value, *[lambda v=v: (x(), v) for v in (True, 1, 1.0, False, 0, 0.0, -0.0, None and 0)][:7])
check(zero_sign, *[lambda v=v: (x(), v) for v in (0.0, -0.0, 0, 2.5, -0.0, float("inf"))])
check(lambda x, d: (x + sum(i * v for i, v in enumerate(d.values())), list(d)), lambda: (x(), {"a": 1, "b": 2}), lambda: (x(), {"b": 2, "a": 1}), lambda: (x(), collections.OrderedDict(b=1, a=2)))


class Adds:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x + self.n


def fresh_objects():
    """Objects that are freed and made again, often at the same address, with other insides."""
    f = torch.compile(lambda x, a: a(x) * 2)
    for n in (1, 2, 3, 1, 4):
        assert f(x(), Adds(n)).tolist() == [(i + n) * 2.0 for i in range(3)], n
    g = torch.compile(lambda x, h: h(x))
    for n in (1, 2, 3, 1, 4):
        assert g(x(), lambda x: x * n).tolist() == [i * float(n) for i in range(3)], n
        made = (lambda x: x - 1) if n == 1 else (lambda x: x - 7)
        assert g(x(), made).tolist() == [float(i - (1 if n == 1 else 7)) for i in range(3)], n


fresh_objects()
factor = [1, 2]


@torch.compile
def reads_global(x):
    return x * factor[0] + len(factor)


def rebound_globals():
    global factor
    for value in ([1, 2], [1, 2], [3], (1, 2), [1, 2], [True, 2], [1.0, 2]):
        factor = value
        assert str(reads_global(x()).tolist()) == str((x() * value[0] + len(value)).tolist()), value
    kept = factor = [5]
    reads_global(x())
    kept[0] = 6
    kept.append(7)
    assert reads_global(x()).tolist() == [2.0, 8.0, 14.0]


rebound_globals()


def swapped(a, b):
    a[0], b[0] = b[0], a[0]
    return a[0] + 1, a is b


same = [torch.ones(1)]
check(swapped, lambda: ([torch.ones(1)], [torch.zeros(1)]), lambda: (lambda l: (l, l))([torch.ones(1)]))
check(lambda a, b: (a.add_(1), b * 2, a is b), lambda: (torch.ones(2), torch.ones(2)), lambda: (lambda t: (t, t))(torch.ones(2)))


# ---- sizes ----

def floors(x, n):
    a, b = (x.shape[0] - 7) // 2, -x.shape[0] // 3
    return x.sum() + a + b * 10, a, b, (x.shape[0] - 7) % 4, -n // 2, -n % 3, (n - 9) // -4, divmod(n - 6, 5)


def ones_and_zeros(x):
    y = x + torch.zeros(x.shape[0])
    return y.sum(), y.shape[0] == 1, x.expand(4, x.shape[0]).sum(1) if x.shape[0] != 4 else x.view(2, 2), x[:0].shape, x.mean() if x.shape[0] else "none"


check(floors, *[lambda n=n: (torch.ones(n), n) for n in (3, 4, 5, 6, 9, 2, 13)])
check(ones_and_zeros, *[lambda n=n: (torch.ones(n),) for n in (3, 5, 1, 0, 4, 2, 7)])
check(lambda x, y: x + y, *[lambda a=a, b=b: (torch.ones(a), torch.ones(b)) for a, b in ((3, 3), (4, 4), (1, 5), (5, 1), (6, 6), (1, 1), (0, 1), (0, 0), (7, 7))])


# ---- overlapping memory ----

def shifted(x):
    x[1:] = x[1:] + x[:-1]
    return x.sum()


def overlapping(base):
    a, b = base[:-1], base[1:]
    a.add_(b)
    return a + b


def expanded(x):
    y = x.expand(3, 3)
    return y + 1, y.stride(), (y * 2)[0]


check(shifted, lambda: (torch.arange(6.0),))
check(overlapping, lambda: (torch.arange(6.0),))
check(lambda a, b: (a.add_(b), b * 2), lambda: (lambda t: (t[:-1], t[1:]))(torch.arange(6.0)), lambda: (torch.ones(5), torch.ones(5)))
check(expanded, lambda: (torch.ones(3),), lambda: (torch.ones(1).expand(3),))
print("ok")
