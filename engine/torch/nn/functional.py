"""torch.nn.functional: activations, normalization, dropout, embedding, attention; losses and what works on images in the folder functional.

Each public function is a leaf: Dynamo records a call of it as one node, and its body is expanded when the joint graph is built, as PyTorch's
own composites are. Functions that are rows of op/ops.def with the trait NN (relu, gelu, linear …) are added to this module by themselves.

    F.layer_norm(x, (8,), w, b)   ->   aten.native_layer_norm(x, [8], w, b, 1e-05)[0]
"""
import math
import torch
from torch.decompositions.shapes import size_of as _size_of
from torch.nn.functional.attention import multi_head_attention_forward, scaled_dot_product_attention
from torch.nn.functional.loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy, gaussian_nll_loss, hinge_embedding_loss,
    huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss, multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss,
    nll_loss, poisson_nll_loss, smooth_l1_loss, soft_margin_loss, triplet_margin_loss, triplet_margin_with_distance_loss)
from torch.nn.functional.resize import channel_shuffle, interpolate, upsample
from torch.nn.functional.sampling import (
    affine_grid, ctc_loss, grid_sample, lp_pool1d, lp_pool2d, max_unpool1d, max_unpool2d, max_unpool3d)
from torch.nn.functional.vision import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d,
    avg_pool2d, avg_pool3d, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, fold, max_pool1d, max_pool2d,
    max_pool3d, pad, unfold)

aten = torch.ops.aten


# ---- activations ----

def _softmax_dim(name, rank):
    """The dim that PyTorch takes, with a warning, when none is given."""
    return 0 if rank == 0 or rank == 1 or rank == 3 else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _softmax_dim("softmax", input.dim()) if dim is None else dim
    return aten._softmax(input if dtype is None else input.to(dtype), dim, False)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _softmax_dim("log_softmax", input.dim()) if dim is None else dim
    return aten._log_softmax(input if dtype is None else input.to(dtype), dim, False)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    dim = _softmax_dim("softmin", input.dim()) if dim is None else dim
    return aten._softmax(-input if dtype is None else (-input).to(dtype), dim, False)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    noise = -torch.empty_like(logits).exponential_().log()
    soft = aten._softmax((logits + noise) / tau, dim, False)
    if not hard:
        return soft
    # The value is one-hot, the gradient that of the soft sample.
    index = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter(dim, index, 1.0) - soft.detach() + soft


def glu(input, dim=-1):
    return aten.glu(input, dim)


