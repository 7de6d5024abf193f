"""torch.fx as a backend given to torch.compile sees it: the captured graph as a module that can be called, looked at and printed.

    def backend(gm, example_inputs):
        print([node.op for node in gm.graph.nodes])
        return gm.forward

The graph is the compile entry's own: it can be read and run, not edited.
"""
import operator
import torch
from torch import nn


class Node:
    """op is "placeholder", "get_attr", "call_function", "call_method" or "output"."""

    def __init__(self, graph, op, name, target, args, kwargs, meta):
        self.graph = graph
        self.op = op
        self.name = name
        self.target = target
        self.args = args
        self.kwargs = kwargs
        self.meta = meta
        self.users = {}
        self.all_input_nodes = []

    def __repr__(self):
        return self.name

    def format_node(self):
        if self.op == "output":
            return f"return {self.args[0]}"
        users = f"[num_users={len(self.users)}]"
        if self.op in ("placeholder", "get_attr"):
            return f"%{self.name} : {users} = {self.op}[target={self.target}]"
        target = self.target if isinstance(self.target, str) else _spelled(self.target)
        return f"%{self.name} : {users} = {self.op}[target={target}](args = {_with_marks(self.args)}, kwargs = {_with_marks(self.kwargs)})"


def _spelled(function):
    name = getattr(function, "__name__", str(function))
    if hasattr(operator, name) and getattr(operator, name) is function:
        return f"operator.{name}"
    module = "torch.nn.functional" if not hasattr(torch, name) else "torch"
    return f"{module}.{name}"


def _with_marks(value):
    """As str, with % before nodes."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return "(" + ", ".join([_with_marks(item) for item in value]) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, list):
        return "[" + ", ".join([_with_marks(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join([f"{key}: {_with_marks(item)}" for key, item in value.items()]) + "}"
    return str(value)


class Graph:
    def __init__(self):
        self.nodes = []

    def find_nodes(self, op, target=None):
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def output_node(self):
        return self.nodes[-1]

    def lint(self):
        pass

    def print_tabular(self):
        rows = [("opcode", "name", "target", "args", "kwargs")]
        for node in self.nodes:
            rows.append((node.op, node.name, str(node.target), str(node.args), str(node.kwargs)))
        widths = [max([len(row[i]) for row in rows]) for i in range(5)]
        rows.insert(1, tuple(["-" * width for width in widths]))
        for row in rows:
            print("  ".join([text.ljust(width) for text, width in zip(row, widths)]).rstrip())

    def __str__(self):
        lines = ["graph():"]
        for node in self.nodes:
            lines.append("    " + node.format_node())
        return "\n".join(lines)


class GraphModule(nn.Module):
    def __init__(self, run, graph, code):
        super().__init__()
        self._run = run
        self.graph = graph
        self.code = code

    def forward(self, *args):
        return self._run(*args)

    def print_readable(self, print_output=True):
        text = "class GraphModule(torch.nn.Module):\n" + "\n".join(["    " + line if line else line for line in self.code.split("\n")])
        if print_output:
            print(text)
        return text

    def recompile(self):
        pass

    def __str__(self):
        return "GraphModule()\n\n\n\n" + self.code + "\n# To see more debug info, please use `graph_module.print_readable()`"


def _function_named(name, is_operator):
    """What a call_function node calls: of the operator module where the program wrote an operator."""
    spelled = {"div": "truediv", "floor_divide": "floordiv", "remainder": "mod", "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "select": "getitem", "slice": "getitem"}.get(name, name)
    if is_operator and hasattr(operator, spelled):
        return getattr(operator, spelled)
    if hasattr(torch, name):
        return getattr(torch, name)
    return getattr(torch.nn.functional, name, name)


def _with_nodes(value, nodes):
    """A reference to a node comes as ("%", its place); anything else as it is."""
    if isinstance(value, tuple) and len(value) == 2 and value[0] == "%":
        return nodes[value[1]]
    if isinstance(value, (tuple, list)):
        return type(value)([_with_nodes(item, nodes) for item in value])
    return value


def _inputs_of(value):
    if isinstance(value, Node):
        return [value]
    return [node for item in value for node in _inputs_of(item)] if isinstance(value, (tuple, list)) else []


def _graph_module(run, facts, code):
    """facts: (op, name, target, is operator, args, example value) a node, in order. Called by torch.compile."""
    graph = Graph()
    for op, name, target, is_operator, args, value in facts:
        args = _with_nodes(args, graph.nodes)
        if op == "call_function":
            target = _function_named(target, is_operator)
        node = Node(graph, op, name, target, args, {}, {} if value is None else {"example_value": value, "val": value})
        for used in _inputs_of(args):
            used.users[node] = None
            node.all_input_nodes.append(used)
        graph.nodes.append(node)
    return GraphModule(run, graph, code)
