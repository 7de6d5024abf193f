"""What the random programs of capture_grammar.py stand on: objects, iterators, and `run`, which prints all that a caller could see of a call."""
import contextlib
import torch

class Box:
    def __init__(self, n, t):
        self.n = n
        self.t = t
        self.log = []

    def bump(self, k):
        self.n = (self.n + k) % 61
        self.log.append(k)
        return self.n

    def mix(self, t, k=2):
        self.t = (self.t * k + t) % 61
        return self.t

class Cell(torch.nn.Module):
    """A Box that is a module."""
    def __init__(self, n, t):
        super().__init__()
        self.n = n
        self.t = t
        self.log = []

    def bump(self, k):
        self.n = (self.n + k) % 61
        self.log.append(k)
        return self.n

    def mix(self, t, k=2):
        self.t = (self.t * k + t) % 61
        return self(t)

    def forward(self, t):
        return (t + self.t + self.n) % 61

class Failure(ValueError):
    pass

@contextlib.contextmanager
def region(log, name):
    log.append("in " + name)
    try:
        yield name
    finally:
        log.append("out " + name)

def count(k, log):
    for i in range(k):
        log.append(i)
        yield i * 2
    log.append("end")

def tensors(t, k):
    for i in range(k):
        yield t + i

def collect(*parts, scale=1, **named):
    total = 0
    for p in parts:
        total = total + p * scale
    for name in sorted(named):
        total = total - named[name]
    return total % 61

def show(v, seen):
    """The value as text in which sharing is seen: a second look at one object is its number."""
    if v is None or isinstance(v, (int, float, str)):
        return repr(v)
    if id(v) in seen:
        return "@" + str(seen[id(v)][0])
    seen[id(v)] = (len(seen), v)
    name = str(seen[id(v)][0]) + ":"
    if isinstance(v, torch.Tensor):
        return name + str(v.tolist()) + ("g" if v.requires_grad else "")
    if isinstance(v, dict):
        return name + "{" + ", ".join([repr(k) + ": " + show(e, seen) for k, e in v.items()]) + "}"
    if isinstance(v, (Box, Cell)):
        return name + "Box(" + show(v.n, seen) + ", " + show(v.t, seen) + ", " + show(v.log, seen) + ")"
    if isinstance(v, set):
        return name + str(sorted(v))
    if isinstance(v, (list, tuple)):
        return name + "[" + ", ".join([show(e, seen) for e in v]) + "]"
    return name + "something"

def run(f, state, *args):
    seen = {}
    try:
        result = f(*args)
    except Exception as e:
        result = "raised " + type(e).__name__ + (" " + str(e) if isinstance(e, Failure) else "")
    print(show(list(args), seen), "->", show(result, seen), "state", show(state, seen), torch.is_grad_enabled())
    if isinstance(result, tuple) and args[0].requires_grad and not args[0].grad_fn:
        parts = [e for e in list(result) + result[0] if isinstance(e, torch.Tensor) and e.requires_grad]
        if parts:
            try:
                sum([e.sum() for e in parts]).backward()
            except RuntimeError as e:
                print("backward raised", type(e).__name__)
                return
            print("grad", args[0].grad.tolist() if args[0].grad is not None and args[0].grad.abs().max() < 1000000 else None)
