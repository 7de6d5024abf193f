/* Parse expressions: operators, conditionals, tuples.
 *
 * In: tokens. Out: expression nodes, constants folded.
 *
 *     "a if not b < c else d"  ->  CONDITIONAL {test NOT (COMPARE < b c), yes a, no d}
 *
 * Invariant: left-associative chains of any length are loops; what recurses counts its depth.
 * To add a binary operator: a row of `binary_operators`. */
#include "lang/parser.h"

bool starts_expression(TokenKind kind) {
    switch (kind) {
    case TOKEN_NAME: case TOKEN_NUMBER: case TOKEN_STRING: case TOKEN_FSTRING_START: case TOKEN_LPAR: case TOKEN_LSQB:
    case TOKEN_LBRACE: case TOKEN_ELLIPSIS: case TOKEN_MINUS: case TOKEN_PLUS: case TOKEN_TILDE: case TOKEN_NOT: case TOKEN_LAMBDA:
    case TOKEN_FALSE: case TOKEN_NONE: case TOKEN_TRUE: case TOKEN_AWAIT:
        return true;
    default: return false;
    }
}

static const struct { TokenKind token; BinaryOp op; int level; } binary_operators[] = {
    {TOKEN_PIPE, BINARY_OR, 1}, {TOKEN_CARET, BINARY_XOR, 2}, {TOKEN_AMPER, BINARY_AND, 3},
    {TOKEN_SHIFT_LEFT, BINARY_LSHIFT, 4}, {TOKEN_SHIFT_RIGHT, BINARY_RSHIFT, 4},
    {TOKEN_PLUS, BINARY_ADD, 5}, {TOKEN_MINUS, BINARY_SUBTRACT, 5},
    {TOKEN_STAR, BINARY_MULTIPLY, 6}, {TOKEN_SLASH, BINARY_TRUE_DIVIDE, 6}, {TOKEN_DOUBLE_SLASH, BINARY_FLOOR_DIVIDE, 6},
    {TOKEN_PERCENT, BINARY_REMAINDER, 6}, {TOKEN_AT, BINARY_MATRIX_MULTIPLY, 6}};
enum { BINARY_OPERATOR_COUNT = sizeof binary_operators / sizeof *binary_operators };

static int find_operator(TokenKind kind, int lowest) {
    for (int i = 0; i < BINARY_OPERATOR_COUNT; i++)
        if (binary_operators[i].token == kind && binary_operators[i].level >= lowest) return i;
    return -1;
}

static Node *binary_node(Parser *parser, BinaryOp op, Node *left, Node *right, uint32_t start) {
    Node *node = parser_node(parser, NODE_BINARY, parser_span_from(parser, start));
    node->operation.op = (int)op;
    node->left = left;
    node->operation.right = right;
    return fold_binary(parser->session, node);
}

static Node *parse_power(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *base = parse_primary(parser);
    if (!parser_accept(parser, TOKEN_DOUBLE_STAR)) return base;
    parser_enter(parser);
    Node *exponent = parse_unary(parser);
    parser_leave(parser);
    return binary_node(parser, BINARY_POWER, base, exponent, start);
}

static Node *unary_node(Parser *parser, UnaryOp op, Node *operand, uint32_t start) {
    Node *node = parser_node(parser, NODE_UNARY, parser_span_from(parser, start));
    node->operation.op = (int)op;
    node->left = operand;
    return fold_unary(parser->session, node);
}

/* -9223372036854775808 fits although its digits alone do not. */
static bool at_lowest_integer(const Parser *parser) {
    TokenKind next = parser_kind_after(parser, 2);
    if (parser_kind_after(parser, 1) != TOKEN_NUMBER || next == TOKEN_DOUBLE_STAR || next == TOKEN_DOT || next == TOKEN_LSQB || next == TOKEN_LPAR)
        return false;
    Span span = parser->tokens.at[parser->at + 1].span;
    int digits = 0;
    for (uint32_t i = span.start; i < span.end; i++) {
        char c = span.file->text[i];
        if (c == '.') return false;
        digits += c != '_';
    }
    return digits >= 18;
}

static Node *parse_lowest_integer(Parser *parser, uint32_t start) {
    parser_take(parser);
    Token token = parser_take(parser);
    Node *node = parser_node(parser, NODE_CONST, parser_span_from(parser, start));
    node->constant = literal_number(parser->session, token, true);
    node->original = parser_node(parser, NODE_UNARY, node->span);
    return node;
}

