/* Parse statements: lines of simple statements, expression statements and the assignments.
 *
 * In: tokens at the start of a statement. Out: its node (several for "a; b") appended to a list.
 *
 *     "a = b, *c = d"  ->  ASSIGN {targets [a, TUPLE [b, *c]], value d}
 *
 * Invariant: what is refused by name (async, match, type aliases) is refused before it could be misread. */
#include "lang/parser.h"
#include <string.h>

static bool is_name(const Parser *parser, int ahead, const char *name) {
    int i = parser->at + ahead;
    return i < parser->tokens.count && parser->tokens.at[i].kind == TOKEN_NAME && strcmp(parser->tokens.at[i].name, name) == 0;
}

/* `match` and `type` are ordinary names but for the shape of their line. */
static void refuse_match(Parser *parser) {
    if (!is_name(parser, 0, "match")) return;
    int i = 0;
    while (parser_kind_after(parser, i) != TOKEN_NEWLINE && parser_kind_after(parser, i) != TOKEN_END) i++;
    bool block = i > 1 && parser_kind_after(parser, i - 1) == TOKEN_COLON && parser_kind_after(parser, i + 1) == TOKEN_INDENT;
    if (block && is_name(parser, i + 2, "case")) parser_fail(parser, parser_here(parser), "unsupported: match statements");
}

static void refuse_type_alias(Parser *parser) {
    bool alias = is_name(parser, 0, "type") && parser_kind_after(parser, 1) == TOKEN_NAME &&
                 (parser_kind_after(parser, 2) == TOKEN_EQUAL || parser_kind_after(parser, 2) == TOKEN_LSQB);
    if (alias) parser_fail(parser, parser_here(parser), "unsupported: type aliases");
}

static void refuse_async(Parser *parser) {
    if (parser_kind(parser) != TOKEN_ASYNC) return;
    TokenKind next = parser_kind_after(parser, 1);
    parser_fail(parser, parser_here(parser), "unsupported: async %s", next == TOKEN_FOR ? "for" : next == TOKEN_WITH ? "with" : "functions");
}

static Node *expression_statement(Parser *parser, Node *value) {
    Node *node = parser_node(parser, NODE_EXPRESSION, value->span);
    node->left = value;
    return node;
}

static const struct { TokenKind token; BinaryOp op; } augmented[] = {
    {TOKEN_PLUS_EQUAL, BINARY_ADD}, {TOKEN_MINUS_EQUAL, BINARY_SUBTRACT}, {TOKEN_STAR_EQUAL, BINARY_MULTIPLY},
    {TOKEN_SLASH_EQUAL, BINARY_TRUE_DIVIDE}, {TOKEN_DOUBLE_SLASH_EQUAL, BINARY_FLOOR_DIVIDE}, {TOKEN_PERCENT_EQUAL, BINARY_REMAINDER},
    {TOKEN_DOUBLE_STAR_EQUAL, BINARY_POWER}, {TOKEN_SHIFT_LEFT_EQUAL, BINARY_LSHIFT}, {TOKEN_SHIFT_RIGHT_EQUAL, BINARY_RSHIFT},
    {TOKEN_AMPER_EQUAL, BINARY_AND}, {TOKEN_PIPE_EQUAL, BINARY_OR}, {TOKEN_CARET_EQUAL, BINARY_XOR}, {TOKEN_AT_EQUAL, BINARY_MATRIX_MULTIPLY}};

static int find_augmented(TokenKind kind) {
    for (size_t i = 0; i < sizeof augmented / sizeof *augmented; i++)
        if (augmented[i].token == kind) return (int)augmented[i].op;
    return -1;
}

static Node *parse_augmented(Parser *parser, Node *target, int op, uint32_t start) {
    if (target->kind != NODE_NAME && target->kind != NODE_ATTRIBUTE && target->kind != NODE_SUBSCRIPT)
        parser_fail(parser, target->span, "SyntaxError: '%s' is an illegal expression for augmented assignment", node_description(target));
    parser_take(parser);
    target->context = CONTEXT_STORE;
    Node *value = parse_star_or_yield(parser);
    Node *node = parser_node(parser, NODE_AUG_ASSIGN, parser_span_from(parser, start));
    node->operation.op = op + BINARY_INPLACE;
    node->left = target;
    node->operation.right = value;
    return node;
}

static Node *parse_annotated(Parser *parser, Node *target, uint32_t start) {
    if (target->kind == NODE_TUPLE || target->kind == NODE_LIST)
        parser_fail(parser, target->span, "SyntaxError: only single target (not %s) can be annotated", node_description(target));
    if (target->kind != NODE_NAME && target->kind != NODE_ATTRIBUTE && target->kind != NODE_SUBSCRIPT)
        parser_fail(parser, target->span, "SyntaxError: illegal target for annotation");
    parser_take(parser);
    target->context = CONTEXT_STORE;
    Node *annotation = parse_expression(parser), *value = NULL;
    if (parser_accept(parser, TOKEN_EQUAL)) value = parse_star_or_yield(parser);
    Node *node = parser_node(parser, NODE_ANN_ASSIGN, parser_span_from(parser, start));
    node->left = annotation;
    node->walrus.target = target;
    node->walrus.value = value;
    return node;
}

