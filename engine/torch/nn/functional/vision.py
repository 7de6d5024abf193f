"""Convolution, pooling and padding of torch.nn.functional.

A convolution is one matrix product over the windows of its input; pooling goes through the places of the window, so that it fuses:

    max_pool2d(x, 2)   ->   the larger of x[::2, ::2], x[::2, 1::2], x[1::2, ::2], x[1::2, 1::2]
"""
import math
import torch
from torch.decompositions.shapes import size_of as _size_of

aten = torch.ops.aten


def _each(value, count):
    """One value for each spatial dim."""
    if isinstance(value, (tuple, list)):
        return list(value) * count if len(value) == 1 else list(value)
    return [value] * count


def _batched(input, dims):
    """With a batch dim, and whether it was put in."""
    if input.dim() == dims + 1:
        return input.unsqueeze(0), True
    if input.dim() != dims + 2:
        raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input, but got input of size: {list(input.shape)}")
    return input, False


# ---- padding ----

def _pad_pairs(padding):
    """[2, 1] -> the flat list of pad(): last dim first, before and after."""
    return [p for size in reversed(padding) for p in (size, size)]


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
    for at in range(len(pad) // 2):
        input = _pad_dim(input, input.dim() - 1 - at, pad[2 * at], pad[2 * at + 1], mode)
    return input


def _pad_dim(input, dim, before, after, mode):
    if before == 0 and after == 0:
        return input
    size = input.shape[dim]
    if mode == "reflect" and (before >= size or after >= size):
        raise RuntimeError(f"Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at dimension {dim} of input {list(input.shape)}")
    place = torch.arange(-before, size + after, device=input.device)
    if mode == "reflect":
        place = place.abs()
        place = torch.where(place >= size, 2 * (size - 1) - place, place)
    elif mode == "replicate":
        place = place.clamp(0, size - 1)
    else:
        place = place % size
    return input.index_select(dim, place)


# ---- convolution ----

def _windows(input, kernel, stride, dilation):
    """(N, C, out…, kernel…): a view."""
    for at, size in enumerate(kernel):
        reach = (size - 1) * dilation[at] + 1
        input = input.unfold(2 + at, reach, stride[at])
        if dilation[at] != 1:
            input = aten.slice(input, -1, 0, reach, dilation[at])
    return input


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
    if padding == "same":
        input = aten.constant_pad_nd(input, _same_padding(kernel, dilation))
    elif padding != "valid":
        sizes = _each(padding, dims)
        input = aten.constant_pad_nd(input, _pad_pairs(sizes)) if any([p != 0 for p in sizes]) else input
    for at in range(dims):
        if input.shape[2 + at] < (kernel[at] - 1) * dilation[at] + 1:
            raise RuntimeError("Calculated padded input size per channel is smaller than the kernel size: Kernel size can't be greater than actual input size")
    windows = _windows(input, kernel, stride, dilation)
    batch, out = windows.shape[0], list(windows.shape[2:2 + dims])
    # Rows are output places, columns are channels and places of the kernel.
    order = [0] + list(range(2, 2 + dims)) + [1] + list(range(2 + dims, 2 + 2 * dims))
    rows = windows.permute(order)
    places = batch * _size_of(out, range(dims))
    if groups == 1:
        columns = weight.shape[1] * _size_of(kernel, range(dims))
        result = torch.mm(rows.reshape([places, columns]), weight.reshape([weight.shape[0], columns]).t())
    else:
        each = weight.shape[1] * _size_of(kernel, range(dims))
        grouped = rows.reshape([places, groups, each]).transpose(0, 1)
        result = torch.bmm(grouped, weight.reshape([groups, weight.shape[0] // groups, each]).transpose(1, 2))
        result = result.transpose(0, 1).reshape([places, weight.shape[0]])
    if bias is not None:
        result = result + bias
    result = result.reshape([batch] + out + [weight.shape[0]]).movedim(-1, 1).contiguous()
    return result.squeeze(0) if single else result


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 1)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 2)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 3)


def _spread(input, dim, step):
    """Zeros between the elements along a dim."""
    if step == 1:
        return input
    size, shape = input.shape[dim], list(input.shape)
    input = aten.constant_pad_nd(input.unsqueeze(-1), [0, step - 1])
    input = input.movedim(-1, dim + 1).reshape(shape[:dim] + [size * step] + shape[dim + 1:])
    return input.narrow(dim, 0, (size - 1) * step + 1)


def _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, dims):
    """A convolution of the spread input with the turned kernel."""
    input, single = _batched(input, dims)
    stride, padding, extra, dilation = (_each(v, dims) for v in (stride, padding, output_padding, dilation))
    inner, outer, kernel = weight.shape[0], weight.shape[1], list(weight.shape[2:])
    pads = []
    for at in range(dims):
        input = _spread(input, 2 + at, stride[at])
        edge = (kernel[at] - 1) * dilation[at] - padding[at]
        pads = [edge, edge + extra[at]] + pads
    input = aten.constant_pad_nd(input, pads)
    turned = weight.reshape([groups, inner // groups, outer] + kernel).transpose(1, 2).reshape([groups * outer, inner // groups] + kernel)
    turned = turned.flip(list(range(2, 2 + dims)))
    result = _convolution(input, turned, bias, 1, 0, dilation, groups, dims)
    return result.squeeze(0) if single else result


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 1)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 2)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 3)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    input, single = _batched(input, 2)
    kernel, dilation, padding, stride = (_each(v, 2) for v in (kernel_size, dilation, padding, stride))
    windows = _windows(aten.constant_pad_nd(input, _pad_pairs(padding)), kernel, stride, dilation)
    batch, channels, height, width = windows.shape[:4]
    result = windows.permute([0, 1, 4, 5, 2, 3]).reshape([batch, channels * kernel[0] * kernel[1], height * width])
    return result.squeeze(0) if single else result


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    single = input.dim() == 2
    input = input.unsqueeze(0) if single else input
    out, kernel, dilation, padding, stride = (_each(v, 2) for v in (output_size, kernel_size, dilation, padding, stride))
    height, width = out[0] + 2 * padding[0], out[1] + 2 * padding[1]
    # Where each element of each window lies in the padded image.
    places = _windows(torch.arange(height * width, device=input.device).reshape([1, 1, height, width]), kernel, stride, dilation)
    places = places.permute([0, 1, 4, 5, 2, 3]).reshape([-1])
    batch, channels = input.shape[0], input.shape[1] // (kernel[0] * kernel[1])
    image = input.new_zeros([batch, channels, height * width]).index_add(2, places, input.reshape([batch, channels, -1]))
    image = image.reshape([batch, channels, height, width]).narrow(2, padding[0], out[0]).narrow(3, padding[1], out[1])
    return image.squeeze(0) if single else image


