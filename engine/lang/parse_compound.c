/* Parse compound statements: if, while, for, try, with; blocks.
 *
 * In: tokens at a keyword. Out: its node with the statements of its blocks.
 *
 *     "if a: b\nelif c: d\nelse: e\n"  ->  IF {a, [b], orelse [IF {c, [d], orelse [e]}]}
 *
 * Invariant: nesting is bounded by the lexer's limit on indentation; a chain of elifs is a loop. */
#include "lang/parser.h"
#include <string.h>

/* Python misses a colon at the end of the line; after def, try, else and finally anywhere. */
static void expect_colon(Parser *parser, bool anywhere) {
    if (parser_accept(parser, TOKEN_COLON)) return;
    if (anywhere || parser_kind(parser) == TOKEN_NEWLINE) parser_fail(parser, parser_here(parser), "SyntaxError: expected ':'");
    parser_fail_here(parser);
}

static bool needs_colon(const char *after) {
    static const char *const heads[] = {"function", "'try'", "'else'", "'finally'"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(after, heads[i], strlen(heads[i])) == 0) return true;
    return false;
}

NodeList parse_block(Parser *parser, const char *after, int line) {
    NodeList body = {0};
    expect_colon(parser, needs_colon(after));
    if (!parser_accept(parser, TOKEN_NEWLINE)) {
        parse_simple_line(parser, &body);
        return body;
    }
    Span here = parser_kind(parser) == TOKEN_END ? parser->tokens.at[parser->at - 1].span : parser_here(parser);
    if (!parser_accept(parser, TOKEN_INDENT))
        parser_fail(parser, here, "IndentationError: expected an indented block after %s on line %d", after, line);
    while (parser_kind(parser) != TOKEN_DEDENT && parser_kind(parser) != TOKEN_END) parse_statement(parser, &body);
    parser_accept(parser, TOKEN_DEDENT);
    return body;
}

static NodeList parse_else(Parser *parser, const char *after) {
    if (parser_kind(parser) != TOKEN_ELSE) return (NodeList){0};
    int line = span_line(parser_take(parser).span);
    return parse_block(parser, after, line);
}

static Node *parse_test(Parser *parser) {
    Node *test = parse_named(parser);
    if (parser_kind(parser) == TOKEN_EQUAL) check_stray_equal(parser, test);
    return test;
}

/* Each elif is an IF in the orelse of the one before it. */
static Node *parse_if(Parser *parser) {
    Node *first = NULL;
    NodeList *into = NULL;
    for (const char *what = "'if' statement";; what = "'elif' statement") {
        Token keyword = parser_take(parser);
        Node *node = parser_node(parser, NODE_IF, keyword.span);
        node->left = parse_test(parser);
        node->block.body = parse_block(parser, what, span_line(keyword.span));
        node->span = parser_block_span(parser, keyword.span.start);
        if (into) parser_push(parser, into, node);
        else first = node;
        into = &node->block.orelse;
        if (parser_kind(parser) != TOKEN_ELIF) break;
    }
    *into = parse_else(parser, "'else' statement");
    return first;
}

static Node *parse_while(Parser *parser) {
    Token keyword = parser_take(parser);
    Node *node = parser_node(parser, NODE_WHILE, keyword.span);
    node->left = parse_test(parser);
    node->block.body = parse_block(parser, "'while' statement", span_line(keyword.span));
    node->block.orelse = parse_else(parser, "'else' statement");
    node->span = parser_block_span(parser, keyword.span.start);
    return node;
}

static Node *parse_for(Parser *parser) {
    Token keyword = parser_take(parser);
    Node *node = parser_node(parser, NODE_FOR, keyword.span);
    node->block.target = parse_targets(parser);
    parser_expect(parser, TOKEN_IN);
    node->left = parse_star_expressions(parser);
    node->block.body = parse_block(parser, "'for' statement", span_line(keyword.span));
    node->block.orelse = parse_else(parser, "'else' statement");
    node->span = parser_block_span(parser, keyword.span.start);
    return node;
}

static void parse_handler_name(Parser *parser, Handler *handler) {
    if (parser_kind(parser) == TOKEN_COMMA) {
        Node *type = handler->type;
        parser_fail(parser, span_join(type->span, parser_here(parser)), "SyntaxError: multiple exception types must be parenthesized");
    }
    if (!parser_accept(parser, TOKEN_AS)) return;
    if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
    handler->name = parser_take(parser).name;
}

static Handler parse_handler(Parser *parser) {
    Token keyword = parser_take(parser);
    Handler handler = {.span = keyword.span};
    if (parser_kind(parser) == TOKEN_STAR)
        parser_fail(parser, span_join(keyword.span, parser_here(parser)), "unsupported: exception groups (except*)");
    if (parser_kind(parser) != TOKEN_COLON) {
        handler.type = parse_expression(parser);
        parse_handler_name(parser, &handler);
    }
    handler.body = parse_block(parser, "'except' statement", span_line(keyword.span));
    handler.span = parser_block_span(parser, keyword.span.start);
    return handler;
}

