# What lives over a graph break: half-used iterators, generators, deleted attributes. Compiled and eager: the same values, twice.
import copy
import itertools
import torch
import torch._dynamo


def plain(v):
    if isinstance(v, torch.Tensor):
        return v.tolist()
    if isinstance(v, (list, tuple)):
        return [plain(item) for item in v]
    if isinstance(v, dict):
        return {k: plain(item) for k, item in v.items()}
    return v


def check(f, make=lambda: (torch.arange(3.0),)):
    for _ in range(2):
        torch._dynamo.reset()
        compiled = torch.compile(f)
        for _ in range(3):
            given, again = make(), make()
            want, got = f(*given), compiled(*again)
            assert plain(want) == plain(got), (f.__name__, plain(want), plain(got))
            assert plain(given) == plain(again), (f.__name__, "arguments")


def growing_list(x):
    items = [1, 2]
    it = iter(items)
    first = next(it)
    torch._dynamo.graph_break()
    items.append(7)
    second, third = next(it), next(it)
    torch._dynamo.graph_break()
    items.append(8)
    return x + first + second * 10 + third * 100, list(it)


def finished_before_it_grows(x):
    items = [1]
    it = iter(items)
    total = sum(it)
    torch._dynamo.graph_break()
    items.append(5)
    return x + total, next(it, "end")


def many_kinds(x, d):
    keys, steps, letters, tensors = iter(d), iter(range(5, 50, 5)), iter("añb"), iter((x, x + 1, x + 2))
    k, s, c, t = next(keys), next(steps), next(letters), next(tensors)
    torch._dynamo.graph_break()
    out = [k, s, c, next(steps), next(steps), next(letters), next(keys)]
    u = next(tensors)
    torch._dynamo.graph_break()
    return t + u + next(tensors), out, list(steps), list(letters), list(keys), next(tensors, None)


def zipped(x):
    z = zip([x, x + 1, x + 2], itertools.count(1))
    a, i = next(z)
    torch._dynamo.graph_break()
    b, j = next(z)
    return a * i + b * j, [(t + 1, n) for t, n in z]


def for_loop_goes_on(x):
    it = iter([1, 2, 3, 4, 5, 6])
    next(it)
    torch._dynamo.graph_break()
    for v in it:
        x = x + v
        if v == 4:
            break
    torch._dynamo.graph_break()
    return x, list(it)


def multiples(x):
    for i in range(4):
        yield x * i


def generator(x):
    g = multiples(x)
    a = next(g)
    torch._dynamo.graph_break()
    b = next(g)
    torch._dynamo.graph_break()
    return a + b, list(g)


def sent_to(x):
    got = yield x
    while True:
        got = yield x + got


def generator_that_takes_values(x):
    g = sent_to(x)
    a = next(g)
    torch._dynamo.graph_break()
    return a, g.send(5), g.send(7)


def raises_later(x):
    yield x
    raise ValueError("later")


def generator_that_raises_later(x):
    g = raises_later(x)
    a = next(g)
    torch._dynamo.graph_break()
    try:
        next(g)
    except ValueError as e:
        return a + 1, str(e)


def without_end(x):
    n = 0
    while True:
        yield x + n
        n += 1


def generator_without_end(x):
    g = without_end(x)
    a = next(g)
    torch._dynamo.graph_break()
    return a + next(g)


log = []


def with_effects(x):
    for i in range(3):
        log.append(i)
        yield x + i


def effects_come_in_time(x):
    g = with_effects(x)
    a = next(g)
    torch._dynamo.graph_break()
    seen = list(log)
    b = next(g)
    return a + b, seen[-1], log[-1]


def delegating(x):
    value = yield from sent_to(x)
    yield value


def send_through(x):
    g = delegating(x)
    return next(g), g.send(2), g.send(3)


def first_of_equals(x, n):
    return x + n, max(True, n), max(n, True), min(False, n), max(False, n), min(n, 3, False)


class Special(ValueError):
    def __init__(self, n):
        super().__init__(f"n={n}")
        self.n = n