def prelu(input, weight):
    if weight.numel() != 1 and input.dim() > 1:
        if weight.numel() != input.shape[1]:
            raise RuntimeError(f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel size = {input.shape[1]}.")
        weight = weight.reshape([1, weight.numel()] + [1] * (input.dim() - 2))
    return aten._prelu_kernel(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    slope = torch.empty_like(input).uniform_(lower, upper) if training else (lower + upper) / 2
    result = torch.where(input > 0, input, input * slope)
    return input.copy_(result) if inplace else result


# ---- normalization ----

def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    dims = [dim] if isinstance(dim, int) else list(dim)
    return input / aten.linalg_vector_norm(input, p, dims, True).clamp_min(eps).expand(input.shape)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return torch.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return torch.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    return torch.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    if training:
        shape = list(input.shape)
        count = _size_of(shape, [d for d in range(len(shape)) if d != 1])
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        _update_running_statistics(input, running_mean, running_var, momentum, count)
    return aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _update_running_statistics(input, running_mean, running_var, momentum, count):
    if running_mean is None:
        return
    with torch.no_grad():
        dims = [d for d in range(input.dim()) if d != 1]
        variance, mean = torch.var_mean(input.detach().to(running_mean.dtype), dims, correction=0)
        running_mean.copy_(running_mean * (1 - momentum) + mean * momentum)
        # The running variance is the unbiased one.
        running_var.copy_(running_var * (1 - momentum) + variance * momentum * count / (count - 1))


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    if not use_input_stats:
        return aten.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    batch, channels, rest = input.shape[0], input.shape[1], list(input.shape[2:])
    if _size_of(rest, range(len(rest))) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    # Each channel of each sample is normalized by itself: a batch norm over batch * channels channels.
    rows = input.reshape([1, batch * channels] + rest)
    if running_mean is not None:
        means, variances = running_mean.repeat(batch), running_var.repeat(batch)
        _update_running_statistics(rows, means, variances, momentum, _size_of(rest, range(len(rest))))
        with torch.no_grad():
            running_mean.copy_(means.reshape([batch, channels]).mean(0))
            running_var.copy_(variances.reshape([batch, channels]).mean(0))
    scale = None if weight is None else weight.repeat(batch)
    shift = None if bias is None else bias.repeat(batch)
    return aten.native_batch_norm(rows, scale, shift, None, None, True, momentum, eps)[0].reshape(input.shape)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    squares = (input * input).unsqueeze(1)
    padding = [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2]
    windows = aten.constant_pad_nd(squares.squeeze(1), padding).unfold(1, size, 1)
    return input / (windows.mean(-1) * alpha + k).pow(beta)


# ---- dropout ----

def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    _check_probability(p)
    if not training or p == 0:
        return input
    result = aten.native_dropout(input, p, True)[0]
    return input.copy_(result) if inplace else result


def _drop_channels(input, p, training, inplace, dims):
    """Whole channels are kept or dropped together."""
    _check_probability(p)
    if not training or p == 0:
        return input
    batched = input.dim() == dims + 2
    shape = list(input.shape[:2]) + [1] * dims if batched else [input.shape[0]] + [1] * (input.dim() - 1)
    noise = torch.zeros_like(input) if p == 1 else input.new_empty(shape).bernoulli_(1 - p) / (1 - p)
    return input.mul_(noise) if inplace else input * noise


def dropout1d(input, p=0.5, training=True, inplace=False):
    return _drop_channels(input, p, training, inplace, 1)


def dropout2d(input, p=0.5, training=True, inplace=False):
    return _drop_channels(input, p, training, inplace, 2)


def dropout3d(input, p=0.5, training=True, inplace=False):
    return _drop_channels(input, p, training, inplace, 3)


def _alpha_dropout(input, p, training, inplace, shape):
    """Dropped elements take selu's lower limit, and the result is scaled so that mean and variance stay."""
    _check_probability(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    alpha = 1.7580993408473766
    scale = 1.0 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    noise = input.new_empty(shape).bernoulli_(1 - p)
    shift = (noise - 1) * (alpha * scale) + alpha * scale * p
    noise = noise * scale
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha_dropout(input, p, training, inplace, list(input.shape))


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha_dropout(input, p, training, inplace, list(input.shape[:2]) + [1] * (input.dim() - 2))


# ---- embedding ----

def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if padding_idx is None:
        padding_idx = -1
    else:
        count = weight.shape[0]
        if padding_idx >= count or padding_idx < -count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx = padding_idx if padding_idx >= 0 else count + padding_idx
    if max_norm is not None:
        _renormalize_rows(weight, input, max_norm, norm_type)
    return aten.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renormalize_rows(weight, index, max_norm, norm_type):
    """Rows that are looked up and longer than max_norm are made that long."""
    with torch.no_grad():
        lengths = aten.linalg_vector_norm(weight, norm_type, [1], True)
        used = torch.zeros(weight.shape[0], dtype=torch.bool, device=weight.device).index_fill(0, index.reshape([-1]), True).unsqueeze(1)
        weight.copy_(torch.where(used.logical_and(lengths > max_norm), weight * (max_norm / (lengths + 1e-7)), weight))


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum or mean or max")
    if max_norm is not None:
        _renormalize_rows(weight, input, max_norm, norm_type)
    if input.dim() == 2 and padding_idx is None:
        rows = aten.embedding(weight, input, -1, scale_grad_by_freq, sparse)
        if per_sample_weights is not None:
            rows = rows * per_sample_weights.unsqueeze(-1)
        if mode == "max":
            return rows.amax([1])
        return rows.sum(1) if mode == "sum" else rows.mean(1)
    if input.dim() == 2:
        offsets = torch.arange(0, input.numel(), input.shape[1], device=input.device)
        input, include_last_offset = input.reshape([-1]), False
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape([-1])
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    padding_idx = -1 if padding_idx is None else padding_idx % weight.shape[0]
    code = {"sum": 0, "mean": 1, "max": 2}[mode]
    return aten._embedding_bag(weight, input, offsets, scale_grad_by_freq, code, sparse, per_sample_weights, include_last_offset, padding_idx)[0]


# ---- distances ----

def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    return torch.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    return torch.pairwise_distance(x1, x2, p, eps, keepdim)


def pdist(input, p=2.0):
    return aten._pdist_forward(input, p)
