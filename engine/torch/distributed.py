"""torch.distributed for a world of one: no socket is opened, and every collective gives its input back."""
import torch

_state = {"initialized": False, "backend": None}


class ReduceOp:
    SUM = "SUM"
    AVG = "AVG"
    PRODUCT = "PRODUCT"
    MIN = "MIN"
    MAX = "MAX"


class _Work:
    """What an asynchronous collective returns; it is done already."""

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True


# ---- the group ----

def is_available():
    return True


def is_initialized():
    return _state["initialized"]


def is_nccl_available():
    return False


def is_gloo_available():
    return True


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None):
    if _state["initialized"]:
        raise ValueError("trying to initialize the default process group twice!")
    if world_size not in (-1, 1) or rank not in (-1, 0):
        raise NotImplementedError(f"torch.distributed: a world of one process is supported, not of {world_size}")
    _state["initialized"] = True
    _state["backend"] = "gloo" if backend is None else backend


def destroy_process_group(group=None):
    _check()
    _state["initialized"] = False


def _check():
    if not _state["initialized"]:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_rank(group=None):
    _check()
    return 0


def get_world_size(group=None):
    _check()
    return 1


def get_backend(group=None):
    _check()
    return _state["backend"]


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None):
    _check()
    return None


def barrier(group=None, async_op=False, device_ids=None):
    return _done(async_op)


# ---- collectives ----

def _done(async_op):
    _check()
    return _Work() if async_op else None


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    return _done(async_op)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    return _done(async_op)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    return _done(async_op)


def _copied(out, tensor, async_op):
    _check()
    with torch.no_grad():
        out.copy_(tensor)
    return _done(async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    return _copied(tensor_list[0], tensor, async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    return _copied(output_tensor, input_tensor.reshape(output_tensor.shape), async_op)


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    return _done(async_op) if gather_list is None else _copied(gather_list[0], tensor, async_op)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    return _done(async_op) if scatter_list is None else _copied(tensor, scatter_list[0], async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    return _copied(output, input_list[0], async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    return _copied(output, input.reshape(output.shape), async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    return _copied(output, input, async_op)


def all_gather_object(object_list, obj, group=None):
    _check()
    object_list[0] = obj


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    _check()
