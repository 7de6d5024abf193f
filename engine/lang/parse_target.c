/* Parse targets: what may be assigned to, looped over or deleted.
 *
 * In: expressions already parsed. Out: the same nodes with context STORE or DELETE, or Python's complaint.
 *
 *     make_target(<(a, *b.c)>, CONTEXT_STORE)      make_target(<f()>, …)  ->  "cannot assign to function call"
 *
 * Invariant: every NAME, ATTRIBUTE, SUBSCRIPT, STARRED, TUPLE and LIST of a target carries its context. */
#include "lang/parser.h"

static _Noreturn void fail_target(Parser *parser, const Node *node, Context context) {
    parser_fail(parser, node->span, "SyntaxError: cannot %s %s", context == CONTEXT_DELETE ? "delete" : "assign to", node_description(node));
}

static void make_targets(Parser *parser, const NodeList *items, Context context) {
    for (int i = 0; i < items->count; i++) items->at[i] = make_target(parser, items->at[i], context);
}

static bool was_subscript(const Node *node) { return node->kind == NODE_CONST && node->original && node->original->kind == NODE_SUBSCRIPT; }

Node *make_target(Parser *parser, Node *node, Context context) {
    if (was_subscript(node)) node = node->original; /* a constant index of a constant: an error of the running program */
    switch (node->kind) {
    case NODE_NAME: case NODE_ATTRIBUTE: case NODE_SUBSCRIPT:
        node->context = context;
        return node;
    case NODE_STARRED:
        if (context == CONTEXT_DELETE) fail_target(parser, node, context);
        node->context = context;
        node->left = make_target(parser, node->left, context);
        return node;
    case NODE_TUPLE: case NODE_LIST:
        node->context = context;
        make_targets(parser, &node->collection.items, context);
        return node;
    default: fail_target(parser, node, context);
    }
}

static Node *parse_star_target(Parser *parser) {
    if (parser_kind(parser) != TOKEN_STAR) return parse_bitwise(parser);
    uint32_t start = parser_take(parser).span.start;
    Node *value = parse_bitwise(parser);
    Node *node = parser_node(parser, NODE_STARRED, parser_span_from(parser, start));
    node->left = value;
    return node;
}

Node *parse_targets(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *first = parse_star_target(parser);
    if (parser_kind(parser) != TOKEN_COMMA) return make_target(parser, first, CONTEXT_STORE);
    Node *tuple = parser_node(parser, NODE_TUPLE, first->span);
    parser_push(parser, &tuple->collection.items, first);
    while (parser_accept(parser, TOKEN_COMMA) && parser_kind(parser) != TOKEN_IN)
        parser_push(parser, &tuple->collection.items, parse_star_target(parser));
    tuple->span = parser_span_from(parser, start);
    return make_target(parser, tuple, CONTEXT_STORE);
}

Node *parse_with_target(Parser *parser) { return make_target(parser, parse_star_target(parser), CONTEXT_STORE); }
