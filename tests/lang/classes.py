def attempt(fn):
    try:
        print("ok", fn())
    except Exception as e:
        print(type(e).__name__, e)
class A:
    kind = "a"
    def __init__(self, v=0): self.v = v
    def __repr__(self): return f"A({self.v!r})"
    def __eq__(self, o): return isinstance(o, A) and self.v == o.v
    def __hash__(self): return hash(self.v)
    def __lt__(self, o): return self.v < o.v
    def __add__(self, o): return A(self.v + (o.v if isinstance(o, A) else o))
    def __radd__(self, o): return A(o + self.v)
    def __iadd__(self, o): self.v += 100; return self
    def __neg__(self): return A(-self.v)
    def __len__(self): return 3
    def __getitem__(self, i):
        if isinstance(i, slice): return (i.start, i.stop, i.step)
        if i > 2: raise IndexError(i)
        return i * 10
    def __setitem__(self, i, x): print("set", i, x)
    def __delitem__(self, i): print("del", i)
    def __contains__(self, x): return x == 7
    def __call__(self, *a, **k): return a, k
    def __bool__(self): return self.v != 0
    @property
    def double(self): return self.v * 2
    @double.setter
    def double(self, x): self.v = x // 2
    @staticmethod
    def stat(x): return x + 1
    @classmethod
    def make(cls, v): return cls(v)
a = A(5)
print(a, a == A(5), a != A(5), a < A(6), a > A(4), sorted([A(3), A(1)]), a + 1, 1 + a, a + a, -a)
a += 1
print(a, len(a), a[1], a[1:5:2], list(a), 7 in a, 8 in a, a(1, k=2), bool(A(0)))
a[1] = 2; del a[3]
print(a.double); a.double = 50; print(a.v, A.stat(1), a.stat(2), A.make(9), a.make(8))
class B(A):
    kind = "b"
    def __init__(self, v, w):
        super().__init__(v)
        self.w = w
    def __repr__(self): return "B<" + super().__repr__() + f",{self.w}>"
    @classmethod
    def make(cls, v): return super().make.__func__(lambda v: cls(v, 1), v)
b = B(1, 2)
print(b, B.kind, A.kind, b.kind, isinstance(b, A), issubclass(B, A), issubclass(A, B), B.__mro__)
print(type(b), type(b).__name__, B.__bases__, b.__class__ is B, b.__dict__, vars(b))
class X: pass
class Y(X): pass
class Z(X): pass
class W(Y, Z): pass
print([c.__name__ for c in W.__mro__])
attempt(lambda: type("Bad", (X, Y), {}))
class D1:
    def hi(self): return ["D1"]
class D2(D1):
    def hi(self): return ["D2"] + super().hi()
class D3(D1):
    def hi(self): return ["D3"] + super().hi()
class D4(D2, D3):
    def hi(self): return ["D4"] + super().hi()
print(D4().hi())
attempt(lambda: a.nope)
attempt(lambda: A.nope)
attempt(lambda: X(1))
attempt(lambda: B(1))
attempt(lambda: X() + 1)
attempt(lambda: X() < X())
attempt(lambda: len(X()))
attempt(lambda: X()[0])
attempt(lambda: iter(X()))
attempt(lambda: X()())
attempt(lambda: {}[[]])
class P:
    @property
    def ro(self): return 1
def setro(): P().ro = 2
attempt(setro)
class G:
    def __getattr__(self, n):
        if n.startswith("x"): return n * 2
        raise AttributeError(f"no {n}")
    def __setattr__(self, n, v): object.__setattr__(self, n, v if n != "k" else v + 1)
g = G(); g.k = 1; g.j = 2
print(g.xy, g.k, g.j, hasattr(g, "q"), getattr(g, "q", "dflt"))
attempt(lambda: g.foo)
class H:
    def __delattr__(self, n): print("delattr", n)
h = H(); del h.z
setattr(h, "y", 3); print(h.y, getattr(h, "y"), hasattr(h, "w"))
class I:
    def __iter__(self): return iter([1, 2])
