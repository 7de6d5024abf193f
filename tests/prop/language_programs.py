#!/usr/bin/env python3
"""Random programs of the language, without tensors: vitrine must print what Python prints, and end with the same status.

usage: language_programs.py VITRINE [--first SEED] [--count N] [--show SEED] [--keep FOLDER] [--python PYTHON3.12 | --table FILE]
       language_programs.py --write FILE --python PYTHON3.12 [--count N]

Without --python the wanted outputs are those of a table (language_programs.txt: seed, status, digest), made with CPython 3.12 by --write.

In: a seed is a program: functions with loops, try, with, closures, generators; classes with special methods; then calls whose results or exceptions
(type and words) are printed. Out: the first line that differs, for each program that does; `N passed, N failed` last.
Values stay small, so that 64 bits are enough; sets are printed sorted. Programs end by construction: loops are over short ranges, recursion counts down.
To add a construct: a method that returns an expression or a list of lines, and its name in EXPRESSIONS or STATEMENTS.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

KINDS = ('int', 'float', 'str', 'list', 'dict', 'tuple', 'bool')
PRELUDE = '''import math, itertools, functools, collections, random, contextlib, dataclasses
class Box:
    made = 0
    def __init__(self, v): self.v = v; Box.made += 1
    def __repr__(self): return f"Box({self.v!r})"
    def __eq__(self, o): return isinstance(o, Box) and self.v == o.v
    def __hash__(self): return hash(self.v)
    def __lt__(self, o): return self.v < o.v
    def __add__(self, o): return Box(self.v + (o.v if isinstance(o, Box) else o))
    __radd__ = lambda self, o: Box(o + self.v)
    def __getitem__(self, i): return self.v[i] if hasattr(self.v, "__getitem__") else (self.v, i)
    def __contains__(self, x): return x == self.v
    def __len__(self): return 3
    def __call__(self, *a, **k): return (self.v, a, sorted(k.items()))
    def __enter__(self): print("enter", self.v); return self
    def __exit__(self, kind, error, trace): print("exit", kind and kind.__name__, error); return isinstance(error, KeyError)
    def __format__(self, spec): return f"<{spec}|{self.v}>"
    def __getattr__(self, name):
        if name.startswith("get_"): return lambda *a: (name[4:], a)
        raise AttributeError(f"no {name}")
    @property
    def p(self): return self.v
    @p.setter
    def p(self, v): self.v = v
    @classmethod
    def of(cls, *a): return cls(a)
    @staticmethod
    def twice(x): return x * 2
class Deep(Box):
    def __init__(self, v, w=0): super().__init__(v); self.w = w
    def __repr__(self): return "Deep" + super().__repr__()
    def __lt__(self, o): return not super().__lt__(o)
@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int = 2
    z: list = dataclasses.field(default_factory=list, compare=False)
def show(make):
    try: v = make()
    except Exception as e:
        c = e.__cause__ or e.__context__
        print(type(e).__name__, e, "<-", type(c).__name__ if c else None)
    else: print(sorted(v, key=repr) if isinstance(v, (set, frozenset)) else v)
'''


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.functions = []
        self.scope = {}
        self.names = 0
        self.depth = 0

    def pick(self, *options):
        return self.r.choice(options)

    def fresh(self, kind):
        self.names += 1
        name = f'v{self.names}'
        return name, kind

    def variable(self, kind):
        known = [n for n, k in self.scope.items() if k == kind]
        return self.r.choice(known) if known else None

    # ---- expressions ----
    def literal(self, kind):
        r = self.r
        if self.depth > 3 and kind in ('list', 'tuple', 'dict'): return {'list': '[1, 2]', 'tuple': '(3, 4)', 'dict': '{"a": 1}'}[kind]
        if kind == 'int': return str(r.randint(0, 30)) if r.random() < 0.7 else f'({r.randint(-9, -1)})'
        if kind == 'float': return r.choice(['0.5', '1.5', '-2.25', '3.0', '1e3', '0.1', '-0.0', '2.5e-3', '7.75'])
        if kind == 'str': return r.choice(['"a"', '"bcd"', "'x y'", '""', '"Hello, World"', "'it\\'s'", '"1,2,3"', '"ünï"', '"%d"', '"tab\\there"', '"Zz"'])
        if kind == 'bool': return r.choice(['True', 'False'])
        if kind == 'list': return '[' + ', '.join(self.expression('int', self.depth + 1) for _ in range(r.randint(0, 4))) + ']'
        if kind == 'tuple': return '(' + ''.join(self.expression('int', self.depth + 1) + ', ' for _ in range(r.randint(1, 3))) + ')'
        return '{' + ', '.join(f'{self.literal("str")}: {self.expression("int", self.depth + 1)}' for _ in range(r.randint(0, 3))) + '}'

    def expression(self, kind, depth=None):
        depth = self.depth if depth is None else depth
        if depth >= 2 or self.r.random() < 0.25:
            saved, self.depth = self.depth, depth
            text = self.variable(kind) or self.literal(kind)
            self.depth = saved
            return text
        odd = self.r.random() < 0.03
        if odd: kind = self.pick(*KINDS)  # most are refused, with Python's words
        saved, self.depth = self.depth, depth + 1
        text = getattr(self, 'make_' + kind)()
        if odd: text = f'({text})'
        self.depth = saved
        return text

    def any(self):
        return self.expression(self.pick(*KINDS))

    def make_int(self):
        e = self.expression
        return self.r.choice([
            lambda: f'({e("int")} {self.pick("+", "-", "*", "//", "%", "&", "|", "^")} {e("int")}) % 1009', lambda: f'len({e(self.pick("str", "list", "dict", "tuple"))})',
            lambda: f'({e("int")} if {e("bool")} else {e("int")})', lambda: f'{e("list")}[{e("int")}]', lambda: f'sum({e("list")}) % 997', lambda: f'int({e("float")})',
            lambda: f'{e("str")}.find({e("str")})', lambda: f'{e("str")}.count({e("str")})', lambda: f'max({e("int")}, {e("int")})', lambda: f'abs({e("int")})', lambda: f'-{e("int")}', lambda: f'~{e("int")}',
            lambda: f'{e("dict")}.get({e("str")}, {e("int")})', lambda: f'{e("dict")}[{e("str")}]', lambda: f'divmod({e("int")}, {e("int")})[{self.pick(0, 1)}]', lambda: f'{e("int")} >> 2',
            lambda: f'(lambda a, b={e("int")}: a - b)({e("int")})', lambda: f'hash({e("int")}) % 100', lambda: f'{e("tuple")}[{self.pick(0, -1, 1)}]', lambda: f'round({e("float")})',
            lambda: f'functools.reduce(lambda a, b: (a * 3 + b) % 101, {e("list")}, {e("int")})', lambda: f'math.gcd({e("int")}, {e("int")})', lambda: f'int({e("str")})',
            lambda: f'min({e("list")}, default={e("int")})', lambda: f'{e("list")}.index({e("int")})', lambda: f'ord({e("str")}[0])',
            lambda: f'(1 << {self.r.randint(0, 20)}) % {self.r.randint(1, 99)}', lambda: f'{e("int")} ** {self.r.randint(0, 3)} % 77', lambda: f'Box({e("int")}).p', lambda: f'int({e("str")}.isalpha())'])()

    def make_float(self):
        e = self.expression
        return self.r.choice([
            lambda: f'{e("float")} {self.pick("+", "-", "*")} {e("float")}', lambda: f'{e("int")} / {e("int")}', lambda: f'float({e("int")})', lambda: f'round({e("float")}, {self.r.randint(0, 3)})',
            lambda: f'{e("float")} // {e("float")}', lambda: f'{e("float")} % {e("float")}', lambda: f'abs({e("float")})', lambda: f'math.sqrt({e("float")})', lambda: f'sum([{e("float")}, {e("int")}, {e("float")}])',
            lambda: f'max({e("float")}, {e("int")})', lambda: f'math.floor({e("float")}) + 0.5', lambda: f'float({e("str")})', lambda: f'math.fsum([{e("float")}, {e("float")}])', lambda: f'-{e("float")}'])()

    def make_str(self):
        e = self.expression
        spec = self.pick('', ':>8', ':<6', ':^7', ':*^9', '!r', '!r:>12', '!s')
        number = self.pick(':5d', ':05d', ':x', ':+d', ':,', ':b', ':#o', ':e', ':.2f', ':8.3f', ':_')
        return self.r.choice([
            lambda: f'{e("str")} + {e("str")}', lambda: f'({e("str")} * {self.r.randint(0, 3)})', lambda: f'str({self.any()})', lambda: f'repr({self.any()})', lambda: f"f'{{{self.quoted(e('str'))}{spec}}}|'",
            lambda: f"f'{{{self.quoted(e('int'))}{number}}}'", lambda: f"f'{{{self.quoted(e('float'))}{self.pick(':.3f', ':g', ':e', ':8.2f', ':.0f', ':+.1f', ':%', ':010.2f')}}}'",
            lambda: f'{e("str")}.{self.pick("upper", "lower", "title", "strip", "capitalize", "swapcase")}()', lambda: f'{e("str")}[{self.bound()}:{self.bound()}:{self.pick("", "1", "-1", "2", "-2")}]',
            lambda: f'{e("str")}.replace({e("str")}, {e("str")})', lambda: f'{e("str")}.join(map(str, {e("list")}))', lambda: f'"%s-%{self.pick("5d", "x", "05d", "s", "r", "e", ".2f")}" % ({e("str")}, {e("int")})',
            lambda: f'"{{}}{{!r:>{self.r.randint(1, 9)}}}".format({e("int")}, {e("str")})', lambda: f'{e("str")}.{self.pick("ljust", "rjust", "center", "zfill")}({self.r.randint(0, 12)})', lambda: f'{e("str")}[{e("int")}]',
            lambda: f'",".join(sorted({e("str")}))', lambda: f'"".join(reversed({e("str")}))', lambda: f'{e("str")}.partition({e("str")})[{self.r.randint(0, 2)}]', lambda: f'type({self.any()}).__name__',
            lambda: f'format({e("int")}, {self.pick(chr(34) + "08b" + chr(34), chr(34) + "<5" + chr(34))})', lambda: f'f"{{Box({e("int")}):{self.pick("abc", "", ">3")}}}"', lambda: f'chr(97 + {e("int")} % 26)'])()

    def quoted(self, text):
        """What may stand inside f'...' before Python 3.12."""
        return text if "'" not in text and '\\' not in text and '{' not in text and '!=' not in text and ':' not in text else '"q"'

    def bound(self):
        return self.pick('', '', '0', '1', '-1', '2', '-3', '7', '100')

    def make_bool(self):
        e = self.expression
        return self.r.choice([
            lambda: f'{e("int")} {self.pick("<", "<=", ">", ">=", "==", "!=")} {e("int")}', lambda: f'not {e("bool")}', lambda: f'({e("bool")} {self.pick("and", "or")} {e("bool")})', lambda: f'{e("int")} in {e("list")}',
            lambda: f'{e("str")} in {e("str")}', lambda: f'{e("str")} < {e("str")}', lambda: f'{e("int")} < {e("int")} <= {e("int")}', lambda: f'isinstance({self.any()}, {self.pick("int", "str", "(list, tuple)", "dict", "float")})',
            lambda: f'any(x > {e("int")} for x in {e("list")})', lambda: f'all({e("list")})', lambda: f'bool({self.any()})', lambda: f'{e("list")} == {e("list")}', lambda: f'{e("tuple")} < {e("tuple")}',
            lambda: f'{e("str")}.startswith({e("str")})', lambda: f'{e("float")} < {e("int")}', lambda: f'{self.variable("list") or "None"} is None', lambda: f'{e("str")} not in {e("dict")}', lambda: f'Box({e("int")}) == Box({e("int")})', lambda: f'{e("int")} in Box({e("int")})'])()

    def make_list(self):
        e = self.expression
        return self.r.choice([
            lambda: f'[x {self.pick("+", "-", "*")} {e("int")} for x in {e("list")}]', lambda: f'[x for x in {e("list")} if x % 2 == {self.pick(0, 1)}]', lambda: f'{e("list")} + {e("list")}', lambda: f'sorted({e("list")}{self.pick("", ", reverse=True", ", key=lambda v: -v", ", key=str")})',
            lambda: f'{e("list")}[{self.bound()}:{self.bound()}:{self.pick("", "1", "-1", "2")}]', lambda: f'list(range({self.r.randint(-3, 5)}, {self.r.randint(0, 9)}, {self.pick(1, 2, -1)}))', lambda: f'list(map(lambda v: v % 7, {e("list")}))',
            lambda: f'[a * b % 50 for a, b in zip({e("list")}, {e("list")})]', lambda: f'[i + v for i, v in enumerate({e("list")}, {e("int")})]', lambda: f'[*{e("list")}, *{e("tuple")}]', lambda: f'list({e("dict")}.values())',
            lambda: f'list(reversed({e("list")}))', lambda: f'({e("list")} * {self.r.randint(0, 2)})', lambda: f'list(filter(None, {e("list")}))', lambda: f'[x for y in [{e("list")}, {e("list")}] for x in y]', lambda: f'list(itertools.accumulate({e("list")}))',
            lambda: f'[(lambda: v)() for v in {e("list")}]', lambda: f'sorted({{x % 5 for x in {e("list")}}})', lambda: f'list(itertools.chain({e("list")}, {e("tuple")}))', lambda: f'sorted(set({e("list")}) {self.pick("|", "&", "-", "^")} set({e("list")}))',
            lambda: f'(lambda *a, k={e("int")}: [*a, k])(*{e("list")})', lambda: f'[b.v for b in sorted(map({self.pick("Box", "Deep")}, {e("list")}))]', lambda: f'list(collections.deque({e("list")}, maxlen={self.r.randint(0, 3)}))',
            lambda: f'[len(list(g)) for _, g in itertools.groupby({e("list")}, key=lambda v: v % 3)]', lambda: f'random.Random({self.r.randint(0, 99)}).sample({e("list")}, {self.r.randint(0, 2)})'])()

    def make_tuple(self):
        e = self.expression
        return self.r.choice([
            lambda: f'({e("int")}, {e("int")})', lambda: f'tuple({e("list")})', lambda: f'{e("tuple")} + {e("tuple")}', lambda: f'divmod({e("int")}, {e("int")})', lambda: f'(*{e("list")}, {e("int")})', lambda: f'{e("tuple")}[{self.bound()}:{self.bound()}]',
            lambda: f'tuple(x for x in {e("list")})', lambda: f'max([{e("tuple")}, {e("tuple")}])', lambda: f'tuple(sorted(({e("int")}, {e("int")})))'])()

    def make_dict(self):
        e = self.expression
        return self.r.choice([
            lambda: f'{{str(k): k * 2 for k in {e("list")}}}', lambda: f'{{**{e("dict")}, {e("str")}: {e("int")}}}', lambda: f'dict(zip({e("str")}, {e("list")}))', lambda: f'({e("dict")} | {e("dict")})', lambda: f'dict(a={e("int")}, b={e("int")})',
            lambda: f'{{k: v for k, v in {e("dict")}.items() if v}}', lambda: f'dict(collections.Counter({e("str")}))', lambda: f'dict(sorted({e("dict")}.items()))', lambda: f'dict.fromkeys({e("str")}, {e("int")})'])()

    # ---- statements ----
    def block(self, indent, count, inside):
        lines = []
        for _ in range(count): lines += self.statement(indent, inside)
        return lines or [indent + 'pass']

    def assign(self, indent, kind=None):
        name, kind = self.fresh(kind or self.pick(*KINDS))
        line = f'{indent}{name} = {self.expression(kind)}'
        self.scope[name] = kind
        return [line]

    def statement(self, indent, inside):
        deep = len(indent) // 4
        choices = ['assign', 'assign', 'assign', 'augmented', 'print', 'mutate', 'unpack']
        if deep < 4: choices += ['branch', 'loop', 'trial', 'manager', 'repeat', 'nested']
        if 'loop' in inside and 'def' in inside: choices += ['leave']
        if 'def' in inside: choices += ['give', 'refuse', 'give'] if deep > 1 else ['refuse']
        saved = dict(self.scope)
        lines = getattr(self, 'do_' + self.r.choice(choices))(indent, inside)
        if len(lines) > 1: self.scope = {**saved}  # names bound in a block may be unbound after it: not used any more
        return lines

    def do_assign(self, indent, inside): return self.assign(indent)
    def do_print(self, indent, inside): return [f'{indent}print({self.any()}, {self.any()}{self.pick("", ", sep=" + chr(34) + "|" + chr(34), ", end=" + chr(34) + ";" + chr(92) + "n" + chr(34))})']

    def do_augmented(self, indent, inside):
        kind = self.pick('int', 'str', 'list', 'float')
        name = self.variable(kind)
        if not name: return self.assign(indent, kind)
        op = {'int': self.pick('+=', '-=', '|=', '%=', '//='), 'str': '+=', 'list': '+=', 'float': self.pick('+=', '*=')}[kind]
        return [f'{indent}{name} {op} {self.expression(kind)}']

    def do_mutate(self, indent, inside):
        name, e = self.variable('list'), self.expression
        if self.r.random() < 0.3 and self.variable('dict'):
            d = self.variable('dict')
            return [indent + self.pick(f'{d}[{e("str")}] = {e("int")}', f'{d}.update({e("dict")})', f'{d}.setdefault({e("str")}, {e("int")})', f'{d}.pop({e("str")}, None)', f'del {d}[{e("str")}]', f'{d} |= {e("dict")}')]
        if not name: return self.assign(indent, 'list')
        return [indent + self.pick(f'{name}.append({e("int")})', f'{name}.extend({e("list")})', f'{name}.sort()', f'{name}.reverse()', f'{name}[{self.bound()}:{self.bound()}] = {e("list")}', f'del {name}[{self.bound()}:{self.bound()}:{self.pick("", "2")}]',
                                   f'{name}.insert({e("int")}, {e("int")})', f'{name}.pop()', f'{name}.remove({e("int")})', f'{name}[{e("int")}] = {e("int")}', f'{name}[::2] = {e("list")}', f'{name}.clear()')]

    def do_unpack(self, indent, inside):
        a, b, c = (self.fresh('int')[0] for _ in range(3))
        line = self.pick(f'{a}, {b} = {self.expression("int")}, {self.expression("int")}', f'{a}, *{b} = {self.expression("list")}', f'({a}, {b}), {c} = {self.expression("tuple")}, {self.expression("int")}', f'*{a}, {b} = {self.expression("tuple")}', f'{a} = {b} = {self.expression("int")}')
        if line.startswith(f'{a} = ') or line.count('=') == 1 and not '*' in line.split('=')[0] and '(' != line[0]: self.scope.update({a: 'int', b: 'int'})
        return [indent + line]

    def do_branch(self, indent, inside):
        lines = [f'{indent}if {self.expression("bool")}:'] + self.block(indent + '    ', self.r.randint(1, 2), inside)
        if self.r.random() < 0.3: lines += [f'{indent}elif {self.expression("bool")}:'] + self.block(indent + '    ', 1, inside)
        if self.r.random() < 0.5: lines += [f'{indent}else:'] + self.block(indent + '    ', 1, inside)
        return lines

    def do_loop(self, indent, inside):
        name = self.fresh('int')[0]
        head = f'{indent}for {name} in {self.pick(f"range({self.r.randint(0, 4)})", self.expression("list") + "[:4]", self.expression("tuple"))}:'
        self.scope[name] = 'int'
        lines = [head] + self.block(indent + '    ', self.r.randint(1, 2), inside + ('loop',))
        if self.r.random() < 0.3: lines += [f'{indent}else:'] + self.block(indent + '    ', 1, inside)
        return lines

    def do_repeat(self, indent, inside):
        name = self.fresh('int')[0]
        return [f'{indent}{name} = {self.r.randint(0, 3)}', f'{indent}while ({name} := {name} - 1) >= 0:'] + self.block(indent + '    ', self.r.randint(1, 2), inside + ('loop',))

    def do_trial(self, indent, inside):
        inner = indent + '    '
        lines = [f'{indent}try:'] + self.block(inner, self.r.randint(1, 2), inside)
        kinds = self.r.sample(['ValueError', 'KeyError', 'IndexError', 'TypeError', 'ZeroDivisionError', '(ArithmeticError, LookupError)', 'Exception'], self.r.randint(0, 2))
        kinds.sort(key=lambda k: k == 'Exception')
        for i, kind in enumerate(kinds):
            lines += [f'{indent}except {kind} as e:', f'{inner}print("caught", type(e).__name__, e)'] + self.block(inner, self.r.randint(0, 1), inside)
        if kinds and self.r.random() < 0.4: lines += [f'{indent}else:'] + self.block(inner, 1, inside)
        if not kinds or self.r.random() < 0.5: lines += [f'{indent}finally:', f'{inner}print("finally")'] + self.block(inner, self.r.randint(0, 1), inside)
        return lines

    def do_manager(self, indent, inside):
        return [f'{indent}with Box({self.expression("int")}) as {self.fresh("x")[0]}{self.pick("", f", Box({self.expression(chr(115) + chr(116) + chr(114))})", ", contextlib.suppress(ValueError)")}:'] + self.block(indent + '    ', self.r.randint(1, 2), inside)

    def do_nested(self, indent, inside):
        """A closure that counts, or a generator, used at once."""
        f, n, inner = self.fresh('f')[0], self.fresh('int')[0], indent + '    '
        if self.r.random() < 0.5:
            lines = [f'{indent}{n} = {self.expression("int")}', f'{indent}def {f}(a, *b, c={self.expression("int")}):']
            if 'def' in inside: lines += [f'{inner}nonlocal {n}', f'{inner}{n} = ({n} + a + len(b)) % 100']
            self.scope.update(a='int', c='int')
            return lines + [f'{inner}return {self.expression("int")}', f'{indent}print({f}({self.expression("int", 2)}, *{self.expression("list", 2)}))', f'{indent}print({n})']
        lines = [f'{indent}def {f}(n):', f'{inner}try:', f'{inner}    for i in range(n):', f'{inner}        got = yield i * {self.r.randint(1, 9)}', f'{inner}        if got: print("got", got)', f'{inner}finally: print("closed")', f'{inner}return n * 2']
        use = self.pick(f'print(list({f}({self.r.randint(0, 3)})))', f'{n} = {f}(3); print(next({n})); print({n}.send({self.expression("int", 2)})); {n}.close()', f'print([x for x, _ in zip({f}(5), "ab")])',
                        f'{n} = (yield_from for yield_from in {f}(2)); print(sum({n}))', f'print(max({f}(4)), sorted({f}(3), reverse=True))')
        return lines + [indent + use]

    def do_leave(self, indent, inside): return [f'{indent}if {self.expression("bool")}: {self.pick("break", "continue")}']
    def do_give(self, indent, inside): return [f'{indent}return {self.any()}']

    def do_refuse(self, indent, inside):
        error = self.pick('ValueError', 'KeyError', 'IndexError', 'RuntimeError')
        return [f'{indent}if {self.expression("bool")}: raise {error}({self.any()}){self.pick("", "", " from None", f" from TypeError({self.expression(chr(105) + chr(110) + chr(116), 2)})")}']

    def function(self):
        name, self.scope = f'f{len(self.functions)}', {'a': 'int', 'b': 'str', 'c': 'list'}
        lines = [f'def {name}(a, b={self.literal("str")}, *, c=None):', '    c = [1, 2] if c is None else c']
        lines += self.block('    ', self.r.randint(3, 6), ('def',)) + [f'    return {self.any()}', '']
        self.functions.append(name)
        return lines

    def program(self):
        lines = []
        for _ in range(self.r.randint(1, 3)): lines += self.function()
        self.scope = {}
        for name in self.functions:
            for _ in range(2): lines.append(f'show(lambda: {name}({self.literal("int")}, {self.literal("str")}, c={self.literal("list")}))')
        for _ in range(6): lines.append(f'show(lambda: {self.any()})')
        lines += [f'show(lambda: {self.pick("Point(3)", "Point(1, 2) < Point(1, 3)", "Point()", "dataclasses.replace(Point(1), y=9)", "dataclasses.asdict(Point(4, z=[1]))")})',
                  f'show(lambda: {self.pick("Box.of(1, 2)", "Deep(3).get_it(4)", "Box(1).other", "sum([Box(1), Box(2)], Box(0))", "Box(2)(1, k=2)", "Deep([1, 2])[1]", f"format(Deep({self.literal(chr(105) + chr(110) + chr(116))}), chr(60))", "Box.twice(4)")})', 'print(Box.made)']
        lines += self.block('', 3, ())
        return PRELUDE + '\n'.join(lines) + '\n'


def run(program, path):
    try:
        done = subprocess.run([program, str(path)], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, 'PYTHONHASHSEED': '0', 'NO_COLOR': '1'})
    except subprocess.TimeoutExpired:
        return 'it did not end', None
    error = done.stderr.decode(errors='replace').rstrip('\n').split('\n')[-1]  # tracebacks have tests of their own (tests/lang/trace)
    return done.stdout.decode(errors='replace') + re.sub(r'\. Did you (mean|forget).*', '', error), done.returncode


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write_table(arguments):
    with tempfile.TemporaryDirectory() as folder, open(arguments.write, 'w') as table:
        for seed in range(arguments.first, arguments.first + arguments.count):
            path = pathlib.Path(folder) / f'p{seed}.py'
            path.write_text(Generator(seed).program(), encoding='utf-8')
            text, status = run(arguments.python, path)
            table.write(f'{seed} {status} {digest(text)}\n')


def read_table(path):
    rows = [line.split() for line in open(path)]
    return {int(seed): (int(status), mark) for seed, status, mark in rows}


def compare(arguments, folder, seed):
    path = pathlib.Path(folder) / f'p{seed}.py'
    path.write_text(Generator(seed).program(), encoding='utf-8')
    got = run(arguments.vitrine, path)
    if '64 bits' in got[0]: return None  # larger than the language's integers: not of this kind
    if arguments.wanted:
        if seed not in arguments.wanted or arguments.wanted[seed] == (got[1], digest(got[0])): return None
        return f'seed {seed}: another output than in the table (status {got[1]}): compare with --python and CPython 3.12'
    want = run(arguments.python, path)
    if want == got: return None
    for a, b in zip(want[0].split('\n') + ['(end)'], got[0].split('\n') + ['(end)']):
        if a != b: return f'seed {seed}\n  python:  {a[:300]}\n  vitrine: {b[:300]}'
    return f'seed {seed}: status {want[1]} and {got[1]}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('vitrine', nargs='?')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--show', type=int)
    parser.add_argument('--python')
    parser.add_argument('--table', default=pathlib.Path(__file__).with_suffix('.txt'))
    parser.add_argument('--write')
    parser.add_argument('--keep')
    arguments = parser.parse_args()
    if arguments.show is not None:
        print(Generator(arguments.show).program(), end='')
        return 0
    if arguments.write: return write_table(arguments)
    arguments.wanted = None if arguments.python else read_table(arguments.table)
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = arguments.keep or temporary
        faults = [f for f in pool.map(lambda seed: compare(arguments, folder, seed), range(arguments.first, arguments.first + arguments.count)) if f]
    for fault in faults: print(fault)
    print(f'{arguments.count - len(faults)} passed, {len(faults)} failed')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
