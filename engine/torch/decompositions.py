"""Bodies of op rows: what `made_of: "@name"` of op/ops.def stands for.

Each function takes its row's parameters and computes the row's result out of smaller rows, so the same text runs eagerly, is
traced into the joint graph, and expands softmax or layer norm when a graph is decomposed:

    _softmax(x, -1, False)   ->   amax, sub, exp, sum, div

16-bit inputs are computed in float32 and cast back at the end. To add one: a row with `made_of = "@name"`, a function here.
Gradient helpers, normalizations and einsum are in files of the folder decompositions.
"""
import math
import torch
from torch.decompositions.einsum import einsum, tensordot
from torch.decompositions.gradients import (
    addmm_backward_mat1, addmm_backward_mat2, atan2_backward, binary_cross_entropy_with_logits_backward,
    binary_cross_entropy_with_logits_target_backward, cat_backward, clamp_backward, clamp_backward_max, clamp_backward_min, cumprod_backward, embedding_dense_double_backward, extreme_backward, gelu_double_backward, linalg_vector_norm_backward, logcumsumexp_weighted,
    logsumexp_backward, masked_scatter_backward, max_backward, mean_backward, no_derivative, pow_backward, pow_backward_exponent, prod_backward,
    repeat_backward, scatter_reduce_backward, softmax_double_backward, split_backward, squeeze_backward, sum_backward, trigamma,
    unbind_backward, value_selecting_backward, var_backward, var_mean_backward)
from torch.decompositions.losses import (
    binary_cross_entropy, binary_cross_entropy_backward, binary_cross_entropy_backward_input, binary_cross_entropy_backward_output,
    binary_cross_entropy_backward_target, binary_cross_entropy_target, glu, glu_backward, glu_backward_input, glu_backward_output,
    huber_loss, huber_loss_backward, huber_loss_backward_input, huber_loss_backward_output, mse_loss, mse_loss_backward,
    mse_loss_backward_input, mse_loss_backward_output, smooth_l1_loss, smooth_l1_loss_backward, smooth_l1_loss_backward_input,
    smooth_l1_loss_backward_output)
from torch.decompositions.matrices import (
    _pdist_forward, cdist_backward, linalg_cholesky, linalg_cholesky_backward, linalg_det, linalg_det_backward, linalg_inv, linalg_solve)
from torch.decompositions.normalizations import (
    _native_batch_norm_legit, native_batch_norm, native_batch_norm_backward, native_group_norm, native_group_norm_backward, native_layer_norm,
    native_layer_norm_backward)
from torch.decompositions.order import _embedding_bag, mode, nanmedian
from torch.decompositions.resizing import grid_sampler_2d, pixel_shuffle, pixel_unshuffle, resized, resized_backward
from torch.decompositions.windows import (
    _adaptive_avg_pool2d, _adaptive_avg_pool2d_backward, _adaptive_avg_pool3d, _adaptive_avg_pool3d_backward, adaptive_max_pool2d,
    adaptive_max_pool2d_backward, adaptive_max_pool3d, adaptive_max_pool3d_backward, avg_pool2d, avg_pool2d_backward, avg_pool3d,
    avg_pool3d_backward, col2im, convolution, convolution_backward, im2col, max_pool2d_with_indices, max_pool2d_with_indices_backward,
    max_pool3d_with_indices, max_pool3d_with_indices_backward, picked, reflection_pad, reflection_pad_backward, replication_pad,
    replication_pad_backward, unfold_backward)
from torch.decompositions.shapes import dims_of, reduce_loss, size_of, wide

aten = torch.ops.aten


# ---- softmax ----

def _softmax(input, dim, half_to_float):
    x = wide(input.contiguous())
    exponents = torch.exp(x - x.amax([dim], True)) if input.numel() > 0 else torch.exp(x)
    result = exponents / exponents.sum([dim], True)
    return result if half_to_float else result.to(input.dtype)


def _log_softmax(input, dim, half_to_float):
    x = wide(input.contiguous())
    shifted = x - x.amax([dim], True) if input.numel() > 0 else x
    result = shifted - torch.log(torch.exp(shifted).sum([dim], True))
    return result if half_to_float else result.to(input.dtype)


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    g, y = wide(grad_output), wide(output)
    weighted = g * y
    return (weighted - y * weighted.sum([dim], True)).to(input_dtype)


