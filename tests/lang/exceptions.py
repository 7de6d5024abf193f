def f(x):
    try:
        print("try", x)
        if x == 1: raise ValueError("one")
        if x == 2: return "ret"
        if x == 3: raise KeyError("three")
        if x == 4: raise Exception
    except ValueError as e:
        print("value", e, e.args)
        return "v"
    except (KeyError, IndexError) as e:
        print("key", e, repr(e))
    except:
        print("bare")
    else:
        print("else")
    finally:
        print("finally")
    return "end"
for i in range(5): print(f(i))
def fin():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
            print("body", i)
        finally:
            print("fin", i)
    return "done"
print(fin())
def override():
    try:
        return 1
    finally:
        return 2
print(override())
def swallow():
    while True:
        try:
            raise ValueError
        finally:
            break
    return "swallowed"
print(swallow())
class MyErr(Exception):
    def __init__(self, code, msg):
        super().__init__(msg)
        self.code = code
try:
    raise MyErr(3, "bad")
except MyErr as e:
    print(e, e.code, e.args, isinstance(e, Exception), type(e).__name__)
try:
    try:
        raise KeyError("a")
    except KeyError as e:
        raise ValueError("b") from e
except ValueError as e:
    print(repr(e), repr(e.__cause__), e.__suppress_context__)
try:
    try:
        raise KeyError("a")
    except KeyError:
        raise ValueError("b")
except ValueError as e:
    print(repr(e.__context__), e.__cause__)
try:
    try:
        raise KeyError("a")
    except KeyError:
        raise ValueError("c") from None
except ValueError as e:
    print(e.__suppress_context__, repr(e.__context__))
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise
except ZeroDivisionError as e:
    print("reraised", e)
def attempt(fn):
    try:
        print("ok", fn())
    except BaseException as e:
        print(type(e).__name__, e)
for fn in [lambda: 1 / 0, lambda: 1 // 0, lambda: 1 % 0, lambda: 1.0 / 0, lambda: 1.0 // 0, lambda: 1.0 % 0, lambda: [][1], lambda: {}["k"], lambda: int("x"), lambda: float("y"),
           lambda: 1 + "a", lambda: "a" + 1, lambda: [] + 1, lambda: None + 1, lambda: "a" * "b", lambda: -"a", lambda: "a" < 1, lambda: [1] < [None], lambda: None.foo, lambda: "abc".foo,
           lambda: [1, 2].index(5), lambda: [].pop(), lambda: {}.popitem(), lambda: (1, 2)[5], lambda: "abc"[9], lambda: "abc"["a"], lambda: [1]["a"], lambda: range(3)[7],
           lambda: next(iter([])), lambda: max([]), lambda: min(()), lambda: chr(-1), lambda: ord("ab"), lambda: int("12", 1), lambda: list(5), lambda: tuple(None), lambda: dict([1]),
           lambda: dict([(1, 2, 3)]), lambda: set([[]]), lambda: sorted([1, "a"]), lambda: sum(["a"]), lambda: abs("x"), lambda: round("x"), lambda: [].remove(1), lambda: "a".index("z"),
           lambda: 2 ** "a", lambda: 1 << -1, lambda: "%d" % "x", lambda: "%s %s" % (1,), lambda: "%s" % (1, 2), lambda: "{} {}".format(1), lambda: "{a}".format(), lambda: f"{1:q}", lambda: f"{'a':d}",
           lambda: {}.pop("z"), lambda: set().pop(), lambda: {1}.remove(2), lambda: enumerate(5), lambda: zip(1), lambda: isinstance(1, 2), lambda: [1, 2, 3][1:2:0], lambda: range(1, 2, 0),
           lambda: (1, 2) + [3], lambda: [*5], lambda: reversed(5), lambda: iter(5), lambda: len(5), lambda: "a" in 5, lambda: 5 in "a", lambda: open, lambda: float("nan") // 0, lambda: int(float("nan")), lambda: int(float("inf")),
           lambda: round(float("inf")), lambda: bool.nope, lambda: (lambda x: x)(), lambda: [].sort(1), lambda: "a".join([1]), lambda: divmod(1, 0), lambda: 0 ** -1, lambda: raise_it()]:
    if fn.__code__.co_name == "open": continue
    attempt(fn) if fn is not None else None
def unpack(v, n):
    if n == 2: a, b = v
    elif n == 3: a, b, c = v
    else: a, b, *c = v
attempt(lambda: unpack([1], 2))
attempt(lambda: unpack([1, 2, 3], 2))
attempt(lambda: unpack((1, 2, 3, 4), 3))
attempt(lambda: unpack(5, 2))
attempt(lambda: unpack([1], 4))
attempt(lambda: unpack(iter([1, 2, 3]), 2))
def bad_raise(): raise 5
attempt(bad_raise)
def no_active(): raise
attempt(no_active)
def assert_it(x): assert x > 0, f"x is {x}"
attempt(lambda: assert_it(-1))
def assert_bare(x): assert x
attempt(lambda: assert_bare(0))
def not_impl(): raise NotImplementedError
attempt(not_impl)
def si(): raise StopIteration(5)
attempt(si)
def se(): raise SystemExit(3)
attempt(se)
print(issubclass(KeyError, LookupError), issubclass(ZeroDivisionError, ArithmeticError), issubclass(ModuleNotFoundError, ImportError), issubclass(UnboundLocalError, NameError))
e = ValueError("a", 2); print(str(e), repr(e), e.args); e2 = ValueError(); print(repr(str(e2)), repr(e2))
print(repr(KeyError("k")), str(KeyError("k")), str(KeyError()), repr(OSError("x")))
def nested():
    try:
        try:
            raise ValueError(1)
        finally:
            print("inner finally")
    except ValueError as e:
        print("outer", e)
        try:
            raise KeyError(2)
        except KeyError as k:
            print("k", k, repr(k.__context__))
    print("after")
nested()
try:
    e
    x = [1, 2, 3]
    for i in x:
        try:
            if i == 2: raise IndexError(i)
            print("i", i)
        except IndexError as e:
            print("caught", e)
    print(e)
except NameError as n:
    print(n)
def gen():
    try:
        yield 1
        yield 2
    except ValueError as e:
        print("gen caught", e)
        yield 3
    finally:
        print("gen finally")
g = gen(); print(next(g)); print(g.throw(ValueError("t"))); print(list(g))
g = gen(); next(g); g.close(); print(list(g))
def loop_else():
    for i in range(3):
        if i == 5: break
    else:
        print("else ran")
    while False: pass
    else: print("while else")
loop_else()
class Ctx:
    def __enter__(self): raise RuntimeError("enter")
    def __exit__(self, *a): print("never")
attempt(lambda: [1 for _ in [0] if not exec_ctx()])
def exec_ctx():
    with Ctx(): pass
attempt(exec_ctx)
attempt(lambda: 5 .__enter__)
def with_int():
    with 5: pass
attempt(with_int)
try:
    import numpy_does_not_exist
except ModuleNotFoundError as e:
    print(e, isinstance(e, ImportError))
try:
    from math import nonsense
except ImportError as e:
    print(type(e).__name__)
try:
    raise ExceptionGroup("x", [])
except Exception as e:
    print("group")
