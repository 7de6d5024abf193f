/* See pieces.h. In: an entry whose graph has unbacked numbers. Out: steps: compiled pieces, and single nodes between them.
 *
 * Nodes are taken in their order. A node that tells a number, or whose insides a piece cannot hold, runs by itself; one that needs a number which a node
 * of the piece tells begins the next piece. */
#include "pieces.h"
#include "dynamo/unbacked.h"
#include "sizes.h"
#include <string.h>

typedef struct Step { Entry *piece; /* NULL: the nodes one by one */ VEC(const Node *) nodes, inputs, outputs; } Step; /* of the whole's graph; a piece's inputs and outputs in its order */
struct Pieces { VEC(Step *) steps; VEC(Entry *) compiled; };

int pieces_count(const Entry *entry) { return entry->pieces ? entry->pieces->compiled.count : 0; }
Entry *pieces_at(const Entry *entry, int index) { return entry->pieces->compiled.at[index]; }

/* ---- cutting ---- */

static bool tells_number(const Entry *entry, const Node *node) {
    for (int i = 0; i < entry->unbacked.count; i++)
        if (entry->unbacked.at[i].node == node) return true;
    return false;
}

static const Node *call_of(const Node *node) { return node->kind == NODE_GETITEM ? node->args[0].tensor.owner : node; }

/* A size of what it gives depends on its data. */
static bool has_late_shape(const Entry *entry, const Node *node) {
    for (int i = 0; i < entry->unbacked.count; i++)
        if (entry->unbacked.at[i].dim >= 0 && call_of(entry->unbacked.at[i].node) == call_of(node)) return true;
    return false;
}

bool pieces_needed(const Entry *entry) { return entry->unbacked.count > 0; }

static bool changes_in_place(const Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CALL && op_has(graph->nodes.at[i]->op, TRAIT_INPLACE)) return true;
    return false;
}

static bool runs_alone(const Entry *entry, const Node *node) {
    if (has_late_shape(entry, node)) return true;
    for (int i = 0; i < node->nargs; i++)
        if (node->args[i].tag == ARG_OBJECT) return true;
    return false;
}

static Step *step_new(Entry *entry) {
    Step *step = ARENA_NEW(entry->arena, Step);
    vec_push_in(entry->arena, &entry->pieces->steps, step);
    return step;
}

/* Has the piece a node that tells a number which nobody has read yet? Then what follows needs a step of its own. */
static bool step_tells(const Entry *entry, const Step *step) {
    for (int i = 0; i < step->nodes.count; i++)
        if (tells_number(entry, step->nodes.at[i])) return true;
    return false;
}

static void cut(Entry *entry) {
    Step *step = NULL;
    bool whole = changes_in_place(entry->graph), alone = false;
    for (int i = 0; i < entry->graph->nodes.count; i++) {
        const Node *node = entry->graph->nodes.at[i];
        if (node->kind == NODE_INPUT) continue;
        bool by_itself = whole || runs_alone(entry, node);
        if (!step || by_itself != alone || step_tells(entry, step)) step = step_new(entry);
        alone = by_itself;
        vec_push_in(entry->arena, &step->nodes, node);
        if (!alone) step->piece = entry; /* to be made */
    }
}

/* ---- making a piece ---- */

typedef struct Collect { Arena *arena; Step *step; Map *inside, *seen; } Collect;

static void collect_input(Node *input, void *state) {
    Collect *c = state;
    if (map_has(c->inside, input) || map_has(c->seen, input)) return;
    map_put(c->seen, input, input);
    if (input->kind != NODE_CONSTANT) vec_push_in(c->arena, &c->step->inputs, input);
}

static void mark_used(Node *input, void *state) { map_put(state, input, input); }

/* What later steps, the graph's outputs and the readers of numbers need of a step. */
static void find_outputs(Entry *entry, Step *step, int index) {
    Map *used = map_new(entry->arena);
    for (int s = index + 1; s < entry->pieces->steps.count; s++)
        for (int i = 0; i < entry->pieces->steps.at[s]->nodes.count; i++) node_each_input(entry->pieces->steps.at[s]->nodes.at[i], mark_used, used);
    for (int i = 0; i < entry->graph->outputs.count; i++)
        if (entry->graph->outputs.at[i]) mark_used(entry->graph->outputs.at[i], used);
    for (int i = 0; i < step->nodes.count; i++)
        if (step->nodes.at[i]->noutputs == 1 && (map_has(used, step->nodes.at[i]) || tells_number(entry, step->nodes.at[i]))) vec_push_in(entry->arena, &step->outputs, step->nodes.at[i]);
}

/* Does gradient reach a node of the captured graph? */
static bool needs_grad(const Node *node, Map *known);

typedef struct Reach { Map *known; bool found; } Reach;
static void reach_input(Node *input, void *state) { ((Reach *)state)->found |= needs_grad(input, ((Reach *)state)->known); }

