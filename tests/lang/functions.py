def f(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more
print(f(1, c=3))
print(f(1, 5, 6, 7, c=3, d=9, e=10, z=11))
print(f(*[1, 2, 3], **{"c": 4, "q": 5}))
def g(a, b, /, c, *, d):
    return a + b + c + d
print(g(1, 2, 3, d=4), g(1, 2, c=3, d=4))
def attempt(fn):
    try:
        print("ok", fn())
    except Exception as e:
        print(type(e).__name__, e)
attempt(lambda: f())
attempt(lambda: f(1))
attempt(lambda: g(1, 2, 3, 4))
attempt(lambda: g(1))
attempt(lambda: g(1, 2, 3, d=4, e=5))
attempt(lambda: g(a=1, b=2, c=3, d=4))
def h(x, y, z):
    pass
attempt(lambda: h())
attempt(lambda: h(1))
attempt(lambda: h(1, 2, 3, 4))
attempt(lambda: h(1, 2, x=3))
def k(x, y=1):
    pass
attempt(lambda: k(1, 2, 3))
def m(*, a, b):
    pass
attempt(lambda: m())
attempt(lambda: m(1))
attempt(lambda: m(1, a=2))
attempt(lambda: len())
attempt(lambda: len(1, 2))
attempt(lambda: (1)(2))
attempt(lambda: getattr(1))
attempt(lambda: "".join(1))
attempt(lambda: [].append())
attempt(lambda: "a".upper(1))
def counter():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    return inc
c = counter()
c(); c(5)
print(c(), c.__name__, c.__qualname__)
total = 0
def add(n):
    global total
    total += n
add(3); add(4)
print(total)
def fact(n): return 1 if n < 2 else n * fact(n - 1)
print(fact(15))
print((lambda x, *y, **z: (x, y, z))(1, 2, 3, w=4))
fs = [lambda i=i: i * i for i in range(4)]
print([fn() for fn in fs])
fs = [lambda: i for i in range(3)]
print([fn() for fn in fs])
def deco(tag):
    def wrap(fn):
        def inner(*args, **kw):
            return tag + str(fn(*args, **kw))
        return inner
    return wrap
@deco("a")
@deco("b")
def joined(x, y): return x + y
print(joined(1, 2), joined(1, y=5))
def mutable(x=[]):
    x.append(len(x))
    return x
mutable(); print(mutable())
def doc():
    "the doc"
print(doc.__doc__, doc.__defaults__, f.__kwdefaults__, mutable.__defaults__)
def unbound():
    print(zz)
    zz = 1
attempt(unbound)
attempt(lambda: undefined_name)
def cell():
    def inner(): return later
    try:
        inner()
    except NameError as e:
        print(e)
    later = 1
    print(inner())
cell()
def rec(n): return rec(n + 1)
try:
    rec(0)
except RecursionError as e:
    print(type(e).__name__, str(e)[:32])
x = 5
print((y := x + 1), y)
print([last := v for v in range(3)], last)
a = b = [1]
a.append(2)
print(b, a is b)
(p, q), [r, *s] = (1, 2), "abc"
print(p, q, r, s)
def swap(a, b): return b, a
m1, m2 = swap(1, 2)
print(m1, m2)
attempt(lambda: (lambda: (yield))().send(1))
del x
attempt(lambda: x)
print(attempt.__code__.co_varnames, f.__code__.co_argcount)
attempt(lambda: f(1, **{"a": 2}, c=1))
attempt(lambda: k(1, **{"y": 1}, **{"y": 2}))
f.extra = 3
print(f.extra, f.__dict__)
