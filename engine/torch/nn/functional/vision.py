"""Convolution, pooling and padding of torch.nn.functional: arguments in their many forms are brought to those of the rows.

    max_pool2d(x, 2)   ->   aten.max_pool2d_with_indices(x, [2, 2], [2, 2], [0, 0], [1, 1], False)[0]

What the rows compute is in torch/decompositions/windows.py.
"""
import torch
from torch.decompositions.windows import each as _each, pad_pairs as _pad_pairs, padded_along as _padded_along

aten = torch.ops.aten


def _batched(input, dims):
    """With a batch dim, and whether it was put in."""
    if input.dim() == dims + 1:
        return input.unsqueeze(0), True
    if input.dim() != dims + 2:
        raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input, but got input of size: {list(input.shape)}")
    return input, False


# ---- padding ----

def pad(input, pad, mode="constant", value=None):
    pad = list(pad)
    if len(pad) % 2 != 0:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > input.dim():
        raise RuntimeError(f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and input of dimension {input.dim()}")
    if mode == "constant":
        return aten.constant_pad_nd(input, pad, 0.0 if value is None else value)
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    dims = len(pad) // 2
    if dims > 3 or input.dim() not in (dims + 1, dims + 2):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    if mode == "circular":
        for at in range(dims):
            input = _padded_along(input, input.dim() - 1 - at, pad[2 * at], pad[2 * at + 1], mode)
        return input
    if mode == "reflect":
        return (aten.reflection_pad1d, aten.reflection_pad2d, aten.reflection_pad3d)[dims - 1](input, pad)
    return (aten.replication_pad1d, aten.replication_pad2d, aten.replication_pad3d)[dims - 1](input, pad)


# ---- convolution ----

def _same_padding(kernel, dilation):
    """Before and after, so that the output has the input's size."""
    totals = [(size - 1) * step for size, step in zip(kernel, dilation)]
    return [p for total in reversed(totals) for p in (total // 2, total - total // 2)]


def _convolution(input, weight, bias, stride, padding, dilation, groups, dims):
    input, single = _batched(input, dims)
    kernel = list(weight.shape[2:])
    stride, dilation = _each(stride, dims), _each(dilation, dims)
    if input.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have {weight.shape[1] * groups} channels, but got {input.shape[1]} channels instead")
    sizes = [0] * dims
    if padding == "same":
        if any([step != 1 for step in stride]):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        pads = _same_padding(kernel, dilation)
        if any([pads[2 * at] != pads[2 * at + 1] for at in range(dims)]):
            input = aten.constant_pad_nd(input, pads)
        else:
            sizes = [pads[2 * (dims - 1 - at)] for at in range(dims)]
    elif padding != "valid":
        sizes = _each(padding, dims)
    for at in range(dims):
        if input.shape[2 + at] + 2 * sizes[at] < (kernel[at] - 1) * dilation[at] + 1:
            raise RuntimeError("Calculated padded input size per channel is smaller than the kernel size: Kernel size can't be greater than actual input size")
    result = aten.convolution(input, weight, bias, stride, sizes, dilation, False, [0] * dims, groups)
    return result.squeeze(0) if single else result


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 1)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 2)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 3)


def _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, dims):
    input, single = _batched(input, dims)
    stride, padding, extra, dilation = (_each(v, dims) for v in (stride, padding, output_padding, dilation))
    if input.shape[1] != weight.shape[0]:
        raise RuntimeError(f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have {weight.shape[0]} channels, but got {input.shape[1]} channels instead")
    if any([size == 0 for size in input.shape[1:]]):
        raise RuntimeError(f"Expected a non-empty input, only the batch may be 0, but got: {list(input.shape)}")
    result = aten.convolution(input, weight, bias, stride, padding, dilation, True, extra, groups)
    return result.squeeze(0) if single else result


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 1)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 2)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 3)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    if input.dim() not in (3, 4):
        raise RuntimeError(f"Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {list(input.shape)}")
    kernel, dilation, padding, stride = (_each(v, 2) for v in (kernel_size, dilation, padding, stride))
    return aten.im2col(input, kernel, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    out, kernel, dilation, padding, stride = (_each(v, 2) for v in (output_size, kernel_size, dilation, padding, stride))
    return aten.col2im(input, out, kernel, dilation, padding, stride)


# ---- pooling ----

def _checked(input, dims):
    if input.dim() != dims + 1 and input.dim() != dims + 2:
        raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input, but got input of size: {list(input.shape)}")
    return input


def _window(kernel, stride, padding, dims):
    kernel = _each(kernel, dims)
    return kernel, kernel if stride is None or stride == [] or stride == () else _each(stride, dims), _each(padding, dims)


def _max_pool(input, kernel, stride, padding, dilation, ceil_mode, return_indices, dims):
    kernel, stride, padding = _window(kernel, stride, padding, dims)
    row = aten.max_pool2d_with_indices if dims == 2 else aten.max_pool3d_with_indices
    found = row(_checked(input, dims), kernel, stride, padding, _each(dilation, dims), ceil_mode)
    return found if return_indices else found[0]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    kernel, stride, padding = _window(kernel_size, stride, padding, 1)
    image = _checked(input, 1).unsqueeze(-2)
    values, indices = aten.max_pool2d_with_indices(image, [1] + kernel, [1] + stride, [0] + padding, [1] + _each(dilation, 1), ceil_mode)
    return (values.squeeze(-2), indices.squeeze(-2)) if return_indices else values.squeeze(-2)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 3)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    kernel, stride, padding = _window(kernel_size, stride, padding, 1)
    image = _checked(input, 1).unsqueeze(-2)
    return aten.avg_pool2d(image, [1] + kernel, [1] + stride, [0] + padding, ceil_mode, count_include_pad).squeeze(-2)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    kernel, stride, padding = _window(kernel_size, stride, padding, 2)
    return aten.avg_pool2d(_checked(input, 2), kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    kernel, stride, padding = _window(kernel_size, stride, padding, 3)
    return aten.avg_pool3d(_checked(input, 3), kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _wanted(input, output_size, dims):
    """The output's sizes; None keeps the input's."""
    sizes = input.shape[_checked(input, dims).dim() - dims:]
    return [size if wanted is None else wanted for size, wanted in zip(sizes, _each(output_size, dims))]


def adaptive_avg_pool1d(input, output_size):
    wanted = _wanted(input, output_size, 1)
    return adaptive_avg_pool2d(input.unsqueeze(-2), [1] + wanted).squeeze(-2)


def adaptive_avg_pool2d(input, output_size):
    wanted = _wanted(input, output_size, 2)
    return input.mean([-1, -2], True) if wanted == [1, 1] else aten._adaptive_avg_pool2d(input, wanted)


def adaptive_avg_pool3d(input, output_size):
    wanted = _wanted(input, output_size, 3)
    return input.mean([-1, -2, -3], True) if wanted == [1, 1, 1] else aten._adaptive_avg_pool3d(input, wanted)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    values, indices = aten.adaptive_max_pool2d(input.unsqueeze(-2), [1] + _wanted(input, output_size, 1))
    return (values.squeeze(-2), indices.squeeze(-2)) if return_indices else values.squeeze(-2)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    found = aten.adaptive_max_pool2d(input, _wanted(input, output_size, 2))
    return found if return_indices else found[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    found = aten.adaptive_max_pool3d(input, _wanted(input, output_size, 3))
    return found if return_indices else found[0]
