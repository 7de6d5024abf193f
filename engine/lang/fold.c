/* Fold: constant folding as the parser builds nodes, the same cases as CPython 3.12's.
 *
 * In: a new unary, binary or subscript node. Out: a CONST (its `original` is the node given), or the node itself.
 *
 *     -1 -> CONST -1      "a" "b" * 2 -> CONST      not (a in b) -> COMPARE not in      (1, 2)[0] -> CONST 1
 *
 * Invariant: nothing is folded that would raise, overflow 64 bits or grow beyond CPython's limits.
 * To add a case: fold_operation (fold_value.c), for two constants; here for anything else. */
#include "lang/ast.h"
#include <string.h>

static Node *folded(LangSession *session, Node *original, Const value) {
    Node *node = ARENA_NEW(session->arena, Node);
    node->kind = NODE_CONST;
    node->span = original->span;
    node->original = original;
    node->constant = value;
    return node;
}

static Const const_bool(bool value) { return (Const){.kind = value ? CONST_TRUE : CONST_FALSE}; }

static bool fold_unary_value(UnaryOp op, Const *value) {
    if (op == UNARY_LOGICAL_NOT) return *value = const_bool(!const_truth(value)), true;
    bool is_bool = value->kind == CONST_TRUE || value->kind == CONST_FALSE;
    if (is_bool) *value = (Const){.kind = CONST_INT, .i = value->kind == CONST_TRUE};
    if (value->kind == CONST_FLOAT && op != UNARY_INVERSE) {
        if (op == UNARY_NEGATE) value->f = -value->f;
        return true;
    }
    if (value->kind != CONST_INT) return false;
    if (op == UNARY_NEGATE && value->i == INT64_MIN) return false;
    if (op == UNARY_NEGATE) value->i = -value->i;
    if (op == UNARY_INVERSE) value->i = ~value->i;
    return true;
}

/* `not` over a single identity or membership test turns the test round. */
static Node *fold_not_compare(Node *compare) {
    static const int opposite[] = {[COMPARE_IS] = COMPARE_IS_NOT, [COMPARE_IS_NOT] = COMPARE_IS, [COMPARE_IN] = COMPARE_NOT_IN, [COMPARE_NOT_IN] = COMPARE_IN};
    if (compare->compare.operands.count != 2 || compare->compare.ops[0] < COMPARE_IS) return NULL;
    compare->compare.ops[0] = opposite[compare->compare.ops[0]];
    return compare;
}

Node *fold_unary(LangSession *session, Node *node) {
    Const value;
    UnaryOp op = (UnaryOp)node->operation.op;
    if (op == UNARY_LOGICAL_NOT && node->left->kind == NODE_COMPARE) {
        Node *turned = fold_not_compare(node->left);
        if (turned) return turned;
    }
    if (!node_constant(session->arena, node->left, &value) || !fold_unary_value(op, &value)) return node;
    return folded(session, node, value);
}

static bool has_starred(const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->at[i]->kind == NODE_STARRED) return true;
    return false;
}

Node *fold_binary(LangSession *session, Node *node) {
    Node *left = node->left, *right = node->operation.right;
    bool is_format = node->operation.op == BINARY_REMAINDER && left->kind == NODE_CONST && left->constant.kind == CONST_STR;
    Const a, b, value;
    if (is_format && right->kind == NODE_TUPLE && !has_starred(&right->collection.items) && !node_constant(session->arena, right, &b)) {
        Node *formatted = fold_percent(session, node);
        return formatted ? formatted : node;
    }
    if (left->kind != NODE_CONST && left->kind != NODE_TUPLE) return node; /* the usual case, without a walk */
    if (!node_constant(session->arena, left, &a) || !node_constant(session->arena, right, &b)) return node;
    if (!fold_operation(session, (BinaryOp)node->operation.op, &a, &b, &value)) return node;
    return folded(session, node, value);
}

/* Character `index` of a string, as a string. */
static bool fold_character(LangSession *session, const Const *string, int64_t index, Const *value) {
    int64_t count = 0;
    const char *end = string->s.text + string->s.length;
    for (const char *at = string->s.text; at < end; at++) count += (*at & 0xc0) != 0x80;
    if (index < 0) index += count;
    if (index < 0 || index >= count) return false;
    const char *at = string->s.text;
    for (int64_t i = -1; at < end; at++)
        if ((*at & 0xc0) != 0x80 && ++i == index) break;
    const char *next = at + 1;
    while (next < end && (*next & 0xc0) == 0x80) next++;
    uint32_t length = (uint32_t)(next - at);
    *value = (Const){.kind = CONST_STR, .s = {arena_strndup(session->arena, at, length), length}};
    return true;
}

Node *fold_subscript(LangSession *session, Node *node) {
    Const container, index, value;
    if (!node_constant(session->arena, node->left, &container) || !node_constant(session->arena, node->subscript.index, &index)) return node;
    if (index.kind == CONST_TRUE || index.kind == CONST_FALSE) index = (Const){.kind = CONST_INT, .i = index.kind == CONST_TRUE};
    if (index.kind != CONST_INT) return node;
    if (container.kind == CONST_STR) return fold_character(session, &container, index.i, &value) ? folded(session, node, value) : node;
    if (container.kind != CONST_TUPLE) return node;
    int64_t i = index.i < 0 ? index.i + container.tuple.count : index.i;
    return i >= 0 && i < container.tuple.count ? folded(session, node, container.tuple.items[i]) : node;
}
