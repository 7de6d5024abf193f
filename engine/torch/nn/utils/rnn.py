"""torch.nn.utils.rnn: sequences of different lengths in one tensor, padded or packed.

    pad_sequence([torch.ones(2), torch.ones(3)], batch_first=True)   ->   [[1, 1, 0], [1, 1, 1]]
"""
from collections import namedtuple
import torch

aten = torch.ops.aten


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max([s.shape[0] for s in sequences])
    padded = []
    for sequence in sequences:
        missing = longest - sequence.shape[0]
        sides = [0, missing] if padding_side == "right" else [missing, 0]
        padded.append(aten.constant_pad_nd(sequence, [0, 0] * (sequence.dim() - 1) + sides, padding_value))
    return torch.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:int(length)] for row, length in zip(rows.unbind(0), lengths)]


# ---- packed: the rows of every step one after the other, longest sequences first ----

PackedSequence_ = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(PackedSequence_):
    """data: the steps' rows; batch_sizes: how many rows each step has; the order of the batch, there and back."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return PackedSequence_.__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        order, back = [None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices)]
        return PackedSequence(data, self.batch_sizes, order, back)

    def cpu(self):
        return self.to("cpu")

    def cuda(self):
        return self.to("cuda")

    def double(self):
        return self.to(torch.float64)

    def float(self):
        return self.to(torch.float32)

    @property
    def is_cuda(self):
        return self.data.is_cuda


def invert_permutation(permutation):
    if permutation is None:
        return None
    places = torch.arange(permutation.numel(), device=permutation.device)
    return torch.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = lengths.to(torch.int64) if isinstance(lengths, torch.Tensor) else torch.tensor(lengths, dtype=torch.int64)
    if lengths.device.type != "cpu":
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got 1D " + str(lengths.device) + " Long tensor")
    order = None
    if not enforce_sorted:
        lengths, order = torch.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    rows = input.transpose(0, 1) if batch_first else input
    counts = lengths.tolist()
    if len(counts) != rows.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={rows.shape[1]})")
    if min(counts) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any([a < b for a, b in zip(counts, counts[1:])]):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                           "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    if counts[0] > rows.shape[0]:
        raise RuntimeError(f"Expected all sequences to be at most {rows.shape[0]} long, but one of the lengths is {counts[0]}")
    sizes = [sum([1 for n in counts if n > t]) for t in range(counts[0])]
    data = torch.cat([rows[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, torch.tensor(sizes, dtype=torch.int64), order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    sizes = [int(n) for n in sequence.batch_sizes.tolist()]
    if total_length is not None and total_length < len(sizes):
        raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} and max sequence length being {len(sizes)}")
    steps = []
    for step in sequence.data.split(sizes):
        steps.append(aten.constant_pad_nd(step, [0, 0] * (step.dim() - 1) + [0, sizes[0] - step.shape[0]], padding_value))
    padded = torch.stack(steps, 0)
    if total_length is not None and total_length > len(sizes):
        padded = aten.constant_pad_nd(padded, [0, 0] * (padded.dim() - 1) + [0, total_length - len(sizes)], padding_value)
    lengths = torch.tensor([sum([1 for n in sizes if n > row]) for row in range(sizes[0])], dtype=torch.int64)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.tensor([s.shape[0] for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
