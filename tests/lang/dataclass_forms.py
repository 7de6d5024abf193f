# dataclasses: fields, defaults, order, frozen, keyword-only, InitVar, slots, replace, asdict; and what is refused.
from dataclasses import dataclass, field, asdict, astuple, replace, fields, is_dataclass, FrozenInstanceError, InitVar, KW_ONLY, make_dataclass, MISSING
import dataclasses
@dataclass
class P:
    x: int
    y: float = 2.0
    z: list = field(default_factory=list)
    def __post_init__(self): print("post", self.x)
p = P(1); print(p, p == P(1), p != P(2), asdict(p), astuple(p), replace(p, x=5), [f.name for f in fields(p)], is_dataclass(P))
p.z.append(1); print(P(1).z, p.z, P.y, hasattr(P, "z"))
try: P()
except TypeError as e: print(e)
try: P(1, 2, 3, 4)
except TypeError as e: print(e)
try: hash(p)
except TypeError as e: print(e)
@dataclass(frozen=True, order=True)
class Q:
    a: int
    b: str = field(default="q", compare=False, repr=False)
    c: int = field(init=False, default=9)
q = Q(1); print(q, hash(q) == hash(Q(1, "zz")), Q(1) < Q(2), Q(1) <= Q(1, "z"), sorted([Q(3), Q(1)]), {q: 1}[Q(1)])
try: q.a = 2
except FrozenInstanceError as e: print(repr(e), isinstance(e, AttributeError))
try: del q.a
except FrozenInstanceError as e: print(e)
try: Q(1) < 3
except TypeError as e: print(e)
@dataclass
class B(P):
    w: int = 0
    y: float = 3.5
print(B(1), [f.name for f in fields(B)], B(1) == P(1))
@dataclass(kw_only=True)
class KO:
    a: int
    b: int = 1
print(KO(a=1))
try: KO(1)
except TypeError as e: print(e)
@dataclass
class KM:
    a: int
    _: KW_ONLY
    b: int = 2
print(KM(1, b=3))
@dataclass
class IV:
    a: int
    s: InitVar[int] = 3
    def __post_init__(self, s): self.t = self.a * s
print(IV(2, 5).t, IV(2), IV(1).t)
try:
    @dataclass
    class Bad:
        a: int = 1
        b: int
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2:
        a: list = []
except ValueError as e: print(e)
@dataclass(eq=False)
class NE: a: int = 1
print(NE() == NE(), hash(NE()) is not None)
@dataclass(repr=False)
class NR: a: int = 1
print(repr(NR()).startswith("<__main__.NR object at"))
@dataclass(slots=True)
class SL: a: int = 1
try: SL().b = 2
except AttributeError as e: print(e)
@dataclass
class Node:
    v: int
    l: "Node" = None
    r: "Node" = None
print(Node(1, Node(2), Node(3)), asdict(Node(1, Node(2))))
@dataclass(unsafe_hash=True)
class UH: a: int = 1
print(hash(UH()) == hash(UH()), P.__match_args__, P.__dataclass_fields__["x"].type)
f = fields(P)[0]; print(f.name, f.type, f.default is dataclasses.MISSING)
C = make_dataclass("C", ["x", ("y", int, 5)]); print(C(1))
from typing import ClassVar
@dataclass
class CV:
    k: ClassVar[int] = 3
    a: int = 1
print(CV(), CV.k)
try: replace(q, c=3)
except ValueError as e: print(e)
@dataclass
class Rec:
    me: object = None
r = Rec(); r.me = r; print(r)
from dataclasses import dataclass, field, fields, asdict, replace, InitVar, KW_ONLY, make_dataclass, MISSING
@dataclass(kw_only=True)
class KO:
    a: int
    b: int = 1
print(KO(a=1))
try: KO(1)
except TypeError as e: print(e)
@dataclass
class KM:
    a: int
    _: KW_ONLY
    b: int = 2
print(KM(1, b=3))
try: KM(1, 2)
except TypeError as e: print(e)
@dataclass
class IV:
    a: int
    s: InitVar[int] = 3
    def __post_init__(self, s): self.t = self.a * s
print(IV(2, 5).t, IV(2), IV(1).t, asdict(IV(3)))
try:
    @dataclass
    class Bad:
        a: int = 1
        b: int
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2:
        a: list = []
except ValueError as e: print(e)
@dataclass(repr=False)
class NR: a: int = 1
print(repr(NR()).startswith("<__main__.NR object at"))
@dataclass(slots=True)
class SL: a: int = 1
try: SL().b = 2
except AttributeError as e: print(e)
print(SL.__slots__)
@dataclass(unsafe_hash=True)
class UH: a: int = 1
print(hash(UH()) == hash(UH()), hash(UH(3)) == hash((3,)))
C = make_dataclass("C", ["x", ("y", int, 5)]); print(C(1))
@dataclass
class Rec:
    me: object = None
r = Rec(); r.me = r; print(r)
@dataclass(frozen=True)
class Fz: a: int = 1
try:
    @dataclass
    class Sub(Fz): b: int = 2
except TypeError as e: print(e)
class SubF(Fz): pass
sf = SubF(); 
try: sf.a = 3
except Exception as e: print(type(e).__name__, e)
try: sf.zz = 3; print("set", sf.zz)
except Exception as e: print(type(e).__name__, e)
@dataclass(order=True)
class O:
    a: int
    b: int = field(default=0, compare=False)
print(O(1, 5) == O(1, 6), O(1) < O(2), O(1) <= O(1), max(O(1), O(3)))
try:
    @dataclass(order=True)
    class O2:
        a: int
        def __lt__(self, o): return True
except TypeError as e: print(e)
@dataclass
class M:
    a: int = field(metadata={"help": "x"}, default=3)
print(fields(M)[0].metadata["help"], M.__doc__)
@dataclass
class Outer:
    inner: M
    l: list
    d: dict
print(asdict(Outer(M(1), [M(2)], {"k": M(3)})), replace(Outer(M(1), [], {}), l=[1]))
try: replace(Outer(M(1), [], {}), q=1)
except TypeError as e: print(e)
@dataclass
class G:
    x: int
    y: int = field(init=False)
    def __post_init__(self): self.y = self.x * 2
print(G(3), G(3) == G(3))
try: fields(5)
except TypeError as e: print(e)
try: asdict(5)
except TypeError as e: print(e)
try: P = field(default=1, default_factory=list)
except ValueError as e: print(e)
@dataclass
class Eq:
    a: int
    def __eq__(self, o): return "mine"
print(Eq(1) == Eq(2))
@dataclass
class Base:
    x: int = 15
    y: int = 0
@dataclass
class D2(Base):
    z: int = 10
    x: int = 15.5
print(D2(), D2(1, 2, 3))
try: G(1, 2, 3)
except TypeError as e: print(e)
try: G()
except TypeError as e: print(e)
try: D2(q=3)
except TypeError as e: print(e)
