"""torch.nn.utils.rnn: sequences of different lengths in one tensor, padded.

    pad_sequence([torch.ones(2), torch.ones(3)], batch_first=True)   ->   [[1, 1, 0], [1, 1, 1]]
"""
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


def _refused(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.nn.utils.rnn.{name} is not supported: use padded sequences")
    return refuse


pack_padded_sequence, pad_packed_sequence, pack_sequence = [_refused(name) for name in (
    "pack_padded_sequence", "pad_packed_sequence", "pack_sequence")]
