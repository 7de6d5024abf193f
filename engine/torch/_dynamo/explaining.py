"""torch._dynamo.explain: what capture makes of a call, as an object that prints as PyTorch's does.

    print(torch._dynamo.explain(f)(x))
"""
import warnings
from torch._dynamo import _explain_call


class FrameSummary:
    def __init__(self, filename, lineno, name):
        self.filename = filename
        self.lineno = lineno
        self.name = name

    def __repr__(self):
        return f"<FrameSummary file {self.filename}, line {self.lineno} in {self.name}>"


class GraphCompileReason:
    """Why a graph ended: reason, user_stack."""

    def __init__(self, reason, user_stack, graph_break=True):
        self.reason = reason
        self.user_stack = user_stack
        self.graph_break = graph_break


class Guard:
    def __init__(self, source, name, kind, code):
        self.source = source
        self.name = name
        self.kind = kind
        self.guard_types = [kind]
        self.code_list = [code]

    def create_fn_name(self):
        return self.kind

    def __str__(self):
        return (f"\n        {self.source} {self.name!r} {self.kind}\n        {{\n            'guard_types': {self.guard_types},\n"
                f"            'code': {self.code_list},\n            'obj_weakref': None\n            'guarded_class': None\n        }}\n        ")


class Target:
    """The function that a node calls; prints as the function would."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


class ExplainOutput:
    def __init__(self, graphs, break_reasons, op_count, ops_per_graph, out_guards):
        self.graphs = graphs
        self.graph_count = len(graphs)
        self.graph_break_count = self.graph_count - 1
        self.break_reasons = break_reasons
        self.op_count = op_count
        self.ops_per_graph = ops_per_graph
        self.out_guards = out_guards
        self.compile_times = None

    def _lines(self):
        yield f"Graph Count: {self.graph_count}\n"
        yield f"Graph Break Count: {self.graph_break_count}\n"
        yield f"Op Count: {self.op_count}\n"
        yield "Break Reasons:\n"
        for number, reason in enumerate(self.break_reasons, 1):
            yield f"  Break Reason {number}:\n    Reason: {reason.reason}\n    User Stack:\n"
            for frame in reason.user_stack:
                yield f"      {frame}\n"
        if self.ops_per_graph is not None:
            yield "Ops per Graph:\n"
            for number, ops in enumerate(self.ops_per_graph, 1):
                yield f"  Ops {number}:\n"
                for op in ops:
                    yield f"    {op}\n"
        if self.out_guards is not None:
            yield "Out Guards:\n"
            for number, guard in enumerate(self.out_guards, 1):
                yield f"  Guard {number}:\n    {guard}"
        if self.compile_times is not None:
            yield f"Compile Times: {self.compile_times}\n"

    def __str__(self):
        return "".join(self._lines())


def explain(f, *extra_args, **extra_kwargs):
    def inner(*args, **kwargs):
        graphs, ops, reasons, guards = [], [], [], []
        for listing, targets, broke, entry_guards in _explain_call(f, args, kwargs):
            graphs.append(listing)
            ops.append([Target(t) for t in targets])
            guards.extend(Guard(*g) for g in entry_guards)
            if broke is not None:
                reason, stack = broke
                reasons.append(GraphCompileReason(reason, [FrameSummary(*frame) for frame in stack]))
        return ExplainOutput(graphs, reasons, sum(len(targets) for targets in ops), ops, guards)

    if extra_args or extra_kwargs:
        warnings.warn("explain(f, *args, **kwargs) is deprecated, use explain(f)(*args, **kwargs) instead", FutureWarning)
        return inner(*extra_args, **extra_kwargs)
    return inner
