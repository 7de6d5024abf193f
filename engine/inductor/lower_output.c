/* Lower: what the caller gets, and inputs that the program changes.
 *
 * In: the graph's outputs and mutations. Out: PlanOutputs (a view of an input or of a stored buffer), and for each mutation either a buffer that
 * may live in the input's own memory (memplan decides, when all readers are known) or a copy at the plan's end.
 * Invariant: a copy at the end never reads an input that was already overwritten. */
#include "inductor/lowering.h"

static int mutation_of_output(const Graph *graph, int output) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].output == output) return graph->mutations.at[i].input;
    return -1;
}

static bool is_mutated(const Graph *graph, int input) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].input == input) return true;
    return false;
}

static int input_buffer(Lowering *lowering, int input) { return node_value(lowering, lowering->l->graph->inputs.at[input])->buffer; }

static void give_output(Lowering *lowering, const Node *node) {
    PlanOutput output = {.buffer = -1, .alias_input = -1, .is_none = node == NULL};
    if (node) {
        output.buffer = node_view(lowering, node, &output.meta);
        LoopBuffer *buffer = &lowering->l->buffers.at[output.buffer];
        if (buffer->buffer.role == BUFFER_INPUT) output.alias_input = buffer->buffer.index;
        if (buffer->buffer.role == BUFFER_TEMPORARY) {
            buffer->buffer.role = BUFFER_OUTPUT;
            buffer->buffer.index = lowering->l->allocated_outputs++;
        }
        buffer->is_output = true;
    }
    vec_push_in(lowering->arena, &lowering->l->outputs, output);
}

static void give_mutated_input(Lowering *lowering, int input) {
    int buffer = input_buffer(lowering, input);
    PlanOutput output = {.buffer = buffer, .meta = lowering->l->buffers.at[buffer].buffer.meta, .alias_input = input};
    vec_push_in(lowering->arena, &lowering->l->outputs, output);
}

static bool same_layout(const Meta *a, const Meta *b) { return meta_equal(a, b) && a->offset == b->offset; }

static void lower_mutation(Lowering *lowering, int input, const Node *node) {
    Lowered *l = lowering->l;
    int target = input_buffer(lowering, input);
    Meta view, target_meta = l->buffers.at[target].buffer.meta;
    int source = node_view(lowering, node, &view);
    LoopBuffer *buffer = &l->buffers.at[source];
    if (source == target && same_layout(&view, &target_meta)) return;
    if (buffer->buffer.role == BUFFER_TEMPORARY && buffer->mutates < 0 && same_layout(&view, &target_meta) && same_layout(&buffer->buffer.meta, &target_meta)) {
        buffer->mutates = target;
        return;
    }
    bool overwritten = buffer->buffer.role == BUFFER_INPUT && is_mutated(l->graph, buffer->buffer.index);
    if (overwritten || view.dtype != target_meta.dtype || !meta_same_shape(&view, &target_meta)) {
        Meta layout = node->metas[0];
        layout.dtype = target_meta.dtype;
        layout = stored_meta(lowering, &layout);
        source = copy_to_buffer(lowering, node, &layout);
        view = layout;
    }
    FinalCopy copy = {source, target, view, target_meta};
    vec_push_in(lowering->arena, &l->copies, copy);
}

void lower_outputs(Lowering *lowering) {
    const Graph *graph = lowering->l->graph;
    for (int i = 0; i < graph->outputs.count; i++) {
        int mutated = mutation_of_output(graph, i);
        if (mutated >= 0) give_mutated_input(lowering, mutated);
        else give_output(lowering, graph->outputs.at[i]);
    }
    for (int i = 0; i < graph->mutations.count; i++) {
        const Node *value = graph->outputs.at[graph->mutations.at[i].output];
        if (value) lower_mutation(lowering, graph->mutations.at[i].input, value);
    }
}
