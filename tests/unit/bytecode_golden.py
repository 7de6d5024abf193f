# Every construct of the language, for test_bytecode.c: bytecode_golden.txt holds what CPython 3.12 makes of each function here.
# Only compiled, never run. After a change: python3.12 tests/unit/bytecode_oracle.py tests/unit/bytecode_golden.py > tests/unit/bytecode_golden.txt
import os
import torch
import torch.nn.functional as F
from torch import nn


def constants(x):
    a = -1, ~2, +3, not 0
    b = 2 * 3 + 4 // 3 % 2 ** 5 - (7 << 2) ^ 1
    c = "a" "b" * 2 + 'c'
    d = (1, (2, "x"), None, ..., 1.5, -0.0, 1e100, True)
    e = (1, 2)[1], "abc"[-1], 1 / 2, 7 // -2, -7 % 3, 2 ** -1
    f = [1, 2, 3], {1, 2, 3}, [1, 2], {1, 2}, (), [], {}
    g = {"a": 1, "b": 2}, {"a": x, "b": x}, {x: 1}
    "not a docstring"
    return a, b, c, d, e, f, g


def documented(x):
    """The docstring."""
    return None


def names(a, b=1, *args, c, d=2, **kwargs):
    global GLOBAL
    GLOBAL = a
    del GLOBAL
    e = print(GLOBAL, args, kwargs)
    del e
    return b + c + d + e


def maybe_unbound(x):
    if x:
        y = 1
    for i in x:
        pass
    del x
    return x, y, i


def positional(a, b, /, c, *, d):
    return a, b, c, d


def operators(a, b):
    a += b; a -= b; a *= b; a /= b; a //= b; a %= b; a **= b; a @= b; a &= b; a |= b; a ^= b; a <<= b; a >>= b
    return a + b - a * b / a // b % a ** b @ a & b | a ^ b << a >> b, -a, +a, ~a, not a


def comparisons(a, b, c):
    x = a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b, a in b, a not in b, not a in b, not a is b
    y = a < b < c, a < b == c in (1, 2)
    z = a in [1, 2], a in {1, 2}, a not in [b, c], a in (b, c)
    return x, y, z


def booleans(a, b, c):
    x = a and b or c, a or b and c, not (a and b), a and b and c
    y = a if b else c, (a if b else c) if a and b else None
    if a and (b or not c) and a < b < c:
        return 1
    elif (a if b else c) or not (a or b):
        return 2
    elif a is None or b is not None and not c is None:
        return 3
    elif not a < b < c:
        return 4
    else:
        return x, y


def attributes(a):
    a.b.c = a.d
    a.b.c += 1
    del a.b.c
    a.e()[0].f.g(1)
    return a.b.c.d


def subscripts(a, i, j):
    a[i] = a[i:j], a[:], a[::2], a[i, j], a[i:j, ..., None], a[-1]
    a[i:j] = 1
    a[i:j] += 1
    a[i] *= 2
    a[1:2, 3] -= 1
    del a[i], a[i:j]
    return a[1][2:][i:j:2]


def unpacking(x):
    a, b = x
    a, b = b, a
    a, b, c = b, c, a
    a, *b = x
    *a, b = c = x
    (a, [b, (c, *d)]) = x
    a = b = c = 1
    a[0], b.c = x
    [a] = x
    return a, *b, c, *d


def calls(f, a, b):
    f()
    f(a, b, 1)
    f(a, k=b)
    f(k=1, l=2)
    f(*a)
    f(**b)
    f(a, *b, c=1, **a)
    f(*a, *b)
    f(x=1, **a, y=2, **b)
    f.g.h(a, k=b)
    f.g(*a)
    torch.relu(a)
    F.gelu(a, approximate="tanh")
    nn.Linear(1, 2)(a)
    f(a)(b)(1)
    f(x for x in a)
    return f(a, (y for y in b))


def many(f):
    f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, f)
    f(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9, j=10, k=11, l=12, m=13, n=14, o=15, p=16)
    x = [f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f]
    y = {f: 1, f: 2, f: 3, f: 4, f: 5, f: 6, f: 7, f: 8, f: 9, f: 10, f: 11, f: 12, f: 13, f: 14, f: 15, f: 16, f: 17}
    return (f, *x, f), [*x, *y], {*x, f}, {**x, "a": 1, **y, f: 2}


def formatted(x, y):
    a = f"{x}", f"{x!r}", f"{x:>5}", f"{x!s:{y}d}", f"a{x}b{y}c", f"", f"a", "a" f"{x}" "b"
    b = f"{x=}", f"{x = :.2f}", f"{x=!s}", f"{{{x}}}", f"{x,}", f"{f'{x}'}", rf"\n{x}", f"\n{x}\t"
    c = "%s and %r" % (x, y), "%5s%%%-3s" % (x, y), "%d" % x, "%s" % x, "%d %s" % (x, y)
    return a, b, c


def walrus(x):
    if (n := len(x)) > 10 and (m := n):
        print(n)
    while chunk := x.read():
        yield chunk
    return [y := f(z), y ** 2], [last := z for z in x], last