def raising_helper(x, n):
    if n == 1:
        raise Special(5)
    return x + 1


def special_exceptions(x, n):
    try:
        y = raising_helper(x, n)
    except Special as e:
        y = x * e.n
        return y, str(e)
    return y, "none"


def copies(x, d):
    shallow, deep = copy.copy(d), copy.deepcopy(d)
    shallow["n"] = 5
    deep["l"].append(1)
    d["l"].append(2)
    return x + shallow["n"] + d["n"], shallow, deep


def identities(x, b):
    same = id(b) == id(b)
    names = len(vars(b)), [k for k in b.__dict__.keys()], sorted(vars(b).items()), "k" in vars(b), vars(b)["k"]
    return x + (1 if same else 0), names


def repeats(x, n):
    y = x + 1
    return torch.repeat_interleave(y, n) * 2


def neutral_numbers(x, a):
    b = 0.0 + a
    c = a * 1
    d = sum([a])
    return x * b + x * c, b, c, d, 1 / (x * (a - 0)), 1 / (x * (a + -0.0)), 1 / (x * (a - -0.0))


class Box:
    pass


def box(**attributes):
    b = Box()
    b.__dict__.update(attributes)
    return b


def deletes(x, b):
    del b.old
    b.new = 1
    del b.new
    b.old = 3
    gone = not hasattr(b, "new")
    return x + b.old, gone, list(b.__dict__)


def deletes_over_a_break(x, b):
    alias = b
    del alias.old
    torch._dynamo.graph_break()
    return x + 1, hasattr(b, "old"), list(b.__dict__)


def order_of_names(x, b):
    late = b.k
    b.fresh = late
    return x + b.old, list(b.__dict__), [k for k in vars(b)]


def deletes_twice(x, b):
    del b.old
    try:
        del b.old
    except AttributeError:
        x = x + 10
    return x, list(b.__dict__)


for f in (growing_list, finished_before_it_grows, zipped, for_loop_goes_on, generator, generator_that_takes_values, generator_that_raises_later, generator_without_end, effects_come_in_time, send_through):
    check(f)
compiled = torch.compile(neutral_numbers)
for a in (0.5, 2.0, -0.0, 0.0, 3.5, -1.25):
    assert plain(neutral_numbers(torch.ones(2), a)) == plain(compiled(torch.ones(2), a)) and str(compiled(torch.ones(2), a)) == str(neutral_numbers(torch.ones(2), a))
for n in (0, 1):
    check(special_exceptions, lambda: (torch.arange(3.0), n))
check(copies, lambda: (torch.arange(3.0), {"n": 1, "l": [0]}))
check(repeats, lambda: (torch.arange(3.0), torch.tensor([2, 0, 3])))
check(many_kinds, lambda: (torch.arange(3.0), {"p": 1, "q": 2, "r": 3}))
for f in (deletes, deletes_over_a_break, deletes_twice, order_of_names, identities):
    for _ in range(2):
        torch._dynamo.reset()
        for _ in range(2):
            mine, yours = box(old=1, k=2), box(old=1, k=2)
            assert plain(f(torch.ones(2), mine)) == plain(torch.compile(f)(torch.ones(2), yours)) and mine.__dict__ == yours.__dict__, f.__name__
compiled = torch.compile(first_of_equals)
for n in (5, 3, 1, 0, -1, 2):
    assert str(plain(first_of_equals(torch.ones(2), n))) == str(plain(compiled(torch.ones(2), n)))


def sets_to_a_size(x, b):
    b.n = x.shape[0]
    return x + 1


compiled = torch.compile(sets_to_a_size)
for n in (2, 7):
    b = box(n=n)
    compiled(torch.ones(2), b)
    assert b.n == 2, "an attribute that was equal by chance was not written"
lacking = torch.compile(deletes)
try:
    lacking(torch.ones(2), box(k=2))
except AttributeError as e:
    assert "old" in str(e)
else:
    assert False, "an attribute that is not there was deleted"
print("ok")
