"""L-BFGS: steps along the Newton direction, estimated from the last few changes of parameters and gradients.

    optimizer.step(closure)      the closure computes the loss and its gradients anew; it is called several times
"""
import torch
from torch.optim.optimizer import Optimizer


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad, tolerance_change=tolerance_change,
                                      history_size=history_size, line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        if line_search_fn is not None:
            raise NotImplementedError("LBFGS: line searches are not supported")

    def _gradient(self):
        return torch.cat([torch.zeros_like(p).reshape([-1]) if p.grad is None else p.grad.reshape([-1]) for p in self.param_groups[0]["params"]])

    def _move(self, step, direction):
        start = 0
        for p in self.param_groups[0]["params"]:
            count = p.numel()
            p.add_(direction[start:start + count].view_as(p), alpha=step)
            start += count

    def _direction(self, gradient, state):
        """The gradient times the estimated inverse Hessian: two loops over the history."""
        q, factors = -gradient, []
        for s, y, ro in reversed(state["history"]):
            factor = torch.dot(s, q) * ro
            factors.append(factor)
            q = q.add(y, alpha=-factor.item())
        r = q * state["scale"]
        for (s, y, ro), factor in zip(state["history"], reversed(factors)):
            r = r.add(s, alpha=(factor - torch.dot(y, r) * ro).item())
        return r

    def _remember(self, gradient, state, size):
        y = gradient.sub(state["gradient"])
        s = state["direction"] * state["step"]
        curvature = torch.dot(y, s).item()
        if curvature > 1e-10:
            state["history"] = state["history"][-(size - 1):] if size > 1 else []
            state["history"].append((s, y, 1.0 / curvature))
            state["scale"] = curvature / torch.dot(y, y).item()

    def step(self, closure):
        with torch.enable_grad():
            first = closure()
        with torch.no_grad():
            self._iterate(closure, float(first))
        return first

    def _iterate(self, closure, loss):
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("n_iter", 0)
        gradient, evaluations = self._gradient(), 1
        if gradient.abs().max().item() <= group["tolerance_grad"]:
            return
        for iteration in range(group["max_iter"]):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state["history"], state["scale"] = [], 1.0
                direction = -gradient
                step = min(1.0, 1.0 / gradient.abs().sum().item()) * group["lr"]
            else:
                self._remember(gradient, state, group["history_size"])
                direction, step = self._direction(gradient, state), group["lr"]
            state["direction"], state["step"], state["gradient"] = direction, step, gradient
            if torch.dot(gradient, direction).item() > -group["tolerance_change"]:
                return
            self._move(step, direction)
            if iteration + 1 == group["max_iter"]:
                return
            with torch.enable_grad():
                former, loss = loss, float(closure())
            gradient = self._gradient()
            evaluations += 1
            if evaluations >= group["max_eval"] or gradient.abs().max().item() <= group["tolerance_grad"]:
                return
            if (direction * step).abs().max().item() <= group["tolerance_change"] or abs(loss - former) < group["tolerance_change"]:
                return
