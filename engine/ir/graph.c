/* Graph building. In: calls from capture, tracing and passes. Out: nodes in topological order with unique FX-like names.
 *
 *     Node *y = graph_call(g, relu, args, 1, &meta, 1, span);    // %relu, then %relu_1 …
 *
 * Invariant: whatever a caller passes is copied into the graph's arena, so a graph lives as long as its entry and shares nothing. */
#include "ir/graph.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

Graph *graph_new(Arena *arena, const char *stage, SymTable *syms, int *next_id) {
    Graph *graph = ARENA_NEW(arena, Graph);
    graph->arena = arena;
    graph->stage = stage;
    graph->syms = syms;
    graph->next_id = next_id;
    graph->names = map_new(arena);
    return graph;
}

/* Names in use, keyed by text: a linear list would make big graphs quadratic, so the map is keyed by a hash of the text and each
 * value is a small chain. */
typedef struct NameCount { const char *name; bool used; int next /* number to try first behind this stem */; struct NameCount *chain; } NameCount;

static int64_t name_hash(const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (int64_t)(hash | 1);
}

static NameCount *name_count(Graph *graph, const char *name) {
    const void *key = map_key(name_hash(name));
    NameCount *first = map_get(graph->names, key), *found = first;
    while (found && strcmp(found->name, name)) found = found->chain;
    if (found) return found;
    found = ARENA_NEW(graph->arena, NameCount);
    found->name = arena_strdup(graph->arena, name);
    found->chain = first;
    map_put(graph->names, key, found);
    return found;
}

/* Python's keywords and builtins, which FX gives to no node; sorted. */
static const char *const reserved[] = {
    "False", "None", "True", "abs", "aiter", "all", "and", "anext", "any", "as", "ascii", "assert", "async", "await", "bin", "bool", "break", "breakpoint", "bytearray", "bytes", "callable",
    "chr", "class", "classmethod", "compile", "complex", "continue", "copyright", "credits", "def", "del", "delattr", "device", "dict", "dir", "divmod", "elif", "else", "enumerate", "eval",
    "except", "exec", "exit", "filter", "finally", "float", "for", "format", "from", "frozenset", "getattr", "global", "globals", "hasattr", "hash", "help", "hex", "id", "if", "import", "in",
    "inf", "input", "int", "is", "isinstance", "issubclass", "iter", "lambda", "len", "license", "list", "locals", "map", "max", "memoryview", "min", "nan", "next", "nonlocal", "not", "object",
    "oct", "open", "or", "ord", "pass", "pow", "print", "property", "quit", "raise", "range", "repr", "return", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str",
    "sum", "super", "torch", "try", "tuple", "type", "vars", "while", "with", "yield", "zip",
};

static int compare_names(const void *name, const void *entry) { return strcmp(name, *(const char *const *)entry); }

static bool name_is_reserved(const char *name) { return bsearch(name, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved, compare_names) != NULL; }

/* What a variable may be called becomes a name of ASCII letters, digits and _. */
static void put_word(Text *text, const char *base) {
    if (!*base || isdigit((unsigned char)*base)) text_char(text, '_');
    for (; *base; base++) {
        bool word = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') || (*base >= '0' && *base <= '9');
        text_char(text, word ? *base : '_');
    }
}

/* The first name free: base, base_1, base_2 … FX drops a numeric suffix of the base first ("x_1" again becomes "x_2"). */
static const char *name_unique(Graph *graph, const char *base) {
    Text text = {0};
    put_word(&text, base);
    size_t length = text.length;
    while (length > 1 && isdigit((unsigned char)text.data[length - 1])) length--;
    bool numbered = length < text.length && length > 1 && text.data[length - 1] == '_';
    char *stem = arena_strndup(graph->arena, text.data, numbered ? length - 1 : text.length);
    const char *name = text_in(&text, graph->arena);
    text_free(&text);
    NameCount *count = name_count(graph, stem), *taken = name_count(graph, name);
    while (taken->used || name_is_reserved(name)) {
        if (count->next == 0) count->next = 1;
        name = arena_printf(graph->arena, "%s_%d", stem, count->next++);
        taken = name_count(graph, name);
    }
    taken->used = true;
    return name;
}

