def count(n):
    i = 0
    while i < n:
        yield i
        i += 1
print(list(count(4)), sum(count(5)), [x * 2 for x in count(3)], tuple(count(2)), max(count(9)))
def echo():
    r = None
    while True:
        r = yield r
        if r == "stop": return "bye"
g = echo(); next(g); print(g.send(1), g.send("a"))
try:
    g.send("stop")
except StopIteration as e:
    print("value", e.value)
def inner():
    x = yield 1
    print("inner got", x)
    y = yield 2
    print("inner got", y)
    return "result"
def outer():
    r = yield from inner()
    print("r", r)
    yield from [10, 20]
    yield from (i for i in range(2))
    return "outer"
g = outer()
print(next(g), g.send("A"), g.send("B"), list(g))
def deleg():
    try:
        yield from inner()
    except ValueError as e:
        print("deleg caught", e)
        yield "recovered"
g = deleg(); next(g); print(g.throw(ValueError("boom")))
def inner_catch():
    try:
        yield 1
    except KeyError:
        yield "caught inside"
    return 5
def outer_catch():
    r = yield from inner_catch()
    yield ("ret", r)
g = outer_catch(); next(g); print(g.throw(KeyError)); print(next(g)); print(list(g))
ge = (x * y for x in range(3) for y in range(3) if x != y)
print(list(ge), list(ge))
print({x % 3 for x in range(10)}, {x: x * x for x in range(4)}, [[i * j for j in range(3)] for i in range(3)])
matrix = [[1, 2], [3, 4]]
print([v for row in matrix for v in row], [*zip(*matrix)], list(map(sum, matrix)), list(filter(None, [0, 1, "", "a"])))
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
import itertools
print(list(itertools.islice(fib(), 10)), list(itertools.takewhile(lambda x: x < 30, fib())))
print(any(x > 3 for x in range(5)), all(x > 3 for x in range(5)), any([]), all([]))
def g2():
    yield
print(list(g2()), next(g2()))
g = count(3); print(next(g), list(g), next(g, "default"))
print(type(count(1)).__name__, iter(g) is g)
x = 10
print([x for x in range(3)], x)
def lazy():
    print("started")
    yield 1
l = lazy(); print("before"); next(l)
def early():
    return
    yield
print(list(early()))
def raiser():
    yield 1
    raise ValueError("in gen")
try:
    for v in raiser(): print(v)
except ValueError as e: print("for caught", e)
def stop_inside():
    yield 1
    next(iter([]))
try:
    list(stop_inside())
except RuntimeError as e: print(type(e).__name__, e, repr(e.__cause__))
def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
print(list(tree(3)))
a, b, *c = count(5); print(a, b, c)
print(dict(enumerate("ab", 1)), list(zip("abc", count(2))), list(zip([1, 2], [3, 4], [5, 6])), list(reversed([1, 2, 3])))
d = {"a": 1, "b": 2}
for k, v in d.items(): print(k, v)
try:
    for k in d: d[k + "x"] = 1
except RuntimeError as e: print(e)
it = iter([1, 2, 3, 4])
print(list(zip(it, it)))
print(sorted({"b": 1, "a": 2}), sorted("hello"), sorted([(1, "b"), (1, "a"), (0, "z")]), sorted([3, 1, 2], key=lambda v: -v))
def dec():
    n = yield
    while n: n -= (yield n) or 1
co = dec(); next(co); print(co.send(5), co.send(None), co.send(2))
lst = [1, 2, 3]
for i in lst:
    if i < 3: lst.append(i + 10)
print(lst)
squares = (i * i for i in range(4)); print(sum(squares), sum(squares))
print([i for i in range(20) if i % 2 if i % 3], [(a, b) for a in "ab" for b in "xy"], [y for x in [1, 2] if (y := x * 2)])
class C:
    items = [1, 2]
    sq = [i * i for i in items]
print(C.sq)
def closure_gen():
    fs = []
    for i in range(3):
        def f(i=i): return i
        fs.append(f)
    return (f() for f in fs)
print(list(closure_gen()))
from contextlib import contextmanager, nullcontext, suppress, ExitStack
@contextmanager
def cm(tag):
    print("enter", tag)
    try:
        yield tag * 2
    except KeyError as e:
        print("cm caught", e)
    finally:
        print("exit", tag)
with cm("a") as v: print(v)
with cm("b"): raise KeyError("z")
try:
    with cm("c"): raise ValueError("y")
except ValueError as e: print("through", e)
with nullcontext(4) as n, cm("d") as m: print(n, m)
with suppress(ZeroDivisionError): 1 / 0
with ExitStack() as stack:
    print(stack.enter_context(cm("e")), stack.enter_context(cm("f")))
    stack.callback(print, "callback")
@cm("deco")
def decorated(): print("inside")
decorated()