static bool needs_grad(const Node *node, Map *known) {
    static char yes, no;
    void *found = map_get(known, node);
    if (found) return found == &yes;
    Reach reach = {known, node->kind == NODE_INPUT && node->metas[0].requires_grad};
    bool passes = node->kind == NODE_GETITEM || (node->kind == NODE_CALL && !node->no_grad && strncmp(node->op->name, "detach", 6));
    if (passes && dtype_is_float(node->metas[0].dtype)) node_each_input(node, reach_input, &reach);
    map_put(known, node, reach.found ? &yes : &no);
    return reach.found;
}

static void bind(Entry *piece, const Source *source, Dim var) {
    if (dim_is_int(dim_resolve(var))) return;
    ShapeBinding binding = {.at = {source, VALUE_OF, 0}, .dim = var, .defines = true, .input = -1, .argument = piece->int_count++, .why = "given at the start of the piece"};
    vec_push_in(piece->arena, &piece->bindings, binding);
    vec_push_in(piece->arena, &piece->graph->sizes, ((GraphSize){var, -1}));
}

/* Every symbol is an int that the piece is given. */
static void bind_all(Entry *piece, Entry *whole) {
    for (int i = 0; i < whole->bindings.count; i++)
        if (whole->bindings.at[i].defines) bind(piece, whole->bindings.at[i].at.source, whole->bindings.at[i].dim);
    for (int i = 0; i < whole->unbacked.count; i++) bind(piece, source_make(whole->sources, SOURCE_UNBACKED, NULL, NULL, i, VALUE_NULL), whole->unbacked.at[i].var);
}

static Entry *piece_new(Entry *whole) {
    Entry *piece = ARENA_NEW(whole->arena, Entry);
    *piece = (Entry){.refs = 1, .arena = whole->arena, .dynamo = whole->dynamo, .owner = whole->owner, .code = whole->code, .frame_id = whole->frame_id, .index = whole->index, .whole = whole,
                     .sources = whole->sources, .policy = whole->policy, .backend = whole->backend, .is_copy = whole->is_copy};
    piece->id = arena_printf(whole->arena, "%s.%d", whole->id, whole->pieces->compiled.count + 1);
    piece->guards.arena = whole->arena;
    piece->compile = (Compile){.arena = whole->arena, .syms = whole->compile.syms, .policy = &piece->policy, .ops = whole->compile.ops, .failure = &piece->failure, .id = piece->id, .vm = whole->compile.vm,
                               .runtime = whole->compile.runtime, .stage_done = whole->compile.stage_done, .stage_state = whole->compile.stage_state};
    piece->compile.reasons.arena = whole->arena;
    piece->graph = graph_new(whole->arena, "dynamo", piece->compile.syms, &piece->compile.next_node_id);
    return piece;
}

static void fill_graph(Entry *piece, Entry *whole, Step *step, Map *grads) {
    Map *copies = map_new(whole->arena);
    for (int i = 0; i < step->inputs.count; i++) {
        const Node *node = step->inputs.at[i];
        Meta meta = meta_resolved(&node->metas[0]);
        meta.offset = 0;
        meta.requires_grad = whole->compile.training && needs_grad(node, grads);
        piece->compile.training |= meta.requires_grad;
        map_put(copies, node, graph_input(piece->graph, node->name, &meta, node->span));
        vec_push_in(piece->arena, &piece->inputs, ((EntryInput){NULL, meta, node->span}));
    }
    for (int i = 0; i < step->nodes.count; i++) {
        Node *copy = graph_copy_node(piece->graph, step->nodes.at[i], copies);
        copy->autocast = step->nodes.at[i]->autocast;
        copy->is_method = step->nodes.at[i]->is_method, copy->is_operator = step->nodes.at[i]->is_operator;
        for (int k = 0; k < copy->noutputs; k++) *(Meta *)(uintptr_t)&copy->metas[k] = meta_resolved(&copy->metas[k]);
    }
    Node **outputs = ARENA_ARRAY(whole->arena, Node *, step->outputs.count + 1);
    for (int i = 0; i < step->outputs.count; i++) outputs[i] = map_get(copies, step->outputs.at[i]);
    graph_output(piece->graph, outputs, step->outputs.count);
    graph_finish(piece->graph);
}

static void compile_body(void *state) {
    Entry *piece = state;
    Artifacts *artifacts = ARENA_NEW(piece->arena, Artifacts);
    piece->artifacts = artifacts;
    pipeline(&piece->compile, piece->graph, artifacts);
}

