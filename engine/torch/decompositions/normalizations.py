"""Layer, group and batch normalization, forward and backward, out of smaller rows.

The forward functions return the output, the mean, and the reciprocal of the standard deviation; backward gets those two again:

    var, mean = var_mean(x);  rstd = rsqrt(var + eps);  y = (x - mean) * rstd * weight + bias

A backward that is itself differentiated computes mean and rstd anew, since they depend on the input; otherwise the saved ones do.
"""
import torch
from torch.decompositions.shapes import size_of, wide


def squeezed(x, dims):
    for dim in reversed(dims):
        x = x.squeeze(dim)
    return x


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    x = wide(input.contiguous())
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    variance, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    y = (x - mean) * rstd
    if weight is not None:
        y = y * weight
    if bias is not None:
        y = y + bias
    return y.to(input.dtype), mean, rstd


def statistics(x, dims, rstd):
    """The mean and rstd as functions of x. The eps that the forward added is found in its rstd."""
    variance, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    eps = (rstd.pow(-2) - variance).detach()
    return mean, torch.rsqrt(variance + eps)


def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    g, x, mean, rstd = wide(grad_out), wide(input), wide(mean), wide(rstd)
    first = input.dim() - len(normalized_shape)
    inner, outer = list(range(first, input.dim())), list(range(first))
    count = size_of(input.shape, inner)
    if torch.is_grad_enabled():
        mean, rstd = statistics(x, inner, rstd.detach())
    normal = (x - mean) * rstd
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        scaled = g if weight is None else g * wide(weight)
        along = scaled * count - scaled.sum(inner, True) - normal * (scaled * normal).sum(inner, True)
        grad_input = (rstd / count * along).to(input.dtype)
    if output_mask[1] and weight is not None:
        product = g * normal
        grad_weight = (product.sum(outer) if outer else product).to(weight.dtype)
    if output_mask[2] and bias is not None:
        grad_bias = (g.sum(outer) if outer else g.clone()).to(bias.dtype)
    return grad_input, grad_weight, grad_bias


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    x = wide(input).reshape([N, group, C // group, HxW])
    variance, mean = torch.var_mean(x, [2, 3], correction=0, keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    y = ((x - mean) * rstd).reshape(input.shape)
    channels = [C] + [1] * (input.dim() - 2)
    if weight is not None:
        y = y * weight.reshape(channels)
    if bias is not None:
        y = y + bias.reshape(channels)
    return y.to(input.dtype), squeezed(mean, [2, 3]), squeezed(rstd, [2, 3])


def native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask):
    g, x = wide(grad_out).reshape([N, C, HxW]), wide(input).reshape([N, C, HxW])
    mean, rstd, each = wide(mean), wide(rstd), C // group
    if torch.is_grad_enabled():
        whole = x.reshape([N, group, each, HxW])
        mean, rstd = statistics(whole, [2, 3], rstd.detach().reshape([N, group, 1, 1]))
        mean, rstd = mean.reshape([N, group]), rstd.reshape([N, group])
    products, sums = (g * x).sum([2]), g.sum([2])  # by sample and channel
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        scaled_products, scaled_sums = products, sums
        if weight is not None:
            scaled_products, scaled_sums = products * wide(weight).unsqueeze(0), sums * wide(weight).unsqueeze(0)
        p = scaled_products.reshape([N, group, each]).sum([2])
        s = scaled_sums.reshape([N, group, each]).sum([2])
        count = HxW * each
        of_x = (s * mean - p) * rstd * rstd * rstd / count
        of_one = -of_x * mean - s * rstd / count
        of_g = rstd.unsqueeze(-1) if weight is None else rstd.unsqueeze(-1) * wide(weight).reshape([1, group, each])
        whole = [N, group, each, HxW]
        grad_input = (g.reshape(whole) * of_g.unsqueeze(-1) + x.reshape(whole) * of_x.unsqueeze(-1).unsqueeze(-1)
                      + of_one.unsqueeze(-1).unsqueeze(-1)).reshape(input.shape).to(input.dtype)
    if output_mask[1] and weight is not None:
        centered = products.reshape([N, group, each]) - sums.reshape([N, group, each]) * mean.unsqueeze(-1)
        grad_weight = (centered * rstd.unsqueeze(-1)).sum([0]).reshape([C]).to(weight.dtype)
    if output_mask[2] and weight is not None:
        grad_bias = sums.sum([0]).to(weight.dtype)
    return grad_input, grad_weight, grad_bias


def by_channel(v, rank):
    return v.reshape([1, v.shape[0]] + [1] * (rank - 2))


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """The running statistics are read, in evaluation; nn.functional.batch_norm is what updates them."""
    x, rank = wide(input), input.dim()
    if training:
        dims = [d for d in range(rank) if d != 1]
        variance, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
        rstd = torch.rsqrt(variance + eps)
        save_mean, save_rstd = squeezed(mean, dims), squeezed(rstd, dims)
    else:
        mean = by_channel(wide(running_mean), rank)
        rstd = torch.rsqrt(by_channel(wide(running_var), rank) + eps)
        save_mean, save_rstd = x.new_zeros([0]), x.new_zeros([0])
    y = (x - mean) * rstd
    if weight is not None:
        y = y * by_channel(weight, rank)
    if bias is not None:
        y = y + by_channel(bias, rank)
    return y.to(input.dtype), save_mean, save_rstd


def native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask):
    g, x, rank = wide(grad_out), wide(input), input.dim()
    dims = [d for d in range(rank) if d != 1]
    mean = wide(save_mean if train else running_mean)
    rstd = wide(save_invstd) if train else torch.rsqrt(wide(running_var) + eps)
    if train and torch.is_grad_enabled():
        mean, rstd = statistics(x, dims, by_channel(rstd.detach(), rank))
        mean, rstd = mean.reshape([-1]), rstd.reshape([-1])
    centered = x - by_channel(mean, rank)
    total, product = g.sum(dims), (g * centered).sum(dims)
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        scale = by_channel(rstd if weight is None else rstd * wide(weight), rank)
        if train:
            count = size_of(input.shape, dims)
            along = centered * by_channel(product / count * (rstd * rstd), rank)
            grad_input = (g - along - by_channel(total / count, rank)) * scale
        else:
            grad_input = g * scale
        grad_input = grad_input.to(input.dtype)
    if output_mask[1] and weight is not None:
        grad_weight = (product * rstd).to(weight.dtype)
    if output_mask[2]:
        grad_bias = total.to(input.dtype if weight is None else weight.dtype)
    return grad_input, grad_weight, grad_bias


def _native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Normalizes, and in training moves the running statistics towards the batch's; the running variance is the unbiased one."""
    if training and running_mean is not None:
        with torch.no_grad():
            dims = [d for d in range(input.dim()) if d != 1]
            count = size_of(input.shape, dims)
            variance, mean = torch.var_mean(input.detach().to(running_mean.dtype), dims, correction=0)
            running_mean.copy_(running_mean * (1 - momentum) + mean * momentum)
            running_var.copy_(running_var * (1 - momentum) + variance * momentum * count / (count - 1))
    return torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
