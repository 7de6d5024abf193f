"""The grammar of random programs for capture: from a seed, the text of a function, of what it calls, and of several calls.

In: a seed. Out: `program(seed)`, lines that need PREAMBLE before them and print everything that a caller could see.
    program(3)  ->  "def helper_a_3(t, k): ...", "@torch.compile", "def f_3(x, y, n, items, table, box): ...", "run(3, f_3, ...)"

Tensors hold integers below MODULUS in size, in float32: every sum and product is exact, so outputs are compared to the letter. A program may
raise: the caller prints the exception's type, and what was changed before. Names end in the seed, so that many programs share a file.
A kind of value is a letter: t tensor, i int, s key string, l list of ints, m list of tensors, d dict of ints, o Box, g iterator of ints, c function of a tensor.
To add a form: a method `t_NAME`, `i_NAME` or `b_NAME` (expressions, text returned) or `do_NAME` (statements, lines emitted) of Writer;
the weight is the number that its line in WEIGHTS gives, else 1.
"""
import pathlib
import random

MODULUS = 61

PREAMBLE = pathlib.Path(__file__).with_name('capture_preamble.py').read_text()

WEIGHTS = {
    't_name': 4, 't_add': 3, 't_scaled': 3, 't_item': 1, 'i_name': 4, 'i_constant': 3, 'i_from_tensor': 0.5, 'i_unsafe': 0.4, 'b_compare': 4, 'b_tensor': 1,
    'do_assign_tensor': 6, 'do_assign_int': 4, 'do_print': 0.8, 'do_graph_break': 0.2, 'do_if': 2.5, 'do_for': 2, 'do_while': 0.8, 'do_try': 1.5,
    'do_return': 0.25, 'do_raise': 0.4, 'do_delete': 0.2,
}
KEYS = ('"a"', '"b"', '"c"')


