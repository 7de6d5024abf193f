# Packed sequences through recurrent layers give what each sequence gives by itself; weights computed from others; averaged models.
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils import remove_weight_norm, spectral_norm, weight_norm
from torch.nn.utils.parametrizations import orthogonal
from torch.nn.utils.parametrizations import weight_norm as weight_norm_by_parts
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, unpack_sequence
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)


def refuses(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind.__name__}")


sequences = [torch.randn(n, 3) for n in (2, 4, 3)]
for kind in (nn.LSTM, nn.GRU, nn.RNN):
    layer = kind(3, 5, num_layers=2, bidirectional=True)
    output, state = layer(pack_sequence(sequences, enforce_sorted=False))
    padded, lengths = pad_packed_sequence(output, batch_first=True)
    assert padded.shape == (3, 4, 10) and lengths.tolist() == [2, 4, 3] and padded[0, 2:].abs().sum() == 0
    last = state[0] if kind is nn.LSTM else state
    for i, sequence in enumerate(sequences):
        alone, own = layer(sequence.unsqueeze(1))
        assert torch.allclose(padded[i, :len(sequence)], alone[:, 0], atol=1e-6)
        assert torch.allclose(last[:, i], (own[0] if kind is nn.LSTM else own)[:, 0], atol=1e-6)
    padded.sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
packed = pack_padded_sequence(torch.arange(6.0).reshape(2, 3), torch.tensor([3, 1]), batch_first=True)
assert packed.data.tolist() == [0, 3, 1, 2] and packed.batch_sizes.tolist() == [2, 1, 1] and packed.sorted_indices is None
assert [s.tolist() for s in unpack_sequence(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))] == [[1, 2], [3]]
assert "decreasing" in refuses(RuntimeError, lambda: pack_padded_sequence(torch.ones(2, 3), [1, 3], batch_first=True))
refuses(RuntimeError, lambda: pack_padded_sequence(torch.ones(2, 3), [1, 0], batch_first=True))

# weights from other weights
layer = nn.Linear(3, 2)
before = layer.weight.detach().clone()
weight_norm(layer)
assert [name for name, p in layer.named_parameters()] == ["bias", "weight_g", "weight_v"] and torch.allclose(layer.weight, before)
layer(torch.ones(1, 3)).sum().backward()
assert layer.weight_g.grad.shape == (2, 1)
remove_weight_norm(layer)
assert [name for name, p in layer.named_parameters()] == ["bias", "weight"] and torch.allclose(layer.weight, before)
layer = weight_norm_by_parts(nn.Linear(3, 2))
assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
assert type(layer).__name__ == "ParametrizedLinear" and repr(layer).startswith("ParametrizedLinear(\n  in_features=3")
layer = spectral_norm(nn.Linear(3, 2), n_power_iterations=30)
layer(torch.ones(1, 3))
assert abs(torch.linalg.svdvals(layer.weight)[0].item() - 1) < 1e-4
layer = orthogonal(nn.Linear(3, 3))
assert torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-6)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T


layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
assert parametrize.is_parametrized(layer, "weight") and torch.equal(layer.weight, layer.weight.T)
layer(torch.ones(1, 3)).sum().backward()
assert layer.parametrizations.weight.original.grad is not None
parametrize.remove_parametrizations(layer, "weight")
assert type(layer) is nn.Linear and torch.equal(layer.weight, layer.weight.T) and isinstance(layer.weight, nn.Parameter)

# averages
model = nn.Linear(2, 1)
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
average.update_parameters(model)
first = model.weight.detach().clone()
with torch.no_grad():
    model.weight.add_(1)
average.update_parameters(model)
assert torch.allclose(average.module.weight, first + 0.1) and average.n_averaged.item() == 2
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
rates = []
for _ in range(3):
    optimizer.step()
    scheduler.step()
    rates.append(round(optimizer.param_groups[0]["lr"], 6))
assert rates == [0.075, 0.05, 0.05], rates

# optimizers that step by signs, and by averages
for kind in (torch.optim.Rprop, torch.optim.ASGD):
    x = torch.tensor([3.0, -2.0], requires_grad=True)
    optimizer = kind([x], lr=0.1)
    for _ in range(60):
        optimizer.zero_grad(set_to_none=False)
        (x * x).sum().backward()
        held = x.grad
        optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is held and held.abs().sum() == 0 and x.abs().max() < 0.1, (kind, x)
seen = []
handle = optimizer.register_step_post_hook(lambda *rest: seen.append(1))
optimizer.step()
handle.remove()
optimizer.step()
assert seen == [1]

print("ok")
