# Every special method of a class; attribute hooks, slots, descriptors, subclasses of builtin types.
class A:
    x = 1
    def __init__(self, v): self.v = v
    def __repr__(self): return f"A({self.v!r})"
    def __eq__(self, o): return isinstance(o, A) and self.v == o.v
    def __hash__(self): return hash(self.v)
    def __lt__(self, o): return self.v < o.v
    def __len__(self): return self.v
    def __contains__(self, k): return k == self.v
    def __getitem__(self, i): return (self.v, i)
    def __setitem__(self, i, v): print("set", i, v)
    def __delitem__(self, i): print("del", i)
    def __call__(self, *a, **k): return a, k
    def __add__(self, o): return ("add", self.v, o)
    def __radd__(self, o): return ("radd", o, self.v)
    def __iadd__(self, o): self.v += o; return self
    def __neg__(self): return -self.v
    def __pos__(self): return +self.v
    def __invert__(self): return ~self.v
    def __abs__(self): return abs(self.v)
    def __int__(self): return self.v
    def __float__(self): return float(self.v)
    def __index__(self): return self.v
    def __bool__(self): return self.v > 3
    def __format__(self, s): return f"<{s}:{self.v}>"
    def __str__(self): return "str" + str(self.v)
    def __iter__(self): return iter(range(self.v))
    def __reversed__(self): return "rev"
    def __enter__(self): print("enter"); return self
    def __exit__(self, *a): print("exit", a[0], a[1]); return True
    def __matmul__(self, o): return "mm"
    def __mod__(self, o): return "mod"
    def __divmod__(self, o): return "dm"
    def __pow__(self, o, m=None): return ("pow", o, m)
    def __rpow__(self, o): return ("rpow", o)
    def __round__(self, n=None): return ("round", n)
    def __floor__(self): return "floor"
    def __ceil__(self): return "ceil"
    def __trunc__(self): return "trunc"
    def __lshift__(self, o): return "ls"
    def __rshift__(self, o): return "rs"
    def __and__(self, o): return "and"
    def __or__(self, o): return "or"
    def __xor__(self, o): return "xor"
    def __rsub__(self, o): return "rsub"
a, b = A(3), A(5)
print(a, repr(a), [a, b], f"{a}", f"{a!r:>10}", f"{a:abc}", "{:x}".format(a), "%s %r" % (a, a))
print(a == b, a != b, a == A(3), a < b, a > b, sorted([b, a]), max(a, b), min(a, b))
print(len(a), 3 in a, 4 in a, a[1], a[1:2], a[1, 2], a[::2], a[...])
a[1] = 2; a[1:2] = 3; del a[1]; del a[:]
print(a(1, 2, k=3), a + 1, 1 + a, a + b, sum([a, b]) )
a += 4
print(a.v, -a, +a, ~a, abs(a), int(a), float(a), bool(a), list(a), [*a], reversed(a))
with a as q, b:
    print(q is a)
    raise ValueError("x")
print(a @ 1, a % 2, divmod(a, 3), a ** 2, pow(a, 2, 5), 2 ** a, round(a), round(a, 2), a << 1, a >> 1, a & 1, a | 1, a ^ 1, 1 - a)
import math
print(math.floor(a), math.ceil(a), math.trunc(a))
print([0, 1, 2, 3, 4, 5, 6, 7, 8][a], "x" * a, range(a), hash(a) == hash(7), {a: 1}[A(7)])
print(a.__class__.__name__, type(a) is A, A.__mro__, A.__bases__, A.__name__, A.__qualname__, A.__module__)
try: a - 1
except TypeError as e: print(e)
try: a <= b
except TypeError as e: print(e)
try: a.foo
except AttributeError as e: print(e)
try: A.foo
except AttributeError as e: print(e)
try: A()
except TypeError as e: print(e)
try: A(1, 2)
except TypeError as e: print(e)
try: A(w=2)
except TypeError as e: print(e)
class Base:
    registry = []
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        Base.registry.append(cls.__name__)
    def __class_getitem__(cls, item): return f"{cls.__name__}[{item}]"
    @classmethod
    def make(cls, *a): return cls(*a)
    @staticmethod
    def st(x): return x * 2
    @property
    def p(self): return self._p
    @p.setter
    def p(self, v): print("set p", v); self._p = v
    @p.deleter
    def p(self): print("del p"); del self._p
