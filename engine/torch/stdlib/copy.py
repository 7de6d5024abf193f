"""copy: shallow and deep copies; __copy__ and __deepcopy__ are asked first."""


class Error(Exception):
    pass


def _is_atom(value):
    return value is None or value is Ellipsis or isinstance(value, (int, float, str, bool, type, range, frozenset)) or callable(value) and not hasattr(value, "__dict__")


def _fresh(cls):
    return object.__new__(cls)


def copy(value):
    if _is_atom(value) or isinstance(value, tuple) and type(value) is tuple:
        return value
    hook = getattr(type(value), "__copy__", None)
    if hook is not None:
        return hook(value)
    if type(value) is list:
        return value[:]
    if _is_tensor(value):
        return _shallow_tensor(value)
    if isinstance(value, (dict, set)) and not _has_own_dict(value):
        return value.copy()
    if hasattr(value, "__dict__") and not _is_function(value):
        return _copy_instance(value)
    return value


def _is_function(value):
    return type(value).__name__ in ("function", "method", "builtin_function_or_method", "module")


def _has_own_dict(value):
    return type(value) not in (dict, set) and hasattr(value, "__dict__")


def _copy_instance(value):
    cls = type(value)
    if isinstance(value, tuple):
        return cls._make(value) if hasattr(cls, "_make") else cls(*value)
    if isinstance(value, (int, float, str)):
        return value
    new = _fresh(cls)
    if isinstance(value, list):
        new.extend(value)
    elif isinstance(value, (dict, set)):
        new.update(value)
    new.__dict__.update(value.__dict__)
    return new


def deepcopy(value, memo=None):
    if _is_atom(value):
        return value
    if memo is None:
        memo = {}
    key = id(value)
    if key in memo:
        return memo[key]
    new = _deep(value, memo)
    memo[key] = new
    memo.setdefault(id(memo), []).append(value)  # an id means something as long as its object lives
    return new


def _is_tensor(value):
    return any(cls.__name__ == "Tensor" and cls.__module__ in ("torch", "torch._tensor") for cls in type(value).__mro__)


def _shallow_tensor(value):
    new = value.detach()
    return type(value)(new, value.requires_grad) if _is_parameter(value) else new.requires_grad_(value.requires_grad)


def _is_parameter(value):
    return type(value).__name__ == "Parameter"


def _deep_tensor(value, memo):
    if not value.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment")
    new = value.detach().clone()
    if _is_parameter(value):
        return type(value)(new, value.requires_grad)
    new.requires_grad_(value.requires_grad)
    if value.grad is not None:
        new.grad = deepcopy(value.grad, memo)
    return new


def _deep(value, memo):
    hook = getattr(type(value), "__deepcopy__", None)
    if hook is not None:
        return hook(value, memo)
    kind = type(value)
    if kind is list:
        new = []
        memo[id(value)] = new
        for item in value:
            new.append(deepcopy(item, memo))
        return new
    if kind is tuple:
        return tuple([deepcopy(item, memo) for item in value])
    if kind is set:
        return {deepcopy(item, memo) for item in value}
    if isinstance(value, dict) and not _has_own_dict(value):
        new = value.copy()
        new.clear()
        memo[id(value)] = new
        for k, v in value.items():
            new[deepcopy(k, memo)] = deepcopy(v, memo)
        return new
    if _is_tensor(value):
        return _deep_tensor(value, memo)
    if _is_function(value):
        return value if kind.__name__ != "method" else getattr(deepcopy(value.__self__, memo), value.__name__)
    if hasattr(value, "__dict__"):
        return _deep_instance(value, memo)
    return value


def _deep_instance(value, memo):
    cls = type(value)
    if isinstance(value, tuple):
        items = [deepcopy(item, memo) for item in value]
        return cls._make(items) if hasattr(cls, "_make") else cls(*items)
    if isinstance(value, (int, float, str)):
        return value
    new = _fresh(cls)
    memo[id(value)] = new
    if isinstance(value, list):
        new.extend([deepcopy(item, memo) for item in value])
    elif isinstance(value, dict):
        for k, v in value.items():
            new[deepcopy(k, memo)] = deepcopy(v, memo)
    elif isinstance(value, set):
        new.update({deepcopy(item, memo) for item in value})
    for name, attribute in value.__dict__.items():
        new.__dict__[name] = deepcopy(attribute, memo)
    return new
