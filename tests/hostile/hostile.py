#!/usr/bin/env python3
"""Bad input of every kind: one clear message, the session alive, the exit status as specified.

usage: hostile.py VITRINE [--only PATTERN] [--verbose]

In: PROGRAMS: a name, a program, the status it must end with, what stdout and stderr must hold (regular expressions). OTHER tests are functions.
Out: a line for each that is wrong. No program may die of a signal, run longer than its time, or print two messages for one mistake.
To add one: a row, or a function test_NAME(run) that returns a fault or None.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.dom.minidom

NAMES = r'''
import torch, torch.nn as nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        setattr(self, 'a"*/b', nn.Parameter(torch.ones(3)))
        setattr(self, "new\nline<b>&%s%n\\", nn.Parameter(torch.ones(3)))
        self.ünïcode_模型 = nn.Linear(3, 3)
    def forward(self, x):
        return self.ünïcode_模型(x) * getattr(self, 'a"*/b') + getattr(self, "new\nline<b>&%s%n\\")
def f_模型_é(d, x):
    return d['*/ int main(){system("x");} /*'] * x + d["\"];\n digraph evil { a->b } //"].exp() + d['%n%s\\"</title><script>\x1b[31m\u202e']
y = torch.compile(M())(torch.ones(2, 3))
d = {'*/ int main(){system("x");} /*': torch.ones(3), "\"];\n digraph evil { a->b } //": torch.ones(3), '%n%s\\"</title><script>\x1b[31m\u202e': torch.ones(3)}
print(torch.compile(f_模型_é)(d, torch.ones(2, 3)).sum())
'''
STAGES = ('bytecode', 'dynamo', 'guards', 'joint', 'functional', 'decomposed', 'partition', 'fusion', 'schedule', 'memory', 'timeline')

# name, program, status, stdout, stderr
PROGRAMS = [
    ('integers that an argument cannot say', '''import torch
low = torch.iinfo(torch.int64).min
for make in [lambda: torch.full((2,), low), lambda: torch.tensor([1]) + low, lambda: torch.tensor([1]).clamp(min=low), lambda: torch.arange(low + 1, 5), lambda: torch.zeros(low + 1), lambda: torch.zeros(2)[low + 1]]:
    try:
        print(make())
    except (OverflowError, RuntimeError, IndexError) as e:
        print("refused")
print(len(torch.arange(3)[low + 1:]), len(torch.arange(3)[:low + 1]))
''', 0, '\n'.join(['refused'] * 6) + '\n3 0', '^$'),
    ('sizes that 64 bits do not hold', '''import torch
one = torch.zeros(1)
wide = one.expand(2 ** 31)
for make in [lambda: torch.randn(2 ** 31, 2 ** 31), lambda: torch.rand(2 ** 32, 2 ** 32), lambda: torch.randint(0, 5, (2 ** 31, 2 ** 30)), lambda: one.expand(2 ** 32, 2 ** 32).sum(),
             lambda: one.repeat(2 ** 31, 2 ** 31), lambda: wide.outer(wide), lambda: torch.kron(wide, wide), lambda: torch.cat([one.expand(2 ** 60)] * 8), lambda: one.as_strided((2 ** 32, 2 ** 32), (0, 0)).clone(),
             lambda: torch.nn.functional.pad(one, (2 ** 62, 2 ** 62)), lambda: torch.tensor([1]).repeat_interleave(2 ** 62), lambda: torch.arange(0, 1e30),
             lambda: torch.empty_strided((3,), (2 ** 62,)), lambda: torch.zeros(1).resize_(2 ** 31, 2 ** 31), lambda: torch.bincount(torch.tensor([2 ** 62])), lambda: torch.randperm(2 ** 62)]:
    try:
        print(make().shape)
    except RuntimeError as e:
        print("refused")
''', 0, '\n'.join(["refused"] * 16), '^$'),
    ('deep recursion', 'def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print("caught")\nprint("alive")\n', 0, 'caught\nalive', '^$'),
    ('deep recursion, uncaught', 'def f(n):\n    return f(n + 1)\nf(0)\n', 1, '', 'RecursionError'),
    ('deep recursion, compiled', 'import torch\n@torch.compile\ndef f(x, n):\n    return f(x, n + 1)\ntry:\n    f(torch.ones(2), 0)\nexcept RecursionError:\n    print("caught")\n', 0, 'caught', ''),
    ('deep repr recursion', 'class A:\n    def __repr__(self):\n        return repr(self)\ntry:\n    print(A())\nexcept RecursionError:\n    print("caught")\n', 0, 'caught', '^$'),
    ('deep attribute recursion', 'class A:\n    def __getattr__(self, n):\n        return getattr(self, n + "x")\ntry:\n    A().y\nexcept RecursionError:\n    print("caught")\n', 0, 'caught', '^$'),
    ('deep comparison', 'class A:\n    def __eq__(self, o):\n        return self == o\ntry:\n    A() == A()\nexcept RecursionError:\n    print("caught")\n', 0, 'caught', '^$'),
    ('deep brackets', 'x = ' + '(' * 100000 + '1' + ')' * 100000 + '\n', 1, '', 'nest|deep|too many'),
    ('deep lists', 'x = ' + '[' * 5000 + ']' * 5000 + '\n', 1, '', 'nest|deep|too many'),
    ('deep unary', 'x = ' + '-' * 100000 + '1\n', 1, '', 'nest|deep|too many'),
    ('deep not', 'x = ' + 'not ' * 100000 + '1\n', 1, '', 'nest|deep|too many'),
    ('long sum', 'x = ' + ' + '.join(['1'] * 20000) + '\nprint(x)\n', None, '', ''),
    ('deep indentation', ''.join(' ' * i + 'if 1:\n' for i in range(300)) + ' ' * 300 + 'x = 1\n', 1, '', 'indent|deep|nest|blocks'),
    ('deep nested value', 'x = []\nfor i in range(100000):\n    x = [x]\ntry:\n    print(len(repr(x)))\nexcept RecursionError:\n    print("caught")\ndel x\nprint("alive")\n', 0, 'alive', '^$'),
    ('deep equal values', 'x = []\ny = []\nfor i in range(100000):\n    x = [x]\n    y = [y]\ntry:\n    print(x == y)\nexcept RecursionError:\n    print("caught")\nprint("alive")\n', 0, 'alive', '^$'),
    ('deep linked objects', 'class N:\n    pass\nhead = None\nfor i in range(200000):\n    n = N()\n    n.next = head\n    head = n\nhead = None\nn = None\nprint("alive")\n', 0, 'alive', '^$'),
    ('deep graph of the tape', 'import torch\nx = torch.ones(2, requires_grad=True)\ny = x\nfor i in range(30000):\n    y = y * 1.0\ny.sum().backward()\nprint(x.grad)\ndel y\nprint("alive")\n', 0, 'alive', '^$'),
    ('list in itself', 'a = [1]\na.append(a)\nprint(a)\nd = {}\nd["d"] = d\nprint(d)\nprint("alive")\n', 0, r'\[1, \[\.\.\.\]\]\n\{\'d\': \{\.\.\.\}\}\nalive', '^$'),
    ('list in itself, equal', 'a = []\na.append(a)\nb = []\nb.append(b)\ntry:\n    print(a == b)\nexcept RecursionError:\n    print("caught")\n', 0, 'caught', '^$'),
    ('list in itself, as a tensor', 'import torch\na = []\na.append(a)\ntry:\n    torch.tensor(a)\nexcept (ValueError, RuntimeError, RecursionError) as e:\n    print("caught")\n', 0, 'caught', '^$'),
    ('list in itself, compiled', 'import torch\na = [torch.ones(2)]\na.append(a)\n@torch.compile\ndef f(l, x):\n    return l[0] + x + l[1][0]\nprint(f(a, torch.ones(2)))\n', 0, r'tensor\(\[3., 3.\]\)', ''),
    ('dict in itself, compiled', 'import torch\nd = {"x": torch.ones(2)}\nd["d"] = d\n@torch.compile\ndef f(d):\n    d["y"] = d["d"]["x"] + 1\n    return d\nprint(f(d)["d"]["y"])\n', 0, r'tensor\(\[2., 2.\]\)', ''),
    ('sort with a changing list', 'a = [3, 1, 2]\ndef key(x):\n    a.append(x)\n    return x\ntry:\n    a.sort(key=key)\nexcept ValueError as e:\n    print("caught")\nprint(len(a) >= 3)\n', 0, 'True', '^$'),
    ('dict changed while read', 'd = {1: 1, 2: 2}\ntry:\n    for k in d:\n        d[k + 10] = 1\nexcept RuntimeError as e:\n    print(e)\n', 0, 'changed size', '^$'),
    ('list grown while read', 'a = [1]\nfor x in a:\n    if len(a) > 1000: break\n    a.append(x)\nprint(len(a))\n', 0, '1001', '^$'),
    ('giant tensor', 'import torch\ntry:\n    torch.zeros(1 << 50)\nexcept RuntimeError as e:\n    print("caught", e)\nprint(torch.ones(2).sum())\n', 0, 'caught .*memory.*\ntensor', '^$'),
    ('giant tensor, overflowing', 'import torch\nfor s in ((1 << 62, 8), (1 << 32, 1 << 32), (1 << 63 - 1,), (-1,), (3, -2)):\n    try:\n        torch.zeros(s)\n        print("made")\n    except (RuntimeError, OverflowError, TypeError) as e:\n        print("caught")\n', 0, r'^(caught\n){5}$', '^$'),
    ('giant views', 'import torch\nx = torch.ones(1).expand(1 << 40)\nprint(x.shape)\ntry:\n    x + 1\nexcept RuntimeError as e:\n    print("caught")\ntry:\n    x.as_strided((1 << 40,), (1,))\nexcept RuntimeError as e:\n    print("caught")\n', 0, 'caught\ncaught', '^$'),
    ('giant in a graph', 'import torch\n@torch.compile\ndef f(x):\n    return x.expand(1 << 45) + 1\ntry:\n    f(torch.ones(1))\nexcept RuntimeError as e:\n    print("caught")\nprint(torch.ones(1))\n', 0, 'caught\ntensor', ''),
    ('giant strings and lists', 'for make in (lambda: "x" * (1 << 60), lambda: [0] * (1 << 60), lambda: (0,) * (1 << 61), lambda: list(range(1 << 60)), lambda: "ab".center(1 << 60), lambda: "%999999999999d" % 1, lambda: f"{1:999999999999}", lambda: "a".replace("", "b" * (1 << 40)), lambda: " ".join(["a" * 10 ** 6] * 10 ** 6)):\n    try:\n        make()\n        print("made")\n    except (MemoryError, OverflowError, ValueError) as e:\n        print("caught")\nprint("alive")\n', 0, r'^(caught\n){9}alive', '^$'),
    ('giant numbers', 'for make in (lambda: 10 ** 100, lambda: 1 << 100, lambda: (1 << 62) * 4, lambda: -(-(1 << 63)), lambda: 2 ** 63, lambda: int("9" * 40)):\n    try:\n        make()\n        print("made")\n    except (OverflowError, ValueError) as e:\n        print("caught")\n', 0, r'^((caught|made)\n){6}$', '^$'),
    ('shift by much', 'for make in (lambda: 1 << -1, lambda: 1 >> -1, lambda: 1 << (1 << 40)):\n    try:\n        make()\n    except (OverflowError, ValueError, MemoryError) as e:\n        print("caught")\nprint(1 >> 1000, -1 >> 1000)\n', 0, r'^(caught\n){3}0 -1', '^$'),
    ('lowest by minus one', 'import torch\nx = torch.tensor([-(1 << 62) * 2])\nprint((x // -1).shape, (x % -1).item(), x.abs().shape, torch.div(x, -1, rounding_mode="trunc").shape)\ntry:\n    print((-(1 << 62) * 2) // -1)\nexcept OverflowError:\n    print("caught")\n', 0, 'caught', '^$'),
    ('division by zero', 'import torch\nx = torch.tensor([1, 2])\nfor make in (lambda: 1 // 0, lambda: 1 % 0, lambda: 1.0 % 0.0, lambda: x // 0, lambda: x % 0, lambda: divmod(1, 0)):\n    try:\n        make()\n        print("made")\n    except (ZeroDivisionError, RuntimeError):\n        print("caught")\n', 0, r'^(caught\n){6}$', '^$'),
    ('division by zero, compiled', 'import torch\n@torch.compile\ndef f(x, y):\n    return x // y, x % y\ntry:\n    f(torch.tensor([1, 2]), torch.tensor([0, 1]))\nexcept (ZeroDivisionError, RuntimeError):\n    print("caught")\nprint("alive")\n', 0, 'alive', ''),
    ('unfinished generators', 'def g():\n    try:\n        while True:\n            yield 1\n    finally:\n        print("closed")\na = g()\nnext(a)\ndel a\nb = g()\nnext(b)\nb.close()\nc = g()\nnext(c)\nprint("end")\n', 0, 'closed\nclosed\nend', '^$'),
    ('generator in itself', 'def g():\n    yield next(me)\nme = g()\ntry:\n    next(me)\nexcept ValueError as e:\n    print(e)\n', 0, 'generator already executing', '^$'),
    ('generator that will not close', 'def g():\n    while True:\n        try:\n            yield 1\n        except GeneratorExit:\n            pass\na = g()\nnext(a)\ntry:\n    a.close()\nexcept RuntimeError as e:\n    print("caught")\nprint("alive")\n', 0, 'alive', ''),
    ('unrolling without end, compiled', '#:set node_limit 1000\nimport torch\n@torch.compile\ndef f(x):\n    n = 0\n    while n < 5000:\n        x = x + 1\n        n += 1\n    return x\nprint(f(torch.zeros(2)))\n', 0, r'tensor\(\[5000., 5000.\]\)', 'f runs eagerly: the graph has 1000 nodes already, as many as :set node_limit allows'),
    ('unrolling past the usual limit, compiled', 'import torch\n@torch.compile\ndef f(x):\n    for n in range(100100):\n        x = x + 1\n    return x\nprint(f(torch.zeros(2)))\n', 0, r'tensor\(\[100100., 100100.\]\)', 'f runs eagerly: the graph has 100000 nodes already'),
    ('recursion in two functions, compiled', 'import torch\ndef a(x, n):\n    return b(x, n)\ndef b(x, n):\n    return a(x + 1, n)\ntry:\n    torch.compile(a)(torch.ones(2), 0)\nexcept RecursionError:\n    print("caught")\n', 0, 'caught', ''),
    ('generator never finished, compiled', 'import torch\ndef g(x):\n    n = 0\n    while True:\n        yield x + n\n        n += 1\n@torch.compile\ndef f(x):\n    it = g(x)\n    a = next(it)\n    print("break")\n    return a + next(it)\nprint(f(torch.ones(2)))\n', 0, r'break\ntensor\(\[3., 3.\]\)', 'does not end|nodes already'),
    ('list that grows in the loop, compiled', 'import torch\n@torch.compile\ndef f(x):\n    xs = [1]\n    for v in xs:\n        if v < 300:\n            xs.append(v + 1)\n        x = x + v\n    return x, xs[-1]\nprint(f(torch.zeros(2)))\n', 0, r'\(tensor\(\[45150., 45150.\]\), 300\)', '^$'),
    ('list that grows without end, compiled', '#:set node_limit 1000\nimport torch\n@torch.compile\ndef f(x):\n    xs = [1]\n    for v in xs:\n        xs.append(v + 1)\n        x = x + v\n        if v == 3000:\n            return x\nprint(f(torch.zeros(2)))\n', 0, r'tensor\(\[4501500., 4501500.\]\)', 'nodes already'),
    ('builtins shadowed, compiled', 'import torch\ndef len(x):\n    return 42\n@torch.compile\ndef f(x):\n    sum = 3\n    return x * sum + len([1]), max\ndef max(*a):\n    return -1\nprint(f(torch.ones(2))[0], f(torch.ones(2))[1](3, 4))\ndef max(*a):\n    return -2\nprint(f(torch.ones(2))[1](3, 4))\n', 0, r'tensor\(\[45., 45.\]\) -1\n-2', '^$'),
    ('redefined between calls, compiled', 'import torch\ndef helper(x):\n    return x + 1\n@torch.compile\ndef f(x):\n    return helper(x) * 2\nprint(f(torch.ones(1)))\ndef helper(x):\n    return x + 10\nprint(f(torch.ones(1)))\nhelper = lambda x: x * 100\nprint(f(torch.ones(1)))\n', 0, r'tensor\(\[4.\]\)\ntensor\(\[22.\]\)\ntensor\(\[200.\]\)', '^$'),
    ('redefines itself, compiled', 'import torch\n@torch.compile\ndef f(x):\n    global f\n    y = x + 1\n    @torch.compile\n    def f(x):\n        return x - 1\n    return y\nprint(f(torch.ones(1)), f(torch.ones(1)), f(torch.ones(1)))\nclass C:\n    @torch.compile\n    def step(self, x):\n        type(self).step = lambda s, x: x * 7\n        return x + 1\nc = C()\nprint(c.step(torch.ones(1)), c.step(torch.ones(1)))\n', 0, r'tensor\(\[2.\]\) tensor\(\[0.\]\) tensor\(\[0.\]\)\ntensor\(\[2.\]\) tensor\(\[7.\]\)', ''),
    ('half-used generator, compiled', 'import torch\ndef g(x):\n    yield x\n    yield x + 1\n    yield x + 2\n@torch.compile\ndef f(x):\n    it = g(x)\n    a = next(it)\n    return a + next(it)\nprint(f(torch.ones(2)))\n', 0, r'tensor\(\[3., 3.\]\)', ''),
    ('malformed f-string 1', 'x = f"{"\n', 1, '', 'f-string|expect|unterminated'),
    ('malformed f-string 2', 'x = f"{1!z}"\n', 1, '', 'f-string|conversion|expect'),
    ('malformed f-string 3', 'x = f"}"\n', 1, '', 'f-string|single|expect'),
    ('malformed f-string 4', 'x = f"{1:{2:{3:{4}}}}"\n', None, '', ''),
    ('malformed f-string 5', 'x = f"{}"\n', 1, '', 'f-string|empty|expect'),
    ('malformed f-string 6', 'x = f"{a b}"\n', 1, '', 'f-string|expect|syntax'),
    ('malformed f-string 7', 'try:\n    print(f"{1:zzz}")\nexcept ValueError as e:\n    print("caught")\n', 0, 'caught', '^$'),
    ('malformed f-string 8', 'x = f"{lambda: 1}"\n', 1, '', '.'),
    ('malformed format', 'for t, a in (("{", ()), ("}", ()), ("{0.", (1,)), ("{0[}", (1,)), ("{5}", (1,)), ("{a}", ()), ("{:>1{}}", (1,)), ("%", 1), ("%q", 1), ("%(a)s", 1), ("%d %d", 1), ("%d", "x")):\n    try:\n        print(t.format(*a) if "{" in t or "}" in t else t % a)\n    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as e:\n        print("caught")\n', 0, r'^(caught\n){12}$', '^$'),
    ('unterminated string', 'x = "abc\ny = 1\n', 1, '', 'unterminated|string'),
    ('unterminated text', 'x = """abc\ny = 1\n', 1, '', 'unterminated|string'),
    ('bad escapes', r'x = "\N{no}"' + '\n', 1, '', '.'),
    ('bad escapes 2', r'x = "\x4"' + '\n', 1, '', '.'),
    ('bad escapes 3', r'x = "\U99999999"' + '\n', 1, '', '.'),
    ('bad bytes', b'x = "\xff\xfe"\nprint(1)\n', 1, '', 'UTF-8'),
    ('a NUL byte', b'x = 1\x00\n', None, '', 'NUL'),
    ('only a byte order mark', b'\xef\xbb\xbfprint(1)\n', 0, '1', '^$'),
    ('tabs and blanks', 'if 1:\n\tx = 1\n        y = 2\n', 1, '', 'indent|tab'),
    ('no end of line', 'print(1)', 0, '1', '^$'),
    ('empty', '', 0, '^$', '^$'),
    ('unknown import', 'import numpy\n', 1, '', 'numpy'),
    ('unknown syntax', 'match x:\n    case 1:\n        pass\n', 1, '', r'\^'),
    ('unknown syntax 2', 'async def f():\n    await g()\n', 1, '', r'\^'),
    ('wrong shapes', 'import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)\n', 1, '', 'RuntimeError.*shapes|RuntimeError.*size'),
    ('wrong shapes, compiled', 'import torch\n@torch.compile\ndef f(x):\n    return x @ x\ntry:\n    f(torch.ones(2, 3))\nexcept RuntimeError as e:\n    print("caught")\n', 0, 'caught', ''),
    ('wrong index', 'import torch\nx = torch.ones(3)\nfor make in (lambda: x[5], lambda: x[torch.tensor([7])], lambda: x[:, 1], lambda: x.gather(0, torch.tensor([9])), lambda: torch.nn.functional.embedding(torch.tensor([9]), torch.ones(3, 2)), lambda: torch.zeros(3).scatter(0, torch.tensor([4]), x), lambda: x.index_select(0, torch.tensor([-9]))):\n    try:\n        make()\n        print("made")\n    except (IndexError, RuntimeError):\n        print("caught")\n', 0, r'^(caught\n){7}$', '^$'),
    ('wrong index, compiled', 'import torch\n@torch.compile\ndef f(x, i):\n    return x[i] + 1\ntry:\n    print(f(torch.ones(3), torch.tensor([0, 1000000000])))\nexcept (IndexError, RuntimeError):\n    print("caught")\nprint("alive")\n', 0, 'alive', ''),
    ('wrong scatter, compiled', 'import torch\n@torch.compile\ndef f(x, i):\n    return x.scatter_add(0, i, torch.ones(2))\ntry:\n    f(torch.ones(3), torch.tensor([0, -1000000000]))\nexcept (IndexError, RuntimeError):\n    print("caught")\nprint("alive")\n', 0, 'alive', ''),
    ('strange names', 'import torch\nx = type("a\\n*/", (), {})\nprint(x.__name__ == "a\\n*/")\n', None, '', ''),
    ('long names', 'import torch\n' + 'x' * 20000 + ' = torch.ones(2)\n@torch.compile\ndef ' + 'f' * 20000 + '(' + 'y' * 20000 + '):\n    return ' + 'y' * 20000 + ' + 1\nprint(' + 'f' * 20000 + '(' + 'x' * 20000 + '))\n', 0, r'tensor\(\[2., 2.\]\)', ''),
    ('many arguments', 'import torch\nnames = 0\ndef f(*a):\n    return sum(a)\nprint(torch.compile(f)(*[torch.ones(2) for _ in range(500)]))\n', 0, r'tensor\(\[500., 500.\]\)', ''),
    ('an error in __del__, __repr__, __eq__', 'class A:\n    def __repr__(self):\n        raise ValueError("no")\n    def __eq__(self, o):\n        raise ValueError("no")\n    def __hash__(self):\n        raise ValueError("no")\nfor make in (lambda: print(A()), lambda: A() == 1, lambda: {A(): 1}, lambda: [A()].index(3), lambda: A() in [1, 2]):\n    try:\n        make()\n        print("made")\n    except ValueError:\n        print("caught")\n', 0, r'^(caught\n){5}$', '^$'),
    ('raise nonsense', 'for make in (1, "x", None):\n    try:\n        raise make\n    except TypeError:\n        print("caught")\n', 0, r'^(caught\n){3}$', '^$'),
    ('an exception that contains itself', 'try:\n    e = ValueError("a")\n    raise e from e\nexcept ValueError:\n    print("caught")\nraise e from e\n', 1, 'caught', 'ValueError: a'),
    ('exit in a function', 'import sys\ndef f():\n    sys.exit(7)\ntry:\n    f()\nfinally:\n    print("finally")\n', 7, 'finally', '^$'),
    ('exit with a message', 'import sys\nsys.exit("no more")\n', 1, '^$', '^no more$'),
    ('exit with a large number', 'import sys\nsys.exit(259)\n', 3, '^$', '^$'),
    ('an error in __del__', 'class A:\n    def __del__(self):\n        raise ValueError("no")\na = A()\ndel a\nprint("alive")\n', 0, 'alive', 'Exception ignored in: .*__del__[^$]*ValueError: no'),
    ('__del__ that comes back', 'class A:\n    def __del__(self):\n        global a\n        a = self\na = A()\ndel a\nprint(a is not None)\ndel a\nprint("alive")\n', 0, 'True\nalive', '^$'),
    ('__del__ that makes more', 'n = 0\nclass A:\n    def __del__(self):\n        global n\n        n += 1\n        if n < 10000:\n            A()\nA()\nprint(n)\n', 0, '10000', '^$'),
    ('a list emptied by its items', 'class A:\n    def __eq__(self, o):\n        l.clear()\n        return False\n    def __repr__(self):\n        l.clear()\n        return "A"\n    def __lt__(self, o):\n        l.clear()\n        return True\n    def __index__(self):\n        l.clear()\n        return 2\ndef fill():\n    global l\n    l = [A() for _ in range(50)]\nfor use in (lambda: l == [1] * 50, lambda: 3 in l, lambda: l.remove(3), lambda: l.count(3), lambda: l.index(3), lambda: repr(l), lambda: print(*l), lambda: l.sort(), lambda: l[A()], lambda: l[A():], lambda: l.pop(A()), lambda: l.insert(A(), 1), lambda: max(l), lambda: l < [A()], lambda: l.__setitem__(A(), 1), lambda: l.__delitem__(A()), lambda: l.__setitem__(slice(A(), None), [1]), lambda: l * A()):\n    fill()\n    try:\n        use()\n    except (ValueError, IndexError):\n        pass\nprint("alive")\n', 0, 'alive', '^$'),
    ('a dict emptied by its keys', 'class A:\n    def __hash__(self):\n        return 1\n    def __eq__(self, o):\n        d.clear()\n        s.clear()\n        return False\nd, s = {}, set()\nfor i in range(50):\n    d[A()] = i\n    s.add(A())\n    d.get(A())\n    A() in s\n    s | {A()}\nprint("alive")\n', 0, 'alive', '^$'),
    ('containers changed by their iterators', 'l = [1, 2, 3]\ndef g():\n    for i in range(3):\n        l.clear()\n        yield i\nl[1:2] = g()\nl.extend(g())\nl += g()\nl[:] = l\nl.extend(l)\nl[1:1] = l\nprint(len(l))\n', 0, '^4', '^$'),
    ('exceptions in a circle', 'a = ValueError(1)\nb = KeyError(2)\na.__context__ = b\nb.__context__ = a\ntry:\n    try:\n        raise a\n    except ValueError:\n        raise b\nexcept KeyError:\n    print("caught")\ntry:\n    raise RuntimeError(3)\nexcept RuntimeError as e:\n    e.__cause__ = e\n    e.__context__ = e\n    raise\n', 1, 'caught', 'RuntimeError: 3'),
    ('deep tuples of classes', 'c = int\nfor i in range(200000):\n    c = (c,)\nfor use in (lambda: isinstance("a", c), lambda: issubclass(str, c)):\n    try:\n        use()\n    except RecursionError:\n        print("caught")\nx = []\nfor i in range(100000):\n    x = [x]\nimport copy\ntry:\n    copy.deepcopy(x)\nexcept RecursionError:\n    print("caught")\n', 0, '^(caught\n){3}$', '^$'),
    ('every special method calls itself', 'class A:\n    def __getattr__(self, n): return getattr(self, n)\n    def __getattribute__(self, n): return object.__getattribute__(self, n)\n    def __next__(self): return next(self)\n    def __iter__(self): return self\n    def __call__(self): return self()\n    def __getitem__(self, i): return self[i]\n    def __bool__(self): return bool(self)\n    def __len__(self): return len(self)\n    def __hash__(self): return hash(self)\n    def __add__(self, o): return self + o\n    def __lt__(self, o): return self < o\n    def __contains__(self, o): return o in self\n    def __format__(self, s): return format(self, s)\n    def __str__(self): return str(self)\n    def __setattr__(self, n, v): self.x = v\na = A()\nfor use in (lambda: a.x, lambda: list(a), lambda: a(), lambda: a[0], lambda: bool(a), lambda: len(a), lambda: hash(a), lambda: a + 1, lambda: a < 1, lambda: 1 in a, lambda: f"{a}", lambda: str(a), lambda: sorted([a, a]), lambda: {a: 1}, lambda: setattr(a, "x", 1)):\n    try:\n        use()\n        print("no end?")\n    except RecursionError:\n        pass\nprint("alive")\n', 0, '^alive$', '^$'),
    ('giant widths', 'for t, a in (("%99999999999999999999d", 1), ("%*d", (10 ** 12, 1)), ("%.*f", (10 ** 12, 1.5)), ("%2147483648s", "a")):\n    try:\n        t % a\n        print("made")\n    except (ValueError, OverflowError, MemoryError):\n        print("caught")\nfor make in (lambda: f"{1.5:.1000000000f}", lambda: "{:>1000000000000}".format(1), lambda: "a\\t".expandtabs(10 ** 12), lambda: "x".zfill(10 ** 13)):\n    try:\n        make()\n        print("made")\n    except (ValueError, OverflowError, MemoryError):\n        print("caught")\nprint("alive")\n', 0, r'^(caught\n){8}alive', '^$'),
    ('giant ranges', 'r = range(-2 ** 62, 2 ** 62)\ntry:\n    len(r)\nexcept OverflowError:\n    print("caught")\nfor i in r:\n    break\nprint(i == r[0], 5 in r)\nimport random\nrandom.seed(1)\nprint(random.sample(range(10 ** 12), 2)[0] < 10 ** 12)\n', 0, 'caught\nTrue True\nTrue', '^$'),
    ('builtins with new meanings', 'len = 5\nprint_ = print\nprint = None\nstr = repr = None\nException = 3\ntry:\n    raise ValueError("still")\nexcept ValueError as e:\n    print_(e, f"{1}")\ndef list(*a): return "mine"\nprint_([*range(2)], list(1))\ndel len\nprint_(len([1]))\n', 0, 'still 1\n\\[0, 1\\] mine\n1', '^$'),
]


