# try, with and generators: every way out of them; scopes, arguments, unpacking.
def f(n):
    try:
        if n == 0: return "ret"
        if n == 1: raise ValueError("v")
        if n == 2: raise KeyError("k")
        print("body")
    except ValueError as e:
        print("caught", e)
        return "ve"
    else:
        print("else")
        return "else"
    finally:
        print("finally", n)
    return "end"
for i in range(4):
    try: print(f(i))
    except KeyError as e: print("out", repr(e))
def g():
    for i in range(5):
        try:
            if i == 1: continue
            if i == 3: break
            print(i)
        finally:
            print("fin", i)
    else: print("no")
    return i
print(g())
def h():
    while True:
        try: return 1
        finally:
            break
    return 2
print(h())
def k():
    try: raise ValueError
    finally: return 5
print(k())
def l():
    for i in range(3):
        try: raise ValueError(i)
        except ValueError: continue
        finally: print("f", i)
    return "done"
print(l())
def m():
    try:
        try: 1 / 0
        finally: print("a")
    except ZeroDivisionError as e:
        print(e, e.__context__)
        try: raise KeyError("x") from e
        except KeyError as k: print(repr(k.__cause__), k.__suppress_context__)
    try: e
    except NameError as q: print(q)
m()
def n():
    try: raise ValueError(1)
    except (KeyError, ValueError):
        try: raise TypeError(2)
        except TypeError as t: print(repr(t.__context__))
n()
try:
    try: raise ValueError("a")
    except ValueError: raise
except ValueError as e: print("re", e)
try: raise
except RuntimeError as e: print(e)
try: raise ValueError("a") from None
except ValueError as e: print(e.__cause__, e.__suppress_context__)
try: raise ValueError("a") from 1
except TypeError as e: print(e)
try:
    try: 1/0
    except 5: pass
except TypeError as e: print(e)
e = ValueError("a", 1); e.add_note("n1"); print(e, e.args, e.__notes__)
print(ValueError() , repr(ValueError()), repr(ValueError(1,2)), repr(KeyError('a')), str(KeyError('a')))
print(issubclass(ZeroDivisionError, ArithmeticError), issubclass(FileNotFoundError, OSError), IndexError.__mro__)
import sys
def o():
    try: raise ValueError("z")
    except ValueError: print(sys.exc_info()[0], sys.exc_info()[1])
    print(sys.exc_info())
o()
class CM:
    def __init__(self, n, sup=False, fe=False, fx=False): self.n, self.sup, self.fe, self.fx = n, sup, fe, fx
    def __enter__(self):
        print("enter", self.n)
        if self.fe: raise RuntimeError("enter")
        return self.n
    def __exit__(self, t, v, tb):
        print("exit", self.n, t and t.__name__, v)
        if self.fx: raise RuntimeError("exit")
        return self.sup
with CM(1) as a, CM(2, True) as b: print(a, b); raise ValueError("x")
with (CM(1) as a, CM(2) as b,): print(a, b)
def f():
    with CM(3): return "r"
print(f())
def g():
    for i in range(3):
        with CM(i):
            if i == 1: continue
            if i == 2: break
g()
try:
    with CM(1, True), CM(2, fe=True): print("no")
    print("suppressed")
    with CM(1), CM(2, fx=True): 1/0
except RuntimeError as e: print(repr(e), repr(e.__context__))
try:
    with 5: pass
except TypeError as e: print(e)
class NoExit:
    def __enter__(self): pass
import contextlib
@contextlib.contextmanager
def cm(x):
    print("in", x)
    try: yield x * 2
    except ValueError as e: print("swallow", e)
    finally: print("out")
with cm(2) as v: print(v)
with cm(2) as v: raise ValueError("q")
try:
    with cm(2) as v: raise KeyError("q")
except KeyError as e: print(repr(e))
with contextlib.suppress(ZeroDivisionError): 1/0
with contextlib.nullcontext(5) as z: print(z)
with contextlib.ExitStack() as st:
    st.enter_context(cm(1)); st.callback(print, "cb"); st.push(CM(9))
    print("inside")
class Cl:
    def close(self): print("closed")
with contextlib.closing(Cl()) as c: pass
@cm(3)
def deco(): print("decorated")
deco()
import io
with contextlib.redirect_stdout(io.StringIO()) as s: print("hidden")
print(repr(s.getvalue()))
def gen():
    try:
        x = yield 1
        print("got", x)
        y = yield 2
        print("got", y)
    except ValueError as e:
        print("val", e)
        yield 99
    finally: print("fin")
    return 7
g = gen(); print(next(g), g.send("a"), g.throw(ValueError("t")))
try: next(g)
except StopIteration as e: print("stop", e.value)
g = gen(); next(g); g.close(); g.close()
try: next(g)
except StopIteration as e: print("stop", e.value)
def sub():
    r = yield from gen()
    print("r", r)
    r = yield from [1, 2]
    print(r)
    return "end"
