# Eager ops over dtypes, shapes, views and in-place writes: one line of numbers for each, made on DEVICE from inputs made on the CPU.
# eager.sh runs it for "cpu" and for "cuda" and compares the lines; it runs under PyTorch as well. Of PIECES processes each shows every PIECES-th line,
# since on a card most of the time goes into compiling kernels.
import torch
import torch.nn.functional as F

DEVICE = "cpu"
PIECE, PIECES = 0, 1
attempts = 0

torch.manual_seed(0)


def show(name, result):
    if isinstance(result, (tuple, list)):
        for i, part in enumerate(result):
            show(f"{name}.{i}", part)
        return
    if not isinstance(result, torch.Tensor):
        print(f"{name} | {result}")
        return
    flat = result.detach().cpu().to(torch.float64).reshape(-1)
    finite = torch.where(torch.isfinite(flat), flat, torch.zeros_like(flat))
    numbers = " ".join(f"{v:.7g}" for v in flat[:24].tolist())
    print(f"{name} | {str(result.dtype)[6:]} {list(result.shape)} | {numbers} | {finite.sum().item():.7g} {finite.abs().sum().item():.7g}")


def attempt(name, function):
    global attempts
    attempts += 1
    if attempts % PIECES != PIECE:
        return
    try:
        show(name, function())
    except Exception as error:
        print(f"{name} | {type(error).__name__}")


def values(shape, dtype):
    x = torch.randn(shape) * 3
    if dtype is torch.bool:
        x = x > 0
    elif dtype is torch.uint8:
        x = x.abs()
    return x.to(dtype).to(DEVICE)


FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
SHAPES = ((4, 8), (5, 7), (16, 1), (1, 9), (3, 1000), (2, 3, 4, 5), (70, 130), (0, 3), ())