class Runner:
    def __init__(self, vitrine, folder):
        self.vitrine, self.folder = vitrine, pathlib.Path(folder)
        self.environment = {**os.environ, 'VITRINE_CACHE_DIR': str(self.folder / 'cache'), 'HOME': str(self.folder), 'NO_COLOR': '1'}

    def file(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def __call__(self, *arguments, env=None, **options):
        options.setdefault('stdin', subprocess.DEVNULL) if 'input' not in options else None
        return subprocess.run([self.vitrine, *map(str, arguments)], capture_output=True, text=True, errors='replace', timeout=40,
                              env={**self.environment, **(env or {})}, cwd=self.folder, **options)


def fault_of(process, status, out, err):
    if process.returncode < 0:
        return f'died of signal {-process.returncode}: {process.stderr[-300:]!r}'
    if status is not None and process.returncode != status:
        return f'status {process.returncode}, want {status}; said {process.stdout[-200:]!r} {process.stderr[-300:]!r}'
    if not re.search(out, process.stdout, re.M if out.startswith('^$') is False else 0):
        return f'stdout {process.stdout[-300:]!r} {process.stderr[-200:]!r}'
    if not re.search(err, process.stderr, re.S):
        return f'stderr {process.stderr[-300:]!r}'
    return None


# ---- tests that are more than a program ----

def test_names_in_pictures(run):
    path = run.file('names.py', NAMES)
    for stage in STAGES:
        picture = run.folder / f'{stage}.svg'
        process = run('--safe' if False else '--plain', '-c', f':load {path}', '-c', f':draw {stage} {picture}', '-c', f':draw {stage} {run.folder / stage}.dot')
        if process.returncode:
            return f'{stage}: {fault_of(process, 0, "", "")}'
        text = picture.read_text()
        xml.dom.minidom.parseString(text)
        if '<script' in text or '\x1b' in text:
            return f'{stage}: a name got into the picture as it is'
        if shutil.which('dot') and subprocess.run(['dot', '-Tcanon', f'{run.folder / stage}.dot'], capture_output=True).returncode:
            return f'{stage}: the DOT file is broken'
    return None


def test_names_in_json(run):
    path = run.file('names.py', NAMES)
    commands = ('guards', 'kernels', 'graph dynamo', 'graph joint', 'stages', 'cache', 'memory', 'schedule', 'fusion', 'bytecode', 'recompiles')
    process = run('--json', '--summary', run.folder / 's.json', '-c', f':load {path}', *(part for c in commands for part in ('-c', ':' + c)))
    if process.returncode:
        return fault_of(process, 0, '', '')
    json.loads((run.folder / 's.json').read_text())
    documents = [line for line in process.stdout.splitlines() if line.startswith(('{', '['))]
    if len(documents) != len(commands):
        return f'{len(documents)} documents for {len(commands)} commands'
    for line in documents:
        json.loads(line)
    return None


def test_escapes_stay_in_strings(run):
    path = run.file('names.py', NAMES)
    process = run('-c', f':load {path}', '-c', ':guards', '-c', ':graph dynamo', '-c', ':kernels', '-c', ':draw guards')
    return 'an escape of a name reached the terminal' if '\x1b' in process.stdout else fault_of(process, 0, '', '')


COMPILE = 'import torch\nprint(torch.compile(lambda x: x.sin() * 2 + {})(torch.zeros(3)))\n'


def test_no_compiler(run):
    for n, env in enumerate(({'CC': '/nonexistent'}, {'PATH': ''}, {'PATH': '/nonexistent', 'CC': 'cc'}, {'CC': 'false'}, {'CC': 'cat /etc/passwd; true'})):
        path = run.file('compile.py', COMPILE.format(n + 1) + 'print("alive")\n')
        process = run('--no-cache', path, env=env)
        fault = fault_of(process, 0, r'tensor\(\[.*\]\)\nalive', '')
        if fault:
            return f'{env}: {fault}'
        if env.get('CC') == '/nonexistent' and not re.search('compiler|/nonexistent', process.stderr):
            return f'{env}: nothing said what is missing: {process.stderr!r}'
        if len(process.stderr.splitlines()) > 6:
            return f'{env}: more than one message: {process.stderr!r}'
    return None


def test_unwritable_cache(run):
    blocked = run.file('blocked', '')
    for n, where in enumerate((blocked / 'cache', '/proc/nowhere', '/dev/null/x')):
        process = run(run.file('c.py', COMPILE.format(n + 10) + 'print("alive")\n'), env={'VITRINE_CACHE_DIR': str(where)})
        fault = fault_of(process, 0, r'tensor\(\[.*\]\)\nalive', '')
        if fault or len(process.stderr.splitlines()) > 2:
            return f'{where}: {fault or process.stderr!r}'
    return None


def test_broken_cache(run):
    path = run.file('c.py', COMPILE.format(77))
    first = run(path)
    for damage in (b'', b'garbage' * 100):
        for file in (run.folder / 'cache').rglob('*'):
            if file.is_file():
                os.chmod(file, 0o600)
                file.write_bytes(damage)
        again = run(path)
        if again.stdout != first.stdout or again.returncode:
            return f'after damage: {again.stdout!r} {again.stderr[-300:]!r} status {again.returncode}'
    return None


def test_no_temporary_folder(run):
    process = run(run.file('c.py', COMPILE.format(5) + 'print("alive")\n'), env={'TMPDIR': '/proc/nowhere'})
    return fault_of(process, 0, r'tensor\(\[.*\]\)\nalive', '')


def test_unwritable_output(run):
    path = run.file('names.py', COMPILE.format(3))
    for target in ('/proc/nowhere/x.svg', '/nonexistent/x.dot', str(run.folder / 'names.py' / 'x.svg')):
        process = run('-c', f':load {path}', '-c', f':draw joint {target}')
        fault = fault_of(process, 3, '', 'error|cannot')
        if fault or process.stderr.count('\n') > 4:
            return f'{target}: {fault or process.stderr!r}'
    process = run('--summary', '/proc/nowhere/s.json', path)
    if process.returncode not in (2, 3) or not process.stderr.strip():
        return f'--summary: status {process.returncode} {process.stderr!r}'
    with open('/dev/full', 'w') as full:
        written = subprocess.run([run.vitrine, '-c', 'print("x" * 100000)'], stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=60)
    return f'a full device: status {written.returncode}' if written.returncode in (0,) or written.returncode < 0 else None


def test_full_output(run):
    if not os.path.exists('/dev/full'): return None
    for program in ('print(1)\n', 'print("x" * 1000000)\n', 'for i in range(200000): print(i)\n'):
        with open('/dev/full', 'w') as full:
            done = subprocess.run([run.vitrine, str(run.file('full.py', program))], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode != 1 or done.stderr.count('cannot write the output') != 1 or 'No space left' not in done.stderr:
            return f'{program!r}: status {done.returncode}, {done.stderr[-200:]!r}'
    return None


def test_closed_pipe(run):
    program = run.file('long.py', 'for i in range(200000):\n    print(i)\n')
    process = subprocess.run(f'"{run.vitrine}" "{program}" | head -n 1', shell=True, capture_output=True, text=True, timeout=60)
    return None if process.stdout == '0\n' and len(process.stderr) < 200 else f'{process.stdout!r} {process.stderr[-300:]!r}'


def test_missing_files(run):
    for arguments, status, err in ((('nothing.py',), 2, 'nothing.py'), ((run.folder,), 2, ''), (('-c', ':load nothing.py'), 3, 'nothing.py'), (('--nonsense',), 2, 'nonsense'),
                                   (('--device', 'tpu'), 2, 'tpu'), (('-c', ':nonsense'), 3, 'nonsense'), (('-c', ':bench nothing.py'), 3, 'nothing.py'),
                                   (('-c', ':kernel k99999999999999999999'), 3, ''), (('-c', ':graph joint [99999999999/1]'), 3, ''), (('-c', ':draw'), 3, ''), (('-c', ':time f('), 3, ''),
                                   (('-c', ':op "\\*/'), 3, ''), (('-c', ':set x ' + 'y' * 100000), 3, '')):
        process = run(*arguments)
        fault = fault_of(process, status, '', re.escape(err))
        if fault or not process.stderr.strip():
            return f'{str(arguments)[:80]}: {fault or "nothing was said"}'
    return None


def interrupt(run, text, after, arguments=()):
    process = subprocess.Popen([run.vitrine, *arguments, str(run.file('long.py', text))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                               env=run.environment)
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    line = process.stdout.readline()
    watchdog.cancel()
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 'it did not stop within 20 s'
    if process.returncode != 130 or not err.strip() or len(err.splitlines()) > 12:
        return f'after {line!r}: status {process.returncode}, said {err[-300:]!r} in {time.monotonic() - began:.1f} s'
    return None


def test_interrupted_loop(run):
    return interrupt(run, 'print("go", flush=True)\nwhile True:\n    pass\n', 0.3)


def test_interrupted_builtins(run):
    for text in ('sum(i for i in iter(int, 1))', 'list(range(10 ** 12))', 'any(False for _ in iter(int, 1))', 'sorted(iter(int, 1))', 'for i in range(10 ** 15): pass'):
        fault = interrupt(run, f'print("go", flush=True)\n{text}\n', 0.3)
        if fault and 'MemoryError' not in fault:
            return f'{text}: {fault}'
    return None


def test_interrupted_ops(run):
    return interrupt(run, 'import torch\nx = torch.ones(400, 400)\nprint("go", flush=True)\nwhile True:\n    x = (x @ x).sigmoid()\n', 0.3)


def test_interrupted_except(run):
    return interrupt(run, 'print("go", flush=True)\nwhile True:\n    try:\n        for i in range(10): i + 1\n    except Exception:\n        pass\n', 0.3)


def test_interrupted_compile(run):
    many = '\n'.join(f'    x = (x.sin() @ x).cos() * {i}.5' for i in range(60))
    return interrupt(run, f'import torch\ndef f(x):\n{many}\n    return x\nprint("go", flush=True)\nfor i in range(2, 400):\n    torch.compile(f, dynamic=False)(torch.ones(i, i, requires_grad=True))\n', 0.5, ('--no-cache',))


def test_interrupted_session_lives(run):
    process = subprocess.Popen([run.vitrine, '--keep-going', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=run.environment)
    process.stdin.write('x = 41\nprint("go", flush=True)\nwhile True: pass\nprint(x + 1)\n')
    process.stdin.flush()
    process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        return 'it did not stop'
    return None if process.returncode in (0, 3, 130) else f'status {process.returncode} {out!r} {err[-200:]!r}'


def test_standard_input_goes_on(run):
    process = run('--keep-going', '-', input='x = 1 +\nprint(1)\n:nonsense\nprint(2)\nraise ValueError("a")\nprint(3)\n')
    return None if process.returncode in (1, 3) and process.returncode > 0 else f'status {process.returncode}: {process.stdout!r} {process.stderr!r}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--only', default='')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    bad = count = 0
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(os.path.abspath(options.vitrine), folder)
        tests = [(name, lambda p=program, s=status, o=out, e=err: fault_of(run(run.file('program.py', p)), s, o, e)) for name, program, status, out, err in PROGRAMS]
        tests += [(name[5:].replace('_', ' '), lambda f=function: f(run)) for name, function in globals().items() if name.startswith('test_')]
        for name, test in tests:
            if options.only not in name:
                continue
            began = time.monotonic()
            try:
                fault = test()
            except subprocess.TimeoutExpired:
                fault = 'no end in time'
            seconds = time.monotonic() - began
            count += 1
            bad += fault is not None
            if fault or options.verbose:
                print(f'{"FAIL" if fault else "good"} {name} {seconds:.1f}s {fault or ""}'.rstrip(), flush=True)
    print(f'{count - bad} of {count} kinds of bad input are met as they should be')
    return 1 if bad or not count else 0


if __name__ == '__main__':
    sys.exit(main())
