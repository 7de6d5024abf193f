/* Emit targets: storing the top of the stack to names, attributes, items and lists of them; deleting them.
 *
 * In: a node with context STORE or DELETE. Out: code that takes the value (STORE) or nothing (DELETE).
 *
 *     a, *b = v  ->  …v; UNPACK_EX 1; STORE a; STORE b
 *
 * Invariant: the containers and keys of targets are evaluated after the value, from left to right. */
#include "lang/emit.h"

static void emit_unpack(Emitter *emitter, Node *node) {
    const NodeList *items = &node->collection.items;
    int star = -1;
    for (int i = 0; i < items->count; i++) {
        if (items->at[i]->kind != NODE_STARRED) continue;
        if (star >= 0) emit_fail(emitter, node->span, "SyntaxError: multiple starred expressions in assignment");
        if (i >= 1 << 8 || items->count - i - 1 >= 1 << 23)
            emit_fail(emitter, node->span, "SyntaxError: too many expressions in star-unpacking assignment");
        star = i;
    }
    if (star >= 0) emit_arg(emitter, OPCODE_UNPACK_EX, star + ((items->count - star - 1) << 8), node->span);
    else emit_arg(emitter, OPCODE_UNPACK_SEQUENCE, items->count, node->span);
}

static void emit_sequence_target(Emitter *emitter, Node *node) {
    const NodeList *items = &node->collection.items;
    if (node->context == CONTEXT_STORE) emit_unpack(emitter, node);
    for (int i = 0; i < items->count; i++) emit_target(emitter, items->at[i]->kind == NODE_STARRED ? items->at[i]->left : items->at[i]);
}

static void emit_subscript_target(Emitter *emitter, Node *node) {
    emit_expression(emitter, node->left);
    if (is_plain_slice(node->subscript.index) && node->context == CONTEXT_STORE) {
        emit_slice_parts(emitter, node->subscript.index);
        emit_op(emitter, OPCODE_STORE_SLICE, node->span);
        return;
    }
    emit_expression(emitter, node->subscript.index);
    emit_op(emitter, node->context == CONTEXT_STORE ? OPCODE_STORE_SUBSCR : OPCODE_DELETE_SUBSCR, node->span);
}

void emit_target(Emitter *emitter, Node *node) {
    bool store = node->context == CONTEXT_STORE;
    switch (node->kind) {
    case NODE_NAME: emit_variable(emitter, node->name.id, node->context, node->span); break;
    case NODE_ATTRIBUTE:
        emit_expression(emitter, node->left);
        emit_name_op(emitter, store ? OPCODE_STORE_ATTR : OPCODE_DELETE_ATTR, node->name.id, attribute_span(node, node->span));
        break;
    case NODE_SUBSCRIPT: emit_subscript_target(emitter, node); break;
    case NODE_TUPLE: case NODE_LIST: emit_sequence_target(emitter, node); break;
    default: emit_fail(emitter, node->span, "SyntaxError: starred assignment target must be in a list or tuple");
    }
}