class C(Base, tag="c"): pass
class D(C, tag="d"):
    def __init__(self, *a): self.a = a
    def __getattr__(self, n):
        if n.startswith("dyn_"): return n[4:]
        raise AttributeError(f"no {n}")
    def __setattr__(self, n, v):
        print("setattr", n, v); super().__setattr__(n, v)
    def __delattr__(self, n): print("delattr", n); object.__delattr__(self, n)
    def __getattribute__(self, n):
        if n == "magic": return 42
        return super().__getattribute__(n)
print(Base.registry, C.tag, D.tag, C[int], Base["x"])
d = D.make(1, 2)
print(d.a, d.st(4), D.st(5), d.dyn_foo, d.magic)
d.p = 3
print(d.p, d.__dict__)
del d.p
try: d.p
except AttributeError as e: print(e)
try: d.zz
except AttributeError as e: print(e)
print(hasattr(d, "zz"), getattr(d, "zz", 9), getattr(d, "a"), vars(d))
print(isinstance(d, Base), issubclass(D, (int, C)), D.__mro__)
class P:
    __slots__ = ("a", "b")
p = P(); p.a = 1
try: p.c = 1
except AttributeError as e: print(e)
try: p.b
except AttributeError as e: print(e)
try: p.__dict__
except AttributeError as e: print(e)
class RO:
    @property
    def x(self): return 1
try: RO().x = 2
except AttributeError as e: print(e)
try: del RO().x
except AttributeError as e: print(e)
class X:
    def f(self): return "X.f"
class Y(X):
    def f(self): return "Y>" + super().f()
class Z(X):
    def f(self): return "Z>" + super().f()
class W(Y, Z):
    def f(self): return "W>" + super().f()
print(W().f(), [c.__name__ for c in W.__mro__], super(Y, W()).f())
try:
    class Q(X, W): pass
except TypeError as e: print(e)
try:
    class Q(X, X): pass
except TypeError as e: print(e)
def deco(n):
    def d(c):
        c.n = n
        return c
    return d
@deco(4)
class R: pass
print(R.n)
class Desc:
    def __set_name__(self, owner, name): self.name = name; print("set_name", owner.__name__, name)
    def __get__(self, inst, owner=None):
        if inst is None: return self
        return inst.__dict__.get(self.name, "none")
    def __set__(self, inst, v): inst.__dict__[self.name] = v * 2
    def __delete__(self, inst): print("del"); del inst.__dict__[self.name]
class H:
    a = Desc()
    b = Desc()
h = H()
print(h.a); h.a = 4; print(h.a, h.__dict__); del h.a; print(h.a, type(H.a).__name__)
T = type("T", (X,), {"g": lambda self: "g"})
print(T().g(), T().f(), T.__name__)
class N:
    def __new__(cls, *a):
        o = super().__new__(cls)
        o.a = a
        return o
print(N(1, 2).a)
class S(str):
    def shout(self): return self.upper() + "!"
s = S("abc"); print(s.shout(), s + "d", type(s + "d").__name__, isinstance(s, str), len(s), s == "abc", {s: 1}["abc"])
class L(list):
    def second(self): return self[1]
l = L([1, 2, 3]); l.append(4); print(l, l.second(), type(l[1:]).__name__, l == [1, 2, 3, 4], sum(l))
class DD(dict):
    def __missing__(self, k): return k * 2
d = DD(a=1); print(d["a"], d["zz"], d.get("q"), d)
class I_(int):
    def __repr__(self): return f"I({int(self)})"
print(I_(4)+1)
class F(float): pass
print(F(2.5) * 2, F(1.5))
class TT(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
print(TT(1, 2), TT(1, 2)[0], TT(1,2) == (1,2))
class E(Exception):
    def __init__(self, code, msg="d"): super().__init__(msg); self.code = code
    def __str__(self): return f"[{self.code}] {self.args}"
try: raise E(3, "bad")
except E as e: print(e, repr(e), e.code, e.args)
class K(KeyError): pass
try: raise K("kk")
except LookupError as e: print(repr(e), str(e))