binary = [
    ("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul", lambda x, y: x * y), ("div", lambda x, y: x / (y * y + 1)), ("max", lambda x, y: torch.maximum(x, y)), ("min", lambda x, y: torch.minimum(x, y)),
    ("lt", lambda x, y: x < y), ("ge", lambda x, y: x >= y), ("eq", lambda x, y: x == y), ("alpha", lambda x, y: torch.add(x, y, alpha=2)), ("where", lambda x, y: torch.where(x > y, x, y)),
]
unary = [
    ("neg", lambda x: -x), ("abs", lambda x: x.abs()), ("scaled", lambda x: x * 2 + 1), ("minus", lambda x: 3 - x), ("clamp", lambda x: x.clamp(-1, 2)), ("square", lambda x: x ** 2), ("sign", lambda x: torch.sign(x)),
    ("cast", lambda x: x.to(torch.float32)), ("toint", lambda x: x.to(torch.int64)), ("clone", lambda x: x.clone()), ("zeros", lambda x: torch.zeros_like(x)), ("full", lambda x: torch.full_like(x, 3)),
]
floating = [
    ("exp", lambda x: x.exp()), ("log", lambda x: x.abs().log()), ("sqrt", lambda x: x.abs().sqrt()), ("rsqrt", lambda x: (x * x + 1).rsqrt()), ("sin", lambda x: x.sin()), ("cos", lambda x: x.cos()), ("tanh", lambda x: x.tanh()),
    ("sigmoid", lambda x: x.sigmoid()), ("erf", lambda x: x.erf()), ("floor", lambda x: x.floor()), ("round", lambda x: x.round()), ("relu", lambda x: x.relu()), ("gelu", lambda x: F.gelu(x)), ("silu", lambda x: F.silu(x)),
    ("softplus", lambda x: F.softplus(x)), ("leaky", lambda x: F.leaky_relu(x, 0.1)), ("pow", lambda x: x.abs() ** 1.5), ("half", lambda x: x * 0.5), ("reciprocal", lambda x: 1.0 / (x.abs() + 1)), ("isnan", lambda x: torch.isnan(x / x)),
    ("atan", lambda x: x.atan()), ("log1p", lambda x: x.abs().log1p()), ("expm1", lambda x: (x * 0.1).expm1()), ("hardtanh", lambda x: F.hardtanh(x)), ("elu", lambda x: F.elu(x)), ("logsig", lambda x: F.logsigmoid(x)),
]
integer = [
    ("floordiv", lambda x: x // 3), ("mod", lambda x: x % 3), ("and", lambda x: x & 5), ("or", lambda x: x | 5), ("xor", lambda x: x ^ 5), ("shift", lambda x: x << 1), ("wrap", lambda x: x * 100), ("invert", lambda x: ~x),
]
reducing = [
    ("sum", lambda x: x.sum()), ("sum0", lambda x: x.sum(0)), ("sumlast", lambda x: x.sum(-1)), ("amax", lambda x: x.amax(-1)), ("amin", lambda x: x.amin(0)), ("argmax", lambda x: x.argmax(-1)), ("argmin", lambda x: x.argmin(0)),
    ("any", lambda x: (x > 1).any(-1)), ("all", lambda x: (x > -9).all(0)), ("maxdim", lambda x: x.max(-1)), ("mindim", lambda x: x.min(0)), ("keep", lambda x: x.sum(-1, keepdim=True)), ("prod", lambda x: (x.clamp(-1, 1)).prod(-1)),
    ("cumsum", lambda x: x.cumsum(-1)), ("cumsum0", lambda x: x.cumsum(0)), ("cummax", lambda x: x.cummax(-1)), ("cummin0", lambda x: x.cummin(0)), ("sort", lambda x: x.sort(-1)), ("sort0", lambda x: x.sort(0, descending=True)),
    ("flip", lambda x: x.flip(0)), ("roll", lambda x: x.roll(1, 0)), ("cat", lambda x: torch.cat([x, x], 0)), ("stack", lambda x: torch.stack([x, x])), ("contiguous", lambda x: x.transpose(0, -1).contiguous()),
]
rows = [
    ("mean", lambda x: x.mean()), ("mean0", lambda x: x.mean(0)), ("var", lambda x: x.var(-1)), ("std0", lambda x: x.std(0) + x[0].abs()), ("softmax", lambda x: x.softmax(-1)), ("softmax0", lambda x: x.softmax(0)), ("logsoftmax", lambda x: x.log_softmax(-1)),
    ("logsumexp", lambda x: x.logsumexp(-1)), ("layernorm", lambda x: F.layer_norm(x, x.shape[-1:])), ("rmsnorm", lambda x: F.rms_norm(x, x.shape[-1:])), ("norm", lambda x: x.norm()), ("normalize", lambda x: F.normalize(x, dim=-1)),
    ("logcumsumexp", lambda x: x.logcumsumexp(-1)), ("cumprod", lambda x: (x * 0.1 + 1).cumprod(-1)),
]


def views_of(x):
    yield "", x
    if x.dim() < 2 or x.numel() == 0:
        return
    yield "ᵗ", x.transpose(0, -1)
    yield "[1:]", x[..., 1:] if x.shape[-1] > 1 else x
    yield "[::2]", x[::2]
    yield "expand", x[:1].expand(x.shape)


def run(group, names, dtypes, call, shapes=SHAPES, views=True):
    for dtype in dtypes:
        for shape in shapes:
            base, other = values(shape, dtype), values(shape, dtype)
            for (view, x), (_, y) in zip(views_of(base), views_of(other)):
                if view and not views:
                    continue
                for name, f in names:
                    attempt(f"{group}.{name} {str(dtype)[6:]} {list(shape)}{view}", lambda: call(f, x, y))


run("binary", binary, FLOATS + (torch.int64, torch.int32, torch.uint8), lambda f, x, y: f(x, y))
run("unary", unary, FLOATS + INTEGERS, lambda f, x, y: f(x))
run("floating", floating, FLOATS, lambda f, x, y: f(x), SHAPES[:6] + SHAPES[7:])
run("integer", integer, INTEGERS, lambda f, x, y: f(x), SHAPES[:5])
run("reducing", reducing, (torch.float32, torch.bfloat16, torch.int64), lambda f, x, y: f(x), SHAPES[:7])
run("rows", rows, (torch.float32, torch.bfloat16), lambda f, x, y: f(x), SHAPES[:7])
run("reducing", reducing[:8] + reducing[13:20], (torch.float32,), lambda f, x, y: f(x), ((3, 9000), (9000, 3), (40000,), (2, 5000, 3)), False)
run("rows", rows, (torch.float32,), lambda f, x, y: f(x), ((3, 9000), (9000, 3), (2, 20000)), False)

# Broadcasting and mixed operands
for dtype in (torch.float32, torch.int64):
    x = values((6, 8), dtype)
    for name, y in (("row", values((8,), dtype)), ("column", values((6, 1), dtype)), ("one", values((1,), dtype)), ("zero-dim", values((), dtype)), ("number", 2), ("float", 2.5), ("outer", values((3, 1, 8), dtype))):
        attempt(f"broadcast.{name} {str(dtype)[6:]}", lambda: x + y)
        attempt(f"broadcast.mul {name} {str(dtype)[6:]}", lambda: y * x.t() if name in ("one", "zero-dim", "number", "float") else y * x)
for a in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool):
    for b in (torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool):
        attempt(f"promote {a} {b}", lambda: values((3, 5), a) + values((3, 5), b))
        attempt(f"promote zero-dim {a} {b}", lambda: values((3, 5), a) * values((), b))

