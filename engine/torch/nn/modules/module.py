"""Module: the base of all layers and models.

Parameters, buffers and submodules are ordinary attributes in the instance's __dict__, in the order of assignment; what each is, its type tells:
a Parameter, a tensor whose name was registered as a buffer, a Module. So `self.weight` is a plain attribute load, in eager runs and under
Dynamo alike. `_parameters`, `_buffers` and `_modules` are made on request.

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 2)
        def forward(self, x):
            return self.fc(x)
"""
from collections import OrderedDict
import torch
from torch.nn.parameter import Buffer, Parameter
from torch.utils.hooks import RemovableHandle


class _IncompatibleKeys(tuple):
    """What load_state_dict gives back: (missing_keys, unexpected_keys)."""

    def __new__(cls, missing_keys, unexpected_keys):
        return tuple.__new__(cls, (missing_keys, unexpected_keys))

    @property
    def missing_keys(self):
        return self[0]

    @property
    def unexpected_keys(self):
        return self[1]

    def __repr__(self):
        if not self[0] and not self[1]:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self[0]!r}, unexpected_keys={self[1]!r})"

    def __str__(self):
        return self.__repr__()


def _indented(text, spaces):
    lines = text.split("\n")
    return "\n".join([lines[0]] + [" " * spaces + line for line in lines[1:]])


def _deep_copied(value, memo):
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, Module):
        return value.__deepcopy__(memo)
    if isinstance(value, Parameter):
        made = Parameter(value.detach().clone(), requires_grad=value.requires_grad)
    elif isinstance(value, torch.Tensor):
        made = value.detach().clone()
    elif isinstance(value, dict):
        made = type(value)((key, _deep_copied(item, memo)) for key, item in value.items())
    elif isinstance(value, list):
        made = [_deep_copied(item, memo) for item in value]
    elif type(value) is tuple:
        made = tuple([_deep_copied(item, memo) for item in value])
    else:
        return value
    memo[id(value)] = made
    return made


class _Hooks:
    """The hooks of one module; those of calls with whether they want the keyword arguments, too."""

    def __init__(self):
        self.before = []
        self.after = []
        self.backward = []


