"""torch.nn.utils.parametrize: a parameter computed from others by modules, each time it is read.

    register_parametrization(layer, "weight", Symmetric())     layer.weight -> Symmetric()(layer.parametrizations.weight.original)

The module gets a class of its own whose property of that name does it.
"""
import torch
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

_state = {"cached": 0}
_cache = {}


class cached:
    """Inside, each parametrized tensor is computed once."""

    def __enter__(self):
        _state["cached"] += 1

    def __exit__(self, kind, value, traceback):
        _state["cached"] -= 1
        if _state["cached"] == 0:
            _cache.clear()


class ParametrizationList(ModuleList):
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        self.is_tensor = True
        # right_inverse says what the original must be for the value to stay.
        for module in reversed(modules):
            if hasattr(module, "right_inverse"):
                with torch.no_grad():
                    original = module.right_inverse(original)
        if isinstance(original, torch.Tensor):
            self.original = original if isinstance(original, Parameter) else Parameter(original) if original.is_floating_point() else original
        else:
            self.is_tensor = False
            self.ntensors = len(original)
            for at, part in enumerate(original):
                setattr(self, f"original{at}", part if isinstance(part, Parameter) else Parameter(part))

    def forward(self):
        if self.is_tensor:
            value = self[0](self.original)
        else:
            value = self[0](*[getattr(self, f"original{at}") for at in range(self.ntensors)])
        for at in range(1, len(self)):
            value = self[at](value)
        return value

    def right_inverse(self, value):
        with torch.no_grad():
            for at in reversed(range(len(self))):
                value = self[at].right_inverse(value)
            parts = [value] if self.is_tensor else value
            names = ["original"] if self.is_tensor else [f"original{at}" for at in range(self.ntensors)]
            for name, part in zip(names, parts):
                getattr(self, name).copy_(part)


def _computed(name):
    def get(module):
        if _state["cached"] == 0:
            return module.parametrizations[name]()
        key = (id(module), name)
        if key not in _cache:
            _cache[key] = module.parametrizations[name]()
        return _cache[key]

    def put(module, value):
        module.parametrizations[name].right_inverse(value)
    return property(get, put)


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        held.append(parametrization)
        return module
    if not hasattr(module, tensor_name):
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    original = getattr(module, tensor_name)
    made = ParametrizationList([parametrization], original, unsafe)
    if not is_parametrized(module):
        module.__class__ = type("Parametrized" + type(module).__name__, (type(module),), {})
        module.parametrizations = ModuleDict()
    del module.__dict__[tensor_name]
    setattr(type(module), tensor_name, _computed(tensor_name))
    module.parametrizations[tensor_name] = made
    return module


def is_parametrized(module, tensor_name=None):
    held = module.__dict__.get("parametrizations")
    if held is None or not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if leave_parametrized:
        with torch.no_grad():
            value = Parameter(getattr(module, tensor_name).detach().clone())
    else:
        value = held.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    setattr(module, tensor_name, value)
    if len(module.parametrizations) == 0:
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module