s = sub(); print(next(s), s.send(5), s.send(6))
print(list(s))
def inf():
    i = 0
    while True: yield i; i += 1
import itertools
print(list(itertools.islice(inf(), 3)), [x for x, _ in zip(inf(), "abc")])
g = inf()
try: g.send(3)
except TypeError as e: print(e)
def bad():
    yield 1
    raise StopIteration(5)
try: list(bad())
except RuntimeError as e: print(e, repr(e.__cause__))
def ge():
    try: yield 1
    except GeneratorExit: print("exit"); raise
g = ge(); next(g); g.close()
print(sum(x*x for x in range(5)), list(x+y for x in "ab" for y in "cd" if y != "d"), max((x for x in [3,1,2]), key=lambda v: -v))
g = (x for x in [1,2]); print(type(g).__name__)
def d():
    x = yield
    while x: x = yield x * 2
q = d(); next(q); print(q.send(1), q.send(4))
try: q.send(0)
except StopIteration: print("s")
def tree(n):
    if n: yield from tree(n-1); yield n; yield from tree(n-1)
print(list(tree(3)))
g = gen()
try: g.throw(KeyError("early"))
except KeyError as e: print(repr(e))
try: next(g)
except StopIteration: print("done")
a, *b = (x for x in range(4)); print(a, b)
def ret():
    return 5
    yield
try: next(ret())
except StopIteration as e: print(e.value, e.args)
print([*gen()])
def nested():
    def inner():
        nonlocal c
        c += 1
        yield c
    c = 0
    yield from inner(); yield from inner()
print(list(nested()))
x = 10
def f():
    def g():
        nonlocal y
        y += 1
        return y
    y = 0
    g(); g()
    return y
print(f())
def h():
    global x
    x += 1
h(); print(x)
fs = [lambda i=i: i for i in range(3)] + [lambda: j for j in range(3)]
print([q() for q in fs])
print([[i * j for j in range(3)] for i in range(3)], {k: v for k, v in zip("abc", range(3))}, {c for c in "aab"} == {"a", "b"})
class K:
    n = 3
    l = [n for _ in range(2)] if False else []
    m = [z for z in range(n)]
    try: q = [n for _ in range(2)]
    except NameError as e: print(e)
print(K.m)
def un():
    print(zz)
    zz = 1
try: un()
except UnboundLocalError as e: print(e)
def fr():
    def inn(): return vv
    if 0: vv = 1
    return inn()
try: fr()
except NameError as e: print(e)
try: undefined_name
except NameError as e: print(e)
def a(p, /, q, *r, s, t=5, **u): return p, q, r, s, t, u
print(a(1, 2, 3, 4, s=6, z=7), a(1, q=2, s=3, p=9))
for args, kw in [((), {}), ((1,), {}), ((1, 2), {}), ((1, 2), {"s": 1, "q": 2}), ((), {"p": 1, "q": 1, "s": 1})]:
    try: a(*args, **kw); print("ok")
    except TypeError as e: print(e)
def b(x, y=2): pass
for args, kw in [((1, 2, 3), {}), ((), {}), ((1,), {"z": 1}), ((1,), {"x": 1})]:
    try: b(*args, **kw); print("ok")
    except TypeError as e: print(e)
def c(*, k, l): pass
try: c()
except TypeError as e: print(e)
try: c(1, k=1, l=1)
except TypeError as e: print(e)
try: c(k=1, **{"k": 2})
except TypeError as e: print(e)
try: c(*5)
except TypeError as e: print(e)
try: c(**5)
except TypeError as e: print(e)
try: c(**{1: 2})
except TypeError as e: print(e)
try: (lambda x: x)()
except TypeError as e: print(e)
try: 5()
except TypeError as e: print(e)
try: len()
except TypeError as e: print(e)
try: len(1, 2)
except TypeError as e: print(e)
try: [].append()
except TypeError as e: print(e)
try: "".join(1)
except TypeError as e: print(e)
try: "".join([1])
except TypeError as e: print(e)
def mut(l=[]): l.append(1); return l
mut(); print(mut(), mut.__defaults__, a.__kwdefaults__, a.__name__, a.__code__.co_varnames)
print((lambda *a, **k: (a, k))(*[1], 2, *(3, 4), x=1, **{"y": 2}))
first, (second, *third), *fourth = 1, (2, 3, 4), 5, 6
print(first, second, third, fourth)
for bad in [(1,), (1, 2, 3), 5]:
    try: q, w = bad
    except (ValueError, TypeError) as e: print(e)
try: q, w, *e_ = (1,)
except ValueError as e: print(e)
if (n := 5) > 3: print(n)
print([y := 1, y + 1], (z := 3), z)
print(1 < 2 < 3, 1 < 3 > 2, 1 == 1 != 2, 3 > 2 > 2, 1 in [1] == True)
print(*[1, 2], sep=", ", end="!\n")
assert True, "no"
try: assert 0, "msg"
except AssertionError as e: print(repr(e))
del x
try: x
except NameError as e: print(e)
