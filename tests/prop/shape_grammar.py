"""The grammar of random programs over sizes: functions whose results depend on the sizes of their inputs, called with many sizes.

In: a seed. Out: `program(seed)`, lines that need capture_preamble.py before them.
    program(5)  ->  "@torch.compile(dynamic=None)", "def f_5(x, y, n): ...", "run(f_5, state_5, torch.arange(6).float().reshape(2, 3), …)"

x has two dimensions, y has one of the length of x's last; n is an int. Values are small integers in float32, so results are exact. What does not
fit (a view, a slice out of range) raises, in both runs alike. Sizes 0 and 1, equal sizes and sizes that come back are among the calls.
To add a form: a method `i_NAME` (an int), `b_NAME` (a condition), `t_NAME` (a tensor, text and rank) or `do_NAME` (a statement) of Writer.
"""
import random


class Writer:
    def __init__(self, rng):
        self.rng, self.lines, self.depth, self.fresh = rng, [], 1, 0
        self.ints = ['n', 'x.shape[0]', 'x.shape[1]']
        self.tensors = [('x', 2), ('y', 1)]

    def pick(self, head):
        return getattr(self, self.rng.choice([m for m in dir(self) if m.startswith(head)]))

    def emit(self, line):
        self.lines.append('    ' * self.depth + line)

    # ---- ints

    def int(self, depth=2):
        return self.rng.choice(self.ints) if depth <= 0 or self.rng.random() < 0.3 else self.pick('i_')(depth - 1)

    def i_constant(self, depth):
        return str(self.rng.randint(-3, 6))

    def i_arithmetic(self, depth):
        return f'({self.int(depth)} {self.rng.choice("+-*")} {self.int(depth)})'

    def i_divide(self, depth):
        return f'({self.int(depth)} {self.rng.choice(["//", "%"])} {self.rng.choice(["2", "3", "-2", "-3", "4"])})'

    def i_least(self, depth):
        return f'{self.rng.choice(["min", "max"])}({self.int(depth)}, {self.int(depth)})'

    def i_size(self, depth):
        t, rank = self.rng.choice(self.tensors)
        return self.rng.choice((f'{t}.numel()', f'{t}.shape[{rank - 1}]', f'len({t})', f'{t}.size(0)', f'{t}.stride(0)') if rank else ('1',))

    def i_conditional(self, depth):
        return f'({self.int(depth)} if {self.condition()} else {self.int(depth)})'

    def condition(self):
        return self.rng.choice((self.b_compare, self.b_compare, self.b_divides, self.b_logic))()

    def b_compare(self):
        return f'{self.int(1)} {self.rng.choice(["<", ">", "==", "!=", "<=", ">="])} {self.int(1)}'

    def b_divides(self):
        return f'{self.int(1)} % {self.rng.choice("234")} == 0'

    def b_logic(self):
        return f'({self.b_compare()} {self.rng.choice(["and", "or"])} {self.b_compare()})'

    # ---- tensors: (text, rank)

    def tensor(self, rank=None):
        fitting = [t for t in self.tensors if rank is None or t[1] == rank]
        return self.rng.choice(fitting)

    def t_slice(self):
        t, rank = self.tensor(self.rng.choice((1, 2)))
        k = self.int(1)
        return self.rng.choice((f'{t}[:{k}]', f'{t}[{k}:]', f'{t}[::2]', f'{t}[1:-1]', f'{t}[-2:]')), rank

    def t_inner_slice(self):
        return f'{self.tensor(2)[0]}[:, {self.rng.choice([":" + self.int(1), self.int(1) + ":", "::2"])}]', 2

    def t_reshape(self):
        t, _ = self.tensor(2)
        return self.rng.choice(((f'{t}.reshape(-1)', 1), (f'{t}.reshape({t}.shape[1], {t}.shape[0])', 2), (f'{t}.t()', 2), (f'{t}.flatten()', 1),
                                (f'{t}.reshape(-1, 2)', 2), (f'{t}.reshape({self.int(1)}, -1)', 2), (f'{t}.contiguous().view(-1)', 1), (f'{t}.reshape({t}.shape[0] // 2, -1)', 2)))

    def t_reduce(self):
        t, _ = self.tensor(2)
        return self.rng.choice(((f'{t}.sum(0)', 1), (f'{t}.sum(1)', 1), (f'{t}.sum()', 0), (f'{t}.cumsum(0)', 2), (f'{t}.sum(1, keepdim=True)', 2)))

    def t_cat(self):
        t, rank = self.tensor(self.rng.choice((1, 2)))
        return self.rng.choice((f'torch.cat([{t}, {t}[:{self.int(1)}]])', f'torch.cat([{t}[1:], {t}[:1]])', f'{t}.roll({self.int(1)}, 0)')), rank

    def t_add(self):
        t, rank = self.tensor()
        u, other = self.tensor()
        return f'({t} {self.rng.choice("+-")} {u})', max(rank, other)

    def t_number(self):
        t, rank = self.tensor()
        return f'({t} {self.rng.choice("+-*")} {self.int()})', rank

    def t_factory(self):
        k = self.int(1)
        return self.rng.choice(((f'torch.zeros({k})', 1), (f'torch.arange({k}).float()', 1), (f'torch.full(({k}, 2), 3.0)', 2), ('torch.zeros_like(x)', 2), (f'torch.ones(2, {k})', 2)))

    def t_expand(self):
        t, _ = self.tensor(1)
        return self.rng.choice(((f'{t}.expand({self.int(1)}, -1)', 2), (f'{t}.unsqueeze(1)', 2), (f'{t}.unsqueeze(0).repeat({self.int(1)}, 1)', 2), (f'{t}.repeat(2)', 1)))

    def t_index(self):
        t, rank = self.tensor(self.rng.choice((1, 2)))
        return f'{t}[{self.int(1)}]', rank - 1

    def t_part(self):
        t, rank = self.tensor(self.rng.choice((1, 2)))
        return self.rng.choice((f'{t}.chunk(2)[0]', f'{t}.split(2)[-1]', f'{t}.narrow(0, 0, {self.int(1)})')), rank

    # ---- statements

    def do_int(self):
        self.fresh += 1
        self.emit(f'i{self.fresh} = {self.int()}')
        self.ints.append(f'i{self.fresh}')

    def do_tensor(self):
        text, rank = self.pick('t_')()
        self.fresh += 1
        self.emit(f't{self.fresh} = {text}')
        self.tensors.append((f't{self.fresh}', rank))

    do_tensor_again = do_tensor
    do_tensor_too = do_tensor

    def do_if(self):
        if self.depth > 2:
            return
        t, _ = self.tensor()
        self.emit(f'if {self.condition()}:')
        self.emit(f'    {self.rng.choice([f"log.append({self.int(1)})", f"log.append({t} + 1)", "x = x + 1", "return log, x.shape", "n = n + 1"])}')
        if self.rng.random() < 0.5:
            self.emit('else:')
            self.emit(f'    {self.rng.choice([f"log.append({self.int(1)})", f"log.append({t} * 2)", "y = y - 1"])}')

    def do_loop(self):
        self.fresh += 1
        self.emit(f'for v{self.fresh} in range(min({self.int(1)}, 4)):')
        self.emit(f'    {self.rng.choice([f"x = x + v{self.fresh}", f"log.append(v{self.fresh} * {self.int(0)})", f"n = n + v{self.fresh}"])}')

    def do_log(self):
        self.emit(f'log.append({self.rng.choice([self.int(), self.tensor()[0], self.condition()])})')

    def do_break(self):
        if self.rng.random() < 0.3:
            self.emit(f'print("at", {self.int(1)})')


