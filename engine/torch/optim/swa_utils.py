"""torch.optim.swa_utils: averages of a model's weights.

    ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999));  ema.update_parameters(model)
"""
import copy
import itertools
import math
import torch
from torch.nn import Module
from torch.optim.lr_scheduler import LRScheduler


def get_ema_multi_avg_fn(decay=0.999):
    def update(averages, currents, count):
        with torch.no_grad():
            for average, current in zip(averages, currents):
                average.lerp_(current, 1 - decay)
    return update


def get_swa_multi_avg_fn():
    def update(averages, currents, count):
        with torch.no_grad():
            for average, current in zip(averages, currents):
                average.lerp_(current, 1.0 / (float(count) + 1.0))
    return update


def get_ema_avg_fn(decay=0.999):
    def update(average, current, count):
        with torch.no_grad():
            return decay * average + (1 - decay) * current
    return update


def get_swa_avg_fn():
    def update(average, current, count):
        with torch.no_grad():
            return average + (current - average) / (count + 1)
    return update


class AveragedModel(Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _values(self, model):
        return [v.detach() for v in (itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters())]

    def update_parameters(self, model):
        averages, currents = self._values(self.module), self._values(model)
        count = int(self.n_averaged)
        if count == 0:
            for average, current in zip(averages, currents):
                average.copy_(current)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, currents, count)
        else:
            for average, current in zip(averages, currents):
                average.copy_(self.avg_fn(average, current, self.n_averaged))
        if not self.use_buffers:
            for mine, theirs in zip(self.module.buffers(), model.buffers()):
                mine.detach().copy_(theirs.detach())
        self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Running statistics of BatchNorm layers made anew, as the plain mean over the loader."""
    layers = {m: m.momentum for m in model.modules() if isinstance(m, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d))}
    if not layers:
        return
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    with torch.no_grad():
        for batch in loader:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(batch if device is None else batch.to(device))
    for layer, momentum in layers.items():
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals each group's rate to swa_lr, and keeps it there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        rates = swa_lr if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        self._cosine = anneal_strategy == "cos"
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        t = 1.0 if self.anneal_epochs == 0 else max(0.0, min(1.0, step / self.anneal_epochs))
        return (1 - math.cos(math.pi * t)) / 2 if self._cosine else t

    def get_lr(self):
        before, now = self._share(self.last_epoch - 1), self._share(self.last_epoch)
        rates = []
        for group in self.optimizer.param_groups:
            start = group["lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] if before == 1 else group["swa_lr"] * now + start * (1 - now))
        return rates
