"""Resizing and rearranging of images: interpolate and its relatives. What the rows compute is in torch/decompositions/resizing.py.

    interpolate(x, scale_factor=2, mode="bilinear")   ->   aten.upsample_bilinear2d(x, [8, 8], False, 2.0, 2.0)
"""
import math
import torch
from torch.nn.functional.vision import _each, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

aten = torch.ops.aten


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    if antialias:
        raise NotImplementedError("interpolate(): antialias is not supported")
    dims = input.dim() - 2
    wanted_dims = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(mode, dims)
    if mode not in ("nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear") or wanted_dims != dims or not 1 <= dims <= 3:
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None else "either size or scale_factor should be defined")
    factors = None if scale_factor is None else [float(f) for f in _each(scale_factor, dims)]
    sizes = _each(size, dims) if size is not None else [int(math.floor(input.shape[2 + i] * factors[i])) for i in range(dims)]
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1](input, sizes)
    scales = [None] * dims if factors is None or recompute_scale_factor else factors
    if mode == "nearest":
        return (aten.upsample_nearest1d, aten.upsample_nearest2d, aten.upsample_nearest3d)[dims - 1](input, sizes, *scales)
    if mode == "nearest-exact":
        return (aten._upsample_nearest_exact1d, aten._upsample_nearest_exact2d, aten._upsample_nearest_exact3d)[dims - 1](input, sizes, *scales)
    if mode == "bicubic":
        return aten.upsample_bicubic2d(input, sizes, bool(align_corners), *scales)
    return (aten.upsample_linear1d, aten.upsample_bilinear2d, aten.upsample_trilinear3d)[dims - 1](input, sizes, bool(align_corners), *scales)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def channel_shuffle(input, groups):
    shape = list(input.shape)
    return input.reshape([shape[0], groups, shape[1] // groups] + shape[2:]).transpose(1, 2).reshape(shape)
