"""The older weight_norm and spectral_norm of torch.nn.utils: parameters weight_g and weight_v (weight_orig, weight_u, weight_v), from which a hook
makes `weight` before each forward."""
import torch
from torch.nn.parameter import Parameter
from torch.nn.utils.parametrizations import _SpectralNorm, _WeightNorm


class _Recompute:
    """The hook. names: what the value is made from."""

    def __init__(self, name, compute, names):
        self.name = name
        self.compute = compute
        self.names = names

    def __call__(self, module, inputs):
        module.__dict__[self.name] = self.compute(*[getattr(module, name) for name in self.names])


def _install(module, name, compute, names):
    hook = _Recompute(name, compute, names)
    hook(module, None)
    handles = module.__dict__.setdefault("_weight_hooks", {})
    handles[name] = (module.register_forward_pre_hook(hook), hook)
    return module


def _remove(module, name, what):
    handles = module.__dict__.get("_weight_hooks", {})
    if name not in handles:
        raise ValueError(f"{what} of '{name}' not found in {module}")
    handle, hook = handles[name]
    handle.remove()
    del handles[name]
    value = module.__dict__[name].detach()
    for part in hook.names:
        delattr(module, part)
    del module.__dict__[name]
    setattr(module, name, Parameter(value))
    return module


def weight_norm(module, name="weight", dim=0):
    norm = _WeightNorm(dim)
    weight = getattr(module, name)
    with torch.no_grad():
        length, direction = norm.right_inverse(weight)
    delattr(module, name)
    setattr(module, name + "_g", Parameter(length.detach().clone()))
    setattr(module, name + "_v", Parameter(direction.detach().clone()))
    return _install(module, name, norm.forward, [name + "_g", name + "_v"])


def remove_weight_norm(module, name="weight"):
    return _remove(module, name, "weight_norm")


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name)
    norm = _SpectralNorm(weight, n_power_iterations, 0 if dim is None else dim, eps)
    delattr(module, name)
    setattr(module, name + "_orig", Parameter(weight.detach().clone()))
    module.register_buffer(name + "_u", norm._u)

    def computed(original):
        norm.train(module.training)
        return norm.forward(original)
    return _install(module, name, computed, [name + "_orig"])


def remove_spectral_norm(module, name="weight"):
    module = _remove(module, name, "spectral_norm")
    delattr(module, name + "_u")
    return module
