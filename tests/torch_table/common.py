"""What the parts of the table share: numbers by a generator of our own, the prelude that both PyTorch and vitrine run, and the form of a program.

In: nothing. Out: `Random`, `PRELUDE`, `Program`, `batch_text`.

    Program("kink/relu", "x = torch.tensor([0.0])\\nshow('y', x.relu())")

Invariant: text is a function of the seed alone, by integers only, so that every Python makes the same text; PyTorch is not needed to make it.
A program is plain statements; what it prints comes from `show`, and an exception that leaves it is printed by its type.
"""
import hashlib

DTYPES = ('float64', 'float32', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool')
FLOATS = DTYPES[:4]
INTEGERS = DTYPES[4:9]


class Random:
    """A linear congruential generator of 64 bits, of which the upper ones are used."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 % 2**64
        for _ in range(4):
            self.below(2)

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, items):
        return items[self.below(len(items))]

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


PRELUDE = '''
import math
import warnings
import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")
SHORT = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "b16", torch.int64: "i64", torch.int32: "i32",
         torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "b"}
DTYPES = list(SHORT)
FLOATS = DTYPES[:4]

def number(v, kind):
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, int):
        return str(v)
    if kind == "f64":
        return f"{v:.9g}"
    if kind == "f32":
        return f"{v:.6g}"
    return f"{v:.4g}"

def flat(values):
    if not isinstance(values, list):
        return [values]
    result = []
    for v in values:
        result.extend(flat(v))
    return result

def digest(values, kind):
    """Many values in three numbers: a weighted sum, the sum of sizes that the tolerance is relative to, and where the non-finite ones are."""
    total, size, odd = 0, 0, 0
    for i, v in enumerate(values):
        weight = i * 7 % 13 - 5
        if isinstance(v, float):
            if math.isnan(v):
                odd += 3 * (i + 1)
            elif math.isinf(v):
                odd += (5 if v > 0 else 7) * (i + 1)
            else:
                total += weight * v
                size += abs(weight * v)
        else:
            total += weight * (int(v) % 1000003)
    return f"~{number(total, kind)} {number(size, kind)} {odd}"

def describe(t, limit=24):
    kind = SHORT[t.dtype]
    values = flat(t.detach().tolist())
    head = kind + "[" + ",".join([str(n) for n in t.shape]) + "]"
    if t.numel() > 0 and not t.is_contiguous():
        head += "/" + ",".join([str(n) for n in t.stride()])
    if t.requires_grad:
        head += "g" if t.grad_fn is None else t.grad_fn.name()
    if len(values) > limit:
        return head + " " + digest(values, kind)
    return head + " " + " ".join([number(v, kind) for v in values])

def text_of(value, limit=24):
    if isinstance(value, torch.Tensor):
        return describe(value, limit)
    if isinstance(value, (tuple, list)):
        return "(" + "; ".join([text_of(v, limit) for v in value]) + ")"
    if isinstance(value, float):
        return number(value, "f64")
    if isinstance(value, torch.dtype):
        return SHORT[value]
    return str(value)

def show(label, value, limit=24):
    print(label, text_of(value, limit))

def attempt(label, function, limit=24):
    """Shows what a function gives, or the type of what it raises."""
    try:
        value = function()
    except Exception as error:
        print(label, "raises", type(error).__name__)
        return None
    show(label, value, limit)
    return value

def leaf(t):
    return t.detach().clone().requires_grad_(t.dtype.is_floating_point)

def weights(t):
    """A gradient for t that is another number at each place."""
    n = t.numel()
    return ((torch.arange(n) * 5 % 7 - 2) * 0.5).reshape(t.shape).to(t.dtype)

def gradients(label, function, inputs, limit=24):
    """The value of a function of leaves, and its gradients."""
    inputs = [leaf(t) for t in inputs]
    value = attempt(label, lambda: function(*inputs), limit)
    outputs = value if isinstance(value, (tuple, list)) else [value]
    outputs = [o for o in outputs if isinstance(o, torch.Tensor) and o.requires_grad]
    if len(outputs) == 0:
        return
    def run():
        torch.autograd.backward(outputs, [weights(o) for o in outputs])
        return [t.grad for t in inputs if t.requires_grad]
    attempt(label + "'", run, limit)

def second(label, function, inputs, limit=24):
    """The gradients of the gradients."""
    inputs = [leaf(t) for t in inputs]
    def run():
        value = function(*inputs)
        outputs = [o for o in (value if isinstance(value, (tuple, list)) else [value]) if o.requires_grad]
        first = torch.autograd.grad(outputs, inputs, [weights(o) for o in outputs], create_graph=True, allow_unused=True)
        used = [g for g in first if g is not None and g.requires_grad]
        return torch.autograd.grad(used, inputs, [weights(g) + 1 for g in used], allow_unused=True) if used else "none"
    attempt(label, run, limit)

def run_program(name, function):
    print("@", name)
    try:
        function()
    except Exception as error:
        print("raises", type(error).__name__)
'''


class Program:
    """A name, and the statements."""

    def __init__(self, name, text):
        self.name = name
        self.text = text.strip('\n')

    def hash(self):
        return hashlib.sha256(self.text.encode()).hexdigest()[:10]


def batch_text(programs):
    """One script that runs programs in order, each as a function of its own."""
    parts = [PRELUDE]
    for number, program in enumerate(programs):
        body = '\n'.join('    ' + line for line in program.text.split('\n'))
        parts.append(f'\ndef program_{number}():\n{body}\n\nrun_program("{program.name}", program_{number})\n')
    return ''.join(parts)
