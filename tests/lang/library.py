import math, random, functools, itertools, collections, operator, copy, string
from collections import OrderedDict, defaultdict, Counter, namedtuple, deque
from dataclasses import dataclass, field, asdict, replace, fields, astuple
from typing import List, Optional, NamedTuple, Any, Dict, Tuple, Callable, Union
print(math.floor(2.7), math.ceil(2.1), math.trunc(-2.7), math.gcd(12, 18), math.lcm(4, 6), math.factorial(10), math.comb(5, 2), math.perm(5, 2), math.isqrt(17), math.prod([1, 2, 3, 4]), math.isclose(0.1 + 0.2, 0.3), math.copysign(1, -0.0), math.fmod(-7, 3), math.hypot(3, 4), math.log(8, 2), math.log2(8), math.log10(1000), math.exp(0), math.log1p(0), math.degrees(math.pi), math.inf, math.nan, math.isnan(math.nan), math.fsum([0.1] * 10), math.modf(2.5), math.frexp(8.0), math.erf(0.5), math.tanh(0.5), math.tau, math.dist((0, 0), (3, 4)), math.cbrt(27))
for fn in [lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.exp(1000), lambda: math.factorial(-1), lambda: math.floor(math.inf), lambda: math.sqrt("a")]:
    try: print(fn())
    except Exception as e: print(type(e).__name__, e)
random.seed(42)
print(random.random(), random.randint(1, 100), random.uniform(-1, 1), random.choice("abcdef"), random.randrange(0, 100, 7), random.gauss(0, 1), random.gauss(0, 1), random.normalvariate(0, 1), random.getrandbits(16), random.sample(range(100), 5), random.choices([1, 2, 3], k=4), random.choices("ab", weights=[1, 9], k=5), random.expovariate(2), random.triangular(0, 10, 3), random.sample([1, 2, 3, 4], 4))
l = list(range(10)); random.shuffle(l); print(l); random.seed(7); print(random.random(), random.randint(0, 10 ** 12)); rng = random.Random(3); print(rng.random(), rng.randint(0, 9), random.random()); st = random.getstate(); x = random.random(); random.setstate(st); print(x == random.random()); random.seed(-5); print(random.random()); random.seed(2.5); print(random.randint(0, 5) >= 0); random.seed(2 ** 40 + 3); print(random.random())
print(functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), functools.reduce(operator.add, [], 5), functools.partial(int, base=2)("101"), functools.partial(pow, 2)(5))
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(50), fib.cache_info())
@functools.wraps(fib)
def w(): pass
print(w.__name__)
class CP:
    n = 0
    @functools.cached_property
    def v(self): CP.n += 1; return CP.n
c = CP(); print(c.v, c.v, CP.n)
@functools.total_ordering
class TO:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(TO(1) <= TO(2), TO(3) > TO(2), TO(1) >= TO(1), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
print(list(itertools.chain([1], (2, 3), "a")), list(itertools.chain.from_iterable([[1], [2]])), list(itertools.product("ab", [1, 2])), list(itertools.product([0, 1], repeat=2)), list(itertools.permutations([1, 2, 3], 2)), list(itertools.combinations("abc", 2)), list(itertools.combinations_with_replacement("ab", 2)), list(itertools.accumulate([1, 2, 3])), list(itertools.accumulate([1, 2, 3], operator.mul, initial=2)), list(itertools.repeat(1, 3)), list(itertools.islice(itertools.count(5, 2), 3)), list(itertools.islice(itertools.cycle("ab"), 5)), list(itertools.islice(range(10), 2, 8, 3)), list(itertools.zip_longest([1], [2, 3], fillvalue=0)), list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.dropwhile(lambda x: x < 3, [1, 3, 2])), list(itertools.takewhile(lambda x: x < 3, [1, 3, 2])), [(k, list(g)) for k, g in itertools.groupby("aabbc")], list(itertools.pairwise([1, 2, 3])), list(itertools.filterfalse(lambda x: x % 2, range(5))), list(itertools.compress("abc", [1, 0, 1])), [list(t) for t in itertools.tee([1, 2])], list(itertools.permutations([1, 2, 3])), list(itertools.batched("abcde", 2)))
od = OrderedDict([("a", 1), ("b", 2)]); od.move_to_end("a"); print(od, list(od), od == OrderedDict([("a", 1), ("b", 2)]), od == {"a": 1, "b": 2}, od.popitem(last=False), isinstance(od, dict), type(od).__name__)
dd = defaultdict(list); dd["x"].append(1); dd["y"]; print(dd, dict(dd), dd.get("z"), len(dd)); di = defaultdict(int); di["a"] += 5; print(di, defaultdict(lambda: 7)["q"])
ct = Counter("abracadabra"); print(ct, ct.most_common(2), ct["z"], ct["a"], sum(ct.values()), Counter(a=2) + Counter(a=1, b=1), Counter(a=2) - Counter(a=1, b=1), Counter([1, 1, 2]) & Counter([1]), Counter([1]) | Counter([2]), sorted(ct.elements())[:3], ct.total()); ct.update("aaa"); ct.subtract("b"); print(ct["a"], ct["b"])
P = namedtuple("P", "x y"); p = P(1, y=2); print(p, p.x, p[1], p._replace(x=5), p._asdict(), P._fields, p == (1, 2), tuple(p), isinstance(p, tuple), P._make([3, 4])); a, b = p; print(a, b, len(p), hash(p) == hash((1, 2)))
Q = namedtuple("Q", ["a", "b"], defaults=[9]); print(Q(1))
try: P(1)
except TypeError as e: print(e)
dq = deque([1, 2, 3], maxlen=3); dq.append(4); dq.appendleft(0); print(dq, len(dq), dq[0], dq.pop(), dq.popleft(), list(dq)); dq.extend([7, 8]); dq.rotate(1); print(dq, 7 in dq, deque("ab"), dq.maxlen)
@dataclass
class D:
    x: int
    y: float = 2.0
    z: list = field(default_factory=list)
    def norm(self): return self.x + self.y