# ---- pooling ----

def _output_size(size, kernel, stride, padding, dilation, ceil_mode):
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (room + stride - 1) // stride + 1 if ceil_mode else room // stride + 1
    # The last window must begin inside the input or its left padding.
    return out - 1 if ceil_mode and (out - 1) * stride >= size + padding else out


def _places(input, kernel, stride, padding, dilation, ceil_mode, fill):
    """For each place of the window the elements there, one for each output; the input is padded with `fill`."""
    dims = len(kernel)
    out, pads = [], []
    for at in range(dims):
        size = input.shape[2 + at]
        if padding[at] * 2 > (kernel[at] - 1) * dilation[at] + 1:
            raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={padding[at]}, kernel_size={kernel[at]} and dilation={dilation[at]}")
        out.append(_output_size(size, kernel[at], stride[at], padding[at], dilation[at], ceil_mode))
        reach = (out[at] - 1) * stride[at] + (kernel[at] - 1) * dilation[at] + 1
        pads = [padding[at], max(reach - size - padding[at], 0)] + pads
    if any([p != 0 for p in pads]):
        input = aten.constant_pad_nd(input, pads, fill)
    found = [input]
    for at in range(dims):
        length = (out[at] - 1) * stride[at] + 1
        found = [aten.slice(x, 2 + at, k * dilation[at], k * dilation[at] + length, stride[at]) for x in found for k in range(kernel[at])]
    return found


