"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes in clusters, the rare ones with fewer features."""
from collections import namedtuple
import torch
from torch.nn import functional as F
from torch.nn.modules.container import ModuleList, Sequential
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0 or cutoffs != sorted(set(cutoffs)) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1:
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and n_classes-1")
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for at in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (at + 1)))
            size = self.cutoffs[at + 1] - self.cutoffs[at]
            self.tail.append(Sequential(Linear(in_features, hidden, bias=False, device=device, dtype=dtype), Linear(hidden, size, bias=False, device=device, dtype=dtype)))

    def log_prob(self, input):
        head = F.log_softmax(self.head(input), -1)
        parts = [head[..., :self.shortlist_size]]
        for at, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), -1) + head[..., self.shortlist_size + at].unsqueeze(-1))
        return torch.cat(parts, -1)

    def forward(self, input, target):
        if input.dim() == 2 and target.dim() == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.numel() and not (int(target.min()) >= 0 and int(target.max()) < self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{int(target.min())}, {int(target.max())}] were found. ")
        output = self.log_prob(input).gather(-1, target.unsqueeze(-1)).squeeze(-1)
        return _ASMoutput(output, (-output).mean())

    def predict(self, input):
        return self.log_prob(input).argmax(-1)