# In place
def assign(z, column):
    z[:, 0] = column
    z[z > 2] = 1


for dtype in (torch.float32, torch.bfloat16, torch.int64):
    for shape in ((4, 6), (5, 7), (3, 64)):
        x, y = values(shape, dtype), values(shape, dtype)

        def write(name, f):
            z = x.clone()
            attempt(f"inplace.{name} {str(dtype)[6:]} {list(shape)}", lambda: (f(z), z)[1])

        write("add_", lambda z: z.add_(y))
        write("mul_", lambda z: z.mul_(3))
        write("slice", lambda z: z[:, 1:3].add_(1))
        write("columns", lambda z: z[:, ::2].mul_(2))
        write("transposed", lambda z: z.t().sub_(y.t()))
        write("row", lambda z: z[0].fill_(7))
        write("setitem", lambda z: assign(z, y[:, 1]))
        write("mask", lambda z: z.masked_fill_(y > 0, 5))
        write("copy_", lambda z: z.copy_(y[0]))
        write("zero_", lambda z: z.zero_())
        write("clamp_", lambda z: z.clamp_(0, 2))
        write("shifted", lambda z: z[1:].copy_(z[:-1].clone()))
        write("self", lambda z: z.add_(z))
        write("cumsum_", lambda z: z.cumsum_(1))

# Indexing
x = values((6, 7, 8), torch.float32)
index = torch.tensor([0, 5, 2, 2]).to(DEVICE)
attempt("index.rows", lambda: x[index])
attempt("index.pairs", lambda: x[index, index])
attempt("index.middle", lambda: x[:, index[1:3]])
attempt("index.negative", lambda: x[index - 6])
attempt("index.mask", lambda: x[x > 1])
attempt("index.select", lambda: x.index_select(1, index))
attempt("index.gather", lambda: x.gather(0, index.view(4, 1, 1).expand(4, 7, 8)))
attempt("index.take", lambda: F.embedding(index, x[0]))
attempt("index.put", lambda: x.clone().index_put_((index,), torch.ones(7, 8).to(DEVICE), accumulate=True))
attempt("index.add", lambda: torch.zeros(6, 8).to(DEVICE).index_add_(0, index, x[:4, 0]))
attempt("index.scatter", lambda: torch.zeros(6, 8).to(DEVICE).scatter_(0, index.view(4, 1), 2.0))
attempt("index.scatter_add", lambda: torch.zeros(6, 8).to(DEVICE).scatter_add_(0, index.view(4, 1).expand(4, 8), x[:4, 0]))
attempt("index.tril", lambda: torch.tril(x[:, :, 0]))
attempt("index.pad", lambda: F.pad(x, (1, 2, 0, 1)))
attempt("index.nonzero", lambda: (x[0] > 1).nonzero())
attempt("index.topk", lambda: x.topk(3, -1))
attempt("index.unfold", lambda: x.unfold(2, 3, 2) * 2)
attempt("index.one_hot", lambda: F.one_hot(index, 6))
attempt("index.repeat", lambda: x[0].repeat(2, 2))

