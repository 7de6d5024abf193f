"""Smaller parts of torch._dynamo and torch.compiler, read when the first of them is asked for.

To add one: a name here, and in the table of engine/dynamo/define_tools.c.
"""
import functools
import torch
from torch._dynamo import _set_stance


class patch:
    """torch._dynamo.config.patch: settings for a `with` block or a function. patch(name=value), patch("name", value), patch({"name": value})."""

    def __init__(self, name=None, value=None, **changes):
        self._changes = dict(changes)
        if isinstance(name, dict):
            self._changes.update(name)
        elif name is not None:
            self._changes[name] = value
        for changed in self._changes:
            if not hasattr(torch._dynamo.config, changed):
                raise AttributeError(f"torch._dynamo.config.{changed} does not exist")

    def __enter__(self):
        self._former = {name: getattr(torch._dynamo.config, name) for name in self._changes}
        for name, value in self._changes.items():
            setattr(torch._dynamo.config, name, value)

    def __exit__(self, kind, value, trace):
        for name, former in self._former.items():
            setattr(torch._dynamo.config, name, former)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def patched(*args, **kwargs):
            with patch(dict(self._changes)):
                return function(*args, **kwargs)
        return patched


class set_stance:
    """torch.compiler.set_stance: how compiled functions are called from now on, in a `with` block, or in a function."""

    def __init__(self, stance="default", skip_guard_eval_unsafe=False, force_backend=None):
        self._stance = stance
        self._former = _set_stance(stance)

    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        _set_stance(self._former)
        return False

    def __call__(self, function):
        _set_stance(self._former)
        stance = self._stance

        @functools.wraps(function)
        def with_stance(*args, **kwargs):
            former = _set_stance(stance)
            try:
                return function(*args, **kwargs)
            finally:
                _set_stance(former)
        return with_stance


def list_backends(exclude_tags=()):
    return ["inductor"]


def optimize(backend="inductor", nopython=False, dynamic=None, **others):
    return torch.compile(backend=backend, fullgraph=nopython, dynamic=dynamic)


def optimize_assert(backend="inductor", dynamic=None, **others):
    return torch.compile(backend=backend, fullgraph=True, dynamic=dynamic)


def run(function=None):
    """Entries that are there serve; nothing is compiled."""
    return set_stance.__call__(set_stance("eager_on_recompile"), function) if function is not None else run


def is_dynamo_supported():
    return True


def is_inductor_supported():
    return True


def cudagraph_mark_step_begin():
    pass


def set_logs(**logs):
    """torch._logging.set_logs: vitrine says such things when it is asked (:recompiles, :guards, :breaks)."""
