# Functions of the library, compiled and eager: the same values and the same gradients.
import torch
import torch.nn as nn
import torch.nn.functional as F

t = torch.tensor([0, 3, 1])
mask = torch.tensor([[True, False, True, True]])


def image(x):
    return torch.cat([x, -x, x * 2], 1).reshape(1, 2, 3, 6)


cases = {
    "softmax": lambda x, y, w: F.softmax(x, -1),
    "softmax in double": lambda x, y, w: F.softmax(x.double(), -1).float(),
    "log_softmax": lambda x, y, w: F.log_softmax(x, 0),
    "softmin": lambda x, y, w: F.softmin(x, 1),
    "logsumexp": lambda x, y, w: torch.logsumexp(x, (0, 1)),
    "glu": lambda x, y, w: F.glu(x),
    "prelu": lambda x, y, w: F.prelu(x, w),
    "normalize": lambda x, y, w: F.normalize(x, dim=0),
    "layer_norm": lambda x, y, w: F.layer_norm(x, (4,), w, y[0]),
    "layer_norm of all": lambda x, y, w: F.layer_norm(x, (3, 4)),
    "layer_norm far from zero": lambda x, y, w: F.layer_norm(x.double() + 1000, (4,), w.double()),
    "rms_norm": lambda x, y, w: F.rms_norm(x, (4,), w, 1e-5),
    "group_norm": lambda x, y, w: F.group_norm(x.reshape(1, 4, 3), 2, w),
    "batch_norm": lambda x, y, w: F.batch_norm(x, None, None, w, None, True),
    "batch_norm in evaluation": lambda x, y, w: F.batch_norm(x, y[0].detach(), y[1].detach().abs() + 1, w),
    "instance_norm": lambda x, y, w: F.instance_norm(x.reshape(1, 3, 4)),
    "embedding": lambda x, y, w: F.embedding(t, x.reshape(6, 2), padding_idx=0),
    "cosine_similarity": lambda x, y, w: F.cosine_similarity(x, y),
    "pairwise_distance": lambda x, y, w: F.pairwise_distance(x, y),
    "cdist": lambda x, y, w: torch.cdist(x, y),
    "mse": lambda x, y, w: F.mse_loss(x, y),
    "l1": lambda x, y, w: F.l1_loss(x, y, reduction="sum"),
    "smooth_l1": lambda x, y, w: F.smooth_l1_loss(x, y, beta=0.5),
    "huber": lambda x, y, w: F.huber_loss(x, y, reduction="none"),
    "kl_div": lambda x, y, w: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
    "bce": lambda x, y, w: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)),
    "bce with logits": lambda x, y, w: F.binary_cross_entropy_with_logits(x, torch.sigmoid(y), pos_weight=w.detach().abs()),
    "nll": lambda x, y, w: F.nll_loss(x.log_softmax(1), t),
    "cross_entropy": lambda x, y, w: F.cross_entropy(x, t),
    "cross_entropy ignoring": lambda x, y, w: F.cross_entropy(x, t, ignore_index=3, reduction="sum"),
    "cross_entropy weighted": lambda x, y, w: F.cross_entropy(x, t, weight=w.detach().abs(), label_smoothing=0.2),
    "cross_entropy smoothed": lambda x, y, w: F.cross_entropy(x, t, label_smoothing=0.2),
    "cross_entropy of probabilities": lambda x, y, w: F.cross_entropy(x, y.softmax(1)),
    "cross_entropy of images": lambda x, y, w: F.cross_entropy(x.reshape(1, 4, 3), t.reshape(1, 3)),
    "multi_margin": lambda x, y, w: F.multi_margin_loss(x, t),
    "margin_ranking": lambda x, y, w: F.margin_ranking_loss(x, y, torch.ones(3, 4)),
    "cosine_embedding": lambda x, y, w: F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1])),
    "triplet": lambda x, y, w: F.triplet_margin_loss(x, y, y * 0.5),
    "gaussian_nll": lambda x, y, w: F.gaussian_nll_loss(x, y, torch.ones(3, 4)),
    "attention": lambda x, y, w: F.scaled_dot_product_attention(x.reshape(1, 2, 3, 2), y.reshape(1, 2, 3, 2), x.reshape(1, 2, 3, 2)),
    "causal attention": lambda x, y, w: F.scaled_dot_product_attention(x[None], y[None], x[None], is_causal=True),
    "masked attention": lambda x, y, w: F.scaled_dot_product_attention(x.t()[None], y.t()[None], x.t()[None], attn_mask=mask),
    "conv1d": lambda x, y, w: F.conv1d(x.reshape(1, 1, 12), w.reshape(1, 1, 4), padding=2, stride=2),
    "conv2d": lambda x, y, w: F.conv2d(image(x), y.reshape(3, 2, 1, 2), padding=1, dilation=2),
    "conv2d in groups": lambda x, y, w: F.conv2d(image(x), w.reshape(2, 1, 1, 2), groups=2),
    "conv_transpose2d": lambda x, y, w: F.conv_transpose2d(image(x), y.reshape(2, 3, 1, 2), stride=2),
    "max_pool2d": lambda x, y, w: F.max_pool2d(image(x), 2, stride=1, padding=1),
    "avg_pool2d": lambda x, y, w: F.avg_pool2d(image(x), 2, ceil_mode=True),
    "adaptive_avg_pool2d": lambda x, y, w: F.adaptive_avg_pool2d(image(x), (2, 4)),
    "pad": lambda x, y, w: F.pad(x, (1, 2, -1, 0), value=3.0),
    "pad by reflection": lambda x, y, w: F.pad(x[None], (1, 2), mode="reflect"),
    "interpolate": lambda x, y, w: F.interpolate(image(x), scale_factor=2, mode="bilinear"),
    "pixel_shuffle": lambda x, y, w: F.pixel_shuffle(x.reshape(1, 4, 1, 3), 2),
    "bilinear": lambda x, y, w: F.bilinear(x, y, torch.ones(2, 4, 4)),
    "linear of 3 dims": lambda x, y, w: F.linear(x[None], y, w[:3]),
    "linear of a vector": lambda x, y, w: F.linear(w, x),
    "matmul broadcast": lambda x, y, w: torch.matmul(x.reshape(3, 1, 2, 2), y.reshape(3, 2, 2)),
    "matmul folded": lambda x, y, w: torch.matmul(x.reshape(3, 2, 2), y[:2, :2]),
    "einsum": lambda x, y, w: torch.einsum("bij,bjk,k->bi", x.reshape(1, 3, 4), y.reshape(1, 4, 3), w[:3]),
    "tensordot": lambda x, y, w: torch.tensordot(x, y, ([0, 1], [0, 1])),
    "var": lambda x, y, w: x.var(1),
    "std": lambda x, y, w: x.std(),
    "norm": lambda x, y, w: x.norm(dim=1),
    "norm of order 3": lambda x, y, w: torch.linalg.vector_norm(x, 3),
    "prod": lambda x, y, w: x.prod(1),
    "cumsum": lambda x, y, w: x.cumsum(1),
    "cumprod": lambda x, y, w: x.cumprod(1),
    "max": lambda x, y, w: x.max(1)[0],
    "amax": lambda x, y, w: x.amax(0),
    "gelu": lambda x, y, w: F.gelu(x) + F.gelu(y, approximate="tanh"),
    "activations": lambda x, y, w: F.silu(x) + F.mish(x) + F.elu(x) + F.softplus(x) + F.hardswish(x) + F.selu(x),
    "gather": lambda x, y, w: x.gather(1, t.reshape(3, 1)),
    "split and cat": lambda x, y, w: torch.cat([a * 2 for a in x.split([1, 3], 1)] + [y], 1),
    "stack and unbind": lambda x, y, w: torch.stack([a * b for a, b in zip(x.unbind(0), y.unbind(0))]),
    "lstm_cell": lambda x, y, w: torch.lstm_cell(x, (y[:, :1], y[:, 1:2]), torch.ones(4, 4) * 0.1, torch.ones(4, 1))[0],
    "gru_cell": lambda x, y, w: torch.gru_cell(x, y[:, :1], torch.ones(3, 4) * 0.1, torch.ones(3, 1)),
    "where": lambda x, y, w: torch.where(x > 0, x * y, w),
    "clamp": lambda x, y, w: x.clamp(-0.5, 0.5) * y.clamp(min=0),
    "flatten": lambda x, y, w: (x.reshape(1, 3, 2, 2).flatten(1) * y.flatten()).unflatten(1, (3, 4)),
    "movedim": lambda x, y, w: x.reshape(3, 2, 2).movedim(0, -1).contiguous() * w[:3],
    "repeat_interleave": lambda x, y, w: x.repeat_interleave(2, 0).repeat(1, 2),
    "one_hot": lambda x, y, w: F.one_hot(t, 4) * x,
    "diff": lambda x, y, w: x.diff() * y[:, 1:],
    "tril": lambda x, y, w: x[:, :3].tril() @ y,
    "roll and flip": lambda x, y, w: x.roll(1, 1) + y.flip(0),
    "pow": lambda x, y, w: x.abs().pow(1.5) + y.pow(3) + 2.0 ** w,
}


