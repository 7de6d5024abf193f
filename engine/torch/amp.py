"""Automatic mixed precision: inside autocast, matrix products run in 16 bits and sensitive ops in float32.

    with torch.autocast("cuda", dtype=torch.bfloat16): loss = model(x).mean()

Which op runs in what, C decides when it is called (vm/autocast.c); here are the context manager and the gradient scaler.
"""
import functools
import torch
import warnings


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        self.device = device_type
        self.fast_dtype = torch.get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = enabled

    def __enter__(self):
        self.previous = torch._C._autocast_get(self.device)
        torch._C._autocast_set(self.device, self._enabled, self.fast_dtype)
        return self

    def __exit__(self, kind, value, traceback):
        torch._C._autocast_set(self.device, self.previous[0], self.previous[1])

    def __call__(self, function):
        @functools.wraps(function)
        def in_autocast(*args, **kwargs):
            with autocast(self.device, self.fast_dtype, self._enabled):
                return function(*args, **kwargs)
        return in_autocast


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    """Around the forward of a Function: it sees its inputs cast, and runs outside autocast, when cast_inputs is given."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def in_given_mode(*args, **kwargs):
        args[0]._dtype = torch.get_autocast_dtype(device_type)
        if cast_inputs is None:
            args[0]._fwd_used_autocast = torch.is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        enabled = torch.is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = False
        if not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
    return in_given_mode


def custom_bwd(bwd=None, *, device_type="cuda"):
    """Around the backward of a Function: it runs under the autocast that its forward ran under."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def in_forward_mode(*args, **kwargs):
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)
    return in_forward_mode


def _cast(value, device_type, dtype):
    if isinstance(value, torch.Tensor):
        wanted = value.is_floating_point() and value.device.type == device_type and value.dtype != torch.float64
        return value.to(dtype) if wanted else value
    if isinstance(value, dict):
        return {key: _cast(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(item, device_type, dtype) for item in value])
    return value


def is_autocast_available(device_type):
    return device_type in ("cpu", "cuda")


class GradScaler:
    """Multiplies losses, so that small 16-bit gradients do not vanish, and divides the gradients before the step."""

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        if enabled and device == "cuda" and not torch.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            enabled = False
        self._scale = init_scale
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._enabled = enabled
        self._steps = 0
        self._unscaled = []
        self._found_inf = False

    def is_enabled(self):
        return self._enabled

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale
        return type(outputs)([self.scale(output) for output in outputs])

    def unscale_(self, optimizer):
        if not self._enabled:
            return
        if id(optimizer) in self._unscaled:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        self._unscaled.append(id(optimizer))
        with torch.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        parameter.grad.mul_(1.0 / self._scale)
                        self._found_inf = self._found_inf or not bool(parameter.grad.isfinite().all())

    def step(self, optimizer, *args, **kwargs):
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        return None if self._found_inf else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif self._found_inf:
            self._scale *= self._backoff_factor
            self._steps = 0
        else:
            self._steps += 1
            if self._steps == self._growth_interval:
                self._scale *= self._growth_factor
                self._steps = 0
        self._unscaled = []
        self._found_inf = False

    def state_dict(self):
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._steps}

    def load_state_dict(self, state_dict):
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._steps = state_dict["_growth_tracker"]
