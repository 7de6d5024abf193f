/* Decompose: rows that have a body in the language (softmax, layer norm …) are replaced by what their body does.
 *
 * In: the functional graph. Out: only ops with a loop form, a library or an eager kernel. Each new node's origins name what it came from.
 *
 *     _softmax(x, -1)   ->   amax, sub, exp, sum, div
 *
 * Ops that are to stay whole (`:set keep_whole`) go along; what is lowered is decomposed once more, without them.
 */
#include "aot/replay.h"

/* NULL: the body gave None, for a result that nobody asked for (a gradient that output_mask leaves out). */
static Node *result_of(Replay *replay, const Node *output) {
    bool nothing = !output || replay_value(replay, output).tag == V_NONE;
    return nothing ? NULL : replay_result_node(replay, replay_tensor(replay, output));
}

/* The steps of an op whose body holds a heavy one: marked, so that the forward's and the backward's stay apart (simplify.c). Else what a convolution lays out
 * for its matmul, many times its input, would be one value with what its backward lays out, and kept in between. */
static void mark_steps(Graph *graph, int first) {
    bool heavy = false;
    for (int i = first; i < graph->nodes.count; i++) heavy |= graph->nodes.at[i]->kind == NODE_CALL && op_has(graph->nodes.at[i]->op, TRAIT_HEAVY);
    for (int i = first; heavy && i < graph->nodes.count && graph->nodes.count - first > 1; i++) graph->nodes.at[i]->in_heavy = true;
}

Graph *decompose(Compile *c, const Graph *functional, const char *keep_whole) {
    Replay replay;
    replay_begin(&replay, c, functional, "decomposed");
    replay.tracer.expand_decomposed = true;
    replay.tracer.keep_whole = keep_whole;
    bool former = c->vm->grad_enabled;
    c->vm->grad_enabled = false;
    for (int i = 0; i < functional->nodes.count; i++) {
        int first = replay.to->nodes.count;
        replay_node(&replay, functional->nodes.at[i]);
        mark_steps(replay.to, first);
    }
    for (int i = 0; i < functional->outputs.count; i++) {
        Node *result = result_of(&replay, functional->outputs.at[i]);
        graph_output(replay.to, &result, 1);
    }
    replay.to->forward_outputs = functional->forward_outputs;
    replay.to->shares = functional->shares;
    for (int i = 0; i < functional->mutations.count; i++) vec_push_in(c->arena, &replay.to->mutations, functional->mutations.at[i]);
    for (int i = 0; i < functional->aliases.count; i++) vec_push_in(c->arena, &replay.to->aliases, functional->aliases.at[i]);
    c->vm->grad_enabled = former;
    return replay_end(&replay);
}
