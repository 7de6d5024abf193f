x = "global"
def outer():
    x = "outer"
    class C:
        y = x
        x = "class"
        z = [x for _ in range(1)]
        def m(self): return x
    def inner():
        return x
    return C.y, C.x, C.z, C().m(), inner()
print(outer())
def f():
    global x
    x = "changed"
f(); print(x)
def loops():
    out = []
    for i in range(3):
        for j in range(3):
            if j == i: continue
            if j > 1: break
            out.append((i, j))
        else:
            out.append("else")
    return out
print(loops())
def tri(n):
    try:
        if n == 0: return "try"
        if n == 1: raise KeyError
        if n == 2: raise TypeError("t")
    except KeyError:
        return "except"
    else:
        return "else"
    finally:
        if n == 4: return "finally"
    return "after"
for n in range(5):
    try: print(n, tri(n))
    except TypeError as e: print(n, "TypeError", e)
class M:
    log = []
    def __init__(self, n, swallow=False): self.n, self.swallow = n, swallow
    def __enter__(self): M.log.append(f"+{self.n}"); return self
    def __exit__(self, t, v, tb): M.log.append(f"-{self.n}{t.__name__ if t else ''}"); return self.swallow
def withs():
    for i in range(3):
        with M(i) as a, M(i * 10, swallow=True) as b:
            if i == 1: continue
            if i == 2: raise ValueError
            M.log.append(f"{a.n}{b.n}")
    with M("r"):
        return "returned"
print(withs(), M.log)
def nested(n):
    def a():
        def b():
            nonlocal n
            n += 1
            return n
        return b
    return a()() + n
print(nested(1))
print([[j for j in range(i)] for i in range(3)], [lambda: i for i in range(2)][0](), {i: [k for k in range(i)] for i in range(3)})
def defaults(a, b=[], *, c={}):
    b.append(a); c[a] = len(b)
    return b, c
defaults(1); print(defaults(2), defaults.__defaults__, defaults.__kwdefaults__)
a = b = c = []
a += [1]; b = b + [2]; print(a, b, c)
i = 0
def side():
    global i
    i += 1
    return i
l = [0] * 5
l[side()] += 10; print(l, i)
print(side() < side() < side(), 1 < 3 > 2 != 4, not 1 == 2, 5 if None else 6, [] or {} or 0 or "last", 1 and "and" and [])
def gen_cleanup():
    try:
        while True: yield side()
    finally:
        print("closed")
for v in gen_cleanup():
    if v > 6: break
def annotated(a: int, *args: str, k: "float" = 1.0, **kw: list) -> None: y: int = 3; z: str; return y
print(annotated(1))
n: int = 5
class Ann:
    p: int = 1
    q: str
print(n, Ann.p, list(Ann.__annotations__))
print((lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4), (lambda: (yield))().__class__.__name__)
try:
    del undefined_thing
except NameError as e: print(e)
def local_del():
    v = 1
    del v
    try: v
    except UnboundLocalError as e: return str(e)
print(local_del())
d = {"a": {"b": [1, 2, 3]}}
del d["a"]["b"][1]; d["a"]["c"] = d.pop("zz", 9); print(d)
x, (y, *z), w = 1, (2, 3, 4), 5; print(x, y, z, w)
for k, (p, q) in {"k": (1, 2)}.items(): print(k, p, q)
print([*"ab", *range(2)], (*[1], *[2]), {**{"a": 1}, "b": 2}, max(*[1, 5], *[3]))
if (m := len("abcd")) > 3: print(m)
while (m := m - 1) > 1: print("m", m)
print([y for y in range(5) if (sq := y * y) > 3], sq)
def recursive_default(n, memo={}):
    if n not in memo: memo[n] = n if n < 2 else recursive_default(n - 1) + recursive_default(n - 2)
    return memo[n]
print(recursive_default(40))
import math as mm, random as _r
from math import sqrt as root, pi
print(mm.floor(2.5), root(9), round(pi, 3))
print(__name__, __name__ == "__main__")
def multi(): return 1, 2
print(multi(), type(multi()), *multi())
s = "a"; s *= 3; s += "b"; print(s)
t = (1,); t += (2,); print(t)
st = {1}; st |= {2}; st -= {1}; print(st)
v = 7; v //= 2; v **= 2; v %= 5; print(v)
f1 = f2 = lambda q: q * 2
print(f1(3), f1 is f2, (lambda: None)())
print("%s" % (("tuple",),), "%s" % ["list"], "a" "b" f"{1}" "c", f"{'nested'!r:>10}", f"{{literal}} {3:{4}d}|")
class WithCall:
    def __call__(self, fn): return lambda *a: ("wrapped", fn(*a))
@WithCall()
def wrapped(a): return a
print(wrapped(3))
@lambda cls: (cls.__name__, cls.v)
class Deco: v = 3
print(Deco)
print(sum(i for i in range(4)), list(map(lambda p: p[0] + p[1], [(1, 2), (3, 4)])), sorted(["b", "A", "c"], key=str.lower), list(filter(str.isdigit, "a1b2")))
