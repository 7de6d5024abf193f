"""Convolution, pooling, padding: windows that move over an image, forward and backward, out of smaller rows.

A convolution is one matrix product over the windows of its input; its backward is two more, one of which lays its windows back:

    convolution(x, w, b, …)   ->   unfold, mm, add          convolution_backward   ->   mm, slice_backward and add for each place of the kernel

Pooling goes through the places of the window, so that it fuses. `dims` are the spatial dims, which come last; kernel, stride, padding and
dilation are lists of one number each. To add one: a row in op/ops.def with its shape rule (op/windows.c), a function here.
"""
import math
import torch
from torch.decompositions.shapes import size_of, wide

aten = torch.ops.aten
LONGEST = 32  # windows longer than this, where they meet, are laid back by index and not place by place


def each(value, count):
    """One value for each spatial dim."""
    if isinstance(value, (tuple, list)):
        return list(value) * count if len(value) == 1 else list(value)
    return [value] * count


def in_format_of(result, input):
    """A result that lies in memory as its input does: contiguous, or channels_last."""
    last = input.dim() == 4 and not input.is_contiguous() and input.is_contiguous(memory_format=torch.channels_last)
    return result.contiguous(memory_format=torch.channels_last) if last else result.contiguous()


def pad_pairs(padding):
    """[2, 1] -> the flat list of pad(): last dim first, before and after."""
    return [p for size in reversed(padding) for p in (size, size)]


# ---- windows, and back ----

def windows(input, kernel, stride, dilation):
    """(N, C, out…, kernel…): a view."""
    for at, size in enumerate(kernel):
        reach = (size - 1) * dilation[at] + 1
        input = input.unfold(2 + at, reach, stride[at])
        if dilation[at] != 1:
            input = aten.slice(input, -1, 0, reach, dilation[at])
    return input


def laid_back(x, sizes, stride, dilation):
    """Windows (N, C, out…, kernel…) added up where they lie in an image of these sizes: what is adjoint to windows()."""
    dims = len(sizes)
    for at in range(dims):
        x = _laid_along(x, 2 + at, 2 + dims, sizes[at], stride[at], dilation[at])
    return x


def _laid_along(x, dim, places, size, stride, dilation):
    """`dim` counts windows and `places` their elements; both become one dim of `size`."""
    count, length = x.shape[dim], x.shape[places]
    if dilation == 1 and stride >= length:
        return _laid_side_by_side(x, dim, places, size, stride)
    if length > LONGEST:
        where = torch.arange(count, device=x.device).unsqueeze(1) * stride + torch.arange(length, device=x.device) * dilation
        x = x.movedim(places, dim + 1).flatten(dim, dim + 1)
        shape = list(x.shape)
        return x.new_zeros(shape[:dim] + [size] + shape[dim + 1:]).index_add(dim, where.reshape([-1]), x)
    shape = list(x.shape[:places]) + list(x.shape[places + 1:])
    shape[dim] = size
    total = None
    for k in range(length):
        start = k * dilation
        term = aten.slice_backward(x.select(places, k), shape, dim, start, start + (count - 1) * stride + 1, stride)
        total = term if total is None else total + term
    return total


def _laid_side_by_side(x, dim, places, size, stride):
    """Windows that do not meet: zeros between them, and they lie as they should."""
    count, length = x.shape[dim], x.shape[places]
    x = x.movedim(places, dim + 1)
    if stride > length:
        x = aten.constant_pad_nd(x, [0, 0] * (x.dim() - dim - 2) + [0, stride - length])
    x = x.flatten(dim, dim + 1)
    # A symbolic size that fits today is not asked, since then it would have to fit always.
    if torch._C._is_eager() and count * stride == size:
        return x
    return aten.constant_pad_nd(x, [0, 0] * (x.dim() - dim - 1) + [0, size - count * stride])


# ---- convolution ----

def _padded(input, padding):
    return aten.constant_pad_nd(input, pad_pairs(padding)) if any([p != 0 for p in padding]) else input