def run(f):
    x = (torch.arange(12.0) * 0.7).sin().reshape(3, 4).requires_grad_()
    y = (torch.arange(12.0) * 1.3 + 1).cos().reshape(3, 4).requires_grad_()
    w = torch.linspace(0.5, 1.5, 4).requires_grad_()
    result = f(x, y, w)
    weights = (torch.arange(float(result.numel())) + 1).cos().reshape(result.shape)
    (result * weights).sum().backward()
    return [result, x.grad, y.grad, w.grad]


def agree(a, b):
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


wrong = 0
for name, f in cases.items():
    torch._dynamo.reset()
    try:
        eager, compiled = run(f), run(torch.compile(f, fullgraph=True))
        parts = [part for part, a, b in zip(["value", "x.grad", "y.grad", "w.grad"], eager, compiled) if not agree(a, b)]
    except Exception as e:
        parts = [f"{type(e).__name__}: {e}"]
    if parts:
        wrong += 1
        print("differs:", name, parts)
assert wrong == 0, wrong

# ---- an op of its own kernel reads a computed tensor without elements ----
empty = torch.randn(0, requires_grad=True)
for joined in (lambda a: torch.cat([a, a * 2]) * 3, lambda a: torch.cat([a * 2, torch.ones(2)]).sin(), lambda a: F.pad(a * 2, (1, 1)).sin(), lambda a: torch.cat([a.exp(), a[:, None].sum(1)]).sum()):
    joined_compiled = torch.compile(joined, fullgraph=True)
    assert torch.allclose(joined_compiled(empty), joined(empty)) and torch.autograd.grad(joined_compiled(empty).sum(), empty)[0].shape == (0,)
print("ok")
