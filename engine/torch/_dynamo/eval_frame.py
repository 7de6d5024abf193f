"""What torch.compile makes of a module: a module around it, under the name `_orig_mod`, whose calls are compiled.

    compiled = torch.compile(nn.Linear(2, 2))
    compiled.state_dict()   ->   _orig_mod.weight, _orig_mod.bias
    compiled.weight         ->   the module's own

Methods of Module work on the wrapper and reach the module as its child; everything else is looked up, stored and deleted in the module.
"""
import torch
from torch.nn.modules.module import Module, _deep_copied


class OptimizedModule(Module):
    def __init__(self, mod, options):
        super().__init__()
        self._options = options
        # Torch's native callable: what calls of it are counted and cached under is the module's forward.
        self._compiled = torch._dynamo.compiled_callable(mod, *options)
        self._orig_mod = mod

    def __call__(self, *args, **kwargs):
        # Inside another compiled frame the module is a part of that frame.
        if torch.compiler.is_compiling():
            return self._orig_mod(*args, **kwargs)
        return self._compiled(*args, **kwargs) if self._hooks is None else self._call_with_hooks(args, kwargs)

    def forward(self, *args, **kwargs):
        return self._compiled(*args, **kwargs)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, mode):
        if "_orig_mod" in self.__dict__:
            self._orig_mod.training = mode

    def __getattr__(self, name):
        if name == "_orig_mod":
            raise AttributeError(name)
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name == "training" or name in self.__dict__ or "_orig_mod" not in self.__dict__ or name in ("_hooks", "_buffer_names"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __deepcopy__(self, memo):
        return OptimizedModule(_deep_copied(self._orig_mod, memo), self._options)


def wrapped(model, options):
    """The module that torch.compile gives for a module; None for what is none."""
    if isinstance(model, OptimizedModule):
        model = model._orig_mod
    return OptimizedModule(model, options) if isinstance(model, Module) else None
