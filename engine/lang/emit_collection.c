/* Emit collections: tuples, lists, sets, dicts.
 *
 * In: display nodes. Out: code that builds them.
 *
 *     [1, 2, 3]  ->  BUILD_LIST 0; LOAD_CONST (1, 2, 3); LIST_EXTEND 1
 *     (a, *b)    ->  LOAD a; BUILD_LIST 1; LOAD b; LIST_EXTEND 1; CALL_INTRINSIC_1 list to tuple
 *
 * Invariant: no more than about STACK_GUIDE items are on the stack at a time. */
#include "lang/emit.h"

bool constant_items(Emitter *emitter, const NodeList *items, int from, int to, Const *tuple) {
    Const *values = ARENA_ARRAY(emitter->session->arena, Const, to - from);
    for (int i = from; i < to; i++)
        if (!items->at[i] || !node_constant(emitter->session->arena, items->at[i], &values[i - from])) return false;
    *tuple = (Const){.kind = CONST_TUPLE, .tuple = {values, to - from}};
    return true;
}

typedef struct Display { int build, add, extend; bool tuple; } Display;

static Display display_of(NodeKind kind) {
    if (kind == NODE_SET) return (Display){OPCODE_BUILD_SET, OPCODE_SET_ADD, OPCODE_SET_UPDATE, false};
    return (Display){OPCODE_BUILD_LIST, OPCODE_LIST_APPEND, OPCODE_LIST_EXTEND, kind == NODE_TUPLE};
}

static void emit_list_to_tuple(Emitter *emitter, Display display, Span span) {
    if (display.tuple) emit_arg(emitter, OPCODE_CALL_INTRINSIC_1, INTRINSIC_LIST_TO_TUPLE, span);
}

static void emit_constant_items(Emitter *emitter, Const tuple, int pushed, Display display, Span span) {
    if (display.tuple && !pushed) {
        emit_const(emitter, tuple, span);
        return;
    }
    if (display.add == OPCODE_SET_ADD) tuple.kind = CONST_FROZENSET;
    emit_arg(emitter, display.build, pushed, span);
    emit_const(emitter, tuple, span);
    emit_arg(emitter, display.extend, 1, span);
    emit_list_to_tuple(emitter, display, span);
}

static bool has_starred(const NodeList *items) {
    for (int i = 0; i < items->count; i++)
        if (items->at[i]->kind == NODE_STARRED) return true;
    return false;
}

static void emit_starred_item(Emitter *emitter, Node *item, int before, bool *built, Display display, Span span) {
    if (!*built) emit_arg(emitter, display.build, before, span);
    *built = true;
    emit_expression(emitter, item->left);
    emit_arg(emitter, display.extend, 1, span);
}

/* Built first, then filled. */
static void emit_filled(Emitter *emitter, const NodeList *items, int pushed, bool built, Display display, Span span) {
    if (built) emit_arg(emitter, display.build, pushed, span);
    for (int i = 0; i < items->count; i++) {
        if (items->at[i]->kind == NODE_STARRED) {
            emit_starred_item(emitter, items->at[i], i + pushed, &built, display, span);
            continue;
        }
        emit_expression(emitter, items->at[i]);
        if (built) emit_arg(emitter, display.add, 1, span);
    }
    emit_list_to_tuple(emitter, display, span);
}

/* `pushed` values are on the stack already and become the first items. */
void emit_items(Emitter *emitter, const NodeList *items, int pushed, NodeKind kind, Span span) {
    Display display = display_of(kind);
    Const tuple;
    if (items->count > 2 && constant_items(emitter, items, 0, items->count, &tuple)) {
        emit_constant_items(emitter, tuple, pushed, display, span);
        return;
    }
    bool big = items->count + pushed > STACK_GUIDE;
    if (big || has_starred(items)) {
        emit_filled(emitter, items, pushed, big, display, span);
        return;
    }
    for (int i = 0; i < items->count; i++) emit_expression(emitter, items->at[i]);
    emit_arg(emitter, display.tuple ? OPCODE_BUILD_TUPLE : display.build, items->count + pushed, span);
}

void emit_display(Emitter *emitter, Node *node) {
    Const value;
    if (node->kind == NODE_TUPLE && node_constant(emitter->session->arena, node, &value)) emit_const(emitter, value, node->span);
    else emit_items(emitter, &node->collection.items, 0, node->kind, node->span);
}

void emit_iterable(Emitter *emitter, Node *node) {
    bool list = node->kind == NODE_LIST, set = node->kind == NODE_SET;
    Const value;
    if ((list && !has_starred(&node->collection.items)) || set) {
        if (constant_items(emitter, &node->collection.items, 0, node->collection.items.count, &value)) {
            if (set) value.kind = CONST_FROZENSET;
            emit_const(emitter, value, node->span);
            return;
        }
        if (list) {
            emit_items(emitter, &node->collection.items, 0, NODE_TUPLE, node->span);
            return;
        }
    }
    emit_expression(emitter, node);
}

/* Pairs from..to as one dict on the stack. */
static void emit_pairs(Emitter *emitter, Node *dict, int from, int to) {
    int count = to - from;
    bool big = count * 2 > STACK_GUIDE;
    Const keys;
    if (count > 1 && !big && constant_items(emitter, &dict->collection.items, from, to, &keys)) {
        for (int i = from; i < to; i++) emit_expression(emitter, dict->collection.values.at[i]);
        emit_const(emitter, keys, dict->span);
        emit_arg(emitter, OPCODE_BUILD_CONST_KEY_MAP, count, dict->span);
        return;
    }
    if (big) emit_arg(emitter, OPCODE_BUILD_MAP, 0, dict->span);
    for (int i = from; i < to; i++) {
        emit_expression(emitter, dict->collection.items.at[i]);
        emit_expression(emitter, dict->collection.values.at[i]);
        if (big) emit_arg(emitter, OPCODE_MAP_ADD, 1, dict->span);
    }
    if (!big) emit_arg(emitter, OPCODE_BUILD_MAP, count, dict->span);
}

static void emit_pairs_into(Emitter *emitter, Node *dict, int from, int to, bool *have) {
    if (from == to) return;
    emit_pairs(emitter, dict, from, to);
    if (*have) emit_arg(emitter, OPCODE_DICT_UPDATE, 1, dict->span);
    *have = true;
}

void emit_dict(Emitter *emitter, Node *node) {
    bool have = false;
    int count = node->collection.values.count, from = 0; /* pairs from `from` on are not emitted yet */
    for (int i = 0; i < count; i++) {
        if (!node->collection.items.at[i]) {
            emit_pairs_into(emitter, node, from, i, &have);
            if (!have) emit_arg(emitter, OPCODE_BUILD_MAP, 0, node->span);
            have = true;
            emit_expression(emitter, node->collection.values.at[i]);
            emit_arg(emitter, OPCODE_DICT_UPDATE, 1, node->span);
            from = i + 1;
        } else if ((i - from) * 2 > STACK_GUIDE) {
            emit_pairs_into(emitter, node, from, i + 1, &have);
            from = i + 1;
        }
    }
    emit_pairs_into(emitter, node, from, count, &have);
    if (!have) emit_arg(emitter, OPCODE_BUILD_MAP, 0, node->span);
}
