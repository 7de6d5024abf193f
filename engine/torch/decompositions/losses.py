"""Losses that are one node of the tape, and their gradients; each body is what the row of its name (op/ops.def) stands for.

    mse_loss(input, target, 1)   ->   mean((input - target) ** 2)

`reduction` is 0: none, 1: mean, 2: sum. `*_backward` gives the input's gradient; what ends in `_output` or `_input` is a gradient of that,
with respect to its grad_output or its input, for second derivatives. To add one: rows in ops.def, functions here.
"""
import torch
from torch.decompositions.shapes import reduce_loss, wide


def _share(input, reduction):
    """What one element counts in the reduced loss: a number, or a tensor where the sizes are symbols."""
    if reduction != 1:
        return 1.0
    count = input.numel()
    if torch._C._is_symbolic(count):
        return torch.full([], 1.0, dtype=torch.float64 if input.dtype == torch.float64 else torch.float32, device=input.device) / count
    return 1.0 / count if count > 0 else 1.0


def _to_output(products, reduction):
    """Summed like the loss was, the share being in the products already."""
    return products if reduction == 0 else products.sum()


# ---- squared ----

def mse_loss(input, target, reduction):
    # A bool is a number here.
    kind = torch.result_type(input, target)
    loss = (wide(input.to(kind)) - wide(target.to(kind))).pow(2)
    return reduce_loss(loss, reduction).to(torch.result_type(input, target))


def mse_loss_backward(grad_output, input, target, reduction):
    target = target.to(torch.result_type(input, target))
    return (2.0 * _share(input, reduction) * (input - target) * grad_output).to(input.dtype)


def mse_loss_backward_output(g, input, target, reduction):
    return _to_output(g * (2.0 * _share(input, reduction) * (input - target)), reduction)


def mse_loss_backward_input(g, grad_output, input, reduction):
    return g * grad_output * (2.0 * _share(input, reduction))


# ---- squared near zero, linear beyond ----

def smooth_l1_loss(input, target, reduction, beta):
    distance = (wide(input) - wide(target)).abs()
    loss = distance if beta == 0 else torch.where(distance < beta, 0.5 * distance * distance / beta, distance - 0.5 * beta)
    return reduce_loss(loss, reduction).to(torch.result_type(input, target))


def _smooth_l1_slope(input, target, beta):
    difference = input - target
    return torch.where(difference.abs() >= beta, difference.sign(), difference / beta) if beta != 0 else difference.sign()


def smooth_l1_loss_backward(grad_output, input, target, reduction, beta):
    return (_smooth_l1_slope(input, target, beta) * (_share(input, reduction) * grad_output)).to(input.dtype)


def smooth_l1_loss_backward_output(g, input, target, reduction, beta):
    return _to_output(g * (_share(input, reduction) * _smooth_l1_slope(input, target, beta)), reduction)


def smooth_l1_loss_backward_input(g, grad_output, input, target, reduction, beta):
    if beta == 0:
        return torch.zeros_like(g)
    return torch.where((input - target).abs() < beta, g * grad_output * (_share(input, reduction) / beta), 0)


def huber_loss(input, target, reduction, delta):
    distance = (wide(input) - wide(target)).abs()
    loss = torch.where(distance < delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta))
    return reduce_loss(loss, reduction).to(torch.result_type(input, target))


def huber_loss_backward(grad_output, input, target, reduction, delta):
    return ((input - target).clamp(-delta, delta) * (_share(input, reduction) * grad_output)).to(input.dtype)


def huber_loss_backward_output(g, input, target, reduction, delta):
    return _to_output(g * (_share(input, reduction) * (input - target).clamp(-delta, delta)), reduction)


def huber_loss_backward_input(g, grad_output, input, target, reduction, delta):
    return torch.where((input - target).abs() < delta, g * grad_output * _share(input, reduction), 0)


# ---- binary cross entropy ----

def binary_cross_entropy(input, target, weight, reduction):
    x, y = wide(input), wide(target)
    # A logarithm of zero counts as -100.
    loss = (y - 1) * torch.log1p(-x).clamp_min(-100) - y * torch.log(x).clamp_min(-100)
    if weight is not None:
        loss = loss * weight
    return reduce_loss(loss, reduction).to(input.dtype)


def _weighted(x, weight, share):
    x = x if weight is None else x * weight
    return x if isinstance(share, float) and share == 1.0 else x * share


def binary_cross_entropy_backward(grad_output, input, target, weight, reduction):
    slope = grad_output * (input - target) / (input * (1 - input)).clamp_min(1e-12)
    return _weighted(slope, weight, _share(input, reduction)).to(input.dtype)


def binary_cross_entropy_target(g, input, weight, reduction):
    return _weighted(g * (torch.log(1 - input) - torch.log(input)), weight, _share(input, reduction))


def binary_cross_entropy_backward_output(g, input, target, weight, reduction):
    slope = (input - target) / (input * (1 - input)).clamp_min(1e-12)
    return _to_output(_weighted(g * slope, weight, _share(input, reduction)), reduction)


def binary_cross_entropy_backward_input(g, grad_output, input, target, weight, reduction):
    size = input * (1 - input)
    slope = (input * input - 2 * input * target + target) / (size * size).clamp_min(1e-12)
    return _weighted(g * grad_output * slope, weight, _share(input, reduction))


def binary_cross_entropy_backward_target(g, grad_output, input, weight, reduction):
    return _weighted(-g * grad_output / (input * (1 - input)).clamp_min(1e-12), weight, _share(input, reduction))


# ---- gated linear unit ----

def glu(input, dim):
    value, gate = input.chunk(2, dim)
    return value * torch.sigmoid(gate)


def glu_backward(grad_output, input, dim):
    value, gate = input.chunk(2, dim)
    opened = torch.sigmoid(gate)
    through = opened * grad_output
    return torch.cat([through, (1 - opened) * through * value], dim)


def glu_backward_output(g, input, dim):
    value, gate = input.chunk(2, dim)
    to_value, to_gate = g.chunk(2, dim)
    opened = torch.sigmoid(gate)
    return opened * to_value + (1 - opened) * opened * value * to_gate


def glu_backward_input(g, grad_output, input, dim):
    value, gate = input.chunk(2, dim)
    to_value, to_gate = g.chunk(2, dim)
    opened = torch.sigmoid(gate)
    slope = (1 - opened) * opened * grad_output
    return torch.cat([to_gate * slope, to_value * slope + to_gate * value * slope * (1 - 2 * opened)], dim)