Node *parse_unary(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    TokenKind kind = parser_kind(parser);
    if (kind != TOKEN_MINUS && kind != TOKEN_PLUS && kind != TOKEN_TILDE) return parse_power(parser);
    if (kind == TOKEN_MINUS && at_lowest_integer(parser)) return parse_lowest_integer(parser, start);
    parser_enter(parser);
    parser_take(parser);
    Node *operand = parse_unary(parser);
    parser_leave(parser);
    return unary_node(parser, kind == TOKEN_MINUS ? UNARY_NEGATE : kind == TOKEN_PLUS ? UNARY_PLUS : UNARY_INVERSE, operand, start);
}

static Node *parse_binary(Parser *parser, int lowest) {
    uint32_t start = parser_here(parser).start;
    Node *left = parse_unary(parser);
    for (int row; (row = find_operator(parser_kind(parser), lowest)) >= 0;) {
        parser_take(parser);
        Node *right = parse_binary(parser, binary_operators[row].level + 1);
        left = binary_node(parser, binary_operators[row].op, left, right, start);
    }
    return left;
}

Node *parse_bitwise(Parser *parser) { return parse_binary(parser, 1); }

/* Takes a comparison operator; -1 when there is none. */
static int take_comparison(Parser *parser) {
    static const struct { TokenKind token; int op; } rows[] = {
        {TOKEN_LESS, COMPARE_LT}, {TOKEN_LESS_EQUAL, COMPARE_LE}, {TOKEN_EQUAL_EQUAL, COMPARE_EQ},
        {TOKEN_NOT_EQUAL, COMPARE_NE}, {TOKEN_GREATER, COMPARE_GT}, {TOKEN_GREATER_EQUAL, COMPARE_GE}, {TOKEN_IN, COMPARE_IN}};
    TokenKind kind = parser_kind(parser);
    if (kind == TOKEN_NOT) return parser_take(parser), parser_expect(parser, TOKEN_IN), COMPARE_NOT_IN;
    if (parser_accept(parser, TOKEN_IS)) return parser_accept(parser, TOKEN_NOT) ? COMPARE_IS_NOT : COMPARE_IS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].token == kind) return parser_take(parser), rows[i].op;
    return -1;
}

static Node *parse_comparison(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *left = parse_bitwise(parser), *node = NULL;
    VEC(int) ops = {0};
    for (int op; (op = take_comparison(parser)) >= 0;) {
        if (!node) {
            node = parser_node(parser, NODE_COMPARE, left->span);
            parser_push(parser, &node->compare.operands, left);
        }
        vec_push_in(parser->arena, &ops, op);
        parser_push(parser, &node->compare.operands, parse_bitwise(parser));
    }
    if (!node) return left;
    node->compare.ops = ops.at;
    node->span = parser_span_from(parser, start);
    return node;
}

static Node *parse_inversion(Parser *parser) {
    if (parser_kind(parser) != TOKEN_NOT) return parse_comparison(parser);
    uint32_t start = parser_here(parser).start;
    parser_enter(parser);
    parser_take(parser);
    Node *operand = parse_inversion(parser);
    parser_leave(parser);
    return unary_node(parser, UNARY_LOGICAL_NOT, operand, start);
}

static Node *parse_boolean(Parser *parser, TokenKind keyword, Node *(*operand)(Parser *)) {
    uint32_t start = parser_here(parser).start;
    Node *first = operand(parser);
    if (parser_kind(parser) != keyword) return first;
    Node *node = parser_node(parser, NODE_BOOL, first->span);
    node->boolean.is_or = keyword == TOKEN_OR;
    parser_push(parser, &node->boolean.values, first);
    while (parser_accept(parser, keyword)) parser_push(parser, &node->boolean.values, operand(parser));
    node->span = parser_span_from(parser, start);
    return node;
}

static Node *parse_conjunction(Parser *parser) { return parse_boolean(parser, TOKEN_AND, parse_inversion); }
Node *parse_disjunction(Parser *parser) { return parser->operand = parse_boolean(parser, TOKEN_OR, parse_conjunction); }

static Node *parse_conditional(Parser *parser, Node *yes, uint32_t start) {
    parser_take(parser);
    Node *test = parse_disjunction(parser);
    if (parser_kind(parser) != TOKEN_ELSE) {
        if (parser_kind(parser) == TOKEN_COLON) parser_fail_here(parser);
        parser_fail(parser, span_join(yes->span, test->span), "SyntaxError: expected 'else' after 'if' expression");
    }
    parser_take(parser);
    Node *no = parse_expression(parser);
    Node *node = parser_node(parser, NODE_CONDITIONAL, parser_span_from(parser, start));
    node->conditional.test = test;
    node->conditional.yes = yes;
    node->conditional.no = no;
    return node;
}

