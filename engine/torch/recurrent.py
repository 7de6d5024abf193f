"""Recurrent networks as functions: torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu and their cells.

The products with the input are made for all steps at once; then each step adds the product with its state:

    lstm(x, (h, c), weights, …)   ->   x @ w_ih.T + b_ih for all t;  for each t: gates, c, h
"""
import torch

aten = torch.ops.aten


# ---- one step: the input's part of the gates, the state, the state's weights ----

def _lstm_step(inputs, state, w_hh, b_hh):
    h, c = state
    i, f, g, o = (inputs + aten.linear(h, w_hh, b_hh)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru_step(inputs, state, w_hh, b_hh):
    h = state[0]
    i_r, i_z, i_n = inputs.chunk(3, -1)
    h_r, h_z, h_n = aten.linear(h, w_hh, b_hh).chunk(3, -1)
    reset, update = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
    new = torch.tanh(i_n + reset * h_n)
    return (new + update * (h - new),)


def _tanh_step(inputs, state, w_hh, b_hh):
    return (torch.tanh(inputs + aten.linear(state[0], w_hh, b_hh)),)


def _relu_step(inputs, state, w_hh, b_hh):
    return (torch.relu(inputs + aten.linear(state[0], w_hh, b_hh)),)


# ---- cells ----

def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return _lstm_step(aten.linear(input, w_ih, b_ih), hx, w_hh, b_hh)


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return _gru_step(aten.linear(input, w_ih, b_ih), (hx,), w_hh, b_hh)[0]


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return _tanh_step(aten.linear(input, w_ih, b_ih), (hx,), w_hh, b_hh)[0]


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return _relu_step(aten.linear(input, w_ih, b_ih), (hx,), w_hh, b_hh)[0]


# ---- layers ----

def _direction(step, inputs, state, weights, backwards):
    """One layer in one direction: all outputs, and the last state. With a projection the output is what is projected."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    gates = aten.linear(inputs, w_ih, b_ih).unbind(0)
    outputs = []
    for gate in reversed(gates) if backwards else gates:
        state = step(gate, state, w_hh, b_hh)
        if w_hr is not None:
            state = (aten.linear(state[0], w_hr),) + tuple(state[1:])
        outputs.append(state[0])
    if backwards:
        outputs.reverse()
    return torch.stack(outputs, 0), state


def _packed_direction(step, data, sizes, state, weights, backwards):
    """As _direction, of rows that go on for different lengths: at each step the first sizes[t] of them."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    gates = aten.linear(data, w_ih, b_ih).split(sizes)
    outputs = []
    for gate in reversed(gates) if backwards else gates:
        rows = gate.shape[0]
        moved = step(gate, tuple([part[:rows] for part in state]), w_hh, b_hh)
        if w_hr is not None:
            moved = (aten.linear(moved[0], w_hr),) + tuple(moved[1:])
        outputs.append(moved[0])
        state = tuple([torch.cat([new, part[rows:]]) if rows < part.shape[0] else new for new, part in zip(moved, state)])
    if backwards:
        outputs.reverse()
    return torch.cat(outputs), state


def _weights_of(params, at, biases, projection):
    """The four or five parameters of a layer's direction, from the flat list."""
    count = 2 + (2 if biases else 0) + (1 if projection else 0)
    own = params[at * count:(at + 1) * count]
    return own[0], own[1], own[2] if biases else None, own[3] if biases else None, own[-1] if projection else None


def _run(step, input, states, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, projection=False, sizes=None):
    """states: for each part of the state a tensor (layers * directions, batch, size). sizes: the input is packed, so many rows a step."""
    directions = 2 if bidirectional else 1
    inputs = input.transpose(0, 1) if batch_first else input
    last = [[] for _ in states]
    for layer in range(num_layers):
        made = []
        for direction in range(directions):
            at = layer * directions + direction
            state = tuple(part[at] for part in states)
            weights = _weights_of(params, at, has_biases, projection)
            if sizes is None:
                outputs, state = _direction(step, inputs, state, weights, direction == 1)
            else:
                outputs, state = _packed_direction(step, inputs, sizes, state, weights, direction == 1)
            made.append(outputs)
            for part, value in zip(last, state):
                part.append(value)
        inputs = torch.cat(made, -1) if bidirectional else made[0]
        if dropout > 0 and train and layer + 1 < num_layers:
            inputs = aten.native_dropout(inputs, dropout, True)[0]
    output = inputs.transpose(0, 1) if batch_first else inputs
    return (output,) + tuple(torch.stack(part, 0) for part in last)


def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    # With a projection the hidden state is smaller than the cell state.
    projection = hx[0].shape[-1] != hx[1].shape[-1]
    return _run(_lstm_step, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, projection)


def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(_gru_step, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


def rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(_tanh_step, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


def rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(_relu_step, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


def packed(mode, data, sizes, states, params, has_biases, num_layers, dropout, train, bidirectional, projection):
    """A layer of that mode over a packed sequence: its output, packed the same way, and the last states."""
    step = {"LSTM": _lstm_step, "GRU": _gru_step, "RNN_TANH": _tanh_step, "RNN_RELU": _relu_step}[mode]
    return _run(step, data, states, params, has_biases, num_layers, dropout, train, bidirectional, False, projection, sizes)