static void parse_handlers(Parser *parser, Node *node) {
    while (parser_kind(parser) == TOKEN_EXCEPT) {
        int count = node->try_block.handlers.count;
        if (count && !node->try_block.handlers.at[count - 1].type)
            parser_fail(parser, node->try_block.handlers.at[count - 1].span, "SyntaxError: default 'except:' must be last");
        vec_push_in(parser->arena, &node->try_block.handlers, parse_handler(parser));
    }
}

static Node *parse_try(Parser *parser) {
    Token keyword = parser_take(parser);
    Node *node = parser_node(parser, NODE_TRY, keyword.span);
    node->try_block.body = parse_block(parser, "'try' statement", span_line(keyword.span));
    parse_handlers(parser, node);
    if (node->try_block.handlers.count) node->try_block.orelse = parse_else(parser, "'else' statement");
    if (parser_kind(parser) == TOKEN_FINALLY) {
        int line = span_line(parser_take(parser).span);
        node->try_block.finally = parse_block(parser, "'finally' statement", line);
    } else if (!node->try_block.handlers.count) {
        parser_fail(parser, parser_here(parser), "SyntaxError: expected 'except' or 'finally' block");
    }
    node->span = parser_block_span(parser, keyword.span.start);
    return node;
}

/* Index of the ')' that closes the '(' at the present token, or -1. */
static int closing_paren(const Parser *parser) {
    int depth = 0;
    for (int i = parser->at; i < parser->tokens.count; i++) {
        TokenKind kind = parser->tokens.at[i].kind;
        if (kind == TOKEN_LPAR || kind == TOKEN_LSQB || kind == TOKEN_LBRACE) depth++;
        if ((kind == TOKEN_RPAR || kind == TOKEN_RSQB || kind == TOKEN_RBRACE) && --depth == 0) return i;
    }
    return -1;
}

/* "with (a as b, c):" has its items in parentheses; "with (a, b).c:" and "with (x := a):" begin with an expression. */
static bool items_are_parenthesized(const Parser *parser) {
    int close = parser_kind(parser) == TOKEN_LPAR ? closing_paren(parser) : -1, depth = 0;
    if (close < 0 || close + 1 >= parser->tokens.count || parser->tokens.at[close + 1].kind != TOKEN_COLON) return false;
    bool items = false;
    for (int i = parser->at; i < close; i++) {
        TokenKind kind = parser->tokens.at[i].kind, before = parser->tokens.at[i ? i - 1 : 0].kind;
        if (kind == TOKEN_LPAR || kind == TOKEN_LSQB || kind == TOKEN_LBRACE) depth++;
        if (kind == TOKEN_RPAR || kind == TOKEN_RSQB || kind == TOKEN_RBRACE) depth--;
        if (depth != 1) continue;
        if (kind == TOKEN_AS) return true;
        if (kind == TOKEN_COMMA) items = true;
        if (kind == TOKEN_WALRUS || kind == TOKEN_FOR || kind == TOKEN_YIELD) return false;
        if (kind == TOKEN_STAR && (before == TOKEN_LPAR || before == TOKEN_COMMA)) return false;
    }
    return items;
}

static void parse_with_item(Parser *parser, Node *node) {
    WithItem item = {.manager = parse_expression(parser)};
    if (parser_accept(parser, TOKEN_AS)) item.target = parse_with_target(parser);
    vec_push_in(parser->arena, &node->with.items, item);
}

static void parse_with_items(Parser *parser, Node *node) {
    bool parenthesized = items_are_parenthesized(parser);
    if (parenthesized) parser_take(parser);
    do {
        if (parenthesized && node->with.items.count && parser_kind(parser) == TOKEN_RPAR) break;
        parse_with_item(parser, node);
    } while (parser_accept(parser, TOKEN_COMMA));
    if (parenthesized) parser_expect(parser, TOKEN_RPAR);
}

static Node *parse_with(Parser *parser) {
    Token keyword = parser_take(parser);
    Node *node = parser_node(parser, NODE_WITH, keyword.span);
    parse_with_items(parser, node);
    node->with.body = parse_block(parser, "'with' statement", span_line(keyword.span));
    node->span = parser_block_span(parser, keyword.span.start);
    return node;
}

Node *parse_compound(Parser *parser) {
    switch (parser_kind(parser)) {
    case TOKEN_IF: return parse_if(parser);
    case TOKEN_WHILE: return parse_while(parser);
    case TOKEN_FOR: return parse_for(parser);
    case TOKEN_TRY: return parse_try(parser);
    case TOKEN_WITH: return parse_with(parser);
    case TOKEN_DEF: return parse_def(parser, NULL);
    case TOKEN_CLASS: return parse_class(parser, NULL);
    case TOKEN_AT: return parse_decorated(parser);
    default: return NULL;
    }
}
