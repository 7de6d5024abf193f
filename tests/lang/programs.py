# Small whole programs: queens, a tokenizer and evaluator, graphs, an LRU cache, an event bus, matrices, text statistics.
from collections import defaultdict, deque, Counter, OrderedDict
import heapq, itertools, math, functools

def queens(n):
    def place(row, cols, d1, d2):
        if row == n:
            return 1
        return sum(place(row + 1, cols | {c}, d1 | {row + c}, d2 | {row - c})
                   for c in range(n) if c not in cols and row + c not in d1 and row - c not in d2)
    return place(0, frozenset(), frozenset(), frozenset())
print([queens(n) for n in range(1, 7)])

class Token:
    __slots__ = ("kind", "value")
    def __init__(self, kind, value): self.kind, self.value = kind, value
    def __repr__(self): return f"{self.kind}:{self.value}"

def tokenize(text):
    i = 0
    while i < len(text):
        c = text[i]
        if c.isspace(): i += 1; continue
        if c.isdigit() or c == ".":
            j = i
            while j < len(text) and (text[j].isdigit() or text[j] == "."): j += 1
            yield Token("num", float(text[i:j]) if "." in text[i:j] else int(text[i:j]))
            i = j
        elif c in "+-*/()^":
            yield Token("op", c); i += 1
        else:
            raise SyntaxError(f"bad character {c!r} at {i}")

class Parser:
    LEVELS = [("+", "-"), ("*", "/")]
    def __init__(self, text): self.tokens = deque(tokenize(text))
    def peek(self): return self.tokens[0].value if self.tokens and self.tokens[0].kind == "op" else None
    def level(self, n):
        if n == len(self.LEVELS): return self.power()
        left = self.level(n + 1)
        while self.peek() in self.LEVELS[n]:
            op = self.tokens.popleft().value
            right = self.level(n + 1)
            left = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}[op](left, right)
        return left
    def power(self):
        base = self.atom()
        if self.peek() == "^":
            self.tokens.popleft()
            return base ** self.power()
        return base
    def atom(self):
        if not self.tokens: raise SyntaxError("unexpected end")
        t = self.tokens.popleft()
        if t.kind == "num": return t.value
        if t.value == "-": return -self.atom()
        if t.value == "(":
            v = self.level(0)
            if self.peek() != ")": raise SyntaxError("expected )")
            self.tokens.popleft()
            return v
        raise SyntaxError(f"unexpected {t}")
for text in ["1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-4 / 8", "7 - 2 - 1", "1.5 * (2", "3 $ 4", "", "1 / 0"]:
    try:
        print(text, "=", Parser(text).level(0))
    except (SyntaxError, ZeroDivisionError) as e:
        print(text, "->", type(e).__name__, e)

def dijkstra(graph, start):
    dist, heap, seen = {start: 0}, [(0, start)], set()
    while heap:
        d, node = heapq.heappop(heap)
        if node in seen: continue
        seen.add(node)
        for other, w in graph.get(node, {}).items():
            nd = d + w
            if nd < dist.get(other, math.inf):
                dist[other] = nd
                heapq.heappush(heap, (nd, other))
    return dist
g = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}
print(dijkstra(g, "a"))

def topo(edges):
    after, degree = defaultdict(list), Counter()
    nodes = sorted({n for e in edges for n in e})
    for a, b in edges: after[a].append(b); degree[b] += 1
    ready = deque(n for n in nodes if not degree[n])
    out = []
    while ready:
        n = ready.popleft(); out.append(n)
        for m in after[n]:
            degree[m] -= 1
            if not degree[m]: ready.append(m)
    if len(out) != len(nodes): raise ValueError("cycle")
    return out
print(topo([("shirt", "tie"), ("tie", "jacket"), ("pants", "shoes"), ("pants", "belt"), ("belt", "jacket")]))
try: topo([(1, 2), (2, 1)])
except ValueError as e: print(e)

class LRU:
    def __init__(self, size): self.size, self.data, self.hits = size, OrderedDict(), 0
    def get(self, key, make):
        if key in self.data:
            self.hits += 1
            self.data.move_to_end(key)
        else:
            self.data[key] = make(key)
            if len(self.data) > self.size: self.data.popitem(last=False)
        return self.data[key]