class J:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
print(list(I()), list(J()), sum(J()), max(J()), tuple(J()), [*J(), *I()])
class Desc:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, owner): return self if obj is None else getattr(obj, self.name, "unset")
    def __set__(self, obj, v): setattr(obj, self.name, v * 2)
class UseDesc:
    f = Desc()
u = UseDesc(); print(u.f); u.f = 4; print(u.f, u.__dict__)
class Base:
    subs = []
    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        Base.subs.append((cls.__name__, tag))
class S1(Base, tag="t"): pass
class S2(S1): pass
print(Base.subs)
class N:
    def __new__(cls, x):
        o = super().__new__(cls)
        o.pre = x
        return o
    def __init__(self, x): self.post = x + 1
n = N(1); print(n.pre, n.post)
print(str(A(1)), repr(A(2)), f"{A(3)}", f"{A(3)!r:>6}", "%s %r" % (A(4), A(5)))
class F:
    def __format__(self, spec): return f"<{spec}>"
    def __str__(self): return "str"
print(f"{F():abc} {F()}", format(F(), "q"), str(F()))
class Cnt:
    n = 0
    def __enter__(self): return "in"
    def __exit__(self, t, v, tb): print("exit", t, v); return t is KeyError
with Cnt() as s: print(s)
with Cnt(): raise KeyError("k")
try:
    with Cnt(): raise ValueError("v")
except ValueError as e: print("out", e)
class Inner:
    class Nested:
        z = 1
    def meth(self): return self.Nested.z
print(Inner().meth(), Inner.Nested.__qualname__, Inner.meth.__qualname__)
class OnlyEq:
    def __eq__(self, o): return True
attempt(lambda: hash(OnlyEq()))
attempt(lambda: {OnlyEq()})
class L(list):
    def total(self): return sum(self)
l = L([1, 2, 3]); l.append(4)
print(l, l.total(), len(l), l[1], isinstance(l, list), l + [5], l == [1, 2, 3, 4])
class Dd(dict):
    def __missing__(self, k): return k * 2
    def __getitem__(self, k): return super().__getitem__(k)
d = Dd(a=1); d["b"] = 2
print(d, d["a"], d["zz"], d.get("q"), len(d), "a" in d, list(d))
class T(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
t = T(1, 2); print(t, t[0], len(t), t + (3,), hash(t) == hash((1, 2)))
class In(int):
    def dbl(self): return self * 2
print(In(5) + 1, In(4).dbl(), In(3) == 3, {3: "x"}[In(3)], max(In(1), 2), f"{In(7):03d}")
class St(str):
    def shout(self): return self.upper() + "!"
print(St("ab").shout(), St("a") + "b", len(St("abc")), St("x") == "x")
print(type(3), type("s"), type(None), type([]), type(len), type(attempt), type(A), type(a.stat), type(a.make))
print(A.__name__, A.__module__, A.__doc__)
K = type("K", (A,), {"q": 1, "m": lambda self: self.q + 1}); print(K(3).m(), K)
print(callable(A), callable(a), callable(X()), callable(len), callable(1))
print([n for n in dir(S1) if not n.startswith("__")])
class Comparable:
    def __init__(s, v): s.v = v
    def __le__(s, o): return s.v <= o.v
    def __ge__(s, o): return s.v >= o.v
print(Comparable(1) <= Comparable(2), Comparable(1) >= Comparable(2))
class Mat:
    def __matmul__(self, o): return "mm"
    def __pow__(self, n): return n
    def __floordiv__(self, o): return "fd"
    def __and__(self, o): return "and"
    def __invert__(self): return "inv"
    def __abs__(self): return "abs"
    def __round__(self, n=None): return ("r", n)
    def __index__(self): return 2
    def __float__(self): return 1.5
    def __int__(self): return 9
    def __reversed__(self): return "rev"
mm = Mat()
print(mm @ mm, mm ** 3, mm // 1, mm & 1, ~mm, abs(mm), round(mm), round(mm, 2), [10, 20, 30][mm], float(mm), int(mm), reversed(mm))