/* One that cannot be compiled runs op by op. */
static void make_piece(Entry *whole, Step *step, Map *grads) {
    Entry *piece = piece_new(whole);
    TraceState state = trace_state(whole->dynamo->vm);
    fill_graph(piece, whole, step, grads);
    bind_all(piece, whole);
    step->piece = NULL;
    if (!step->outputs.count) return;
    whole->dynamo->vm->evaluator = NULL;
    if (fail_catch(&piece->failure, compile_body, piece)) step->piece = piece;
    else piece->artifacts = NULL;
    trace_state_restore(whole->dynamo->vm, &state);
    if (!step->piece) return;
    vec_push_in(whole->arena, &whole->pieces->compiled, piece);
    vec_push(&whole->dynamo->entries, entry_ref(piece));
}

void pieces_compile(Entry *entry) {
    Map *grads = map_new(entry->arena);
    entry->pieces = ARENA_NEW(entry->arena, struct Pieces);
    cut(entry);
    for (int i = 0; i < entry->pieces->steps.count; i++) {
        Step *step = entry->pieces->steps.at[i];
        if (!step->piece) continue;
        Collect c = {entry->arena, step, map_new(entry->arena), map_new(entry->arena)};
        for (int k = 0; k < step->nodes.count; k++) map_put(c.inside, step->nodes.at[k], step);
        for (int k = 0; k < step->nodes.count; k++) node_each_input(step->nodes.at[k], collect_input, &c);
        find_outputs(entry, step, i);
        make_piece(entry, step, grads);
    }
}

/* ---- running ---- */

/* What was assumed of numbers that are known by now. */
static bool assumptions_hold(GraphRun *run) {
    const SymTable *syms = run->entry->compile.syms;
    for (int i = 0; i < assumption_count(syms); i++) {
        Dim relation = assumption_at(syms, i)->relation;
        int64_t truth;
        if (dim_has_unbacked(relation) && graph_run_size(run, relation, &truth) && !truth) return false;
    }
    return true;
}

static bool dims_are(GraphRun *run, const Dim *want, const Dim *got, const Dim *sizes, int count) {
    for (int i = 0; i < count; i++) {
        int64_t value;
        if (sizes && sizes[i] == 1) continue; /* a stride that nobody takes */
        if (!graph_run_size(run, want[i], &value) || value != got[i]) return false;
    }
    return true;
}

/* Is a tensor what the piece was compiled for? */
static bool fits(GraphRun *run, const Meta *want, Value v) {
    if (!value_is(v, OBJ_TENSOR)) return false;
    const Meta *got = &((Tensor *)v.o)->meta;
    return want->dtype == got->dtype && device_equal(want->device, got->device) && want->rank == got->rank && dims_are(run, want->sizes, got->sizes, NULL, got->rank) &&
           dims_are(run, want->strides, got->strides, got->sizes, got->rank);
}

static bool take_arguments(GraphRun *run, const Step *step, Value *args) {
    const Entry *piece = step->piece;
    for (int i = 0; i < step->inputs.count; i++) {
        args[i] = graph_run_value(run, step->inputs.at[i]);
        if (!fits(run, &piece->graph->inputs.at[i]->metas[0], args[i])) return false;
    }
    for (int i = 0; i < piece->bindings.count; i++) {
        int64_t value = dim_hint(piece->bindings.at[i].dim); /* of a number that comes later: no size of this piece */
        graph_run_size(run, piece->bindings.at[i].dim, &value);
        args[step->inputs.count + i] = value_int(value);
    }
    return true;
}

/* 1: done; 0: this call is not one that it was compiled for; -1: an exception. */
static int run_piece(GraphRun *run, const Step *step) {
    int nargs = step->inputs.count + step->piece->int_count;
    Value *args = ARENA_ARRAY(run->scratch, Value, nargs + 1);
    if (!assumptions_hold(run) || !take_arguments(run, step, args)) return 0;
    Value outputs = compiled_run(step->piece, args, nargs);
    if (value_is_error(outputs)) return -1;
    for (int i = 0; i < step->outputs.count; i++) graph_run_keep(run, step->outputs.at[i], value_ref(((Tuple *)outputs.o)->items[i]));
    value_unref(run->vm, outputs);
    for (int i = 0; i < step->outputs.count; i++) graph_run_read(run, step->outputs.at[i]);
    return 1;
}

static bool run_step(GraphRun *run, const Step *step) {
    int done = step->piece ? run_piece(run, step) : 0;
    for (int i = 0; done == 0 && i < step->nodes.count; i++)
        if (!graph_run_node(run, step->nodes.at[i])) return false;
    return done >= 0;
}

Value pieces_run(Entry *entry, Value *args, int nargs) {
    GraphRun run = graph_run_begin(entry, args, nargs);
    bool ok = true;
    for (int i = 0; ok && i < entry->graph->inputs.count; i++) ok = graph_run_node(&run, entry->graph->inputs.at[i]);
    for (int i = 0; ok && i < entry->pieces->steps.count; i++) ok = run_step(&run, entry->pieces->steps.at[i]);
    return graph_run_end(&run, ok);
}
