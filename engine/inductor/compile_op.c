/* Compile op: one op as a plan, for eager execution on a card. In: an op with its arguments. Out: a plan of one graph with one node.
 *
 *     Plan *plan = inductor_compile_graph(c, graph, device, "add");
 *
 * Every pass of the compiler in order, without stages for somebody to look at. With symbolic sizes in the metas one plan serves all sizes. */
#include "inductor/inductor.h"
#include <stdio.h>

Plan *inductor_compile_graph(Compile *c, const Graph *graph, Device device, const char *name) {
    Lowered *lowered = lower(c, graph);
    lowered->device = device;
    Schedule *schedule = fuse(c, lowered);
    order(c, schedule);
    memplan(c, schedule);
    bind_axes(c, schedule, device);
    return generate(c, schedule, device, name);
}

typedef struct OpGraph { Graph *graph; Compile *c; int count; } OpGraph;

static Arg input_arg(OpGraph *g, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) {
        char name[24];
        snprintf(name, sizeof name, "x%d", g->count++);
        return arg_node(graph_input(g->graph, name, arg->tensor.meta, (Span){0}));
    }
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg copy = *arg, *items = ARENA_ARRAY(g->c->arena, Arg, arg->list.count ? arg->list.count : 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = input_arg(g, &arg->list.items[i]);
    copy.list.items = items;
    return copy;
}

Plan *inductor_compile_op(Compile *c, const Op *op, const Arg *args, int nargs, const Meta *outs, int nouts, Device device) {
    OpGraph g = {graph_new(c->arena, "op", c->syms, &c->next_node_id), c, 0};
    Arg *copies = ARENA_ARRAY(c->arena, Arg, nargs ? nargs : 1);
    for (int i = 0; i < nargs; i++) copies[i] = input_arg(&g, &args[i]);
    Node *call = graph_call(g.graph, op, copies, nargs, outs, nouts, (Span){0});
    for (int i = 0; i < nouts; i++) {
        Node *output = nouts == 1 ? call : graph_getitem(g.graph, call, i);
        graph_output(g.graph, &output, 1);
    }
    graph_finish(g.graph);
    return inductor_compile_graph(c, g.graph, device, op->name);
}