def _window_rows(input, kernel, stride, padding, dilation):
    """Rows are output places, columns are channels and places of the kernel. Also: the sizes of the output."""
    dims = len(kernel)
    found = windows(_padded(input, padding), kernel, stride, dilation)
    out = list(found.shape[2:2 + dims])
    order = [0] + list(range(2, 2 + dims)) + [1] + list(range(2 + dims, 2 + 2 * dims))
    places = found.shape[0] * size_of(out, range(dims))
    return found.permute(order).reshape([places, input.shape[1] * size_of(kernel, range(dims))]), out


def _channel_rows(x):
    """(N, C, out…) -> (places, C)"""
    dims = x.dim() - 2
    return x.permute([0] + list(range(2, 2 + dims)) + [1]).reshape([x.shape[0] * size_of(x.shape, range(2, 2 + dims)), x.shape[1]])


def _from_channel_rows(rows, batch, sizes):
    return rows.reshape([batch] + list(sizes) + [rows.shape[1]]).movedim(-1, 1)


def _in_groups(rows, groups):
    return rows.reshape([rows.shape[0], groups, rows.shape[1] // groups]).transpose(0, 1)


def _convolved(input, weight, stride, padding, dilation, groups):
    kernel = list(weight.shape[2:])
    rows, out = _window_rows(input, kernel, stride, padding, dilation)
    if groups == 1:
        result = torch.mm(rows, weight.reshape([weight.shape[0], rows.shape[1]]).t())
    else:
        weights = weight.reshape([groups, weight.shape[0] // groups, rows.shape[1] // groups])
        result = torch.bmm(_in_groups(rows, groups), weights.transpose(1, 2)).transpose(0, 1).reshape([rows.shape[0], weight.shape[0]])
    return _from_channel_rows(result, input.shape[0], out)


def _input_gradient(g, weight, sizes, stride, padding, dilation, groups):
    """What flows back to an input of these sizes; and the forward of a transposed convolution."""
    rows, kernel, inner = _channel_rows(g), list(weight.shape[2:]), weight.shape[1]
    width = inner * size_of(kernel, range(len(kernel)))
    if groups == 1:
        columns = torch.mm(rows, weight.reshape([weight.shape[0], width]))
    else:
        columns = torch.bmm(_in_groups(rows, groups), weight.reshape([groups, weight.shape[0] // groups, width])).transpose(0, 1)
    dims = len(kernel)
    columns = columns.reshape([g.shape[0]] + list(g.shape[2:]) + [groups * inner] + kernel)
    columns = columns.permute([0, 1 + dims] + list(range(1, 1 + dims)) + list(range(2 + dims, 2 + 2 * dims)))
    image = laid_back(columns, [size + 2 * p for size, p in zip(sizes, padding)], stride, dilation)
    return _cropped(image, padding, sizes)


def _cropped(image, padding, sizes):
    for at, p in enumerate(padding):
        if p != 0:
            image = image.narrow(image.dim() - len(padding) + at, p, sizes[at])
    return image


def _weight_gradient(g, input, kernel, stride, padding, dilation, groups):
    rows, _ = _window_rows(input, kernel, stride, padding, dilation)
    if groups == 1:
        result = torch.mm(_channel_rows(g).t(), rows)
    else:
        result = torch.bmm(_in_groups(_channel_rows(g), groups).transpose(1, 2), _in_groups(rows, groups))
    return result.reshape([g.shape[1], input.shape[1] // groups] + list(kernel))


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    dims = input.dim() - 2
    stride, padding, dilation, extra = (each(v, dims) for v in (stride, padding, dilation, output_padding))
    if transposed:
        sizes = [(input.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (weight.shape[2 + i] - 1) + extra[i] + 1 for i in range(dims)]
        result = _input_gradient(input, weight, sizes, stride, padding, dilation, groups)
    else:
        result = _convolved(input, weight, stride, padding, dilation, groups)
    if bias is not None:
        result = result + bias.reshape([bias.shape[0]] + [1] * dims)
    return in_format_of(result, input)


def convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    dims = input.dim() - 2
    stride, padding, dilation = (each(v, dims) for v in (stride, padding, dilation))
    g, kernel, sizes = grad_output, list(weight.shape[2:]), list(input.shape[2:])
    grad_input = grad_weight = grad_bias = None
    if output_mask[0] and transposed:
        grad_input = in_format_of(_convolved(g, weight, stride, padding, dilation, groups), input)
    elif output_mask[0]:
        grad_input = in_format_of(_input_gradient(g, weight, sizes, stride, padding, dilation, groups), input)
    if output_mask[1]:
        of, over = (input, g) if transposed else (g, input)
        grad_weight = _weight_gradient(of, over, kernel, stride, padding, dilation, groups).contiguous()
    if output_mask[2]:
        grad_bias = g.sum([d for d in range(g.dim()) if d != 1])
    return grad_input, grad_weight, grad_bias


def im2col(input, kernel_size, dilation, padding, stride):
    x = input if input.dim() == 4 else input.unsqueeze(0)
    found = windows(_padded(x, padding), kernel_size, stride, dilation)
    batch, channels, height, width = found.shape[:4]
    result = found.permute([0, 1, 4, 5, 2, 3]).reshape([batch, channels * kernel_size[0] * kernel_size[1], height * width]).contiguous()
    return result if input.dim() == 4 else result.squeeze(0)


def col2im(input, output_size, kernel_size, dilation, padding, stride):
    x = input if input.dim() == 3 else input.unsqueeze(0)
    room = [output_size[i] + 2 * padding[i] for i in (0, 1)]
    out = [(room[i] - dilation[i] * (kernel_size[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
    channels = x.shape[1] // (kernel_size[0] * kernel_size[1])
    placed = x.reshape([x.shape[0], channels] + list(kernel_size) + out).permute([0, 1, 4, 5, 2, 3])
    image = _cropped(laid_back(placed, room, stride, dilation), padding, output_size).contiguous()
    return image if input.dim() == 3 else image.squeeze(0)


def unfold_backward(grad_in, input_sizes, dim, size, step):
    dim = dim % max(len(input_sizes), 1)
    if len(input_sizes) == 0:
        return grad_in.reshape([])
    return _laid_along(grad_in, dim, grad_in.dim() - 1, input_sizes[dim], step, 1).contiguous()


# ---- pooling ----

class Pool:
    """Where the windows of a pooling lie: `pads` make a padded input in which every window is whole."""

    def __init__(self, input, kernel_size, stride, padding, dilation, ceil_mode, dims):
        self.dims, self.first = dims, input.dim() - dims
        self.kernel = each(kernel_size, dims)
        self.stride = self.kernel if stride is None or stride == [] or stride == () else each(stride, dims)
        self.padding, self.dilation, self.ceil_mode = each(padding, dims), each(dilation, dims), ceil_mode
        self.sizes = list(input.shape[self.first:])
        self.out, self.pads, self.room = [], [], []
        for at in range(dims):
            size, pad, reach = self.sizes[at], self.padding[at], self.dilation[at] * (self.kernel[at] - 1) + 1
            out = self.count_along(size + 2 * pad - reach, self.stride[at], size + pad)
            # Enough for every window, whatever the size leaves over.
            after = pad + self.stride[at] - 1 if ceil_mode else pad
            self.out.append(out)
            self.room.append(size + pad + after)
            self.pads = [pad, after] + self.pads

    def count_along(self, room, stride, limit):
        if not self.ceil_mode:
            return room // stride + 1
        out = (room + stride - 1) // stride + 1
        # The last window must begin inside the input or its left padding.
        return out - 1 if (out - 1) * stride >= limit else out

    def padded(self, input, fill):
        return aten.constant_pad_nd(input, self.pads, fill) if any([p != 0 for p in self.pads]) else input

    def offsets(self):
        """The places of a window, last dim fastest."""
        found = [[]]
        for size in self.kernel:
            found = [place + [k] for place in found for k in range(size)]
        return found

    def at(self, padded, place):
        """For one place of the window the elements there, one for each output."""
        for i in range(self.dims):
            start = place[i] * self.dilation[i]
            padded = aten.slice(padded, self.first + i, start, start + (self.out[i] - 1) * self.stride[i] + 1, self.stride[i])
        return padded

    def back(self, x, place):
        """Adjoint to at(): the outputs' values where they came from in the padded input."""
        for i in reversed(range(self.dims)):
            shape, start = list(x.shape), place[i] * self.dilation[i]
            shape[self.first + i] = self.room[i]
            x = aten.slice_backward(x, shape, self.first + i, start, start + (self.out[i] - 1) * self.stride[i] + 1, self.stride[i])
        return x

    def along(self, i, values):
        """Numbers of one spatial dim, to be broadcast over the output."""
        return values.reshape([-1] + [1] * (self.dims - 1 - i))

    def origin(self, i, device):
        """Where each window begins along a dim, in the input's own numbers."""
        return self.along(i, torch.arange(self.out[i], device=device) * self.stride[i] - self.padding[i])

    def number(self, place, device):
        """The flat place in the input of one place of each window."""
        total = 0
        for i in range(self.dims):
            total = total * self.sizes[i] + (self.origin(i, device) + place[i] * self.dilation[i])
        return total


def _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, dims):
    pool = Pool(input, kernel_size, stride, padding, dilation, ceil_mode, dims)
    lowest = -math.inf if input.is_floating_point() else torch.iinfo(input.dtype).min
    padded, places = pool.padded(input, lowest), pool.offsets()
    largest = pool.at(padded, places[0])
    which = torch.zeros_like(largest, dtype=torch.int32)
    for k in range(1, len(places)):
        # The first of equals stays, and gets the gradient.
        value = pool.at(padded, places[k])
        better = (value > largest).logical_or(value.isnan())
        which = torch.where(better, k, which)
        largest = torch.where(better, value, largest)
    index = None
    which, inner = which.to(torch.int64), [size_of(pool.kernel, range(i + 1, dims)) for i in range(dims)]
    for i in range(dims):
        along = (pool.origin(i, input.device) + which // inner[i] % pool.kernel[i] * pool.dilation[i]).clamp_min(0)
        index = along if index is None else index * pool.sizes[i] + along
    return in_format_of(largest, input), in_format_of(index, input)


def _max_pool_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices, dims):
    pool = Pool(input, kernel_size, stride, padding, dilation, ceil_mode, dims)
    places = pool.offsets()
    if torch._C._is_eager() or len(places) > LONGEST:
        lead, cells = list(input.shape[:pool.first]), size_of(pool.sizes, range(dims))
        flat = grad_output.new_zeros(lead + [cells]).scatter_add(-1, indices.flatten(-dims), grad_output.flatten(-dims))
        return in_format_of(flat.reshape(input.shape), input)
    # No two windows add to one element at the same place, so that this is a sum in a fixed order.
    total = None
    for place in places:
        term = pool.back(torch.where(indices == pool.number(place, input.device), grad_output, 0), place)
        total = term if total is None else total + term
    return in_format_of(_cropped_room(total, pool), input)


def _cropped_room(image, pool):
    for i in range(pool.dims):
        if any([p != 0 for p in pool.pads]):
            image = image.narrow(pool.first + i, pool.padding[i], pool.sizes[i])
    return image


def max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, 2)


def max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, 3)


def max_pool2d_with_indices_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices):
    return _max_pool_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices, 2)


def max_pool3d_with_indices_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices):
    return _max_pool_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices, 3)


def picked(input, indices, dims):
    """The elements at flat places of the last dims: the derivative of a max pooling's backward."""
    return input.flatten(-dims).gather(-1, indices.flatten(-dims)).reshape(indices.shape)


def _divisor(pool, input, count_include_pad, divisor_override):
    """A number, or one for each output: how many elements of the input, or of its padding, each window holds."""
    if divisor_override is not None:
        return divisor_override
    padded = any([p != 0 for p in pool.padding])
    if not pool.ceil_mode and (count_include_pad or not padded):
        return size_of(pool.kernel, range(pool.dims))
    total = None
    for i in range(pool.dims):
        start, size = pool.origin(i, input.device), pool.sizes[i]
        end = start + pool.kernel[i]
        if count_include_pad:
            held = end.clamp_max(size + pool.padding[i]) - start
        else:
            held = end.clamp_max(size) - start.clamp_min(0)
        total = held if total is None else total * held
    return total.to(input.dtype)


def _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dims):
    pool, x = Pool(input, kernel_size, stride, padding, 1, ceil_mode, dims), wide(input)
    padded, total = pool.padded(x, 0), None
    for place in pool.offsets():
        term = pool.at(padded, place)
        total = term if total is None else total + term
    return in_format_of((total / _divisor(pool, x, count_include_pad, divisor_override)).to(input.dtype), input)


def _avg_pool_backward(grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dims):
    pool, g = Pool(input, kernel_size, stride, padding, 1, ceil_mode, dims), wide(grad_output)
    shares = g / _divisor(pool, g, count_include_pad, divisor_override)
    if pool.first == 1:
        shares = shares.unsqueeze(0)
    filled = shares.reshape(list(shares.shape) + [1] * dims).expand(list(shares.shape) + pool.kernel)
    image = laid_back(filled, pool.room, pool.stride, [1] * dims)
    return in_format_of(_cropped_room(image.squeeze(0) if pool.first == 1 else image, pool).to(input.dtype), input)


def avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


def avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3)


def avg_pool2d_backward(grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool_backward(grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


def avg_pool3d_backward(grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool_backward(grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3)


# ---- adaptive pooling ----

def shares(size, wanted):
    """Which elements each output stands for: [(first, end)], of a dim."""
    return [(i * size // wanted, ((i + 1) * size + wanted - 1) // wanted) for i in range(wanted)]


def _pooled_along(input, dim, wanted, reduce):
    size = input.shape[dim]
    if wanted == 1:
        return reduce(input, dim, True)
    if wanted > 0 and size % wanted == 0:
        return reduce(input.unflatten(dim, [wanted, size // wanted]), dim + 1, False)
    return torch.cat([reduce(input.narrow(dim, a, b - a), dim, True) for a, b in shares(size, wanted)], dim) if wanted > 0 else input.narrow(dim, 0, 0)


def _adaptive_avg_pool(input, output_size, dims):
    x, first = input, input.dim() - dims
    for at, wanted in enumerate(each(output_size, dims)):
        x = _pooled_along(x, first + at, wanted, lambda t, dim, keepdim: t.mean([dim], keepdim))
    return in_format_of(x if x is not input else input.clone(), input)


def _adaptive_avg_pool_backward(grad_output, input, dims):
    g, first = grad_output, input.dim() - dims
    for dim in range(first, input.dim()):
        size, wanted = input.shape[dim], g.shape[dim]
        if wanted > 0 and size % wanted == 0:
            each_length = size // wanted
            shape = list(g.shape)
            spread = g.unsqueeze(dim + 1).expand(shape[:dim + 1] + [each_length] + shape[dim + 1:]) / each_length
            g = spread.reshape(shape[:dim] + [size] + shape[dim + 1:])
            continue
        place = torch.arange(size, device=g.device)
        bounds = torch.arange(wanted, device=g.device).unsqueeze(1)
        start, end = bounds * size // max(wanted, 1), ((bounds + 1) * size + wanted - 1) // max(wanted, 1)
        weights = ((place >= start) & (place < end)).to(g.dtype) / (end - start).to(g.dtype)
        g = torch.matmul(g.movedim(dim, -1), weights).movedim(-1, dim)
    return in_format_of(g, input)


def _adaptive_avg_pool2d(input, output_size):
    return _adaptive_avg_pool(input, output_size, 2)


def _adaptive_avg_pool3d(input, output_size):
    return _adaptive_avg_pool(input, output_size, 3)


def _adaptive_avg_pool2d_backward(grad_output, input):
    return _adaptive_avg_pool_backward(grad_output, input, 2)


def _adaptive_avg_pool3d_backward(grad_output, input):
    return _adaptive_avg_pool_backward(grad_output, input, 3)


def _adaptive_max_pool(input, output_size, dims):
    """Last dim first; the places found so far go along, so that the first of equals in the input's order is taken."""
    first, x, places = input.dim() - dims, input, None
    for at, wanted in reversed(list(enumerate(each(output_size, dims)))):
        dim, values, found = first + at, [], []
        for a, b in shares(x.shape[dim], wanted):
            value, index = x.narrow(dim, a, b - a).max(dim, True)
            flat = (index + a) * size_of(input.shape, range(dim + 1, input.dim()))
            found.append(flat if places is None else flat + places.narrow(dim, a, b - a).gather(dim, index))
            values.append(value)
        x, places = torch.cat(values, dim), torch.cat(found, dim)
    return in_format_of(x, input), in_format_of(places, input)


def adaptive_max_pool2d(input, output_size):
    return _adaptive_max_pool(input, output_size, 2)


def adaptive_max_pool3d(input, output_size):
    return _adaptive_max_pool(input, output_size, 3)


def adaptive_max_pool_backward(grad_output, input, indices, dims):
    cells = size_of(input.shape, range(input.dim() - dims, input.dim()))
    flat = grad_output.new_zeros(list(input.shape[:input.dim() - dims]) + [cells])
    return in_format_of(flat.scatter_add(-1, indices.flatten(-dims), grad_output.flatten(-dims)).reshape(input.shape), input)


def adaptive_max_pool2d_backward(grad_output, input, indices):
    return adaptive_max_pool_backward(grad_output, input, indices, 2)


def adaptive_max_pool3d_backward(grad_output, input, indices):
    return adaptive_max_pool_backward(grad_output, input, indices, 3)


# ---- padding with the image's own elements ----

def padded_along(input, dim, before, after, mode):
    """mode: reflect, replicate or circular."""
    if before == 0 and after == 0:
        return input
    size, place = input.shape[dim], torch.arange(-before, input.shape[dim] + after, device=input.device)
    if mode == "reflect":
        place = place.abs()
        place = torch.where(place >= size, 2 * (size - 1) - place, place)
    elif mode == "replicate":
        place = place.clamp(0, size - 1)
    else:
        place = place % size
    return input.index_select(dim, place)


def _unpadded_along(g, dim, size, before, after, mode):
    """Adjoint to padded_along: the border's gradients go to the elements that it repeats."""
    lead = g.dim() - dim - 1
    inner = g.narrow(dim, max(before, 0), size + min(before, 0) + min(after, 0))
    if before < 0 or after < 0:
        inner = aten.constant_pad_nd(inner, [0, 0] * lead + [max(-before, 0), max(-after, 0)])
    for start, length, left in ((0, before, True), (g.shape[dim] - after, after, False)):
        if length <= 0:
            continue
        border = g.narrow(dim, start, length)
        if mode == "reflect":
            border, edge = border.flip([dim]), 1
        else:
            border, length, edge = border.sum([dim], True), 1, 0
        pads = [edge, size - length - edge] if left else [size - length - edge, edge]
        inner = inner + aten.constant_pad_nd(border, [0, 0] * lead + pads)
    return inner


def _padded_by(input, padding, mode):
    x = input
    for at in range(len(padding) // 2):
        x = padded_along(x, x.dim() - 1 - at, padding[2 * at], padding[2 * at + 1], mode)
    return in_format_of(x if x is not input else input.clone(), input)


def _unpadded_by(grad_output, input, padding, mode):
    g = grad_output
    for at in range(len(padding) // 2):
        dim = g.dim() - 1 - at
        g = _unpadded_along(g, dim, input.shape[dim], padding[2 * at], padding[2 * at + 1], mode)
    return in_format_of(g, input)


def reflection_pad(input, padding):
    return _padded_by(input, padding, "reflect")


def reflection_pad_backward(grad_output, input, padding):
    return _unpadded_by(grad_output, input, padding, "reflect")


def replication_pad(input, padding):
    return _padded_by(input, padding, "replicate")


def replication_pad_backward(grad_output, input, padding):
    return _unpadded_by(grad_output, input, padding, "replicate")