def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    g, y = wide(grad_output), wide(output)
    return (g - torch.exp(y) * g.sum([dim], True)).to(input_dtype)


def logsumexp(input, dim, keepdim=False):
    x = wide(input)
    if not x.is_floating_point():
        x = x.to(torch.get_default_dtype())
    if x.numel() == 0:
        return torch.log(torch.exp(x).sum(dim, keepdim))
    dims = dims_of(dim, x.dim())
    largest = x.amax(dims, True)
    # An infinite maximum cannot be subtracted: inf - inf is nan.
    largest = torch.where(largest.abs() == float("inf"), 0.0, largest)
    total = torch.log(torch.exp(x - largest).sum(dims, keepdim))
    result = total + (largest if keepdim else squeeze_dims(largest, dims))
    return result.to(input.dtype) if input.is_floating_point() else result


def squeeze_dims(input, dims):
    for dim in reversed(dims):
        input = input.squeeze(dim)
    return input


# ---- reductions ----

def freedom(count, unbiased, correction):
    """What the sum of squares is divided by: the count less the correction, never negative."""
    lost = correction if correction is not None else (1 if unbiased else 0)
    return count - lost if count > lost else 0


def mean(input, dim=None, keepdim=False, *, dtype=None):
    # The sum of 16-bit numbers may be beyond them where their mean is not.
    x = input if dtype is None else input.to(dtype)
    total = wide(x).sum(dim, keepdim)
    return (total / (input.numel() // max(total.numel(), 1))).to(x.dtype)


def var_mean(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    # Two passes: E[x*x] - E[x]**2 would lose every digit far from zero.
    x = wide(input)
    dims = dims_of(dim, x.dim())
    mean = x.mean(dims, True)
    centered = x - mean
    count = size_of(x.shape, dims)
    variance = (centered * centered).sum(dims, keepdim) / freedom(count, unbiased, correction)
    return variance.to(input.dtype), (mean if keepdim else squeeze_dims(mean, dims)).to(input.dtype)


def var(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    return var_mean(input, dim, unbiased, keepdim, correction=correction)[0]


def std(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    return torch.sqrt(var_mean(wide(input), dim, unbiased, keepdim, correction=correction)[0]).to(input.dtype)


def linalg_vector_norm(input, ord=2, dim=None, keepdim=False, *, dtype=None):
    x = wide(input if dtype is None else input.to(dtype))
    dims = dims_of(dim, x.dim())
    if ord == 2:
        result = torch.sqrt((x * x).sum(dims, keepdim))
    elif ord == 1:
        result = x.abs().sum(dims, keepdim)
    elif ord == 0:
        result = (x != 0).to(x.dtype).sum(dims, keepdim)
    elif ord == float("inf"):
        result = x.abs().amax(dims, keepdim)
    elif ord == -float("inf"):
        result = x.abs().amin(dims, keepdim)
    else:
        result = x.abs().pow(ord).sum(dims, keepdim).pow(1.0 / ord)
    return result.to(input.dtype if dtype is None else dtype)


def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    if p == "nuc":
        raise NotImplementedError("norm(): the nuclear norm is not supported")
    if p is None or p == "fro":
        p = 2.0
    return aten.linalg_vector_norm(input, p, dim, keepdim, dtype=dtype)


def diff(input, n=1, dim=-1):
    for _ in range(n):
        length = input.shape[dim]
        later = input.narrow(dim, 1, length - 1)
        earlier = input.narrow(dim, 0, length - 1)
        input = later.logical_xor(earlier) if input.dtype == torch.bool else later - earlier
    return input


# ---- losses ----

def nll_loss_forward(input, target, weight, reduction, ignore_index):
    """Returns the loss and the total weight that its mean was divided by."""
    classes = 0 if input.dim() < 2 else 1
    kept = target != ignore_index
    index = torch.where(kept, target, 0).unsqueeze(classes)
    if weight is not None:
        shape = [1] * input.dim()
        shape[classes] = weight.shape[0]
        weight = weight.reshape(shape)
        input = input * weight
    loss = torch.where(kept, -input.gather(classes, index).squeeze(classes), 0.0)
    if reduction == 0 and input.dim() > 1:
        return loss, input.new_full((), 0.0)
    if weight is None:
        total = kept.sum().to(input.dtype)
    else:
        total = torch.where(kept, weight.expand(input.shape).gather(classes, index).squeeze(classes), 0.0).sum()
    if reduction == 1:
        return loss.sum() / total, total
    return loss.sum(), total


def nll_loss_backward(grad_output, input, target, weight, reduction, ignore_index, total_weight):
    classes = 0 if input.dim() < 2 else 1
    if reduction == 1:
        grad_output = grad_output / total_weight
    target = target.unsqueeze(classes)
    if input.dim() > grad_output.dim() > 0:
        grad_output = grad_output.unsqueeze(classes)
    shape = [1] * input.dim()
    shape[classes] = input.shape[classes]
    if weight is not None:
        grad_output = grad_output * weight.reshape(shape)
    # One comparison by element instead of zeros and a scatter: it fuses with what comes next.
    picked = torch.arange(input.shape[classes], device=input.device).reshape(shape) == target
    return torch.where(picked.logical_and(target != ignore_index), -grad_output, 0.0)


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    if pos_weight is None:
        loss = (1 - target) * input - aten.logsigmoid(input)
    else:
        loss = (1 - target) * input - (1 + (pos_weight - 1) * target) * aten.logsigmoid(input)
    if weight is not None:
        loss = loss * weight
    return reduce_loss(loss, reduction)


def isin(elements, test_elements, assume_unique=False, invert=False):
    """Either may be a number."""
    tests = test_elements if isinstance(test_elements, torch.Tensor) else torch.tensor(test_elements, device=elements.device)
    tested = elements if isinstance(elements, torch.Tensor) else torch.tensor(elements, device=tests.device)
    if tested.dtype == torch.bool or tests.dtype == torch.bool:
        raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    found = (tested.unsqueeze(-1) == tests.reshape([-1])).any(-1)
    return found.logical_not() if invert else found


# ---- views ----

def flatten(input, start_dim=0, end_dim=-1):
    rank = input.dim()
    if rank == 0:
        return input.reshape([1])
    for dim in (start_dim, end_dim):
        if not -rank <= dim < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    first, last = start_dim % rank, end_dim % rank
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return input
    shape = list(input.shape)
    return input.reshape(shape[:first] + [size_of(shape, range(first, last + 1))] + shape[last + 1:])


def unflatten(input, dim, sizes):
    dim = dim % input.dim()
    sizes, length = list(sizes), input.shape[dim]
    if -1 in sizes:
        known = 1
        for size in sizes:
            if size != -1:
                known = known * size
        sizes[sizes.index(-1)] = length // known
    if size_of(sizes, range(len(sizes))) != length:
        raise RuntimeError(f"unflatten: Provided sizes {sizes} don't multiply up to the size of dim {dim} ({length}) in the input tensor")
    shape = list(input.shape)
    return input.view(shape[:dim] + sizes + shape[dim + 1:])


def movedim(input, source, destination):
    rank = input.dim()
    sources = [source % rank] if isinstance(source, int) else [d % rank for d in source]
    targets = [destination % rank] if isinstance(destination, int) else [d % rank for d in destination]
    if len(sources) != len(targets):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({sources} dims) should contain the same number of dims as destination ({targets} dims)")
    order = [-1] * rank
    for at, dim in zip(targets, sources):
        order[at] = dim
    rest = [d for d in range(rank) if d not in sources]
    for at in range(rank):
        if order[at] < 0:
            order[at] = rest.pop(0)
    return input.permute(order)


def tensor_split(input, indices_or_sections, dim=0):
    length = input.shape[dim]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        # The first `length % count` pieces are one longer.
        starts = [length // count * i + min(i, length % count) for i in range(count + 1)]
        return tuple(aten.slice(input, dim, starts[i], starts[i + 1], 1) for i in range(count))
    bounds = [0] + [min(i if i >= 0 else max(i + length, 0), length) for i in indices_or_sections] + [length]
    return tuple(aten.slice(input, dim, bounds[i], max(bounds[i], bounds[i + 1]), 1) for i in range(len(bounds) - 1))


def broadcast_tensors(*tensors):
    if len(tensors) == 1 and not isinstance(tensors[0], torch.Tensor):
        tensors = tensors[0]
    shape = torch.broadcast_shapes(*[t.shape for t in tensors])
    return tuple(t if list(t.shape) == list(shape) else t.expand(shape) for t in tensors)


def broadcast_shapes(*shapes):
    return torch.broadcast_shapes(*shapes)


def sum_to_size(input, *size):
    if len(size) == 1 and not isinstance(size[0], int):
        size = size[0]
    leading = input.dim() - len(size)
    if leading < 0:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(input.shape)}}}.")
    dims = [i for i in range(input.dim()) if i < leading or (size[i - leading] == 1 and input.shape[i] != 1)]
    if dims:
        input = input.sum(dims, True)
    return input.reshape(size) if leading > 0 else input


# ---- contractions ----

def linear(input, weight, bias=None):
    if bias is None:
        return torch.matmul(input, weight.t())
    if input.dim() == 2:
        return torch.addmm(bias, input, weight.t())
    if input.dim() == 3 and input.is_contiguous():
        # One matmul over all rows, the bias with it.
        rows = input.reshape([input.shape[0] * input.shape[1], input.shape[2]])
        return torch.addmm(bias, rows, weight.t()).view([input.shape[0], input.shape[1], weight.shape[0]])
    return torch.matmul(input, weight.t()) + bias


def matmul(input, other):
    rank, other_rank = input.dim(), other.dim()
    if rank == 0 or other_rank == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are " f"{rank}D and {other_rank}D")
    if rank == 1 and other_rank == 1:
        return torch.dot(input, other)
    if rank == 2 and other_rank == 1:
        return torch.mv(input, other)
    if rank == 1 and other_rank == 2:
        return torch.mm(input.unsqueeze(0), other).squeeze(0)
    if rank == 2 and other_rank == 2:
        return torch.mm(input, other)
    return folded_matmul(input, other) if folds(input, other) else batched_matmul(input, other)


def folds(input, other):
    """Can the larger operand's batch become rows of one big matrix? Only when that is a view, or when a gradient of the smaller one would
    otherwise be built for every batch."""
    larger, smaller = (input, other) if input.dim() >= other.dim() else (other.mT, input)
    if larger.dim() < 3 or smaller.dim() > 2:
        return False
    if smaller.requires_grad:
        return True
    if input.dim() == 2:
        return False
    if larger.numel() == 0:
        return True
    shape, strides = larger.shape, larger.stride()
    for i in range(larger.dim() - 2):
        if strides[i] != strides[i + 1] * shape[i + 1]:
            return False
    return True


def folded_matmul(input, other):
    turned = other.dim() > input.dim()
    larger, smaller = (other.mT, input) if turned else (input, other)
    if turned and input.dim() == 2:
        smaller = input.t()
    shape = list(larger.shape[:-1])
    rows = larger.reshape([size_of(shape, range(len(shape))), larger.shape[-1]])
    if smaller.dim() == 1:
        return aten._unsafe_view(torch.mv(rows, smaller), shape)
    result = aten._unsafe_view(torch.mm(rows, smaller), shape + [smaller.shape[1]])
    return result.mT.contiguous() if turned else result


def batched_matmul(input, other):
    rank, other_rank = input.dim(), other.dim()
    n, inner = (input.shape[-2] if rank > 1 else 1), input.shape[-1]
    other_inner, p = (other.shape[-2], other.shape[-1]) if other_rank > 1 else (other.shape[-1], 1)
    batch, other_batch = list(input.shape[:-2]), list(other.shape[:-2])
    if rank == 3 and other_rank == 3 and batch[0] != other_batch[0]:
        # A batch of one that needs a gradient is multiplied without being copied.
        if batch[0] == 1 and input.requires_grad:
            return matmul(input.squeeze(0), other)
        if other_batch[0] == 1 and other.requires_grad:
            return matmul(input, other.squeeze(0))
    shape = list(torch.broadcast_shapes(batch, other_batch))
    count = size_of(shape, range(len(shape)))
    left = input.expand(shape + [n, inner]).reshape([count, n, inner])
    if other_rank == 1:
        right = other.expand(shape + [other_inner]).reshape([count, other_inner]).unsqueeze(2)
    else:
        right = other.expand(shape + [other_inner, p]).reshape([count, other_inner, p])
    result = torch.bmm(left, right)
    if other_rank == 1:
        result = result.squeeze(-1)
    return aten._unsafe_view(result, shape + ([n] if rank > 1 else []) + ([p] if other_rank > 1 else []))


def mv(input, vec):
    return (wide(input) * wide(vec)).sum([1]).to(input.dtype)


def bilinear(input1, input2, weight, bias=None):
    """y[…, o] = x1[…, i] * weight[o, i, j] * x2[…, j]"""
    shape = list(input1.shape[:-1])
    left = input1.reshape([-1, input1.shape[-1]])
    right = input2.reshape([-1, input2.shape[-1]])
    # (rows, i) @ (i, o*j), then a product with x2 summed over j.
    partial = torch.mm(left, weight.permute([1, 0, 2]).reshape([weight.shape[1], -1]))
    partial = partial.reshape([left.shape[0], weight.shape[0], weight.shape[2]])
    result = torch.bmm(partial, right.unsqueeze(2)).squeeze(2).reshape(shape + [weight.shape[0]])
    return result if bias is None else result + bias


# ---- indexing ----

def places_from_diagonal(input):
    rows, columns = torch.arange(input.shape[-2], device=input.device), torch.arange(input.shape[-1], device=input.device)
    return columns - rows.unsqueeze(-1)


def lower_triangle(input, diagonal=0):
    inside = places_from_diagonal(input) <= diagonal
    return torch.logical_and(inside, input) if input.dtype == torch.bool else torch.where(inside, input, 0)


def upper_triangle(input, diagonal=0):
    inside = places_from_diagonal(input) >= diagonal
    return torch.logical_and(inside, input) if input.dtype == torch.bool else torch.where(inside, input, 0)


def take_along_dim(input, indices, dim=None):
    if dim is None:
        return input.reshape([-1]).gather(0, indices.reshape([-1]))
    rank = input.dim()
    dim = dim % rank
    shape = list(torch.broadcast_shapes([1 if i == dim else input.shape[i] for i in range(rank)],
                                        [1 if i == dim else indices.shape[i] for i in range(rank)]))
    shape[dim] = indices.shape[dim]
    source = list(shape)
    source[dim] = input.shape[dim]
    return input.expand(source).gather(dim, indices.expand(shape))


def rot90(input, k=1, dims=(0, 1)):
    k = k % 4
    if k == 2:
        return input.flip(list(dims))
    if k == 1:
        return input.flip([dims[1]]).transpose(dims[0], dims[1])
    if k == 3:
        return input.flip([dims[0]]).transpose(dims[0], dims[1])
    return input.clone()


def narrow(input, dim, start, length):
    if input.dim() == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    size = input.shape[dim]
    start = int(start) if isinstance(start, torch.Tensor) else start
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if start < -size or start > size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return aten.slice(input, dim, start, start + length, 1)


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    if dim is None:
        input, dim = input.reshape([-1]), 0
    dim = dim % input.dim()
    if isinstance(repeats, int):
        shape = list(input.shape)
        copies = input.unsqueeze(dim + 1).expand(shape[:dim + 1] + [repeats] + shape[dim + 1:])
        return copies.clone(memory_format=torch.contiguous_format).view(shape[:dim] + [shape[dim] * repeats] + shape[dim + 1:])
    # Where each output comes from: how many of the running totals are at or before its place.
    ends = repeats.cumsum(0)
    length = output_size if output_size is not None else int(ends[-1].item())
    if repeats.numel() == 1:
        return repeat_interleave(input, length, dim)
    places = torch.arange(length, device=input.device)
    return input.index_select(dim, torch.searchsorted(ends, places, right=True))


def one_hot(input, num_classes=-1):
    if input.dtype != torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes == -1:
        num_classes = int(input.max().item()) + 1
    return (input.unsqueeze(-1) == torch.arange(num_classes, device=input.device)).to(torch.int64)


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and not isinstance(tensors[0], torch.Tensor):
        tensors = tensors[0]
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    # "xy" is "ij" with the first two axes exchanged.
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors = [tensors[1], tensors[0]] + list(tensors[2:])
    count = len(tensors)
    shape = [t.numel() for t in tensors]
    grids = [t.reshape([shape[i] if k == i else 1 for k in range(count)]).expand(shape) for i, t in enumerate(tensors)]
    if swap:
        grids = [grid.transpose(0, 1) for grid in grids]
        grids = [grids[1], grids[0]] + grids[2:]
    return tuple(grids)


def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    return torch.stack([grid.reshape([-1]) for grid in meshgrid(*tensors)], 1)
