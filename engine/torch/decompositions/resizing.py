"""Resizing and rearranging of images, and images read at given places.

    resized(x, [8, 8], [2.0, 2.0], "bilinear", False)   ->   each row, then each column, as a weighted sum of two neighbours

Resizing works dim by dim; along one dim it is a sum of terms, each of them elements picked by index times a weight, which is why its
gradient is the same terms added up by the same indices. `scales` holds factors or None, one for each spatial dim.
"""
import torch


# ---- terms along one dim ----

def _source(size, old, factor, align_corners, like):
    """Where each output lies in the input, as a number."""
    places = torch.arange(size, device=like.device, dtype=torch.float64 if like.dtype == torch.float64 else torch.float32)
    if align_corners:
        return places * ((old - 1) / (size - 1) if size > 1 else 0.0)
    return (places + 0.5) * (1.0 / factor if factor is not None else old / size) - 0.5


def _nearest(size, old, factor, exact, device):
    shift = 0.5 if exact else 0.0
    step = 1.0 / factor if factor is not None else old / size
    return ((torch.arange(size, device=device, dtype=torch.float32) + shift) * step).floor().to(torch.int64).clamp(max=old - 1)


def _terms(size, old, factor, mode, align_corners, like):
    """[(index, weight)]: an output is the sum of its elements times their weights; a weight of None is one."""
    if mode == "nearest" or mode == "nearest-exact":
        return [(_nearest(size, old, factor, mode == "nearest-exact", like.device), None)]
    source = _source(size, old, factor, align_corners, like)
    if mode == "bicubic":
        return _cubic_terms(source, old)
    source = source.clamp_min(0)
    low = source.floor()
    share, index = source - low, low.to(torch.int64)
    return [(index, 1 - share), ((index + 1).clamp(max=old - 1), share)]


def _cubic_terms(source, old):
    """Four neighbours, weighted by Keys' cubic with a = -0.75."""
    a, low, found = -0.75, source.floor(), []
    t, index = source - low, low.to(torch.int64)
    for offset in (-1, 0, 1, 2):
        x = (t - offset).abs()
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        found.append(((index + offset).clamp(0, old - 1), near if offset in (0, 1) else far))
    return found


def _weighted(x, weight, dim):
    if weight is None:
        return x
    return x * weight.to(x.dtype).reshape([-1 if i == dim else 1 for i in range(x.dim())])


def resized(input, output_size, scales, mode, align_corners):
    x = input
    for at, size in enumerate(output_size):
        dim, total = 2 + at, None
        for index, weight in _terms(size, x.shape[dim], scales[at], mode, align_corners, x):
            term = _weighted(x.index_select(dim, index), weight, dim)
            total = term if total is None else total + term
        x = total
    return x


def resized_backward(g, input, output_size, scales, mode, align_corners):
    for at in reversed(range(len(output_size))):
        dim, old = 2 + at, input.shape[2 + at]
        shape = list(g.shape)
        total = g.new_zeros(shape[:dim] + [old] + shape[dim + 1:])
        for index, weight in _terms(output_size[at], old, scales[at], mode, align_corners, g):
            total = total.index_add(dim, index, _weighted(g, weight, dim))
        g = total
    return g


# ---- channels into places, and back ----

def pixel_shuffle(input, upscale_factor):
    r, lead = upscale_factor, list(input.shape[:-3])
    if input.dim() < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    channels, height, width = input.shape[-3], input.shape[-2], input.shape[-1]
    if channels % (r * r) != 0:
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}")
    n = len(lead)
    split = input.reshape(lead + [channels // (r * r), r, r, height, width])
    split = split.permute(list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2])
    return split.reshape(lead + [channels // (r * r), height * r, width * r])


def pixel_unshuffle(input, downscale_factor):
    r, lead = downscale_factor, list(input.shape[:-3])
    if input.dim() < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    channels, height, width = input.shape[-3], input.shape[-2], input.shape[-1]
    if height % r != 0 or width % r != 0:
        raise RuntimeError(f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but {height} x {width} is not divisible by {r}")
    n = len(lead)
    split = input.reshape(lead + [channels, height // r, r, width // r, r])
    split = split.permute(list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3])
    return split.reshape(lead + [channels * r * r, height // r, width // r])


# ---- images at given places ----

def _place(x, n, padding_mode, align_corners):
    """From -1 … 1 to elements."""
    x = (x + 1) / 2 * (n - 1) if align_corners else ((x + 1) * n - 1) / 2
    if padding_mode == 1:
        return x.clamp(0, n - 1)
    if padding_mode == 2:
        low, span = (0.0, n - 1.0) if align_corners else (-0.5, float(n))
        if span == 0:
            return torch.zeros_like(x)
        turns = ((x - low).abs() / span).floor()
        rest = (x - low).abs() - turns * span
        return (torch.where(turns % 2 == 0, rest, span - rest) + low).clamp(0, n - 1)
    return x


def _read(input, x, y):
    """The elements at integer places; zero outside."""
    count, channels, height, width = input.shape
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    at = (y.clamp(0, height - 1) * width + x.clamp(0, width - 1)).to(torch.int64).reshape([count, 1, -1])
    values = input.reshape([count, channels, -1]).gather(2, at.expand([count, channels, at.shape[2]]))
    return torch.where(inside.unsqueeze(1), values.reshape([count, channels] + list(x.shape[1:])), 0)


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    """interpolation_mode 0 bilinear, 1 nearest; padding_mode 0 zeros, 1 border, 2 reflection."""
    x = _place(grid[..., 0], input.shape[3], padding_mode, align_corners)
    y = _place(grid[..., 1], input.shape[2], padding_mode, align_corners)
    if interpolation_mode == 1:
        return _read(input, x.round(), y.round())
    left, top = x.floor(), y.floor()
    right_share, bottom_share = (x - left).unsqueeze(1), (y - top).unsqueeze(1)
    upper = _read(input, left, top) * (1 - right_share) + _read(input, left + 1, top) * right_share
    lower = _read(input, left, top + 1) * (1 - right_share) + _read(input, left + 1, top + 1) * right_share
    return upper * (1 - bottom_share) + lower * bottom_share
