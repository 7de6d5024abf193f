# What check_rows.py puts in front of the samples of a batch: operands, finite differences, comparisons. A line `NUMBER|CHECK|what is wrong` is a fault,
# `NUMBER|fact|words` says what was found, `NUMBER|done|` that the sample came to its end.
import torch
import torch.nn.functional as F

aten = torch.ops.aten


# ---- operands ----
def operand(kind, shape, limit, k, D):
    n = 1
    for s in shape:
        n = n * s
    if kind == "f":
        return ((torch.arange(n, dtype=torch.float64) * 1.37 + k * 0.61).sin() * 0.8 + 1.25).reshape(shape).to(D)
    if kind == "i":
        return ((torch.arange(n) * 7 + 3 * k + torch.arange(n) // 3) % limit).reshape(shape)
    if kind == "b":
        return ((torch.arange(n) * 5 + k) % 3 == 0).reshape(shape)
    return torch.arange(n).flip(0).reshape(shape)


def operands(specs, D):
    return [operand(kind, shape, limit, k, D) for k, (kind, shape, limit) in enumerate(specs)]


def laid(x, layout):
    """The same values in other memory: dims in reverse order, or with gaps."""
    if layout == 1:
        order = list(reversed(range(x.dim())))
        return x.permute(order).contiguous().permute(order)
    return torch.stack([x, x], -1)[..., 0]


def leaves_of(xs):
    return [x.detach().clone().requires_grad_() if x.is_floating_point() else x for x in xs]


# ---- results ----
def tensors(out):
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, (tuple, list)):
        return [t for part in out for t in tensors(part)]
    return [torch.tensor(out)] if isinstance(out, (bool, int, float)) else []


def weights(t, k):
    n = t.numel()
    return ((torch.arange(n, dtype=torch.float64) + 1) * (0.7 + 0.1 * k)).sin().reshape(t.shape).to(t.dtype)


def loss_of(outs):
    """Not linear in any result, so that what flows back depends on the operands, and a second derivative is asked of every row."""
    parts = [(o * weights(o, k) * (1 + 0.25 * o)).sum() for k, o in enumerate(outs) if o.is_floating_point()]
    return sum(parts) if parts else None


def wanted(xs):
    return [x for x in xs if x.requires_grad]


def gradients(outs, xs, create=False):
    """None where no result has one."""
    outs = [o for o in outs if o.requires_grad]
    loss = loss_of(outs)
    if loss is None or not wanted(xs):
        return None
    return torch.autograd.grad(loss, wanted(xs), create_graph=create, allow_unused=True)


def second(grads, xs):
    grads = [g for g in (grads or []) if g is not None and g.requires_grad]
    if not grads:
        return None
    return torch.autograd.grad(sum([(g * weights(g, k + 3)).sum() for k, g in enumerate(grads)]), wanted(xs), allow_unused=True)


def differs(a, b, tolerance):
    if a is None and b is None:
        return ""
    if a is None or b is None:
        rest = b if a is None else a
        return "" if not rest.any() else f"None against {rest.flatten().tolist()[:6]}"
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} {list(a.shape)} against {b.dtype} {list(b.shape)}"
    x, y = a.detach().double(), b.detach().double()
    if torch.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    return f"{[round(v, 6) for v in x.flatten().tolist()[:8]]} against {[round(v, 6) for v in y.flatten().tolist()[:8]]}"


def compare(number, check, got, want, tolerance, layouts=False, values=True):
    got, want = tensors(got) if got is not None else [], tensors(want) if want is not None else []
    if len(got) != len(want):
        print(f"{number}|{check}|{len(got)} results against {len(want)}")
        return
    for a, b in zip(got, want):
        what = differs(a, b, tolerance) if values else differs(torch.zeros_like(a), torch.zeros_like(b), 0)
        if what:
            print(f"{number}|{check}|{what}")
        elif layouts and a.numel() > 1 and a.stride() != b.stride():
            print(f"{number}|{check}|strides {a.stride()} against {b.stride()} of {list(a.shape)}")


def compare_grads(number, check, got, want, tolerance, first=0):
    if (got is None) != (want is None):
        print(f"{number}|{check}|{'no gradients' if got is None else 'gradients'} against {'none' if want is None else 'some'}")
        return
    for i, (a, b) in enumerate(zip(got or [], want or [])):
        what = differs(a, b, tolerance)
        if what:
            print(f"{number}|{check}|of operand {first + i}: {what}")