static Node *node_new(Graph *graph, NodeKind kind, const char *base, Span span) {
    Node *node = ARENA_NEW(graph->arena, Node);
    node->id = (*graph->next_id)++;
    node->kind = kind;
    node->name = name_unique(graph, base);
    node->span = span;
    vec_push_in(graph->arena, &graph->nodes, node);
    return node;
}

static const Meta *metas_copy(Graph *graph, const Meta *metas, int count) {
    return arena_copy(graph->arena, metas, sizeof *metas * (size_t)count);
}

Node *graph_input(Graph *graph, const char *name, const Meta *meta, Span span) {
    Node *node = node_new(graph, NODE_INPUT, name, span);
    node->metas = metas_copy(graph, meta, 1);
    node->noutputs = 1;
    node->index = graph->inputs.count;
    vec_push_in(graph->arena, &graph->inputs, node);
    return node;
}

Node *graph_constant(Graph *graph, const char *name, const Meta *meta, void *tensor, Span span) {
    Node *node = node_new(graph, NODE_CONSTANT, name, span);
    node->metas = metas_copy(graph, meta, 1);
    node->noutputs = 1;
    node->constant = tensor;
    return node;
}

static Arg arg_copy(Arena *arena, const Arg *arg) {
    Arg copy = *arg;
    switch (arg->tag) {
    case ARG_TENSOR: {
        Node *node = arg->tensor.owner;
        assert(node);
        copy.tensor.meta = node->metas; /* of a number: none */
        copy.tensor.data = NULL;
        break;
    }
    case ARG_TENSORS: {
        Arg *items = ARENA_ARRAY(arena, Arg, arg->list.count ? arg->list.count : 1);
        for (int i = 0; i < arg->list.count; i++) items[i] = arg_copy(arena, &arg->list.items[i]);
        copy.list.items = items;
        break;
    }
    case ARG_INTS: copy.ints.at = arena_copy(arena, arg->ints.at, sizeof(Dim) * (size_t)arg->ints.count); break;
    case ARG_FLOATS: copy.floats.at = arena_copy(arena, arg->floats.at, sizeof(double) * (size_t)arg->floats.count); break;
    case ARG_STR: copy.s = arena_strdup(arena, arg->s); break;
    default: break;
    }
    return copy;
}

static const Arg *args_copy(Arena *arena, const Arg *args, int nargs) {
    Arg *copies = ARENA_ARRAY(arena, Arg, nargs ? nargs : 1);
    for (int i = 0; i < nargs; i++) copies[i] = arg_copy(arena, &args[i]);
    return copies;
}

/* "layers.relu_" as a name: in-place twins keep their underscore, as in FX. */
Node *graph_call(Graph *graph, const Op *op, const Arg *args, int nargs, const Meta *metas, int noutputs, Span span) {
    Node *node = node_new(graph, NODE_CALL, graph->call_name ? graph->call_name : op->name, span);
    graph->call_name = NULL;
    node->op = op;
    node->args = args_copy(graph->arena, args, nargs);
    node->nargs = nargs;
    node->metas = metas_copy(graph, metas, noutputs);
    node->noutputs = noutputs;
    return node;
}

Node *graph_getitem(Graph *graph, Node *call, int index) {
    assert(index < call->noutputs);
    Node *node = node_new(graph, NODE_GETITEM, "getitem", call->span);
    Arg arg = {.tag = ARG_TENSOR, .tensor = {&call->metas[0], NULL, call}};
    node->args = arena_copy(graph->arena, &arg, sizeof arg);
    node->nargs = 1;
    node->index = index;
    node->metas = &call->metas[index];
    node->noutputs = 1;
    node->side = call->side;
    node->module_path = call->module_path;
    return node;
}

Node *graph_number(Graph *graph, const char *spelled, const Arg *args, int nargs, Arg value, Span span) {
    Node *node = node_new(graph, NODE_NUMBER, spelled, span);
    node->spelled = spelled;
    node->args = args_copy(graph->arena, args, nargs);
    node->nargs = nargs;
    node->value = value;
    if (!graph->numbers) graph->numbers = map_new(graph->arena);
    if (value.tag == ARG_INT && !dim_is_int(value.i)) map_put(graph->numbers, map_key(value.i), node);
    return node;
}