def program(seed):
    """The lines of program `seed`."""
    rng = random.Random(seed + 1000000)
    writer = Writer(rng)
    writer.emit('log = []')
    for _ in range(rng.randint(3, 9)):
        writer.pick('do_')()
    shown = ', '.join(name for name, _ in writer.tensors[-4:])
    writer.emit(f'return log, {shown}, {", ".join(writer.ints[-3:])}, {writer.tensors[-1][0]}.shape, {writer.tensors[-1][0]}.stride()')
    options = rng.choice(('', '', '', '(dynamic=True)', '(dynamic=False)'))
    lines = [f'state_{seed} = []', f'@torch.compile{options}', f'def f_{seed}(x, y, n):', *writer.lines, '', f'print("# {seed}")']
    sizes = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    for _ in range(rng.randint(5, 10)):
        rows, columns = rng.choice(sizes), rng.choice(sizes[1:])
        number = rng.choice((0, 1, 2, 3, 5))
        x = f'torch.arange({rows * columns}).float().reshape({rows}, {columns})' if rng.random() < 0.8 else f'torch.arange({rows * columns}).float().reshape({columns}, {rows}).t()'
        lines.append(f'run(f_{seed}, state_{seed}, {x}, torch.arange({columns}).float(), {number})')
    return lines
