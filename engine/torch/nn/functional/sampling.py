"""Pooling by norms, pooling undone, and images read at given places.

    lp_pool2d(x, 2, 3)     max_unpool2d(values, indices, 2)     grid_sample(image, affine_grid(theta, size, False))
"""
import torch
from torch.nn.functional.vision import _each, avg_pool1d, avg_pool2d

aten = torch.ops.aten


# ---- pooling ----

def _root(mean, count, norm_type):
    return (torch.sign(mean) * torch.relu(mean.abs())).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _root(avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), kernel_size, norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    high, wide = _each(kernel_size, 2)
    return _root(avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), high * wide, norm_type)


def _max_unpool(input, indices, kernel_size, stride, padding, output_size, dims):
    kernel, padding = _each(kernel_size, dims), _each(padding, dims)
    stride = kernel if stride is None else _each(stride, dims)
    inner = input.shape[-dims:]
    if output_size is None:
        sizes = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(inner, stride, padding, kernel)]
    else:
        sizes = list(output_size)[-dims:]
    outer, cells = list(input.shape[:-dims]), 1
    for n in sizes:
        cells = cells * n
    flat = input.new_zeros(outer + [cells]).scatter(-1, indices.flatten(-dims), input.flatten(-dims))
    return flat.reshape(outer + sizes)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 3)


# ---- images at given places ----

def _axis(n, align_corners, like):
    if align_corners:
        return torch.linspace(-1, 1, n, dtype=like.dtype, device=like.device) if n > 1 else like.new_zeros([1])
    return (torch.arange(n, device=like.device).to(like.dtype) * 2 + 1) / n - 1


def affine_grid(theta, size, align_corners=None):
    """Places (x, y) of an image of that size under each affine map."""
    if len(size) != 4:
        raise NotImplementedError("affine_grid only supports 4D sizes, for 2D affine transforms")
    count, height, width = size[0], size[2], size[3]
    x = _axis(width, bool(align_corners), theta).reshape([1, width]).expand([height, width])
    y = _axis(height, bool(align_corners), theta).reshape([height, 1]).expand([height, width])
    base = torch.stack([x, y, torch.ones_like(x)], -1).reshape([1, -1, 3]).expand([count, height * width, 3])
    return torch.bmm(base, theta.transpose(1, 2)).reshape([count, height, width, 2])


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    if mode not in ("bilinear", "nearest"):
        raise NotImplementedError(f"nn.functional.grid_sample(): expected mode to be 'bilinear' or 'nearest', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    if input.dim() != 4:
        raise NotImplementedError("grid_sample is for images: inputs of 4 dimensions")
    modes, paddings = {"bilinear": 0, "nearest": 1}, {"zeros": 0, "border": 1, "reflection": 2}
    return aten.grid_sampler_2d(input, grid, modes[mode], paddings[padding_mode], bool(align_corners))


# ---- alignments ----

def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """The sum over all alignments, forward over time: alpha[s] is the log probability of having spelled the first s symbols, blanks between."""
    single = log_probs.dim() == 2
    x = log_probs.unsqueeze(1) if single else log_probs
    steps, count = x.shape[0], x.shape[1]
    inputs, lengths = [torch.as_tensor(n, dtype=torch.int64).reshape([-1]) for n in (input_lengths, target_lengths)]
    longest = max([int(n) for n in lengths.tolist()] + [1])
    if targets.dim() == 1:
        rows = torch.split(targets, [int(n) for n in lengths.tolist()])
        targets = torch.stack([torch.cat([row, row.new_zeros([longest - row.shape[0]])]) for row in rows])
    symbols = torch.full([count, 2 * targets.shape[1] + 1], blank, dtype=torch.int64)
    symbols[:, 1::2] = targets
    impossible = -1e30
    emitted = x.gather(2, symbols.unsqueeze(0).expand([steps, count, symbols.shape[1]]))
    places = torch.arange(symbols.shape[1])
    skips = torch.cat([torch.zeros([count, 2], dtype=torch.bool), (symbols[:, 2:] != blank) & (symbols[:, 2:] != symbols[:, :-2])], 1)
    alpha = torch.where(places < 2, emitted[0], impossible)
    for t in range(1, steps):
        one = torch.nn.functional.pad(alpha, (1, 0), value=impossible)[:, :-1]
        two = torch.where(skips, torch.nn.functional.pad(alpha, (2, 0), value=impossible)[:, :-2], impossible)
        moved = torch.logsumexp(torch.stack([alpha, one, two]), 0) + emitted[t]
        alpha = torch.where((inputs > t).unsqueeze(1), moved, alpha)
    ends = 2 * lengths.unsqueeze(1)
    last, before = alpha.gather(1, ends), torch.where(ends > 0, alpha.gather(1, (ends - 1).clamp_min(0)), impossible)
    loss = -torch.logsumexp(torch.cat([last, before], 1), 1)
    loss = torch.where(loss > 1e29, 0.0 if zero_infinity else float("inf"), loss)
    if reduction == "mean":
        return (loss / lengths.clamp_min(1)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss.squeeze(0) if single else loss
