"""Small helpers about shapes, dims and dtypes that the library's files share."""
import torch


def wide(x):
    """A 16-bit tensor as float32, in which it is computed; others as they are."""
    return x.to(torch.float32) if x.dtype == torch.float16 or x.dtype == torch.bfloat16 else x


def dims_of(dim, rank):
    """A `dim` argument as an ascending list: None and () name every dimension."""
    if rank == 0:
        return []
    if dim is None:
        return list(range(rank))
    if isinstance(dim, int):
        return [dim % rank]
    if len(dim) == 0:
        return list(range(rank))
    return sorted([d % rank for d in dim])


def size_of(shape, dims):
    """How many elements the named dims of a shape span."""
    count = 1
    for d in dims:
        count = count * shape[d]
    return count


def reduce_loss(loss, reduction):
    """0: as it is, 1: mean, 2: sum."""
    if reduction == 1:
        return loss.mean()
    return loss.sum() if reduction == 2 else loss