class Module:
    # Absent until the first is registered: hooks, and the buffers' names with whether each is kept in the state dict.
    _hooks = None
    _buffer_names = None

    def __init__(self, *args, **kwargs):
        self.training = True

    def __setattr__(self, name, value):
        """A plain store, but for what would go wrong unseen: parts assigned before __init__, and a parameter or module that something else
        would take the place of. (Not asked while Dynamo captures: looking at the old value would put a guard on it.)"""
        own = self.__dict__
        if isinstance(value, (Parameter, Module)):
            if "training" not in own:
                raise AttributeError(f"cannot assign {'parameters' if isinstance(value, Parameter) else 'module'} before Module.__init__() call")
        elif value is not None and not torch.compiler.is_compiling() and name in own and isinstance(own[name], (Parameter, Module)):
            kind = "parameter" if isinstance(own[name], Parameter) else "child module"
            wanted = "torch.nn.Parameter" if isinstance(own[name], Parameter) else "torch.nn.Module"
            raise TypeError(f"cannot assign '{torch.typename(value)}' as {kind} '{name}' ({wanted} or None expected)")
        elif isinstance(value, Buffer):
            self.register_buffer(name, value.data, persistent=value.persistent)
            return
        object.__setattr__(self, name, value)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- calls ----

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs) if self._hooks is None else self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args, kwargs):
        for hook, with_kwargs in list(self._hooks.before):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None:
                if with_kwargs:
                    args, kwargs = changed
                else:
                    args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._hooks.after):
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        return self._with_backward_hooks(args, result) if self._hooks.backward else result

    def _with_backward_hooks(self, args, result):
        """The hooks run when the gradient of the last input arrives, or of the output when no input needs one."""
        outputs = result if isinstance(result, tuple) else (result,)
        inputs = [x for x in args if isinstance(x, torch.Tensor) and x.requires_grad]
        state = {"outputs": [None] * len(outputs), "inputs": [None] * len(args)}

        def run_hooks():
            for hook in list(self._hooks.backward):
                hook(self, tuple(state["inputs"]), tuple(state["outputs"]))

        def note_output(at):
            def note(g):
                state["outputs"][at] = g
                if not inputs:
                    run_hooks()
            return note

        def note_input(at):
            def note(g):
                state["inputs"][at] = g
                run_hooks()
            return note

        for at, output in enumerate(outputs):
            if isinstance(output, torch.Tensor) and output.requires_grad:
                output.register_hook(note_output(at))
        for at, x in enumerate(args):
            if isinstance(x, torch.Tensor) and x.requires_grad:
                x.register_hook(note_input(at))
        return result

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._add_hook("before", (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return self._add_hook("after", (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        return self._add_hook("backward", hook, prepend)

    def _add_hook(self, kind, hook, prepend):
        if self._hooks is None:
            self._hooks = _Hooks()
        hooks = getattr(self._hooks, kind)
        hooks.insert(0 if prepend else len(hooks), hook)
        return RemovableHandle(hooks, hook)

    # ---- parts ----

    def register_buffer(self, name, tensor, persistent=True):
        if not isinstance(name, str):
            raise TypeError(f"buffer name should be a string. Got {type(name).__name__}")
        self._check_name("buffer", name)
        if hasattr(self, name) and not (self._buffer_names and name in self._buffer_names):
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise TypeError(f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (torch Tensor or None required)")
        if self._buffer_names is None:
            self._buffer_names = {}
        self._buffer_names[name] = persistent
        setattr(self, name, tensor)

    def register_parameter(self, name, param):
        self._check_name("parameter", name)
        if hasattr(self, name) and not isinstance(getattr(self, name), Parameter):
            raise KeyError(f"attribute '{name}' already exists")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{type(param).__name__}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        setattr(self, name, param)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name)
        if hasattr(self, name) and not isinstance(getattr(self, name), Module):
            raise KeyError(f"attribute '{name}' already exists")
        setattr(self, name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    def _check_name(self, kind, name):
        if "." in name:
            raise KeyError(f"{kind} name can't contain \".\"" + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f"{kind} name can't be empty string \"\"" + (", got: " if kind == "module" else ""))

    @property
    def _parameters(self):
        return {name: value for name, value in self.__dict__.items() if isinstance(value, Parameter)}

    @property
    def _buffers(self):
        names = self._buffer_names
        return {name: self.__dict__[name] for name in names if name in self.__dict__} if names else {}

    @property
    def _modules(self):
        return {name: value for name, value in self.__dict__.items() if isinstance(value, Module)}

    # ---- walks ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            for found in module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate):
                yield found

    def modules(self):
        for name, module in self.named_modules():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for name, module in self.named_children():
            yield module

    def _named_members(self, members_of, prefix, recurse, remove_duplicate):
        seen = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
            for name, value in members_of(module).items():
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield path + ("." if path else "") + name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for name, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for name, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        parameter = getattr(module, name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return getattr(module, name)

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- modes ----

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad = torch.zeros_like(parameter.grad)

    # ---- dtype and device ----

    def _apply(self, fn):
        """Each parameter keeps its identity and takes new data, so optimizers and shared uses see the change."""
        for module in self.modules():
            for name, parameter in module._parameters.items():
                with torch.no_grad():
                    parameter.data = fn(parameter.data)
                    if parameter.grad is not None:
                        parameter.grad = fn(parameter.grad)
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    setattr(module, name, fn(buffer))
        return self

    def to(self, *args, **kwargs):
        # Whatever the arguments say of a dtype is for floating point tensors only.
        memory_format = kwargs.pop("memory_format", None)
        probe = torch.empty(0).to(*args, **kwargs)
        dtype = probe.dtype if self._names_dtype(args, kwargs) else None
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        moves = self._names_device(args, kwargs)

        def convert(t):
            wanted = dtype if dtype is not None and t.is_floating_point() else t.dtype
            layout = {"memory_format": memory_format} if memory_format is not None and t.dim() in (4, 5) else {}
            return t.to(probe.device if moves else t.device, wanted, **layout)
        return self._apply(convert)

    def _names_dtype(self, args, kwargs):
        return kwargs.get("dtype") is not None or any([isinstance(a, (torch.dtype, torch.Tensor)) for a in args])

    def _names_device(self, args, kwargs):
        return kwargs.get("device") is not None or any([isinstance(a, (str, torch.device, torch.Tensor)) or type(a) is int for a in args])

    def cuda(self, device=None):
        return self._apply(lambda t: t.to("cuda" if device is None else device))

    def cpu(self):
        return self._apply(lambda t: t.to("cpu"))

    def type(self, dst_type):
        return self._apply(lambda t: t.to(dst_type))

    def _cast(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        return self._cast(torch.float32)

    def double(self):
        return self._cast(torch.float64)

    def half(self):
        return self._cast(torch.float16)

    def bfloat16(self):
        return self._cast(torch.bfloat16)

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        self.forward = torch.compile(self.forward, *args, **kwargs)

    # ---- state ----

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        destination = OrderedDict() if destination is None else destination
        for path, module in self.named_modules(prefix=prefix[:-1], remove_duplicate=False):
            for name, value in module._own_state().items():
                destination[path + ("." if path else "") + name] = value if keep_vars else value.detach()
        return destination

    def _own_state(self):
        state = dict(self._parameters)
        for name, buffer in self._buffers.items():
            if buffer is not None and self._buffer_names[name]:
                state[name] = buffer
        return state

    def load_state_dict(self, state_dict, strict=True, assign=False):
        missing, unexpected, errors, known = [], [], [], set()
        for path, module in self.named_modules(remove_duplicate=False):
            for name, value in module._own_state().items():
                key = path + ("." if path else "") + name
                known.add(key)
                if key not in state_dict:
                    missing.append(key)
                elif state_dict[key].shape != value.shape:
                    errors.append(f"size mismatch for {key}: copying a param with shape {state_dict[key].shape} from checkpoint, "
                                  f"the shape in current model is {value.shape}.")
                elif assign:
                    module._assign(name, value, state_dict[key])
                else:
                    with torch.no_grad():
                        value.copy_(state_dict[key])
        unexpected = [key for key in state_dict if key not in known]
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join([f'"{key}"' for key in unexpected]) + ". ")
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: " + ", ".join([f'"{key}"' for key in missing]) + ". ")
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors)))
        return _IncompatibleKeys(missing, unexpected)

    def _assign(self, name, value, new):
        if isinstance(value, Parameter) and not isinstance(new, Parameter):
            new = Parameter(new, requires_grad=value.requires_grad)
        setattr(self, name, new)

    def __deepcopy__(self, memo):
        """A module of the same shape with parameters and buffers of its own; what is shared inside stays shared."""
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = object.__new__(type(self))
        for name, value in self.__dict__.items():
            made.__dict__[name] = _deep_copied(value, memo)
        return made

    # ---- text ----

    def extra_repr(self):
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): " + _indented(repr(module), 2) for name, module in self._modules.items()]
        text = self._get_name() + "("
        if len(extra_lines) == 1 and not child_lines:
            text += extra_lines[0]
        elif extra_lines or child_lines:
            text += "\n  " + "\n  ".join(extra_lines + child_lines) + "\n"
        return text + ")"
