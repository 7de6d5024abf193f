"""Reads forward and backward graphs as PyTorch and vitrine print them, and says what crosses between them.

    crossing(forward_lines, backward_lines) -> Crossing(computed=['f32[32]', …], inputs=['f32[4, 6]', …], bytes=128)

A saved value counts by its storage: views lead to what they are views of; what is an input's or a user output's memory is not kept alive for the
backward alone, so it is no part of `computed`. Symbolic sizes become numbers by the order in which the inputs show them, so that two compilers'
names for them agree.
"""
import ast
import re
from collections import Counter, namedtuple

VIEWS = {'permute', 't', 'transpose', 'view', '_unsafe_view', 'expand', 'slice', 'select', 'unsqueeze', 'squeeze', 'alias', 'detach', 'as_strided', 'split', 'split_with_sizes',
         'unbind', 'diagonal', 'unfold', 'broadcast_in_dim', 'view_of', 'numpy_T', 'movedim', 'swapaxes', 'chunk', 'expand_as', 'view_as', 'narrow'}
SIZES = {'f64': 8, 'f32': 4, 'f16': 2, 'bf16': 2, 'i64': 8, 'i32': 4, 'i16': 2, 'i8': 1, 'u8': 1, 'b8': 1}
Crossing = namedtuple('Crossing', 'computed inputs bytes')
FUNCTIONS = {'__builtins__': {}, 'CeilToInt': lambda x: -int(-x // 1), 'FloorToInt': lambda x: int(x // 1), 'IntTrueDiv': lambda a, b: a / b, 'FloorDiv': lambda a, b: a // b,
             'Mod': lambda a, b: a % b, 'Max': max, 'Min': min}  # of sympy, as PyTorch prints them
SYMBOL_VALUES = (101, 103, 107, 109, 113, 127, 131, 137)


class Sizes:
    """Numbers for symbols, in the order in which they appear."""

    def __init__(self):
        self.values = {}

    def shape(self, text):
        """The sizes of a type like 'f32[s0, 2*s0][…]cpu', and its dtype."""
        dtype, sizes = re.match(r'(\w+)\[([^\]]*)\]', text).groups()
        for name in re.findall(r'\b[a-z]\w*', sizes):
            if name not in self.values:
                self.values[name] = SYMBOL_VALUES[len(self.values) % len(SYMBOL_VALUES)]
        numbers = [int(eval(part, FUNCTIONS, dict(self.values))) for part in split_arguments(sizes)]  # texts of our own files
        return dtype, numbers


def split_arguments(text):
    """At commas outside brackets and quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in '([{':
            depth += 1
        elif not quoted and c in ')]}':
            depth -= 1
        elif c == ',' and not depth and not quoted:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def parameters(line):
    """[(name, type)] of a graph's first line."""
    inside = line[line.index('(') + 1:line.rindex(')')]
    pairs = [part.split(':', 1) for part in split_arguments(inside) if part != 'self']
    return [(name.strip(), kind.strip().strip('"')) for name, kind in pairs]


def root_of(name, calls):
    """What a chain of views starts from."""
    while name in calls and calls[name][0] in VIEWS and calls[name][1]:
        name = calls[name][1][0]
    return name


def read_calls(lines):
    """name -> (operation, names of its arguments, type)."""
    calls = {}
    for line in lines:
        match = re.match(r'(\w+)(?:: "([^"]*)")? = (.*)$', line)
        if not match:
            continue
        name, kind, text = match.groups()
        called = re.match(r'(?:torch\.)?(?:ops\.)?(?:\w+\.)*?(\w+)(?:\.(?:\w+))?\((.*)\)$', text)
        picked = re.match(r'(\w+)\[\d+\]$', text)
        if picked:
            calls[name] = ('split', [picked.group(1)], kind) if calls.get(picked.group(1), ('',))[0] in VIEWS else ('getitem', [picked.group(1)], kind)
        elif called:
            operation = re.match(r'torch\.ops\.\w+\.(\w+)', text)
            arguments = [part.strip() for part in split_arguments(called.group(2))]
            calls[name] = (operation.group(1) if operation else called.group(1), arguments, kind)
    return calls


def crossing(forward, backward):
    inputs, calls = parameters(forward[0]), read_calls(forward[1:])
    sizes = Sizes()
    tensors = [(name, kind) for name, kind in inputs if not kind.startswith('Sym')]
    for _, kind in tensors:
        sizes.shape(kind)
    saved = [name for name, kind in parameters(backward[0]) if not name.startswith('tangents') and not kind.startswith('Sym')]
    returned = [name for name in split_arguments(forward[-1][len('return'):].strip()[1:-1])]
    crossing_count = len([name for name, _ in parameters(backward[0]) if not name.startswith('tangents') and name in returned])
    outputs = returned[:len(returned) - crossing_count]
    names = [name for name, _ in tensors]
    free = set(names) | {root_of(name, calls) for name in outputs}
    roots = {root_of(name, calls): None for name in saved}
    computed, total = [], 0
    for root in roots:
        if root in free:
            continue
        dtype, shape = sizes.shape(calls[root][2])
        numel = 1
        for n in shape:
            numel *= n
        computed.append(f'{dtype}[{numel}]')
        total += numel * SIZES[dtype]
    types = dict(tensors)
    return Crossing(sorted(computed), sorted('{}{}'.format(*sizes.shape(types[root])) for root in roots if root in types), total)


def difference(a, b):
    """What a has and b has not, as a text."""
    left = Counter(a) - Counter(b)
    return ' '.join(sorted(left.elements()))
