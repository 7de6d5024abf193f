"""Losses of torch.nn.functional. All end in the same reduction: 'none', 'mean' or 'sum'.

    cross_entropy(x, t)   ->   _log_softmax(x, 1), nll_loss_forward
"""
import math
import torch
import warnings
from torch.decompositions.shapes import size_of as _size_of

aten = torch.ops.aten


# ---- reductions ----

def _reduction(size_average, reduce, reduction):
    """The name of the reduction; the two old flags, where given, say it instead."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _code(reduction):
    return 1 if reduction == "mean" else 2 if reduction == "sum" else 0


def _reduced(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _check_same_size(input, target):
    if input.shape != target.shape:
        warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
                      "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.")


def _same_shape(input, target):
    return (input, target) if input.shape == target.shape else torch.broadcast_tensors(input, target)


# ---- regression ----

def _refuse_gradient(function, **tensors):
    """Arguments of a loss's row that have no formula: a gradient wanted of one is an error, not left out in silence."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad and torch.is_grad_enabled():
            raise NotImplementedError(f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot have requires_grad True.")


def _weighted(loss, weight, reduction):
    if weight is None:
        return _reduced(loss, reduction)
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else _reduced(loss, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    _check_same_size(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if weight is not None:
        return _weighted((input - target).pow(2), weight, reduction)
    input, target = _same_shape(input, target)
    return aten.mse_loss(input, target, _code(reduction))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    _check_same_size(input, target)
    return _weighted((input - target).abs(), weight, _reduction(size_average, reduce, reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    _check_same_size(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _same_shape(input, target)
    return aten.smooth_l1_loss(input, target, _code(_reduction(size_average, reduce, reduction)), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    _check_same_size(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    input, target = _same_shape(input, target)
    if weight is not None:
        return _weighted(aten.huber_loss(input, target, 0, delta), weight, _reduction(None, None, reduction))
    return aten.huber_loss(input, target, _code(_reduction(None, None, reduction)), delta)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    loss = target.exp() * (target - input) if log_target else torch.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.dim() != 0 else loss.sum()
    return _reduced(loss, _reduction(size_average, reduce, reduction))


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"):
    loss = input.exp() - target * input if log_input else input - target * torch.log(input + eps)
    if full:
        # Stirling's approximation of log(target!)
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, _reduction(size_average, reduce, reduction))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
    if not isinstance(var, torch.Tensor):
        var = torch.full(input.shape, float(var), dtype=input.dtype, device=input.device)
    if var.shape != input.shape:
        if list(input.shape[:-1]) == list(var.shape):
            var = var.unsqueeze(-1)
        elif list(input.shape[:-1]) != list(var.shape[:-1]) or var.shape[-1] != 1:
            raise ValueError("var is of incorrect size")
    # Kept from zero, but the gradient passes as if it had not been.
    var = var + (var.detach().clamp(min=eps) - var.detach())
    loss = 0.5 * (torch.log(var) + (input - target).pow(2) / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, _reduction(None, None, reduction))


# ---- classification ----

def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if input.shape != target.shape:
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please ensure they have the same size.")
    if torch._C._is_eager() and input.numel() > 0 and not bool(((input >= 0) & (input <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    _refuse_gradient("binary_cross_entropy", weight=weight)
    return aten.binary_cross_entropy(input, target, weight, _code(_reduction(size_average, reduce, reduction)))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if not input.is_floating_point():
        raise NotImplementedError(f"binary_cross_entropy_with_logits: not implemented for {input.dtype}")
    if not target.is_floating_point():
        raise RuntimeError(f"result type {input.dtype} can't be cast to the desired output type {target.dtype}")
    _refuse_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    loss = aten.binary_cross_entropy_with_logits(input, target, weight, pos_weight, _code(_reduction(size_average, reduce, reduction)))
    # PyTorch's loss is made of the target, and has its dtype.
    return loss if loss.dtype == target.dtype else loss.to(target.dtype)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return _nll_loss(input, target, weight, _reduction(size_average, reduce, reduction), ignore_index)


def _nll_loss(input, target, weight, reduction, ignore_index):
    rank = input.dim()
    if rank == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {rank})")
    if rank > 1 and input.shape[0] != target.shape[0]:
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]}).")
    if target.dtype == torch.uint8:
        target = target.to(torch.int64)
    if target.dtype != torch.int64:
        raise RuntimeError(f"expected the targets to be torch.int64, but found {target.dtype}")
    if rank > 2 and list(input.shape[2:]) != list(target.shape[1:]):
        raise RuntimeError(f"Expected target size {[input.shape[0]] + list(input.shape[2:])}, got {list(target.shape)}")
    if not torch._C._is_eager():
        return _nll_by_rank(input, target, weight, reduction, ignore_index)
    try:
        return _nll_by_rank(input, target, weight, reduction, ignore_index)
    except RuntimeError:
        # The gather inside refuses an index; here it has a name.
        kept = target[target != ignore_index]
        outside = kept[(kept < 0) | (kept >= input.shape[0 if rank == 1 else 1])]
        if target.device.type != "cpu" or outside.numel() == 0:
            raise
        raise IndexError(f"Target {outside.reshape([-1])[0].item()} is out of bounds.")


def _nll_by_rank(input, target, weight, reduction, ignore_index):
    """Two rows: of rows and classes, and of images. Other ranks are made an image."""
    _refuse_gradient("nll_loss_forward" if input.dim() <= 2 else "nll_loss2d_forward", weight=weight)
    if input.dim() <= 2:
        return aten.nll_loss_forward(input, target, weight, _code(reduction), ignore_index)[0]
    if input.dim() == 4:
        return aten.nll_loss2d_forward(input, target, weight, _code(reduction), ignore_index)[0]
    batch, classes, shape = input.shape[0], input.shape[1], list(target.shape)
    rest = _size_of(shape, range(1, len(shape)))
    image, places = input.contiguous().reshape([batch, classes, 1, rest]), target.contiguous().reshape([batch, 1, rest])
    loss = aten.nll_loss2d_forward(image, places, weight, _code(reduction), ignore_index)[0]
    return loss.reshape(shape) if reduction == "none" else loss


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    reduction = _reduction(size_average, reduce, reduction)
    if label_smoothing < 0.0 or label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    classes = 0 if input.dim() == 1 else 1
    logs = aten._log_softmax(input, classes, False)
    if input.shape == target.shape:
        return _cross_entropy_of_probabilities(logs, target, weight, reduction, label_smoothing, classes)
    if label_smoothing > 0.0:
        return _cross_entropy_smoothed(logs, target, weight, reduction, ignore_index, label_smoothing, classes)
    return _nll_loss(logs, target, weight, reduction, ignore_index)


def _along_classes(weight, rank, classes):
    shape = [1] * rank
    shape[classes] = weight.shape[0]
    return weight.reshape(shape)


def _cross_entropy_of_probabilities(logs, target, weight, reduction, label_smoothing, classes):
    if not target.is_floating_point():
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype}")
    count = logs.shape[classes]
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / count
    product = logs * target
    if weight is not None:
        product = product * _along_classes(weight, logs.dim(), classes)
    if reduction == "mean":
        return -product.sum() / (logs.numel() // count)
    return -product.sum() if reduction == "sum" else -product.sum(classes)


def _cross_entropy_smoothed(logs, target, weight, reduction, ignore_index, label_smoothing, classes):
    loss = _nll_loss(logs, target, weight, reduction, ignore_index)
    spread = logs if weight is None else logs * _along_classes(weight, logs.dim(), classes)
    ignored = target == ignore_index
    smooth = (-spread.sum(classes)).masked_fill(ignored, 0.0)
    if reduction == "mean":
        if weight is None:
            smooth = smooth.sum() / ignored.logical_not().sum()
        else:
            weights = weight.gather(0, target.masked_fill(ignored, 0).reshape([-1]))
            smooth = smooth.sum() / weights.masked_fill(ignored.reshape([-1]), 0).sum()
    elif reduction == "sum":
        smooth = smooth.sum()
    count = logs.shape[classes]
    spread = smooth * label_smoothing / count if torch._C._is_symbolic(count) else smooth * (label_smoothing / count)
    return loss * (1 - label_smoothing) + spread


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.log1p(torch.exp(-target * input)), _reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    loss = -(target * aten.logsigmoid(input) + (1 - target) * aten.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(-1) / input.shape[-1], _reduction(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    rows = input.reshape([-1, input.shape[-1]])
    index = target.reshape([-1, 1])
    excess = (margin - rows.gather(1, index) + rows).clamp_min(0)
    loss = excess if p == 1 else excess * excess
    if weight is not None:
        loss = loss * weight.index_select(0, index.reshape([-1])).unsqueeze(1)
    # The target's own class costs nothing.
    own = torch.arange(rows.shape[1], device=input.device) == index
    loss = torch.where(own, 0, loss).sum(1) / rows.shape[1]
    return _reduced(loss.reshape(target.shape), _reduction(size_average, reduce, reduction))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    rows, labels = input.reshape([-1, input.shape[-1]]), target.reshape([-1, input.shape[-1]])
    # Labels end at the first -1.
    given = (labels < 0).cumsum(1) == 0
    index = torch.where(given, labels, 0)
    is_label = torch.zeros_like(labels).scatter_add(1, index, given.to(labels.dtype)) > 0
    own = rows.gather(1, index)
    excess = torch.relu(1 - own.unsqueeze(2) + rows.unsqueeze(1))
    counted = given.unsqueeze(2).logical_and(is_label.logical_not().unsqueeze(1))
    loss = torch.where(counted, excess, 0).sum([1, 2]) / rows.shape[1]
    return _reduced(loss if input.dim() > 1 else loss.squeeze(0), _reduction(size_average, reduce, reduction))


# ---- comparing embeddings ----

def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    apart = torch.where(target != 1, (margin - input).clamp_min(0), 0)
    together = torch.where(target != -1, input, 0)
    return _reduced(apart + together, _reduction(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), _reduction(size_average, reduce, reduction))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    dim = target.dim()
    product = (input1 * input2).sum(dim)
    squares = ((input1 * input1).sum(dim) + 1e-12) * ((input2 * input2).sum(dim) + 1e-12)
    cosine = product / squares.sqrt()
    alike = torch.where(target == 1, 1 - cosine, 0)
    unlike = torch.where(target == -1, (cosine - margin).clamp_min(0), 0)
    return _reduced(alike + unlike, _reduction(size_average, reduce, reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near = torch.pairwise_distance(anchor, positive, p, eps)
    far = torch.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, torch.pairwise_distance(positive, negative, p, eps))
    return _reduced((margin + near - far).clamp_min(0), _reduction(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    distance = torch.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)