Node *parse_expression(Parser *parser) {
    if (parser_kind(parser) == TOKEN_LAMBDA) return parse_lambda(parser);
    uint32_t start = parser_here(parser).start;
    parser_enter(parser);
    Node *node = parse_disjunction(parser);
    if (parser_kind(parser) == TOKEN_IF) node = parse_conditional(parser, node, start);
    parser_leave(parser);
    return node;
}

void check_forgotten_comma(Parser *parser) {
    Node *first = parser->operand;
    if (!starts_expression(parser_kind(parser)) || parser->trial || !first) return;
    bool name_string = first->kind == NODE_NAME && (parser_kind(parser) == TOKEN_STRING || parser_kind(parser) == TOKEN_FSTRING_START);
    if (name_string) return;
    Node *second = parser_try(parser, parse_expression);
    if (second) parser_fail(parser, span_join(first->span, second->span), "SyntaxError: invalid syntax. Perhaps you forgot a comma?");
}

void check_stray_equal(Parser *parser, Node *left) {
    if (parser_kind(parser) != TOKEN_EQUAL || parser->trial) return;
    bool plain = left->kind == NODE_LIST || left->kind == NODE_TUPLE || left->kind == NODE_GENERATOR || left->kind == NODE_CONDITIONAL ||
                 left->kind == NODE_BOOL || left->kind == NODE_COMPARE || left->kind == NODE_LAMBDA || left->kind == NODE_STARRED;
    if (left->kind == NODE_CONST && left->constant.kind <= CONST_FALSE && !left->original) plain = true;
    bool bracketed = left->kind == NODE_LIST || left->kind == NODE_TUPLE || left->kind == NODE_GENERATOR;
    if (plain && (bracketed || !left->parenthesized)) return;
    int equal = parser->at;
    parser_take(parser);
    Node *right = parser_try(parser, parse_bitwise);
    parser->at = equal;
    if (!right) return;
    if (left->kind == NODE_NAME)
        parser_fail(parser, span_join(left->span, right->span),
                    "SyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
    parser_fail(parser, left->span, "SyntaxError: cannot assign to %s here. Maybe you meant '==' instead of '='?", node_description(left));
}

Node *parse_named(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *target = parse_expression(parser);
    if (parser_kind(parser) != TOKEN_WALRUS) return target;
    if (target->kind != NODE_NAME || target->parenthesized)
        parser_fail(parser, target->span, "SyntaxError: cannot use assignment expressions with %s", node_description(target));
    parser_take(parser);
    Node *value = parse_expression(parser);
    Node *node = parser_node(parser, NODE_WALRUS, parser_span_from(parser, start));
    target->context = CONTEXT_STORE;
    node->walrus.target = target;
    node->walrus.value = value;
    return node;
}

static Node *parse_starred(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    parser_take(parser);
    Node *value = parse_bitwise(parser);
    Node *node = parser_node(parser, NODE_STARRED, parser_span_from(parser, start));
    node->left = value;
    return node;
}

Node *parse_list_item(Parser *parser) {
    return parser_kind(parser) == TOKEN_STAR ? parse_starred(parser) : parse_named(parser);
}

static Node *parse_star_expression(Parser *parser) {
    return parser_kind(parser) == TOKEN_STAR ? parse_starred(parser) : parse_expression(parser);
}

Node *parse_star_expressions(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *first = parse_star_expression(parser);
    if (parser_kind(parser) != TOKEN_COMMA) return first;
    Node *tuple = parser_node(parser, NODE_TUPLE, first->span);
    parser_push(parser, &tuple->collection.items, first);
    while (parser_accept(parser, TOKEN_COMMA)) {
        if (!starts_expression(parser_kind(parser)) && parser_kind(parser) != TOKEN_STAR) break;
        parser_push(parser, &tuple->collection.items, parse_star_expression(parser));
    }
    tuple->span = parser_span_from(parser, start);
    return tuple;
}

Node *parse_yield(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    bool from = parser_accept(parser, TOKEN_FROM);
    Node *value = NULL;
    if (from) value = parse_expression(parser);
    else if (starts_expression(parser_kind(parser)) || parser_kind(parser) == TOKEN_STAR) value = parse_star_expressions(parser);
    Node *node = parser_node(parser, from ? NODE_YIELD_FROM : NODE_YIELD, parser_span_from(parser, start));
    node->left = value;
    return node;
}

Node *parse_star_or_yield(Parser *parser) {
    return parser_kind(parser) == TOKEN_YIELD ? parse_yield(parser) : parse_star_expressions(parser);
}
