/* Parse call arguments and subscripts.
 *
 * In: tokens behind the opening bracket. Out: the lists of a CALL; the index of a SUBSCRIPT.
 *
 *     "f(a, *b, c=1, **d)"  ->  arguments [a, STARRED b], keywords [c=1, **d]
 *     "x[1:, None]"         ->  index TUPLE [SLICE 1:, None]
 *
 * Invariant: positional arguments come before keywords in the source, as Python demands. */
#include "lang/parser.h"

static Node *parse_double_star(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *value = parse_expression(parser);
    Node *node = parser_node(parser, NODE_KEYWORD, parser_span_from(parser, start));
    node->left = value;
    return node;
}

static void check_keyword_name(Parser *parser) {
    TokenKind kind = parser_kind(parser);
    bool constant = kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == TOKEN_NONE;
    if (!constant || parser_kind_after(parser, 1) != TOKEN_EQUAL) return;
    Span span = span_join(parser_here(parser), parser->tokens.at[parser->at + 1].span);
    parser_fail(parser, span, "SyntaxError: cannot assign to %s", token_text(kind));
}

static Node *parse_keyword(Parser *parser) {
    Token name = parser_take(parser);
    Span equal = parser_take(parser).span;
    if (parser_kind(parser) == TOKEN_COMMA || parser_kind(parser) == TOKEN_RPAR)
        parser_fail(parser, span_join(name.span, equal), "SyntaxError: expected argument value expression");
    Node *value = parse_expression(parser);
    Node *node = parser_node(parser, NODE_KEYWORD, parser_span_from(parser, name.span.start));
    if (at_comprehension(parser))
        parser_fail(parser, span_join(name.span, equal), "SyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
    node->left = value;
    node->name.id = name.name;
    node->name.id_span = name.span;
    return node;
}

static Node *parse_star_argument(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *value = parse_expression(parser);
    Node *node = parser_node(parser, NODE_STARRED, parser_span_from(parser, start));
    node->left = value;
    return node;
}

/* A generator expression may stand without its own parentheses when it is the only argument; the call's are its own then. */
static Node *parse_bare_generator(Parser *parser, Node *element, bool only, uint32_t paren) {
    Node *node = parse_comprehension(parser, NODE_GENERATOR, element, NULL, element->span.start);
    if (!only || parser_kind(parser) == TOKEN_COMMA) parser_fail(parser, node->span, "SyntaxError: Generator expression must be parenthesized");
    node->span = (Span){parser->file, paren, parser_here(parser).end};
    return node;
}

static Node *parse_positional(Parser *parser, bool only, uint32_t paren) {
    Node *value = parse_named(parser);
    if (at_comprehension(parser)) return parse_bare_generator(parser, value, only, paren);
    if (parser_kind(parser) == TOKEN_EQUAL)
        parser_fail(parser, span_join(value->span, parser_here(parser)),
                    "SyntaxError: expression cannot contain assignment, perhaps you meant \"==\"?");
    return value;
}

/* Called with the span of an argument that came too late. */
static _Noreturn void fail_order(Parser *parser, bool after_double_star, bool starred, Span span) {
    if (starred) parser_fail(parser, span, "SyntaxError: iterable argument unpacking follows keyword argument unpacking");
    parser_fail(parser, span, "SyntaxError: positional argument follows keyword argument%s", after_double_star ? " unpacking" : "");
}

/* Behind "*a" or "**a". */
static void check_unpacking(Parser *parser, const Node *node, const char *what) {
    if (at_comprehension(parser) && node->kind == NODE_STARRED)
        parser_fail(parser, node->span, "SyntaxError: iterable unpacking cannot be used in comprehension");
    if (parser_kind(parser) == TOKEN_EQUAL)
        parser_fail(parser, span_join(node->span, parser_here(parser)), "SyntaxError: cannot assign to %s argument unpacking", what);
}

static void parse_argument(Parser *parser, Node *call, bool *double_star, uint32_t paren) {
    TokenKind kind = parser_kind(parser);
    check_keyword_name(parser);
    if (kind == TOKEN_DOUBLE_STAR) {
        *double_star = true;
        parser_push(parser, &call->call.keywords, parse_double_star(parser));
        check_unpacking(parser, vec_last(&call->call.keywords), "keyword");
    } else if (kind == TOKEN_NAME && parser_kind_after(parser, 1) == TOKEN_EQUAL) {
        parser_push(parser, &call->call.keywords, parse_keyword(parser));
    } else if (kind == TOKEN_STAR) {
        Node *node = parse_star_argument(parser);
        check_unpacking(parser, node, "iterable");
        if (*double_star) fail_order(parser, true, true, node->span);
        parser_push(parser, &call->call.arguments, node);
    } else {
        bool only = !call->call.arguments.count && !call->call.keywords.count;
        Node *node = parse_positional(parser, only, paren);
        if (call->call.keywords.count) {
            while (parser_kind(parser) != TOKEN_RPAR && parser_kind(parser) != TOKEN_END && parser_kind(parser) != TOKEN_COMMA) parser_take(parser);
            fail_order(parser, *double_star, false, parser_here(parser));
        }
        parser_push(parser, &call->call.arguments, node);
    }
}

void parse_arguments(Parser *parser, Node *call) {
    uint32_t paren = parser->tokens.at[parser->at - 1].span.start;
    bool double_star = false;
    parser->operand = NULL;
    while (parser_kind(parser) != TOKEN_RPAR) {
        parse_argument(parser, call, &double_star, paren);
        if (parser_accept(parser, TOKEN_COMMA)) continue;
        if (parser_kind(parser) == TOKEN_RPAR) break;
        check_forgotten_comma(parser);
        parser_fail_here(parser);
    }
    parser_take(parser);
}

static bool slice_part_ends(const Parser *parser) {
    TokenKind kind = parser_kind(parser);
    return kind == TOKEN_COLON || kind == TOKEN_COMMA || kind == TOKEN_RSQB;
}

static Node *parse_slice(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    if (parser_kind(parser) == TOKEN_STAR) return parse_star_argument(parser);
    Node *lower = parser_kind(parser) == TOKEN_COLON ? NULL : parse_named(parser);
    if (parser_kind(parser) != TOKEN_COLON) return lower;
    if (lower && lower->kind == NODE_WALRUS && !lower->parenthesized) parser_fail_here(parser);
    parser_take(parser);
    Node *upper = slice_part_ends(parser) ? NULL : parse_expression(parser), *step = NULL;
    if (parser_accept(parser, TOKEN_COLON) && !slice_part_ends(parser)) step = parse_expression(parser);
    Node *node = parser_node(parser, NODE_SLICE, parser_span_from(parser, start));
    node->slice.lower = lower;
    node->slice.upper = upper;
    node->slice.step = step;
    return node;
}

Node *parse_subscripts(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *first = parse_slice(parser);
    bool starred = first->kind == NODE_STARRED;
    if (parser_kind(parser) != TOKEN_COMMA && !starred) return first;
    Node *tuple = parser_node(parser, NODE_TUPLE, first->span);
    parser_push(parser, &tuple->collection.items, first);
    while (parser_accept(parser, TOKEN_COMMA) && parser_kind(parser) != TOKEN_RSQB)
        parser_push(parser, &tuple->collection.items, parse_slice(parser));
    tuple->span = parser_span_from(parser, start);
    return tuple;
}
