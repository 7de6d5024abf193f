"""Resizing and rearranging of images: interpolate, pixel_shuffle and their relatives. Resizing works dim by dim.

    interpolate(x, scale_factor=2, mode="bilinear")   ->   each row, then each column, as a weighted sum of two neighbours
"""
import math
import torch
from torch.nn.functional.vision import _adaptive, _each, _mean_of


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    if antialias:
        raise NotImplementedError("interpolate(): antialias is not supported")
    dims = input.dim() - 2
    wanted_dims = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(mode, dims)
    if mode not in ("nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear") or wanted_dims != dims:
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None else "either size or scale_factor should be defined")
    factors = None if scale_factor is None else [float(f) for f in _each(scale_factor, dims)]
    sizes = _each(size, dims) if size is not None else [int(math.floor(input.shape[2 + i] * factors[i])) for i in range(dims)]
    if mode == "area":
        return _adaptive(input, sizes, dims, _mean_of)
    for at in range(dims):
        given = None if factors is None or recompute_scale_factor else factors[at]
        input = _resized(input, 2 + at, sizes[at], given, mode, align_corners)
    return input


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def _resized(input, dim, size, factor, mode, align_corners):
    old = input.shape[dim]
    places = torch.arange(size, device=input.device, dtype=torch.float32)
    step = 1.0 / factor if factor is not None else old / size
    if mode == "nearest" or mode == "nearest-exact":
        shift = 0.5 if mode == "nearest-exact" else 0.0
        index = ((places + shift) * step).floor().to(torch.int64).clamp(max=old - 1)
        return input.index_select(dim, index)
    if align_corners:
        source = places * ((old - 1) / (size - 1) if size > 1 else 0.0)
    else:
        source = (places + 0.5) * step - 0.5
    shape = [size if i == dim else 1 for i in range(input.dim())]
    if mode == "bicubic":
        return _cubic(input, dim, source, old, shape)
    source = source.clamp_min(0)
    low = source.floor()
    weight = (source - low).to(input.dtype).reshape(shape)
    index = low.to(torch.int64)
    below = input.index_select(dim, index)
    above = input.index_select(dim, (index + 1).clamp(max=old - 1))
    return below * (1 - weight) + above * weight


def _cubic(input, dim, source, old, shape):
    """Four neighbours, weighted by Keys' cubic with a = -0.75."""
    a, low = -0.75, source.floor()
    t, index, total = source - low, low.to(torch.int64), None
    for offset in (-1, 0, 1, 2):
        x = (t - offset).abs()
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        weight = (near if offset in (0, 1) else far).to(input.dtype).reshape(shape)
        term = input.index_select(dim, (index + offset).clamp(0, old - 1)) * weight
        total = term if total is None else total + term
    return total


def pixel_shuffle(input, upscale_factor):
    r, lead = upscale_factor, list(input.shape[:-3])
    channels, height, width = input.shape[-3], input.shape[-2], input.shape[-1]
    if channels % (r * r) != 0:
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}")
    n = len(lead)
    split = input.reshape(lead + [channels // (r * r), r, r, height, width])
    split = split.permute(list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2])
    return split.reshape(lead + [channels // (r * r), height * r, width * r])


def pixel_unshuffle(input, downscale_factor):
    r, lead = downscale_factor, list(input.shape[:-3])
    channels, height, width = input.shape[-3], input.shape[-2], input.shape[-1]
    n = len(lead)
    split = input.reshape(lead + [channels, height // r, r, width // r, r])
    split = split.permute(list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3])
    return split.reshape(lead + [channels * r * r, height // r, width // r])


def channel_shuffle(input, groups):
    shape = list(input.shape)
    return input.reshape([shape[0], groups, shape[1] // groups] + shape[2:]).transpose(1, 2).reshape(shape)
