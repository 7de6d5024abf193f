"""Context managers over grad mode; each is a decorator, too.

    with torch.no_grad(): …        @torch.no_grad()        @torch.no_grad

Between entering and leaving, the mode that was there before waits in the instance.
"""
import functools
import torch


class _Mode:
    """Enters a mode on `with`, and around each call of a function that it decorates."""

    def __call__(self, function):
        @functools.wraps(function)
        def in_mode(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return in_mode

    def clone(self):
        return type(self)()


class _PlainMode(_Mode):
    """A mode without arguments: it also decorates without brackets, `@torch.no_grad`."""

    def __new__(cls, function=None):
        return object.__new__(cls) if function is None else cls()(function)


class no_grad(_PlainMode):
    """What runs inside is not recorded on the tape."""

    def __enter__(self):
        self.previous = torch._C._is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, kind, value, traceback):
        torch._C._set_grad_enabled(self.previous)


class enable_grad(_PlainMode):
    """What runs inside is recorded, also within no_grad."""

    def __enter__(self):
        self.previous = torch._C._is_grad_enabled()
        torch._C._set_grad_enabled(True)

    def __exit__(self, kind, value, traceback):
        torch._C._set_grad_enabled(self.previous)


class set_grad_enabled(_Mode):
    """Sets the mode at once; as a context manager it goes back afterwards."""

    def __init__(self, mode):
        self.previous = torch._C._is_grad_enabled()
        self.mode = mode
        torch._C._set_grad_enabled(mode)

    def __call__(self, function):
        # As a decorator it changes nothing until the function is called.
        torch._C._set_grad_enabled(self.previous)
        return _Mode.__call__(self, function)

    def __enter__(self):
        torch._C._set_grad_enabled(self.mode)

    def __exit__(self, kind, value, traceback):
        torch._C._set_grad_enabled(self.previous)

    def clone(self):
        return set_grad_enabled(self.mode)


class inference_mode(_Mode):
    """no_grad, and tensors made inside do not take part in the tape later."""

    def __new__(cls, mode=True):
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self.previous = (torch._C._is_grad_enabled(), torch._C._is_inference_mode())
        torch._C._set_inference_mode(self.mode)
        if self.mode:
            torch._C._set_grad_enabled(False)

    def __exit__(self, kind, value, traceback):
        torch._C._set_grad_enabled(self.previous[0])
        torch._C._set_inference_mode(self.previous[1])

    def clone(self):
        return inference_mode(self.mode)
