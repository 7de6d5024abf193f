"""Schedulers of learning rates: each step sets `lr` of the optimizer's groups.

    scheduler = StepLR(optimizer, step_size=30, gamma=0.1);  after each epoch: scheduler.step()

Most rules are written as a change of the rate that is there, so that several schedulers can work on one optimizer; where there is a formula for any epoch, step(epoch) uses it.
"""
import math
from torch.optim.schedules import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau
from torch.optim.scheduling import LRScheduler, _rates


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * rule(self.last_epoch) for rule, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The present rate times a function of the epoch."""

    def get_lr(self):
        if self.last_epoch <= 0:
            return _rates(self.optimizer)
        return [rate * rule(self.last_epoch) for rule, rate in zip(self.lr_lambdas, _rates(self.optimizer))]


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return _rates(self.optimizer)
        return [rate * self.gamma for rate in _rates(self.optimizer)]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        times = self.milestones.count(self.last_epoch)
        return [rate * self.gamma ** times for rate in _rates(self.optimizer)] if times else _rates(self.optimizer)

    def _get_closed_form_lr(self):
        passed = sum([milestone <= self.last_epoch for milestone in self.milestones])
        return [base * self.gamma ** passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return _rates(self.optimizer)
        return [rate * self.gamma for rate in _rates(self.optimizer)]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """A part of the rate until total_iters, all of it from then on."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.factor for rate in _rates(self.optimizer)]
        if self.last_epoch != self.total_iters:
            return _rates(self.optimizer)
        return [rate * (1.0 / self.factor) for rate in _rates(self.optimizer)]

    def _get_closed_form_lr(self):
        return [base * (1.0 if self.last_epoch >= self.total_iters else self.factor) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From start_factor to end_factor of the rate in a straight line."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in _rates(self.optimizer)]
        if self.last_epoch > self.total_iters:
            return _rates(self.optimizer)
        slope = self.end_factor - self.start_factor
        change = 1.0 + slope / (self.total_iters * self.start_factor + (self.last_epoch - 1) * slope)
        return [rate * change for rate in _rates(self.optimizer)]

    def _get_closed_form_lr(self):
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * share) for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return _rates(self.optimizer)
        change = ((1.0 - self.last_epoch / self.total_iters) / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power
        return [rate * change for rate in _rates(self.optimizer)]

    def _get_closed_form_lr(self):
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (1.0 - share) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to eta_min in T_max steps, then back."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates, at, low = _rates(self.optimizer), self.last_epoch, self.eta_min
        if at == 0:
            return rates
        if self._step_count == 1 and at > 0:
            return [low + (base - low) * (1 + math.cos(at * math.pi / self.T_max)) / 2 for base in self.base_lrs]
        if (at - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [rate + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2 for base, rate in zip(self.base_lrs, rates)]
        change = (1 + math.cos(math.pi * at / self.T_max)) / (1 + math.cos(math.pi * (at - 1) / self.T_max))
        return [change * (rate - low) + low for rate in rates]

    def _get_closed_form_lr(self):
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class SequentialLR(LRScheduler):
    """One scheduler after the other, changing at the milestones."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, "
                             f"but got number of schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}")
        self.optimizer = optimizer
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        # Undo what making the later ones did, then begin with the first.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch=None):
        self.last_epoch += 1
        at = sum([milestone <= self.last_epoch for milestone in self._milestones])
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(LRScheduler):
    """All of them at every step."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        self._schedulers = schedulers
        self._last_lr = _rates(self.optimizer)

    def step(self, epoch=None):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = _rates(self.optimizer)


_LRScheduler = LRScheduler