class Writer:
    """Writes one function body; `kinds` holds the names that are surely bound at this point."""

    def __init__(self, rng, seed, callables, breaks, inner=False, box='Box'):
        self.rng, self.seed, self.callables, self.breaks, self.inner, self.box = rng, seed, callables, breaks, inner, box
        self.lines, self.depth, self.loops, self.fresh = [], 1, 0, 0
        self.kinds = {kind: [] for kind in 'tislmdogc'}
        self.methods = {head: [m for m in dir(self) if m.startswith(head)] for head in ('t_', 'i_', 'b_', 'do_')}

    # ---- choosing and naming

    def pick(self, head, leaves=()):
        names = [n for n in self.methods[head] if not leaves or n in leaves]
        return getattr(self, self.rng.choices(names, [WEIGHTS.get(n, 1) for n in names])[0])

    def any(self, kind):
        return self.rng.choice(self.kinds[kind]) if self.kinds[kind] else None

    def small(self):
        return self.rng.randint(-4, 9)

    def new(self, kind):
        """A name for a value of that kind: often one that exists."""
        if self.kinds[kind] and self.rng.random() < 0.4:
            return self.any(kind)
        self.fresh += 1
        return f'{kind}{self.fresh}'

    def emit(self, line):
        self.lines.append('    ' * self.depth + line)

    def bind(self, kind, name):
        if name not in self.kinds[kind]:
            self.kinds[kind].append(name)

    def assign(self, kind, text):
        name = self.new(kind)
        self.emit(f'{name} = {text}')
        self.bind(kind, name)

    def block(self, head, statements, bound=()):
        """An indented block; what is bound in it is not relied on behind it."""
        self.emit(head)
        kept = {k: list(v) for k, v in self.kinds.items()}
        for kind, name in bound:
            self.bind(kind, name)
        self.depth += 1
        before = len(self.lines)
        self.body(statements)
        if len(self.lines) == before:
            self.emit('pass')
        self.depth -= 1
        self.kinds = kept

    def body(self, statements):
        for _ in range(statements):
            self.pick('do_')()

    def some(self):
        return self.rng.randint(1, 3)

    # ---- tensors: text of an expression whose values stay below MODULUS in size

    def tensor(self, depth=2):
        return self.pick('t_', ('t_name',) if depth <= 0 else ())(depth - 1)

    def t_name(self, depth):
        return self.any('t')

    def t_add(self, depth):
        return f'(({self.tensor(depth)} {self.rng.choice("+-")} {self.tensor(depth)}) % {MODULUS})'

    def t_scaled(self, depth):
        return f'(({self.tensor(depth)} {self.rng.choice(["*", "+", "-"])} {self.int(depth)}) % {MODULUS})'

    def t_product(self, depth):
        return f'(({self.tensor(depth)} * {self.tensor(depth)}) % {MODULUS})'

    def t_sum(self, depth):
        return f'(({self.tensor(depth)}.sum() + {self.tensor(depth)}) % {MODULUS})'

    def t_call(self, depth):
        return self.tensor(depth) + self.rng.choice(('.clone()', '.flip(0)', '.abs()', '.relu()', '.neg()', '.view(-1)', '[:]'))

    def t_where(self, depth):
        return f'torch.where({self.tensor(depth)} > {self.small()}, {self.tensor(depth)}, {self.tensor(depth)})'

    def t_maximum(self, depth):
        return f'torch.{self.rng.choice(["maximum", "minimum"])}({self.tensor(depth)}, {self.tensor(depth)})'

    def t_factory(self, depth):
        t = self.any('t')
        return self.rng.choice((f'torch.zeros({t}.shape[0])', f'torch.arange({t}.shape[0]).float()', f'torch.full_like({t}, {self.small()})'))

    def t_cat(self, depth):
        t = self.any('t')
        return self.rng.choice((f'torch.cat([{t}[1:], {t}[:1]])', f'torch.stack([{t}, {self.tensor(depth)}])[1]'))

    def t_helper(self, depth):
        if not self.callables:
            return self.t_name(depth)
        return f'{self.rng.choice(self.callables)}({self.tensor(depth)}, {self.int(depth)})'

    def t_closure(self, depth):
        c = self.any('c')
        return f'{c}({self.tensor(depth)})' if c else self.t_name(depth)

    def t_item(self, depth):
        m, t = self.any('m'), self.any('t')
        return f'({m}[{self.small()} % len({m})] if {m} else {t})' if m else t

    def t_attribute(self, depth):
        o = self.any('o')
        return f'{o}.t' if o else self.t_name(depth)

    def t_mixed(self, depth):
        o = self.any('o')
        return f'{o}.mix({self.tensor(depth)}{self.rng.choice(["", ", 3", ", k=1"])})' if o else self.t_name(depth)

    def t_generated(self, depth):
        return f'(sum([v for v in tensors({self.tensor(depth)}, {self.rng.randint(1, 3)})]) % {MODULUS})'

    def t_conditional(self, depth):
        return f'({self.tensor(depth)} if {self.bool(depth)} else {self.tensor(depth)})'

    def t_comprehension(self, depth):
        return f'(sum([{self.any("t")} + i for i in range({self.rng.randint(1, 3)})]) % {MODULUS})'

    # ---- ints

    def int(self, depth=2):
        return self.pick('i_', ('i_name', 'i_constant') if depth <= 0 else ())(depth - 1)

    def i_name(self, depth):
        return self.any('i') or self.i_constant(depth)

    def i_constant(self, depth):
        return str(self.small()) if self.rng.random() < 0.9 else self.rng.choice(('True', 'False'))

    def i_arithmetic(self, depth):
        a, b = self.int(depth), self.int(depth)
        operator = self.rng.choice(('+', '-', '*', '//', '%'))
        if operator in '//%' and self.rng.random() < 0.85:
            b = f'(abs({b}) + 1)'
        return f'(({a} {operator} {b}) % {MODULUS})'

    def i_builtin(self, depth):
        return self.rng.choice((f'min({self.int(depth)}, {self.int(depth)})', f'max({self.int(depth)}, {self.int(depth)})', f'abs({self.int(depth)})'))

    def i_collect(self, depth):
        return self.rng.choice((f'collect({self.int(depth)}, {self.int(depth)}, scale={self.small()})', f'collect(*[1, {self.int(depth)}], b={self.int(depth)}, **{{"a": {self.int(depth)}}})'))

    def i_set(self, depth):
        return f'len({{{self.int(depth)}, {self.int(depth)}, 3}})'

    def i_shape(self, depth):
        return self.any('t') + self.rng.choice(('.shape[0]', '.dim()', '.numel()'))

    def i_list(self, depth):
        l = self.any('l')
        if not l:
            return self.i_constant(depth)
        return self.rng.choice((f'len({l})', f'(sum({l}) % {MODULUS})', f'({l}[{self.small()} % len({l})] if {l} else 0)', f'sorted({l} + [1])[0]'))

    def i_unsafe(self, depth):
        l, d = self.any('l'), self.any('d')
        return f'{l}[{self.rng.randint(-1, 3)}]' if l and self.rng.random() < 0.5 else f'{d}[{self.key()}]' if d else self.i_constant(depth)

    def i_dict(self, depth):
        d = self.any('d')
        return self.rng.choice((f'{d}.get({self.key()}, {self.small()})', f'len({d})', f'(sum({d}.values()) % {MODULUS})')) if d else self.i_constant(depth)

    def i_attribute(self, depth):
        o = self.any('o')
        return self.rng.choice((f'{o}.n', f'{o}.bump({self.int(depth)})', f'len({o}.log)')) if o else self.i_constant(depth)

    def i_next(self, depth):
        g = self.any('g')
        return f'next({g}, {self.small()})' if g else self.i_constant(depth)

    def i_from_tensor(self, depth):
        return f'int({self.any("t")}[0].item())' if self.breaks else self.i_constant(depth)

    def i_conditional(self, depth):
        return f'({self.int(depth)} if {self.bool(depth)} else {self.int(depth)})'

    def i_say(self, depth):
        """A break in the middle of an expression."""
        return f'say({self.int(depth)})' if self.breaks and self.rng.random() < 0.3 else self.i_constant(depth)

    def key(self):
        return self.any('s') if self.kinds['s'] and self.rng.random() < 0.3 else self.rng.choice(KEYS)

    # ---- conditions

    def bool(self, depth=2):
        return self.pick('b_', ('b_compare',) if depth <= 0 else ())(depth - 1)

    def b_compare(self, depth):
        return f'{self.int(depth)} {self.rng.choice(["<", ">", "==", "!=", "<=", ">="])} {self.int(depth)}'

    def b_chain(self, depth):
        return f'{self.small()} < {self.int(depth)} <= {self.int(depth)}'

    def b_logic(self, depth):
        return f'({self.bool(depth)} {self.rng.choice(["and", "or"])} {self.bool(depth)})'

    def b_not(self, depth):
        return f'(not {self.bool(depth)})'

    def b_tensor(self, depth):
        return f'{self.any("t")}.{self.rng.choice(["sum", "max", "min"])}() > {self.rng.randint(0, 30)}' if self.breaks else self.b_compare(depth)

    def b_member(self, depth):
        d, l = self.any('d'), self.any('l')
        return f'{self.key()} in {d}' if d else f'{self.int(depth)} in {l}' if l else self.b_compare(depth)

    def b_same(self, depth):
        kind = self.rng.choice('tlmo')
        return f'{self.any(kind)} is {self.any(kind)}' if self.kinds[kind] else self.b_compare(depth)

    def b_truth(self, depth):
        name = self.any(self.rng.choice('lmd'))
        return f'bool({name})' if name else self.b_compare(depth)

    # ---- statements

    def do_assign_tensor(self):
        self.assign('t', self.tensor())

    def do_assign_int(self):
        self.assign('i', self.int())

    def do_assign_key(self):
        self.assign('s', self.rng.choice((f'"abc"[{self.int()} % 3]', f'f"{{{self.int(0)} % 2}}"', '"a".lower()')))

    def do_alias(self):
        kind = self.rng.choice('tlmdo')
        if self.kinds[kind]:
            self.assign(kind, self.any(kind))

    def do_swap(self):
        kind = self.rng.choice('ti')
        if len(self.kinds[kind]) > 1:
            a, b = self.rng.sample(self.kinds[kind], 2)
            self.emit(f'{a}, {b} = {b}, {a}')

    def do_unpack(self):
        a, b = self.new('i'), self.new('i')
        if a != b and self.rng.random() < 0.5:
            self.emit(f'{a}, {b} = {self.int(1)}, {self.int(1)}')
        elif a != b:
            self.emit(f'{a}, *{b} = [{self.int(1)}, {self.int(1)}, 4]')
            self.emit(f'{b} = {b}[1]')
        else:
            self.emit(f'if ({a} := {self.int(1)}) > 3:')
            self.emit(f'    log.append({a})')
        self.bind('i', a)
        self.bind('i', b)

    def do_augmented(self):
        if self.kinds['i']:
            self.emit(f'{self.any("i")} {self.rng.choice(["+=", "-=", "*="])} {self.rng.choice([self.i_say(0), self.int(1)])}')
            name = self.lines[-1].split()[0]
            self.emit(f'{name} %= {MODULUS}')

    def do_in_place(self):
        t = self.any('t')
        self.emit(self.rng.choice((f'{t}.add_({self.int(1)})', f'{t}.mul_(2)', f'{t}[0] = {self.int(1)}', f'{t}.copy_({self.tensor(1)})', f'{t}[:1] += {self.small()}',
                                   f'{t} -= {self.small()}', f'{t}[1:].zero_()')))
        self.emit(f'{t}.remainder_({MODULUS})')

    def do_list(self):
        if not self.kinds['l'] or self.rng.random() < 0.3:
            self.assign('l', self.rng.choice((f'[{self.int(1)}, {self.int(1)}]', f'list(range({self.rng.randint(0, 4)}))', f'[v * 2 for v in range({self.rng.randint(1, 4)}) if v != {self.small()}]')))
            return
        l = self.any('l')
        self.emit(self.rng.choice((f'{l}.append({self.int(1)})', f'{l}.pop()', f'{l}.insert(0, {self.int(1)})', f'{l}.sort()', f'{l}.reverse()', f'{l}.extend([1, {self.int(1)}])',
                                   f'{l} += [{self.int(1)}]', f'{l}[:1] = [{self.int(1)}, 3]', f'{l}[-1] = {self.int(1)}', f'del {l}[0]', f'{l}.sort(key=lambda v: (v % 3, v))')))

    def do_tensor_list(self):
        if not self.kinds['m'] or self.rng.random() < 0.3:
            self.assign('m', f'[{self.tensor(1)}, {self.tensor(1)}]')
            return
        m = self.any('m')
        self.emit(self.rng.choice((f'{m}.append({self.tensor(1)})', f'{m}.reverse()', f'{m}[0] = {self.tensor(1)}', f'{m}.extend([{self.any("t")}])', f'{m}.pop()')))

    def do_dict(self):
        if not self.kinds['d'] or self.rng.random() < 0.25:
            self.assign('d', self.rng.choice((f'{{"a": {self.int(1)}, "c": {self.int(1)}}}', '{}', f'{{k: len(k) + {self.int(0)} for k in ("a", "b")}}')))
            return
        d = self.any('d')
        self.emit(self.rng.choice((f'{d}[{self.key()}] = {self.int(1)}', f'{d}.pop({self.key()}, None)', f'{d}.setdefault({self.key()}, {self.int(1)})',
                                   f'{d}.update({{"b": {self.int(1)}}})', f'del {d}[{self.key()}]', f'{d}.clear()')))

    def do_object(self):
        if not self.kinds['o'] or self.rng.random() < 0.25:
            self.assign('o', f'{self.box}({self.int(1)}, {self.tensor(1)})')
            return
        o = self.any('o')
        self.emit(self.rng.choice((f'{o}.n = {self.int(1)}', f'{o}.t = {self.tensor(1)}', f'{o}.bump({self.int(1)})', f'{o}.log.append({self.int(1)})')))

    def do_state(self):
        """What lies outside the frame: a global number, a global list."""
        if self.inner:
            return
        self.emit(self.rng.choice((f'number_{self.seed} = (number_{self.seed} + {self.int(1)}) % {MODULUS}', f'state_{self.seed}.append({self.int(1)})', f'log.append(number_{self.seed})')))

    def do_log(self):
        self.emit(f'log.append({self.rng.choice([self.int(), self.bool(1), self.tensor(1)])})')

    def do_print(self):
        if self.breaks:
            self.emit(f'print("at", {self.int(1)})')

    def do_graph_break(self):
        if self.breaks:
            self.emit('torch._dynamo.graph_break()')

    def do_if(self):
        if self.depth > 3:
            return
        self.block(f'if {self.bool()}:', self.some())
        if self.rng.random() < 0.3:
            self.block(f'elif {self.bool()}:', self.some())
        if self.rng.random() < 0.6:
            self.block('else:', self.some())

    def do_for(self):
        if self.depth > 2 or self.loops > 1:
            return
        self.fresh += 1
        name = f'v{self.fresh}'
        heads = [(f'for {name} in range({self.rng.randint(1, 3)}):', [('i', name)]), (f'for {name} in (2, 5):', [('i', name)]),
                 (f'for k{self.fresh}, {name} in enumerate([3, {self.int(1)}]):', [('i', name), ('i', f'k{self.fresh}')])]
        if self.kinds['l']:
            heads.append((f'for {name} in list({self.any("l")})[:3]:', [('i', name)]))
        if self.kinds['d']:
            heads.append((f'for k{self.fresh}, {name} in list({self.any("d")}.items()):', [('i', name), ('s', f'k{self.fresh}')]))
        if self.kinds['m']:
            heads.append((f'for {name}, k{self.fresh} in zip({self.any("m")}[:3], (1, 2, 3)):', [('t', name), ('i', f'k{self.fresh}')]))
        if self.kinds['g']:
            heads.append((f'for {name} in {self.any("g")}:', [('i', name)]))
        head, bound = self.rng.choice(heads)
        self.loop(head, bound)

    def loop(self, head, bound):
        self.loops += 1
        self.block(head, self.some(), bound)
        if self.rng.random() < 0.35:
            self.depth += 1
            self.emit(f'if {self.bool(1)}:')
            self.emit('    ' + self.rng.choice(('break', 'continue')))
            if self.lines[-1].endswith('continue'):
                self.emit(f'log.append({self.int(0)})')
            self.depth -= 1
        if self.rng.random() < 0.2:
            self.block('else:', 1)
        self.loops -= 1

    def do_while(self):
        if self.depth > 2 or self.loops > 1:
            return
        self.fresh += 1
        name = f'w{self.fresh}'
        self.emit(f'{name} = 0')
        condition = f' and {self.bool(1)}' if self.rng.random() < 0.4 else ''
        self.loops += 1
        self.emit(f'while {name} < {self.rng.randint(1, 3)}{condition}:')
        self.depth += 1
        self.emit(f'{name} += 1')
        kept = {k: list(v) for k, v in self.kinds.items()}
        self.body(self.some())
        self.kinds = kept
        self.depth -= 1
        self.loops -= 1

    def do_try(self):
        if self.depth > 2:
            return
        self.block('try:', self.some())
        if self.rng.random() < 0.8:
            handler = self.rng.choice(('except Failure as e:', 'except (IndexError, KeyError):', 'except Exception as e:', 'except ZeroDivisionError:'))
            self.block(handler, 1)
            if handler.endswith('as e:') and self.rng.random() < 0.5:
                self.emit('    log.append(type(e).__name__)')
            if self.rng.random() < 0.3:
                self.block('else:', 1)
            if self.rng.random() < 0.3:
                self.block('finally:', 1)
        else:
            self.block('finally:', 1)

    def do_raise(self):
        if self.rng.random() < 0.8:
            self.emit(f'if {self.bool(1)}:')
            self.emit(f'    raise {self.rng.choice(["Failure", "Failure", "KeyError"])}("f{self.rng.randint(0, 9)}")')

    def do_return(self):
        if not self.inner and self.depth > 1:
            self.emit(f'return log, {self.tensor(1)}, {self.int(1)}')

    def do_with(self):
        if self.depth > 2:
            return
        self.block(self.rng.choice(('with torch.no_grad():', f'with region(log, "r{self.rng.randint(0, 9)}"):')), self.some())

    def do_iterator(self):
        l = self.any('l')
        text = self.rng.choice((f'iter([1, {self.int(1)}, 3])', f'count({self.rng.randint(1, 4)}, log)', f'(v + 1 for v in range({self.rng.randint(1, 4)}))', f'iter({l})' if l else 'iter(range(3))'))
        self.fresh += 1
        self.emit(f'g{self.fresh} = {text}')
        self.bind('g', f'g{self.fresh}')

    def do_closure(self):
        if self.inner or self.depth > 2:
            return
        self.fresh += 1
        name = f'c{self.fresh}'
        owned = [i for i in self.kinds['i'] if i not in ('n',)] if self.rng.random() < 0.5 else []
        self.emit(f'def {name}(t):')
        self.depth += 1
        if owned:
            cell = self.rng.choice(owned)
            self.emit(f'nonlocal {cell}')
            self.emit(f'{cell} = ({cell} + {self.small()}) % {MODULUS}')
        if self.breaks and self.rng.random() < 0.2:
            self.emit(f'print("closure", {self.int(0)})')
        self.emit(f'return (t {self.rng.choice("+-*")} {self.rng.choice([self.int(1), self.any("t")])}) % {MODULUS}')
        self.depth -= 1
        self.bind('c', name)

    def do_delete(self):
        """A name that is gone: its later reads raise, here and in the continuation alike."""
        own = [t for t in self.kinds['t'] if t not in ('x', 'y', 't')]
        if own and self.rng.random() < 0.5:
            self.emit(f'del {own[0]}')
            if self.rng.random() < 0.9:
                self.kinds['t'].remove(own[0])