def _max_pool(input, kernel, stride, padding, dilation, ceil_mode, return_indices, dims):
    input, single = _batched(input, dims)
    kernel, padding, dilation = _each(kernel, dims), _each(padding, dims), _each(dilation, dims)
    stride = kernel if stride is None or stride == [] else _each(stride, dims)
    lowest = -math.inf if input.is_floating_point() else torch.iinfo(input.dtype).min
    places = _places(input, kernel, stride, padding, dilation, ceil_mode, lowest)
    index = None
    if return_indices:
        shape = list(input.shape[2:])
        numbers = torch.arange(_size_of(shape, range(dims)), device=input.device).reshape([1, 1] + shape)
        index_places = _places(numbers, kernel, stride, padding, dilation, ceil_mode, 0)
        index = index_places[0].expand(places[0].shape)
    largest = places[0]
    for at in range(1, len(places)):
        # The first of equals stays, and gets the gradient.
        better = (places[at] > largest).logical_or(places[at].isnan())
        if return_indices:
            index = torch.where(better, index_places[at], index)
        largest = torch.where(better, places[at], largest)
    if single:
        largest, index = largest.squeeze(0), None if index is None else index.squeeze(0)
    return (largest, index) if return_indices else largest


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 1)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 3)


def _avg_pool(input, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override, dims):
    input, single = _batched(input, dims)
    kernel, padding = _each(kernel, dims), _each(padding, dims)
    stride = kernel if stride is None or stride == [] else _each(stride, dims)
    ones = [1] * dims
    total = _added(_places(input, kernel, stride, padding, ones, ceil_mode, 0))
    padded = any([p != 0 for p in padding])
    if divisor_override is not None:
        result = total / divisor_override
    elif ceil_mode or (padded and not count_include_pad):
        # How many elements of the input, or of its padding, each window holds.
        counted = input.new_ones([1, 1] + list(input.shape[2:]))
        if count_include_pad and padded:
            counted = aten.constant_pad_nd(counted, _pad_pairs(padding), 1)
            result = total / _added(_places(counted, kernel, stride, [0] * dims, ones, ceil_mode, 0))
        else:
            result = total / _added(_places(counted, kernel, stride, padding, ones, ceil_mode, 0))
    else:
        result = total / _size_of(kernel, range(dims))
    return result.squeeze(0) if single else result


def _added(tensors):
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, None, 1)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3)


def _adaptive(input, output_size, dims, reduce):
    """Dim by dim: each output takes its share of the input."""
    input, single = _batched(input, dims)
    for at, wanted in enumerate(_each(output_size, dims)):
        dim, size = 2 + at, input.shape[2 + at]
        wanted = size if wanted is None else wanted
        if wanted == 1:
            input = reduce(input, dim, True)
        elif size % wanted == 0:
            input = reduce(input.unflatten(dim, [wanted, size // wanted]), dim + 1, False)
        else:
            bounds = [(i * size // wanted, ((i + 1) * size + wanted - 1) // wanted) for i in range(wanted)]
            input = torch.cat([reduce(input.narrow(dim, a, b - a), dim, True) for a, b in bounds], dim)
    return input.squeeze(0) if single else input


def _mean_of(x, dim, keepdim):
    return x.mean([dim], keepdim)


def _largest_of(x, dim, keepdim):
    return x.max(dim, keepdim)[0]


def adaptive_avg_pool1d(input, output_size):
    return _adaptive(input, output_size, 1, _mean_of)


def adaptive_avg_pool2d(input, output_size):
    return _adaptive(input, output_size, 2, _mean_of)


def adaptive_avg_pool3d(input, output_size):
    return _adaptive(input, output_size, 3, _mean_of)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    return _adaptive(input, output_size, 1, _largest_of)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    return _adaptive(input, output_size, 2, _largest_of)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    return _adaptive(input, output_size, 3, _largest_of)
