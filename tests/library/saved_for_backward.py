"""What the partition decides changes no number: under every memory budget, mode and single ban, and with checkpoint regions, compiled gradients are eager's."""
import torch
import torch.nn.functional as F
import torch._functorch.config
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

config = torch._functorch.config
torch.manual_seed(0)


def gradients(function, tensors):
    for t in tensors:
        t.grad = None
    loss = function(*tensors)
    loss.backward()
    return [loss.detach()] + [t.grad for t in tensors if t.requires_grad]


def close(a, b):
    return all((x is None) == (y is None) and (x is None or torch.allclose(x, y, rtol=1e-4, atol=1e-5)) for x, y in zip(a, b))


def leaf(*sizes):
    return torch.randn(*sizes, requires_grad=True)


def chain(x, w, v):
    for _ in range(3):
        x = torch.sigmoid(torch.tanh(x @ w) * 2) @ v
    return (x * x).sum()


def normalized(x, w, v):
    h = F.layer_norm(x @ w, (16,))
    return (F.gelu(h).softmax(-1) @ v).relu().mean()


def masked(x, w, v):
    scores = (x @ x.t()).masked_fill(torch.ones(4, 4).triu(1) > 0, float("-inf"))
    return F.leaky_relu(scores.softmax(-1) @ x @ w, 0.2).clamp(-1, 1).sum() + F.hardtanh(x @ w @ v).sum()


def overwritten(x, w, v):
    h = x * 1
    h.mul_(2)
    y = torch.sin(h @ w)
    y += 1
    return (y @ v).exp().sum()


def parts(x, w, v):
    a, b = (x @ w).split(8, -1)
    biggest, where = torch.max(a * b, -1)
    return biggest.sum() + torch.cat([a, b], 0).var(0).sum() + (v.cumsum(0) * 0.1).sin().sum()


x, w, v = leaf(4, 8), leaf(8, 16), leaf(16, 8)
for function in (chain, normalized, masked, overwritten, parts):
    want = gradients(function, (x, w, v))
    for budget in (1.0, 0.9, 0.6, 0.3, 0.1, 0.0):
        torch._dynamo.reset()
        config.activation_memory_budget = budget
        assert close(gradients(torch.compile(function), (x, w, v)), want), (function, budget)
    config.activation_memory_budget = 1.0
    for ban in ("ban_recompute_used_far_apart", "ban_recompute_long_fusible_chains", "ban_recompute_materialized_backward", "ban_recompute_not_in_allowlist",
                "ban_recompute_reductions"):
        torch._dynamo.reset()
        setattr(config, ban, False)
        assert close(gradients(torch.compile(function), (x, w, v)), want), (function, ban)
        setattr(config, ban, True)
    torch._dynamo.reset()
    config.aggressive_recomputation = True
    assert close(gradients(torch.compile(function), (x, w, v)), want), function
    config.aggressive_recomputation = False
    torch._dynamo.reset()
    assert close(gradients(torch.compile(function, backend="aot_eager"), (x, w, v)), want), function

# Convolutions: what they lay out for their matmul is made again.
conv = torch.nn.Conv2d(3, 4, 3, padding=1)
image = leaf(2, 3, 6, 6)
torch._dynamo.reset()
assert close(gradients(lambda i: conv(i).relu().sum(), (image,)), gradients(torch.compile(lambda i: conv(i).relu().sum()), (image,)))


# Checkpoint regions: nested, in sequence, with a value passed on, with arguments by name.
def block(x, w, scale=1.0):
    return torch.tanh(x @ w) * scale + x


def regions(x, w):
    h = checkpoint(block, x, w, use_reentrant=False, scale=2.0)
    h = checkpoint(lambda y: checkpoint(block, y, w, use_reentrant=False).sin(), h, use_reentrant=False)
    return (h * h).sum() + checkpoint(block, h, w, use_reentrant=False).sum()


def no_regions(x, w):
    h = block(block(x, w, scale=2.0), w).sin()
    return (h * h).sum() + block(h, w).sum()


s, u = leaf(4, 6), leaf(6, 6)
torch._dynamo.reset()
assert close(gradients(torch.compile(regions), (s, u)), gradients(no_regions, (s, u)))
layers = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh()) for _ in range(4)])
torch._dynamo.reset()
compiled = torch.compile(lambda y: checkpoint_sequential(layers, 2, y, use_reentrant=False).sum())
assert close(gradients(compiled, (s,)), gradients(lambda y: layers(y).sum(), (s,)))


# A dropout that is run again is the same dropout: forward and backward see one mask, in a region and under a budget of nothing.
def dropped(x, w):
    return F.dropout(torch.tanh(x @ w), 0.5)


def zeros_agree(function):
    torch._dynamo.reset()
    s.grad = None
    out = torch.compile(function)(s, u)
    mask = out != 0
    out.sum().backward(retain_graph=True)
    s.grad = None
    g = torch.ones_like(out) * mask
    out.backward(g)
    by_mask = s.grad
    s.grad = None
    torch._dynamo.reset()
    # The gradient through dropout(tanh(x w)) by hand, with the mask that the forward showed.
    h = torch.tanh(s @ u)
    (h * mask * 2).sum().backward()
    return torch.allclose(by_mask, s.grad, rtol=1e-4, atol=1e-5)


assert zeros_agree(dropped)
assert zeros_agree(lambda x, w: checkpoint(dropped, x, w, use_reentrant=False))
config.activation_memory_budget = 0.0
assert zeros_agree(dropped)
config.activation_memory_budget = 1.0

# Sizes that change: the same partition serves them.
torch._dynamo.reset()
step = torch.compile(lambda x, w: (F.relu(x @ w).softmax(-1) * x.shape[0]).square().sum(), dynamic=True)
for rows in (3, 5, 9):
    t = leaf(rows, 6)
    assert close(gradients(step, (t, u)), gradients(lambda x, w: (F.relu(x @ w).softmax(-1) * x.shape[0]).square().sum(), (t, u)))
print("ok")