def helper(rng, seed, name, others, breaks):
    """A function of (tensor, int) that the compiled function calls."""
    writer = Writer(rng, seed, others, breaks, inner=True)
    writer.kinds['t'], writer.kinds['i'] = ['t'], ['k']
    writer.emit('log = []')
    if rng.random() < 0.2:
        writer.emit(f'if k > 0 and k < 4:\n        return {name}((t + k) % {MODULUS}, k - 1)')
    writer.body(rng.randint(1, 4))
    writer.emit(f'return {writer.tensor(1)}')
    return [f'def {name}(t, k):', *writer.lines, '']


def call(rng, seed, box, grad):
    """One call: sizes and numbers from few, so that entries are used again; sometimes one tensor twice."""
    size = rng.choice((2, 3, 3, 4, 5))
    tensor = lambda: f'torch.arange({size}).float() + {rng.randint(-3, 3)}'
    x = tensor() if not grad else f'({tensor()}).requires_grad_()'
    twice = rng.random() < 0.1
    items, table = rng.choice(('[]', '[4, 2]', '[4, 2]', '[1, 2, 3]')), rng.choice(('{"a": 1}', '{"b": 2, "a": 5}', '{}'))
    number = rng.choice((0, 1, 2, 3, 3, 7))
    lines = [f'x = {x}', f'run(f_{seed}, state_{seed}, x, {"x" if twice else tensor()}, {number}, {items}, {table}, {box}({rng.randint(0, 3)}, x))']
    return lines


