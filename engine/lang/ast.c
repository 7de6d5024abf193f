/* AST: descriptions, the walk down left spines, constants.
 *
 * In: nodes. Out: facts about them.
 *
 *     node_description(<f(x)>)  ->  "function call"
 *
 * Invariant: nothing here changes a node but for the scratch field `up`. */
#include "lang/ast.h"
#include <math.h>
#include <string.h>

static const char *constant_description(const Node *node) {
    if (node->original) return node_description(node->original);
    switch (node->constant.kind) {
    case CONST_NONE: return "None";
    case CONST_TRUE: return "True";
    case CONST_FALSE: return "False";
    case CONST_ELLIPSIS: return "ellipsis";
    default: return "literal";
    }
}

const char *node_description(const Node *node) {
    switch (node->kind) {
    case NODE_CONST: return constant_description(node);
    case NODE_NAME: return "name";
    case NODE_ATTRIBUTE: return "attribute";
    case NODE_SUBSCRIPT: return "subscript";
    case NODE_CALL: return "function call";
    case NODE_STARRED: return "starred";
    case NODE_UNARY: case NODE_BINARY: case NODE_BOOL: return "expression";
    case NODE_COMPARE: return "comparison";
    case NODE_CONDITIONAL: return "conditional expression";
    case NODE_WALRUS: return "named expression";
    case NODE_LAMBDA: return "lambda";
    case NODE_TUPLE: return "tuple";
    case NODE_LIST: return "list";
    case NODE_SET: return "set display";
    case NODE_DICT: return "dict literal";
    case NODE_LIST_COMP: return "list comprehension";
    case NODE_SET_COMP: return "set comprehension";
    case NODE_DICT_COMP: return "dict comprehension";
    case NODE_GENERATOR: return "generator expression";
    case NODE_FSTRING: return node->original ? "expression" : "f-string expression";
    case NODE_YIELD: case NODE_YIELD_FROM: return "yield expression";
    default: return "expression";
    }
}

static Node *spine_left(const Node *node) {
    bool chains = node->kind == NODE_BINARY || node->kind == NODE_ATTRIBUTE || node->kind == NODE_SUBSCRIPT || node->kind == NODE_CALL;
    return chains ? node->left : NULL;
}

Node *ast_spine_base(Node *node) {
    node->up = NULL;
    for (Node *left; (left = spine_left(node)) != NULL; node = left) left->up = node;
    return node;
}

bool node_constant(Arena *arena, const Node *node, Const *value) {
    if (node->kind == NODE_CONST) return *value = node->constant, true;
    if (node->kind != NODE_TUPLE || node->context != CONTEXT_LOAD) return false;
    int count = node->collection.items.count;
    for (int i = 0; i < count; i++) { /* before anything is allocated */
        NodeKind kind = node->collection.items.at[i]->kind;
        if (kind != NODE_CONST && kind != NODE_TUPLE) return false;
    }
    Const *items = ARENA_ARRAY(arena, Const, count);
    for (int i = 0; i < count; i++)
        if (!node_constant(arena, node->collection.items.at[i], &items[i])) return false;
    *value = (Const){.kind = CONST_TUPLE, .tuple = {items, count}};
    return true;
}

static bool tuple_equal(const Const *a, const Const *b) {
    if (a->tuple.count != b->tuple.count) return false;
    for (int i = 0; i < a->tuple.count; i++)
        if (!const_equal(&a->tuple.items[i], &b->tuple.items[i])) return false;
    return true;
}

bool const_equal(const Const *a, const Const *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case CONST_INT: return a->i == b->i;
    case CONST_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case CONST_STR: return a->s.length == b->s.length && memcmp(a->s.text, b->s.text, a->s.length) == 0;
    case CONST_TUPLE: case CONST_FROZENSET: return tuple_equal(a, b);
    case CONST_CODE: return a->code == b->code;
    case CONST_OBJECT: return a->object == b->object;
    default: return true;
    }
}

Const const_copy(Arena *arena, const Const *value) {
    Const copy = *value;
    if (value->kind == CONST_STR) copy.s.text = arena_strndup(arena, value->s.text, value->s.length);
    if (value->kind != CONST_TUPLE && value->kind != CONST_FROZENSET) return copy;
    copy.tuple.items = ARENA_ARRAY(arena, Const, value->tuple.count);
    for (int i = 0; i < value->tuple.count; i++) copy.tuple.items[i] = const_copy(arena, &value->tuple.items[i]);
    return copy;
}

bool const_truth(const Const *value) {
    switch (value->kind) {
    case CONST_NONE: case CONST_FALSE: return false;
    case CONST_INT: return value->i != 0;
    case CONST_FLOAT: return fpclassify(value->f) != FP_ZERO;
    case CONST_STR: return value->s.length != 0;
    case CONST_TUPLE: case CONST_FROZENSET: return value->tuple.count != 0;
    default: return true;
    }
}