# ---- finite differences ----
def numeric(value, xs, i, eps):
    flat = xs[i].flatten()
    result = []
    for j in range(flat.numel()):
        ends = []
        for sign in [1, -1]:
            moved = flat.clone()
            moved[j] = moved[j] + sign * eps
            ends.append(value([moved.reshape(x.shape) if k == i else x for k, x in enumerate(xs)]))
        result.append((ends[0] - ends[1]) / (2 * eps))
    return torch.tensor(result, dtype=torch.float64).reshape(xs[i].shape)


def first_value(f, xs):
    return loss_of(tensors(f(*xs))).item()


def second_value(f, xs):
    leaves = leaves_of(xs)
    grads = gradients(tensors(f(*leaves)), leaves, True)
    return sum([(g * weights(g, k + 3)).sum().item() for k, g in enumerate([g for g in grads if g is not None and g.requires_grad])])


def against_differences(number, f, xs):
    """First and second derivatives of f in float64. What the tape cuts off (comparisons, rounding, detach) has none."""
    leaves = leaves_of(xs)
    outs = tensors(f(*leaves))
    grads = gradients(outs, leaves, True)
    if grads is None:
        print(f"{number}|fact|no gradient")
        return
    gg = second(grads, leaves)
    print(f"{number}|fact|gradient{' second' if gg is not None else ''}")
    free = [i for i, x in enumerate(xs) if x.is_floating_point()]
    for at, i in enumerate(free):
        if grads[at] is None:
            continue
        compare_grads(number, "gradient", [grads[at]], [numeric(lambda ts: first_value(f, ts), xs, i, 1e-6)], 1e-5, i)
        if gg is not None:
            compare_grads(number, "second derivative", [gg[at]], [numeric(lambda ts: second_value(f, ts), xs, i, 1e-5)], 1e-4, i)


# ---- checks ----
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.06, torch.float16: 0.01}
REFUSED = (RuntimeError, NotImplementedError, TypeError)


def check_eager(number, f, specs, strided):
    """Other dtypes against float64, other memory against contiguous."""
    for D in (torch.float32, torch.bfloat16, torch.float16):
        xs = operands(specs, D)
        try:
            got = f(*xs, D)
        except REFUSED as error:
            print(f"{number}|fact|refuses {str(D)[6:]}")
            continue
        want = f(*[x.double() if x.is_floating_point() else x for x in xs], torch.float64)
        pairs = [(a, b) for a, b in zip(tensors(got), tensors(want)) if a.is_floating_point() and b.is_floating_point()]
        for a, b in pairs:
            compare(number, f"{str(D)[6:]} against float64", a.double(), b.double(), TOLERANCE[D])
    want = f(*operands(specs, torch.float64), torch.float64)
    for layout in (1, 2):
        if not strided:
            compare(number, f"layout {layout}", f(*[laid(x, layout) for x in operands(specs, torch.float64)], torch.float64), want, 1e-9)


def run_and_compare(number, check, f, compiled, xs, tolerance, random, twice):
    """Values, layouts, gradients and (twice) second derivatives of a compiled function against the eager one."""
    a, b = leaves_of(xs), leaves_of(xs)
    want, got = f(*a), compiled(*b)
    if isinstance(want, (bool, int, float)):
        print(f"{number}|fact|a number")
    compare(number, check, got, want, tolerance, True, not random)
    if random:
        return
    first, again = gradients(tensors(want), a, twice), gradients(tensors(got), b, twice)
    compare_grads(number, check + ", gradient", again, first, tolerance)
    if twice:
        compare_grads(number, check + ", second derivative", second(again, b), second(first, a), tolerance)


def possible(f, xs):
    """Does the eager function take these sizes?"""
    try:
        outs = tensors(f(*xs))
    except Exception:
        return False
    return len(outs) > 0


def check_compiled(number, f, compiled, specs, random):
    run_and_compare(number, "compiled", f, compiled, operands(specs, torch.float64), 1e-9, random, True)


def check_sizes(number, f, compiled, specs, bumped, emptied, random):
    """One function with dynamic sizes: the sample's, each one larger, none."""
    run_and_compare(number, "dynamic", f, compiled, operands(specs, torch.float32), 1e-4, random, False)
    for check, other in (("larger", bumped), ("empty", emptied)):
        if other != specs and possible(f, operands(other, torch.float32)):
            print(f"{number}|fact|{check}")
            run_and_compare(number, check, f, compiled, operands(other, torch.float32), 1e-4, random, False)


def guarded(number, check, function, *args):
    try:
        function(*args)
    except Exception as error:
        print(f"{number}|{check}|raises {type(error).__name__}: {str(error)[:300]}")