Node *graph_effect(Graph *graph, const char *name, const char *spelled, const Arg *args, int nargs, Span span) {
    Node *node = node_new(graph, NODE_EFFECT, name, span);
    node->args = args_copy(graph->arena, args, nargs);
    node->nargs = nargs;
    node->spelled = arena_strdup(graph->arena, spelled);
    return node;
}

void graph_output(Graph *graph, Node *const *outputs, int count) {
    for (int i = 0; i < count; i++) vec_push_in(graph->arena, &graph->outputs, outputs[i]);
}

static void each_arg(const Arg *arg, void (*visit)(Node *, void *), void *state) {
    if (arg->tag == ARG_TENSOR) visit(arg->tensor.owner, state);
    if (arg->tag == ARG_TENSORS)
        for (int i = 0; i < arg->list.count; i++) each_arg(&arg->list.items[i], visit, state);
}

void node_each_input(const Node *node, void (*visit)(Node *input, void *state), void *state) {
    for (int i = 0; i < node->nargs; i++) each_arg(&node->args[i], visit, state);
}

static void count_use(Node *input, void *state) {
    (void)state;
    input->users++;
}

static void mark_used(Node *node, void *used) { map_put(used, node, node); }

static bool stays(const Node *node, const Map *used) {
    return node->kind == NODE_INPUT || map_has(used, node) || (node->kind == NODE_CALL && node->op->traits & (TRAIT_EFFECT | TRAIT_RANDOM));
}

void graph_drop_unused(Graph *graph) {
    Map *used = map_new(graph->arena);
    int kept = 0;
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i]) mark_used(graph->outputs.at[i], used);
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        if (stays(graph->nodes.at[i], used)) node_each_input(graph->nodes.at[i], mark_used, used);
    for (int i = 0; i < graph->nodes.count; i++)
        if (stays(graph->nodes.at[i], used)) graph->nodes.at[kept++] = graph->nodes.at[i];
    graph->nodes.count = kept;
}

void graph_finish(Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++) graph->nodes.at[i]->users = 0;
    for (int i = 0; i < graph->nodes.count; i++) node_each_input(graph->nodes.at[i], count_use, NULL);
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i]) graph->outputs.at[i]->users++;
}

void node_origin(Graph *graph, Node *node, const Node *from) {
    for (int i = 0; i < node->origin_count; i++)
        if (node->origins[i] == from->id) return;
    int *origins = ARENA_ARRAY(graph->arena, int, node->origin_count + 1);
    if (node->origin_count) memcpy(origins, node->origins, sizeof(int) * (size_t)node->origin_count);
    origins[node->origin_count++] = from->id;
    node->origins = origins;
    if (!node->span.file) node->span = from->span;
    if (!node->module_path) node->module_path = from->module_path;
    if (!node->region) node->region = from->region;
    if (!node->draw) node->draw = from->draw;
    if (node->kind == NODE_INPUT) node->is_parameter |= from->is_parameter;
}

void node_inherit(Graph *graph, Node *node, const Node *from) {
    for (int i = 0; i < from->origin_count; i++) {
        Node was = {.id = from->origins[i]};
        node_origin(graph, node, &was);
    }
}

void node_rename(Graph *graph, Node *node, const char *base) { node->name = name_unique(graph, base); }

Arg arg_node(Node *node) { return (Arg){.tag = ARG_TENSOR, .tensor = {&node->metas[0], NULL, node}}; }