def program(seed):
    """The lines of program `seed`."""
    rng = random.Random(seed)
    breaks, box, grad = rng.random() < 0.7, 'Box' if rng.random() < 0.75 else 'Cell', rng.random() < 0.15
    names, lines = [], [f'number_{seed} = 3', f'state_{seed} = []', '', f'def say(v):\n    print("say", v)\n    return v', '']
    for letter in 'ab'[:rng.randint(0, 2)]:
        name = f'helper_{letter}_{seed}'
        lines += helper(rng, seed, name, list(names), breaks and rng.random() < 0.4)
        names.append(name)
    writer = Writer(rng, seed, names, breaks, box=box)
    writer.kinds.update(t=['x', 'y'], i=['n'], l=['items'], d=['table'], o=['box'])
    writer.emit(f'global number_{seed}')
    writer.emit('log = []')
    writer.body(rng.randint(4, 12))
    live = [name for kind in 'tilmdo' for name in writer.kinds[kind]]
    writer.emit(f'return log, {", ".join(live)}')
    lines += ['@torch.compile', f'def f_{seed}(x, y, n, items, table, box):', *writer.lines, '']
    lines.append(f'print("# {seed}")')
    for _ in range(rng.randint(3, 6)):
        lines += call(rng, seed, box, grad)
    return lines