# Products
a, b = values((5, 6), torch.float32), values((6, 7), torch.float32)
attempt("matmul", lambda: a @ b)
attempt("matmul.t", lambda: a @ b[:, :6].t())
attempt("bmm", lambda: x[:, :4] @ x[:, :3].transpose(1, 2))
attempt("linear", lambda: F.linear(a, b.t(), b[0]))
attempt("mv", lambda: a @ b[:, 0])
attempt("bf16", lambda: a.bfloat16() @ b.bfloat16())

# Losses, creation, ranges
target = torch.tensor([1, 0, 3, 2, 4]).to(DEVICE)
attempt("loss.cross_entropy", lambda: F.cross_entropy(a, target))
attempt("loss.smooth", lambda: F.cross_entropy(a, target, label_smoothing=0.1, reduction="none"))
attempt("loss.mse", lambda: F.mse_loss(a, a * 0.5))
attempt("loss.bce", lambda: F.binary_cross_entropy_with_logits(a, (a > 0).float()))
for n in (1, 5, 16, 1000):
    attempt(f"arange {n}", lambda: torch.arange(n, device=DEVICE))
    attempt(f"arange {n} step", lambda: torch.arange(2, 2 + 3 * n, 3, device=DEVICE))
    attempt(f"arange {n} float", lambda: torch.arange(0, n, 0.5, device=DEVICE))
    attempt(f"linspace {n}", lambda: torch.linspace(-1, 1, n, device=DEVICE))
    attempt(f"eye {n}", lambda: torch.eye(n % 17, device=DEVICE))
    attempt(f"full {n}", lambda: torch.full((n, 3), n / 4, device=DEVICE))

# Gradients
w = values((8, 8), torch.float32).requires_grad_()
loss = (F.layer_norm(F.gelu(x @ w), (8,)).softmax(-1) * x).sum()
loss.backward()
show("grad", w.grad)

# Errors have the CPU's types
attempt("error.shape", lambda: values((3, 4), torch.float32) + values((3, 5), torch.float32))
attempt("error.matmul", lambda: a @ a)
attempt("error.dtype", lambda: values((3,), torch.bool) - values((3,), torch.bool))
attempt("error.dim", lambda: a.sum(5))
attempt("error.cast", lambda: values((3,), torch.int64).add_(0.5))
attempt("error.index", lambda: a[9])
attempt("error.expand", lambda: a.expand(5, 5))

# Random numbers: streams of their own, the same again after seeding, with the right moments
torch.manual_seed(7)
first = torch.randn(10000, device=DEVICE)
second = torch.randn(10000, device=DEVICE)
torch.manual_seed(7)
print("random.again |", torch.equal(first, torch.randn(10000, device=DEVICE)), torch.equal(first, second))
u = torch.rand(100000, device=DEVICE)
print("random.moments |", abs(first.mean().item()) < 0.05, abs(first.std().item() - 1) < 0.05, abs(u.mean().item() - 0.5) < 0.01, u.min().item() >= 0, u.max().item() < 1)
r = torch.randint(3, 9, (1000,), device=DEVICE)
print("random.randint |", r.min().item(), r.max().item(), r.dtype)
print("random.dropout |", abs(F.dropout(torch.ones(10000, device=DEVICE), 0.25).mean().item() - 1) < 0.05, abs(torch.bernoulli(torch.full((10000,), 0.3, device=DEVICE)).mean().item() - 0.3) < 0.03)
print("random.exponential |", abs(torch.empty(20000, device=DEVICE).exponential_(2.0).mean().item() - 0.5) < 0.03, sorted(torch.randperm(50, device=DEVICE).tolist()) == list(range(50)))