d = D(1); print(d, d.norm(), d == D(1), d == D(2), asdict(d), replace(d, x=7), [f.name for f in fields(d)], astuple(d), D(3, y=4)); d.z.append(1); print(D(1).z)
@dataclass(frozen=True, order=True)
class F:
    a: int
    b: str = "q"
print(F(1), F(1) < F(2), hash(F(1)) == hash(F(1)), {F(1): 2}[F(1)], sorted([F(3), F(1)]))
try: F(1).a = 3
except Exception as e: print(type(e).__name__, e)
@dataclass
class E(D):
    w: int = 5
    def __post_init__(self): self.v = self.x * 2
print(E(1, w=6), E(2).v)
try: D()
except TypeError as e: print(e)
class NT(NamedTuple):
    lo: int
    hi: int = 10
    def span(self): return self.hi - self.lo
print(NT(3), NT(3).span(), NT(1, 2).hi, NT._fields)
def typed(x: Optional[int], y: List[Dict[str, Any]] = None, *z: Union[int, str]) -> Tuple[int, ...]: return x
print(typed(3))
o = [1, [2, 3], {"a": (4,)}]; sh = copy.copy(o); dp = copy.deepcopy(o); o[1].append(9); print(sh, dp, dp[1] is o[1])
class Obj:
    def __init__(s): s.d = [1]
ob = Obj(); oc = copy.copy(ob); od2 = copy.deepcopy(ob); ob.d.append(2); print(oc.d, od2.d, type(od2).__name__)
print(operator.itemgetter(1)([5, 6]), operator.itemgetter("a", "b")({"a": 1, "b": 2}), operator.attrgetter("x")(p), operator.mul(3, 4), operator.sub(5, 2), operator.neg(1), operator.truediv(1, 2), sorted([(1, 3), (2, 1)], key=operator.itemgetter(1)), operator.contains([1], 1))
print(string.ascii_lowercase, string.digits, string.ascii_letters[-3:])
import time
t0 = time.time(); t1 = time.perf_counter(); print(t0 > 1e9, time.perf_counter() >= t1, isinstance(time.monotonic(), float))
from abc import ABC, abstractmethod
class Sh(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def name(self): ...
class Sq(Sh):
    def area(self): return 4
    name = "sq"
try: Sh()
except TypeError as e: print(e)
print(Sq().area(), isinstance(Sq(), Sh))
from enum import Enum, IntEnum, auto
class Color(Enum):
    RED = 1
    GREEN = "g"
    BLUE = auto()
print(Color.RED, repr(Color.GREEN), Color.RED.name, Color.RED.value, Color(1) is Color.RED, Color["GREEN"], list(Color), len(Color), Color.RED == Color.RED, Color.RED != Color.GREEN, isinstance(Color.RED, Color), {Color.RED: 1}[Color.RED], Color.RED in Color)
class Lv(IntEnum):
    LO = 1
    HI = 2
print(Lv.HI > Lv.LO, Lv.HI + 1, Lv(2).name, int(Lv.LO), sorted([Lv.HI, Lv.LO]))
try: Color(99)
except ValueError as e: print(e)
from types import SimpleNamespace
ns = SimpleNamespace(a=1, b="x"); ns.c = 3; print(ns, ns.a)
import heapq, bisect
h = [5, 1, 4]; heapq.heapify(h); heapq.heappush(h, 0); print(heapq.heappop(h), heapq.heappop(h), heapq.nlargest(2, [1, 5, 3]), heapq.nsmallest(2, [1, 5, 3]), bisect.bisect([1, 3, 5], 3), bisect.bisect_left([1, 3, 5], 3))