static bool find_wrong_target(const Node *node) {
    switch (node->kind) {
    case NODE_NAME: case NODE_ATTRIBUTE: case NODE_SUBSCRIPT: return false;
    case NODE_STARRED: return find_wrong_target(node->left);
    case NODE_TUPLE: case NODE_LIST:
        for (int i = 0; i < node->collection.items.count; i++)
            if (find_wrong_target(node->collection.items.at[i])) return true;
        return false;
    default: return true;
    }
}

/* The first target of "f() = 1" gets Python's hint; those of chains and lists do not. */
static Node *assign_target(Parser *parser, Node *target, bool first) {
    if (target->kind == NODE_YIELD || target->kind == NODE_YIELD_FROM)
        parser_fail(parser, target->span, "SyntaxError: assignment to yield expression not possible");
    bool simple = target->kind != NODE_TUPLE && target->kind != NODE_LIST && target->kind != NODE_NAME && target->kind != NODE_STARRED &&
                  target->kind != NODE_ATTRIBUTE && target->kind != NODE_SUBSCRIPT;
    const NodeList *items = &target->collection.items;
    bool list = target->kind == NODE_TUPLE && !target->parenthesized && find_wrong_target(target);
    if (first && simple) check_stray_equal(parser, target);
    if (first && list) check_stray_equal(parser, items->at[items->count - 1]);
    return make_target(parser, target, CONTEXT_STORE);
}

/* Is "value = next" the whole rest, so that the equals sign may have been meant as a comparison? */
static bool single_equal(Parser *parser) {
    int ahead = 1, depth = 0;
    for (TokenKind kind; (kind = parser_kind_after(parser, ahead)) != TOKEN_NEWLINE && kind != TOKEN_END && kind != TOKEN_SEMI; ahead++) {
        if (kind == TOKEN_LPAR || kind == TOKEN_LSQB || kind == TOKEN_LBRACE) depth++;
        if (kind == TOKEN_RPAR || kind == TOKEN_RSQB || kind == TOKEN_RBRACE) depth--;
        if (depth == 0 && (kind == TOKEN_EQUAL || kind == TOKEN_WALRUS)) return false;
    }
    return true;
}

static Node *parse_assignment(Parser *parser, Node *first, uint32_t start) {
    Node *node = parser_node(parser, NODE_ASSIGN, first->span), *next = first;
    while (parser_kind(parser) == TOKEN_EQUAL) {
        next = assign_target(parser, next, next == first && single_equal(parser));
        parser_push(parser, &node->assign.targets, next);
        parser_take(parser);
        next = parse_star_or_yield(parser);
    }
    node->assign.value = next;
    node->span = parser_span_from(parser, start);
    return node;
}

static void check_legacy(Parser *parser, const Node *first) {
    bool legacy = first->kind == NODE_NAME && !first->parenthesized && (strcmp(first->name.id, "print") == 0 || strcmp(first->name.id, "exec") == 0);
    if (!legacy || !starts_expression(parser_kind(parser)) || parser->trial) return;
    Node *argument = parser_try(parser, parse_star_expressions);
    if (argument)
        parser_fail(parser, span_join(first->span, argument->span),
                    "SyntaxError: Missing parentheses in call to '%s'. Did you mean %s(...)?", first->name.id, first->name.id);
}

static Node *parse_expression_statement(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *first = parse_star_or_yield(parser);
    TokenKind kind = parser_kind(parser);
    int op = find_augmented(kind);
    if (kind == TOKEN_EQUAL) return parse_assignment(parser, first, start);
    if (kind == TOKEN_COLON && first->kind != NODE_YIELD) return parse_annotated(parser, first, start);
    if (op >= 0) return parse_augmented(parser, first, op, start);
    return expression_statement(parser, first);
}

void parse_simple_line(Parser *parser, NodeList *into) {
    for (;;) {
        Node *node = parse_simple(parser);
        parser_push(parser, into, node ? node : parse_expression_statement(parser));
        if (!parser_accept(parser, TOKEN_SEMI)) break;
        if (parser_kind(parser) == TOKEN_NEWLINE) break;
    }
    if (parser_accept(parser, TOKEN_NEWLINE)) return;
    if (parser->operand) check_legacy(parser, parser->operand);
    parser_fail_here(parser);
}

void parse_statement(Parser *parser, NodeList *into) {
    refuse_async(parser);
    refuse_match(parser);
    refuse_type_alias(parser);
    Node *node = parse_compound(parser);
    if (node) parser_push(parser, into, node);
    else parse_simple_line(parser, into);
}