/* Arguments with every node replaced by its image in map. */
static Arg arg_mapped(Arena *arena, const Arg *arg, const Map *map) {
    if (arg->tag == ARG_TENSOR) {
        Node *image = map_get(map, arg->tensor.owner);
        assert(image && "an argument was not copied before its user");
        return arg_node(image);
    }
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(arena, Arg, arg->list.count ? arg->list.count : 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = arg_mapped(arena, &arg->list.items[i], map);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

static Node *node_copy(Graph *graph, const Node *node, const Map *map) {
    switch (node->kind) {
    case NODE_INPUT: return graph_input(graph, node->name, &node->metas[0], node->span);
    case NODE_CONSTANT: return graph_constant(graph, node->name, &node->metas[0], node->constant, node->span);
    case NODE_GETITEM: return graph_getitem(graph, map_get(map, node->args[0].tensor.owner), node->index);
    case NODE_NUMBER: return graph_number(graph, node->spelled, node->args, node->nargs, node->value, node->span);
    case NODE_EFFECT: return graph_effect(graph, node->name, node->spelled, NULL, 0, node->span);
    case NODE_CALL: break;
    }
    Arg *args = ARENA_ARRAY(graph->arena, Arg, node->nargs ? node->nargs : 1);
    for (int i = 0; i < node->nargs; i++) args[i] = arg_mapped(graph->arena, &node->args[i], map);
    return graph_call(graph, node->op, args, node->nargs, node->metas, node->noutputs, node->span);
}

Node *graph_copy_node(Graph *graph, const Node *node, Map *map) {
    Node *copy = node_copy(graph, node, map);
    if (strcmp(copy->name, node->name)) node_rename(graph, copy, node->name);
    copy->side = node->side;
    copy->is_tangent = node->is_tangent;
    copy->tangent_of = node->tangent_of;
    copy->no_grad = node->no_grad;
    copy->in_heavy = node->in_heavy;
    node_origin(graph, copy, node);
    map_put(map, node, copy);
    return copy;
}

typedef struct HashState { uint64_t hash; const Map *numbers; } HashState;

static void hash_bytes(HashState *state, const void *data, size_t length) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i++) state->hash = (state->hash ^ bytes[i]) * UINT64_C(1099511628211);
}

static void hash_int(HashState *state, int64_t n) { hash_bytes(state, &n, sizeof n); }

static void hash_arg(HashState *state, const Arg *arg) {
    hash_int(state, arg->tag);
    switch (arg->tag) {
    case ARG_TENSOR: hash_int(state, (int64_t)(intptr_t)map_get(state->numbers, arg->tensor.owner)); break;
    case ARG_TENSORS:
        for (int i = 0; i < arg->list.count; i++) hash_arg(state, &arg->list.items[i]);
        break;
    case ARG_BOOL: hash_int(state, arg->b); break;
    case ARG_INT: hash_int(state, arg->i); break;
    case ARG_FLOAT: hash_bytes(state, &arg->f, sizeof arg->f); break;
    case ARG_INTS: hash_bytes(state, arg->ints.at, sizeof(Dim) * (size_t)arg->ints.count); break;
    case ARG_FLOATS: hash_bytes(state, arg->floats.at, sizeof(double) * (size_t)arg->floats.count); break;
    case ARG_STR: hash_bytes(state, arg->s, strlen(arg->s)); break;
    case ARG_DTYPE: hash_int(state, arg->dtype); break;
    case ARG_DEVICE: hash_int(state, (int)arg->device.kind * 64 + arg->device.index); break;
    case ARG_NONE: case ARG_OBJECT: break;
    }
}

static void hash_meta(HashState *state, const Meta *meta) {
    hash_int(state, meta->dtype);
    hash_int(state, (int)meta->device.kind * 64 + meta->device.index);
    hash_bytes(state, meta->sizes, sizeof(Dim) * (size_t)meta->rank);
    hash_bytes(state, meta->strides, sizeof(Dim) * (size_t)meta->rank);
    hash_int(state, meta->offset);
}

uint64_t graph_hash(const Graph *graph) {
    Arena *scratch = arena_new("graph hash");
    Map *numbers = map_new(scratch);
    HashState state = {UINT64_C(14695981039346656037), numbers};
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        map_put(numbers, node, (void *)(intptr_t)(i + 1));
        hash_int(&state, node->kind);
        hash_int(&state, node->index);
        if (node->op) hash_bytes(&state, node->op->name, strlen(node->op->name));
        for (int j = 0; j < node->nargs; j++) hash_arg(&state, &node->args[j]);
        for (int j = 0; j < node->noutputs; j++) hash_meta(&state, &node->metas[j]);
    }
    for (int i = 0; i < graph->outputs.count; i++)
        hash_int(&state, graph->outputs.at[i] ? (int64_t)(intptr_t)map_get(numbers, graph->outputs.at[i]) : 0);
    arena_free(scratch);
    return state.hash;
}