def loops(x, y):
    for i in range(10):
        for j, (k, l) in enumerate(x):
            if i == j:
                continue
            elif j == 2:
                break
            print(k)
        else:
            print("done")
    while True:
        if x:
            break
        x += 1
    while x and y:
        x -= 1
        if x == 3:
            continue
        y()
    else:
        return x
    while 0:
        never()
    for i in [1, 2, 3]:
        pass
    for i in (x, y):
        pass
    for i in [x, y]:
        return i


def comprehensions(x, y):
    a = [i for i in x]
    b = {i for i in x if i if i > 2}
    c = {i: j for i, j in x}
    d = [i + j for i in x for j in i if j]
    e = [[j for j in i] for i in x]
    f = (i for i in x if i)
    g = [k for i in x for k in [i * 2]]
    h = [lambda: i for i in x]
    i = [x for x in x]
    k = sum(i * y for i in x)
    return a, b, c, d, e, f, g, h, i, k, {*a, *b}


def comprehension_with_cells(x):
    y = 1
    fs = [(lambda: z + y) for z in x]
    z = 2
    return fs, [y for y in x if (lambda: y)()], lambda: z


def closures(a):
    b = 1

    def inner(c=a, *, d=b, e: int = 3) -> int:
        nonlocal b
        b += a + c + d
        return b

    def outer():
        def innermost():
            return a
        return innermost
    return inner, outer, lambda x, *y, z=a, **w: (x, y, z, w, b)


def generator(x):
    y = yield
    z = yield x, y
    yield from x
    w = yield from range(z)
    try:
        yield 1
    finally:
        yield 2
    with x:
        yield 3
    return w


def exceptions(x):
    try:
        a()
    except ValueError:
        b()
    except (KeyError, TypeError) as e:
        c(e)
        return e
    except Exception as e:
        raise RuntimeError("x") from e
    except:
        raise
    else:
        d()
    finally:
        f()
    return x


def finally_returns(x):
    for i in x:
        try:
            if i:
                continue
            elif x:
                break
            return i
        finally:
            print(i)
    try:
        return x.y
    finally:
        x.close()


def nested_try(x):
    try:
        try:
            x()
        except KeyError as k:
            return k
        finally:
            x.a()
    except ValueError:
        pass
    try:
        pass
    finally:
        return 1


def with_statements(a, b):
    with a:
        b()
    with a as x, b() as (y, z):
        return x
    with (a as x, b as y.z):
        for i in x:
            with i:
                if i:
                    break
                continue
    with open("f") as f: pass
    with torch.no_grad():
        return a + b


def assertions(x, y):
    assert x
    assert x > 1, f"bad {x}"
    assert not (x and y), "both"
    if not x:
        raise ValueError
    raise ValueError(y) from None


def imports():
    import os
    import os.path
    import os.path as path
    import a.b.c as d, e
    from . import f
    from .g import h as i, j
    from ..k import (l, m)
    return os, path, d, e, f, i, j, l, m


def annotated(x: int, *y: str, z: "float" = 1.0, **w: object) -> None:
    a: int = 1
    b: str
    x.c: int = 2
    x.d: int
    return a


def early(x):
    if x:
        return 1
    return


def dead(x):
    return 1
    print("never")
    if x:
        return 2


def constant_tests(x):
    if True:
        a = 1
    else:
        a = 2
    if 0:
        b = 1
    while 1:
        x()
    return a if None else x


def multiline(x):
    y = (x
         .relu()
         .sum(
             dim=1,
         ))
    return (
        y
        + x
    )


def redundant(x):
    x
    1
    None
    pass
    ...
    return x


def ellipsis(x): ...


@torch.compile
@torch.no_grad()
def decorated(x, y=os):
    return x


class Plain:
    pass


class Module(nn.Module, metaclass=type):
    """Documented."""
    count = 0
    size: int = 3
    name: str
    table = {"a": count}

    def __init__(self, *args):
        super().__init__(*args)
        self.__private = 1
        super(Module, self).method
        self.layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])

    @property
    def value(self):
        return self.__private + Module.count + __class__.count

    @staticmethod
    def static(x):
        return super

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            self.count += 1
        return super().forward(x).relu()

    class Inner:
        def method(self):
            return super().method(self)

    if count:
        def conditional(self):
            return lambda: self


def class_in_function(x):
    class Local(x.Base, key=x):
        y = x

        def method(self):
            return x, y, Local
        x = 2
        z = x
    return Local


def many_locals(x):
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = b9 = 1
    c0 = c1 = c2 = c3 = c4 = c5 = c6 = c7 = c8 = c9 = d0 = d1 = d2 = d3 = d4 = d5 = d6 = d7 = d8 = d9 = 1
    e0 = e1 = e2 = e3 = e4 = e5 = e6 = e7 = e8 = e9 = f0 = f1 = f2 = f3 = f4 = f5 = f6 = f7 = f8 = f9 = 1
    g0 = g1 = g2 = g3 = g4 = g5 = g6 = g7 = 1
    if x:
        return g7, f9
    return a0
