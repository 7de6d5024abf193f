# Workloads whose kernels must compile for every card: the kinds that are measured (products with epilogues, pointwise, rows, columns, losses,
# attention, convolution, optimizers), at sizes of everyday models. Nothing runs where there is no card, so sizes cost nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"


def tensor(*shape, dtype=torch.float32, grad=False):
    return torch.empty(shape, device=DEVICE, dtype=dtype).requires_grad_(grad)


def step(f, *args):
    """One call of the compiled function, and its backward where something asks for it."""
    out = torch.compile(f)(*args)
    outs = out if isinstance(out, tuple) else (out,)
    loss = sum(o.float().square().mean() for o in outs if o.dtype.is_floating_point)
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        loss.backward()


# ---- products ----
def product_bias_relu(x, w, b):
    return torch.relu(x @ w + b)


def product_gelu_residual(x, w, b, r):
    return F.gelu(F.linear(x, w, b)) + r


def decode(x, w, g):
    return F.silu(F.linear(x, w)) * g


# ---- pointwise and reductions ----
def chain(x, y):
    return torch.sigmoid(x) * y + torch.tanh(y - 0.5 * x).exp()


def softmax_rows(x):
    return torch.softmax(x, -1)


def columns(x):
    return x.sum(0), x.amax(0)


def whole(x):
    return x.sum(), (x * x).mean(), x.amin()


def transposed(x, y):
    return x.t() + y


def residual_norm(x, r, g):
    h = x + r
    return h * torch.rsqrt(h.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(h.dtype) * g, h


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def dropout_norm(x, r, w, b):
    return F.layer_norm(r + F.dropout(x, 0.1, True), (x.shape[-1],), w, b)


def pick(x, i):
    return x.gather(1, i), x.argmax(1), x[i[:, 0]], torch.zeros_like(x).scatter_add(1, i, x)


def running(x):
    return x.cumsum(-1), F.pad(x, (1, 2)), torch.cat([x, x.flip(-1)], -1)


# ---- losses, models ----
def classify(x, w, t):
    return F.cross_entropy(x @ w, t)


def embed(t, table):
    return F.embedding(t, table) * 8.0


def causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def adam(p, g, m, v):
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p - 1e-3 * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8), m, v


half = dict(dtype=torch.bfloat16)
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    step(product_bias_relu, tensor(512, 1024, dtype=dtype, grad=True), tensor(1024, 256, dtype=dtype, grad=True), tensor(256, dtype=dtype, grad=True))
    step(product_gelu_residual, tensor(512, 1024, dtype=dtype, grad=True), tensor(256, 1024, dtype=dtype, grad=True), tensor(256, dtype=dtype), tensor(512, 256, dtype=dtype))
    step(chain, tensor(1 << 20, dtype=dtype, grad=True), tensor(1 << 20, dtype=dtype))
    step(softmax_rows, tensor(4096, 4096, dtype=dtype, grad=True))
    step(softmax_rows, tensor(256, 50257, dtype=dtype))
    step(columns, tensor(8192, 1024, dtype=dtype, grad=True))
    step(whole, tensor(4096, 4099, dtype=dtype, grad=True))
    step(transposed, tensor(2048, 1024, dtype=dtype), tensor(1024, 2048, dtype=dtype))
    step(residual_norm, tensor(2048, 4096, dtype=dtype, grad=True), tensor(2048, 4096, dtype=dtype), tensor(4096, dtype=dtype, grad=True))
    step(layer_norm, tensor(2048, 1024, dtype=dtype, grad=True), tensor(1024, dtype=dtype, grad=True), tensor(1024, dtype=dtype, grad=True))
    step(dropout_norm, tensor(1024, 1024, dtype=dtype, grad=True), tensor(1024, 1024, dtype=dtype), tensor(1024, dtype=dtype), tensor(1024, dtype=dtype))
    step(running, tensor(128, 3000, dtype=dtype, grad=True))
step(decode, tensor(8, 4096, **half), tensor(4096, 4096, **half), tensor(8, 4096, **half))
indices = torch.zeros(64, 32, dtype=torch.int64, device=DEVICE)
step(pick, tensor(64, 128, grad=True), indices)
step(classify, tensor(512, 256, grad=True), tensor(256, 32000, grad=True), indices[:, 0].repeat(8))
step(embed, indices, tensor(32000, 512, grad=True))
step(causal, *(tensor(2, 8, 256, 64, grad=True, **half) for _ in range(3)))
step(adam, *(tensor(1 << 22) for _ in range(4)))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x)), approximate="tanh"))


model = nn.Sequential(Block(256), Block(256)).to(DEVICE, torch.bfloat16)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
compiled = torch.compile(model)
compiled(tensor(64, 256, **half)).float().square().mean().backward()
optimizer.step()
print("done")