cache = LRU(2)
print([cache.get(k, lambda k: k * k) for k in [1, 2, 1, 3, 2, 1]], cache.hits, list(cache.data))

class Bus:
    def __init__(self): self.handlers = defaultdict(list)
    def on(self, event):
        def register(f):
            self.handlers[event].append(f)
            return f
        return register
    def emit(self, event, *args, **kw):
        return [h(*args, **kw) for h in self.handlers[event]]
bus = Bus()
@bus.on("greet")
def hello(name, punct="!"): return f"hello {name}{punct}"
@bus.on("greet")
def bye(name, **_): return f"bye {name}"
print(bus.emit("greet", "ann"), bus.emit("greet", "bob", punct="?"), bus.emit("none"))

class Matrix:
    def __init__(self, rows): self.rows = [list(r) for r in rows]
    @classmethod
    def identity(cls, n): return cls([[int(i == j) for j in range(n)] for i in range(n)])
    def __matmul__(self, o): return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __pow__(self, n):
        result, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1: result = result @ base
            base, n = base @ base, n >> 1
        return result
    def __eq__(self, o): return isinstance(o, Matrix) and self.rows == o.rows
    def __repr__(self): return "\n".join(" ".join(f"{v:4d}" for v in r) for r in self.rows)
print(Matrix([[1, 1], [1, 0]]) ** 10, Matrix.identity(2) == Matrix([[1, 0], [0, 1]]), sep="\n")

text = """the cat sat on the mat the end"""
words = text.split()
freq = sorted(Counter(words).items(), key=lambda kv: (-kv[1], kv[0]))
for word, n in freq[:3]: print(f"{word:<6}{'*' * n:>4}|{n / len(words):7.2%}")
groups = {k: list(v) for k, v in itertools.groupby(sorted(words, key=len), key=len)}
print(groups)

def primes(limit):
    sieve = [True] * (limit + 1)
    sieve[:2] = [False, False]
    for i in range(2, math.isqrt(limit) + 1):
        if sieve[i]: sieve[i * i::i] = [False] * len(range(i * i, limit + 1, i))
    return [i for i, p in enumerate(sieve) if p]
print(primes(50))

@functools.lru_cache(None)
def edits(a, b):
    if not a or not b: return len(a) + len(b)
    if a[0] == b[0]: return edits(a[1:], b[1:])
    return 1 + min(edits(a[1:], b), edits(a, b[1:]), edits(a[1:], b[1:]))
print(edits("kitten", "sitting"), edits("", "abc"))

def flatten(x):
    for item in x:
        if isinstance(item, (list, tuple)): yield from flatten(item)
        else: yield item
print(list(flatten([1, [2, (3, [4]), []], 5])))

class Stack(list):
    push = list.append
    def peek(self, default=None): return self[-1] if self else default
s = Stack(); s.push(1); s.push(2)
print(s, s.peek(), s.pop(), len(s), Stack().peek("empty"))

def bank():
    balance = 0
    def deposit(n):
        nonlocal balance
        if n <= 0: raise ValueError(f"bad amount: {n}")
        balance += n
        return balance
    def withdraw(n):
        nonlocal balance
        if n > balance: raise RuntimeError(f"need {n - balance} more")
        balance -= n
        return balance
    return deposit, withdraw
dep, wd = bank()
for f, n in [(dep, 10), (wd, 3), (wd, 50), (dep, -1)]:
    try: print(f.__name__, n, f(n))
    except (ValueError, RuntimeError) as e: print(f.__name__, n, e)

state, trace = "idle", []
table = {("idle", "start"): "run", ("run", "pause"): "wait", ("wait", "start"): "run", ("run", "stop"): "idle"}
for event in "start pause start bogus stop".split():
    state = table.get((state, event), state)
    trace.append(f"{event}->{state}")
print(", ".join(trace))
print("\n".join("".join("#" if abs(x - 3) + abs(y - 2) <= 2 else "." for x in range(7)) for y in range(5)))
