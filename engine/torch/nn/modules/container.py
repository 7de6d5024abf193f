"""Containers: modules and parameters in sequence, in lists and in dicts. Members are attributes named by their place or key, so they show up
in named_parameters and state_dict as `0.weight` or `head.weight`."""
import torch
from torch.nn.modules.module import Module, _indented
from torch.nn.parameter import Parameter


def _place(index, count):
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count if count else 0


class _ListOfModules(Module):
    """What Sequential and ModuleList share: members under the names "0", "1", …"""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(list(self._modules.values()))

    def __getitem__(self, index):
        members = list(self._modules.items())
        if isinstance(index, slice):
            return self._of(members[index])
        return members[_place(index, len(members))][1]

    def __setitem__(self, index, module):
        name = list(self._modules)[_place(index, len(self))]
        setattr(self, name, module)

    def __delitem__(self, index):
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [names[_place(index, len(names))]]:
            delattr(self, name)
        self._replace(list(self._modules.values()))

    def _replace(self, members):
        """Names them anew, in order."""
        for name in list(self._modules):
            delattr(self, name)
        for at, module in enumerate(members):
            self.add_module(str(at), module)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        members = list(self._modules.values())
        members.insert(index, module)
        self._replace(members)

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def __iadd__(self, other):
        return self.extend(other)


class Sequential(_ListOfModules):
    """Each member gets what the one before it returned."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for at, module in enumerate(args):
                self.add_module(str(at), module)

    def _of(self, members):
        return type(self)(dict(members))

    def __add__(self, other):
        return Sequential(*(list(self) + list(other)))

    def __mul__(self, times):
        return Sequential(*(list(self) * times))

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(_ListOfModules):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _of(self, members):
        return type(self)([module for name, module in members])

    def __add__(self, other):
        return ModuleList(list(self) + list(other))

    def __repr__(self):
        """Neighbours that print alike are shown once."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        lines, start = [], 0
        for at in range(1, len(texts) + 1):
            if at < len(texts) and texts[at] == texts[start]:
                continue
            count = at - start
            label = f"({start}): " if count == 1 else f"({start}-{at - 1}): {count} x "
            lines.append(_indented(label + texts[start], 2))
            start = at
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        delattr(self, key)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(list(self._modules))

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def clear(self):
        for key in list(self._modules):
            delattr(self, key)

    def pop(self, key):
        module = self[key]
        delattr(self, key)
        return module

    def update(self, modules):
        for key, module in modules.items() if isinstance(modules, (dict, ModuleDict)) else modules:
            self[key] = module


def _parameter_of(value):
    return Parameter(value) if isinstance(value, torch.Tensor) and not isinstance(value, Parameter) else value


def _parameter_line(key, value, kind_of):
    """kind_of: what PyTorch names the elements by, the dtype in lists and the type in dicts."""
    if not isinstance(value, torch.Tensor):
        return f"({key}): Object of type: {type(value).__name__}"
    place = f" (cuda:{value.device.index})" if value.is_cuda else ""
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join([str(n) for n in value.shape])
    return f"({key}): {kind} containing: [{kind_of(value)} of size {size}{place}]"


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self):
        return self._size

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ParameterList([self[i] for i in range(*index.indices(self._size))])
        return getattr(self, str(_place(index, self._size)))

    def __setitem__(self, index, value):
        setattr(self, str(_place(index, self._size)), _parameter_of(value))

    def __iter__(self):
        return iter([self[i] for i in range(self._size)])

    def append(self, value):
        setattr(self, str(self._size), _parameter_of(value))
        self._size += 1
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)

    def extra_repr(self):
        return "\n".join(["  " + _parameter_line(i, value, lambda p: p.dtype) for i, value in enumerate(self)])


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, key, _parameter_of(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def values(self):
        return [self[key] for key in self._keys]

    def items(self):
        return [(key, self[key]) for key in self._keys]

    def get(self, key, default=None):
        return self[key] if key in self._keys else default

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def update(self, parameters):
        for key, value in parameters.items() if isinstance(parameters, (dict, ParameterDict)) else parameters:
            self[key] = value

    def extra_repr(self):
        return "\n".join(["  " + _parameter_line(key, value, torch.typename) for key, value in self.items()])
