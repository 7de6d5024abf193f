"""What torch has of torch.nn.functional under names of its own: torch.conv2d, torch.prelu, torch.margin_ranking_loss …

Reductions are numbers here: 0 none, 1 mean, 2 sum.
"""
import torch

_REDUCTIONS = ("none", "mean", "sum")


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return torch.nn.functional.conv1d(input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return torch.nn.functional.conv3d(input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return torch.nn.functional.conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return torch.nn.functional.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return torch.nn.functional.conv_transpose3d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return torch.nn.functional.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return torch.nn.functional.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return torch.nn.functional.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return torch.nn.functional.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def adaptive_avg_pool1d(input, output_size):
    return torch.nn.functional.adaptive_avg_pool1d(input, output_size)


def adaptive_max_pool1d(input, output_size):
    return torch.nn.functional.adaptive_max_pool1d(input, output_size, return_indices=True)


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    return torch.nn.functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    return torch.nn.functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def prelu(input, weight):
    return torch.nn.functional.prelu(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return torch.nn.functional.rrelu(input, lower, upper, training)


def dropout_(input, p, train):
    return torch.nn.functional.dropout(input, p, train, inplace=True)


def bilinear(input1, input2, weight, bias=None):
    return torch.nn.functional.bilinear(input1, input2, weight, bias)


def channel_shuffle(input, groups):
    return torch.nn.functional.channel_shuffle(input, groups)


def constant_pad_nd(input, pad, value=0):
    return torch.ops.aten.constant_pad_nd(input, pad, value)


def pdist(input, p=2.0):
    return torch.nn.functional.pdist(input, p)


def embedding_bag(weight, indices, offsets=None, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    kind = ("sum", "mean", "max")[mode]
    return (torch.nn.functional.embedding_bag(indices, weight, offsets, mode=kind, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset,
                                              padding_idx=padding_idx),)


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    return torch.nn.functional.binary_cross_entropy_with_logits(input, target, weight, pos_weight=pos_weight, reduction=_REDUCTIONS[reduction])


def kl_div(input, target, reduction=1, *, log_target=False):
    return torch.nn.functional.kl_div(input, target, reduction=_REDUCTIONS[reduction], log_target=log_target)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    return torch.nn.functional.cosine_embedding_loss(input1, input2, target, margin, reduction=_REDUCTIONS[reduction])


def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    return torch.nn.functional.hinge_embedding_loss(input, target, margin, reduction=_REDUCTIONS[reduction])


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    return torch.nn.functional.margin_ranking_loss(input1, input2, target, margin, reduction=_REDUCTIONS[reduction])


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=1):
    return torch.nn.functional.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_REDUCTIONS[reduction])
