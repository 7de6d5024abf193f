"""Recurrent layers (RNN, LSTM, GRU: several layers, both directions) and their cells."""
import math
import torch
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter
from torch.nn.utils.rnn import PackedSequence
from torch.recurrent import packed


class RNNBase(Module):
    gates = 1

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None):
        super().__init__()
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size" if proj_size > 0 else "proj_size should be a positive integer or zero to disable projections")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._weight_names = []
        self._make_weights(device, dtype)
        self.reset_parameters()

    def _make_weights(self, device, dtype):
        rows = self.gates * self.hidden_size
        output = self.proj_size if self.proj_size > 0 else self.hidden_size
        directions = 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            for direction in range(directions):
                width = self.input_size if layer == 0 else output * directions
                suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                shapes = [("weight_ih", (rows, width)), ("weight_hh", (rows, output))]
                if self.bias:
                    shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))]
                if self.proj_size > 0:
                    shapes += [("weight_hr", (self.proj_size, self.hidden_size))]
                for name, shape in shapes:
                    setattr(self, name + suffix, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                    self._weight_names.append(name + suffix)

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self):
        each = len(self._weight_names) // (self.num_layers * (2 if self.bidirectional else 1))
        weights = self._flat_weights()
        return [weights[at:at + each] for at in range(0, len(weights), each)]

    def _flat_weights(self):
        return [getattr(self, name) for name in self._weight_names]

    def flatten_parameters(self):
        """Nothing to do: the weights are used where they are."""

    def _zeros(self, input, size):
        batch = input.shape[0] if self.batch_first else input.shape[1]
        return torch.zeros(self.num_layers * (2 if self.bidirectional else 1), batch, size, dtype=input.dtype, device=input.device)

    def _check(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}")

    def _call(self, function, input, hx):
        return function(input, hx, self._flat_weights(), self.bias, self.num_layers, self.dropout, self.training, self.bidirectional, self.batch_first)

    def _run(self, function, input, hx):
        """For networks whose state is one tensor."""
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        self._check(input)
        batch_dim = 0 if self.batch_first else 1
        single = input.dim() == 2
        if single:
            input = input.unsqueeze(batch_dim)
            hx = None if hx is None else hx.unsqueeze(1)
        output, state = self._call(function, input, self._zeros(input, self.hidden_size) if hx is None else hx)
        return (output.squeeze(batch_dim), state.squeeze(1)) if single else (output, state)

    def _run_packed(self, input, hx):
        """The batch is in the order of falling lengths inside; states come and go in the caller's order."""
        data, sizes, order, back = input
        batch = int(sizes[0])
        rows = self.num_layers * (2 if self.bidirectional else 1)
        widths = [self.proj_size if self.proj_size > 0 else self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        if hx is None:
            states = tuple([torch.zeros(rows, batch, width, dtype=data.dtype, device=data.device) for width in widths])
        else:
            states = hx if isinstance(hx, tuple) else (hx,)
            if order is not None:
                states = tuple([part.index_select(1, order) for part in states])
        result = packed(self.mode, data, [int(n) for n in sizes.tolist()], states, self._flat_weights(), self.bias, self.num_layers, self.dropout, self.training,
                        self.bidirectional, self.proj_size > 0)
        states = result[1:] if back is None else tuple([part.index_select(1, back) for part in result[1:]])
        output = PackedSequence(result[0], sizes, order, back)
        return output, (states if self.mode == "LSTM" else states[0])

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        return self._run(torch.rnn_tanh if self.nonlinearity == "tanh" else torch.rnn_relu, input, hx)


class GRU(RNNBase):
    gates = 3

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)

    def forward(self, input, hx=None):
        return self._run(torch.gru, input, hx)


class LSTM(RNNBase):
    gates = 4

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None):
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        self._check(input)
        batch_dim = 0 if self.batch_first else 1
        single = input.dim() == 2
        if single:
            input = input.unsqueeze(batch_dim)
            hx = None if hx is None else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        if hx is None:
            output = self.proj_size if self.proj_size > 0 else self.hidden_size
            hx = (self._zeros(input, output), self._zeros(input, self.hidden_size))
        output, h, c = self._call(torch.lstm, input, hx)
        return (output.squeeze(batch_dim), (h.squeeze(1), c.squeeze(1))) if single else (output, (h, c))


class RNNCellBase(Module):
    gates = 1

    def __init__(self, input_size, hidden_size, bias, device=None, dtype=None):
        super().__init__()
        rows = self.gates * hidden_size
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = Parameter(torch.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), device=device, dtype=dtype))
        self.bias_ih = Parameter(torch.empty(rows, device=device, dtype=dtype)) if bias else None
        self.bias_hh = Parameter(torch.empty(rows, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check(self, input):
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")

    def _state(self, input):
        return torch.zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device)

    def _step(self, function, input, hx):
        self._check(input)
        single = input.dim() == 1
        if single:
            input, hx = input.unsqueeze(0), None if hx is None else hx.unsqueeze(0)
        result = function(input, self._state(input) if hx is None else hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result.squeeze(0) if single else result

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias is True else text + f", bias={self.bias}"


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(torch.rnn_tanh_cell if self.nonlinearity == "tanh" else torch.rnn_relu_cell, input, hx)

    def extra_repr(self):
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else text + f", nonlinearity={self.nonlinearity}"


class GRUCell(RNNCellBase):
    gates = 3

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input, hx=None):
        return self._step(torch.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    gates = 4

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input, hx=None):
        self._check(input)
        single = input.dim() == 1
        if single:
            input = input.unsqueeze(0)
            hx = None if hx is None else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        if hx is None:
            zeros = self._state(input)
            hx = (zeros, zeros)
        h, c = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h.squeeze(0), c.squeeze(0)) if single else (h, c)
