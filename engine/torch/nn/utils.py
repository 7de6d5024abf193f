"""torch.nn.utils: gradients clipped, parameters as one vector."""
import torch

aten = torch.ops.aten


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of all tensors together: the norm of their norms."""
    tensors = list(tensors)
    if not tensors:
        return torch.tensor(0.0)
    with torch.no_grad():
        device = tensors[0].device
        norms = [aten.linalg_vector_norm(t, float(norm_type)).to(device) for t in tensors]
        total = aten.linalg_vector_norm(torch.stack(norms), float(norm_type))
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot be clipped. "
                           "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    with torch.no_grad():
        # Always multiplied, also by one: no look at the value, no wait for the device.
        factor = torch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in _gradients(parameters):
            grad.mul_(factor.to(grad.device))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    with torch.no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(min=-float(clip_value), max=float(clip_value))


def parameters_to_vector(parameters):
    return torch.cat([p.reshape([-1]) for p in parameters])


def vector_to_parameters(vec, parameters):
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start:start + count].view_as(parameter).data
        start += count


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The older name."""
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


# ---- weights computed from others: loaded when first used ----

def weight_norm(module, name="weight", dim=0):
    return torch.nn.utils.normed.weight_norm(module, name, dim)


def remove_weight_norm(module, name="weight"):
    return torch.nn.utils.normed.remove_weight_norm(module, name)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    return torch.nn.utils.normed.spectral_norm(module, name, n_power_iterations, eps, dim)


def remove_spectral_norm(module, name="weight"):
    return torch.nn.utils.normed.remove_spectral_norm(module, name)


def skip_init(module_cls, *args, **kwargs):
    """A module as it is made here, filled in already."""
    return module_cls(*args, **kwargs)
