"""operator: the operators as functions."""


def add(a, b): return a + b
def sub(a, b): return a - b
def mul(a, b): return a * b
def truediv(a, b): return a / b
def floordiv(a, b): return a // b
def mod(a, b): return a % b
def pow(a, b): return a ** b
def matmul(a, b): return a @ b
def and_(a, b): return a & b
def or_(a, b): return a | b
def xor(a, b): return a ^ b
def lshift(a, b): return a << b
def rshift(a, b): return a >> b
def neg(a): return -a
def pos(a): return +a
def abs(a): return a if a >= 0 else -a
def invert(a): return ~a
def not_(a): return not a
def truth(a): return bool(a)
def is_(a, b): return a is b
def is_not(a, b): return a is not b
def lt(a, b): return a < b
def le(a, b): return a <= b
def eq(a, b): return a == b
def ne(a, b): return a != b
def gt(a, b): return a > b
def ge(a, b): return a >= b
def concat(a, b): return a + b
def contains(a, b): return b in a
def getitem(a, b): return a[b]
def index(a): return a.__index__()


def setitem(a, b, c):
    a[b] = c


def delitem(a, b):
    del a[b]


def iadd(a, b):
    a += b
    return a


def isub(a, b):
    a -= b
    return a


def imul(a, b):
    a *= b
    return a


def itruediv(a, b):
    a /= b
    return a


def itemgetter(item, *items):
    if not items:
        return lambda value: value[item]
    return lambda value: tuple([value[i] for i in (item, *items)])


def _attribute(value, dotted):
    for name in dotted.split("."):
        value = getattr(value, name)
    return value


def attrgetter(name, *names):
    if not names:
        return lambda value: _attribute(value, name)
    return lambda value: tuple([_attribute(value, n) for n in (name, *names)])


def methodcaller(name, /, *args, **keywords):
    return lambda value: getattr(value, name)(*args, **keywords)
